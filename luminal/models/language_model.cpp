// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/models/language_model.h"

#include "luminal/api/engine.h"
#include "luminal/frontends/gguf/gguf_file.h"
#include "luminal/ir/specialize.h"
#include "luminal/models/gemma3.h"
#include "luminal/models/gguf_vocabulary.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace luminal::models {
namespace {

using gguf::GgufFile;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Architecture {
  std::string_view name;
  Result<ir::Graph> (*graph)(const GgufFile& file, const DecoderSizes& sizes);
};
constexpr Architecture kArchitectures[] = {{"gemma3", gemma3_graph}};

Result<const Architecture*> find_architecture(const GgufFile& file) {
  LUM_ASSIGN_OR_RETURN(const std::string name, file.string("general.architecture"));
  std::string known;
  for (const Architecture& row : kArchitectures) {
    if (row.name == name) return &row;
    known += cat(known.empty() ? "" : ", ", row.name);
  }
  return error(file.name(), ": architecture '", name, "' is not supported; supported: ", known);
}

// Two programs over the same weights and states: whole chunks, and single tokens.
enum Pass : int { kPrefill = 0, kDecode = 1 };

class GgufModel final : public LanguageModel {
 public:
  GgufModel(GgufFile file, text::Tokenizer tokenizer) : file_(std::move(file)), tokenizer_(std::move(tokenizer)) {}

  Status load(const Architecture& architecture, const LoadOptions& options, Clock::time_point start) {
    LUM_RETURN_IF_ERROR(choose_sizes(options));
    LUM_ASSIGN_OR_RETURN(const ir::Graph prefill, architecture.graph(file_, sizes_));
    LUM_ASSIGN_OR_RETURN(const ir::Graph decode, ir::specialize(prefill, {{"T", 1}, {"n_out", 1}}));
    LUM_ASSIGN_OR_RETURN(engine_, Engine::create({options.backend, options.threads, options.cache_folder}));
    SessionOptions session;
    session.progress = options.progress;
    session.source = [this](const std::string& name) -> Result<std::span<const std::byte>> {
      LUM_ASSIGN_OR_RETURN(const gguf::TensorInfo* tensor, file_.tensor(name));
      return file_.bytes(*tensor);
    };
    const double before_s = seconds_since(start);
    SessionTimes times;
    const ir::Graph* graphs[] = {&prefill, &decode};
    LUM_ASSIGN_OR_RETURN(session_, engine_->compile(graphs, session, &times));
    times_ = {before_s + times.load_s, times.compile_s, times.kernels, times.compiled};
    return {};
  }

  const text::Tokenizer& tokenizer() const override { return tokenizer_; }
  std::string_view chat_template() const override { return chat_template_; }
  std::int64_t context() const override { return sizes_.context; }
  std::int64_t vocabulary_size() const override { return vocabulary_; }
  const LoadTimes& times() const override { return times_; }
  std::int64_t position() const override { return position_; }

  Status rewind(std::int64_t position) override {
    if (position < 0 || position > position_)
      return error("rewind to ", position, ": ", position_, " tokens have been read");
    position_ = position;
    return {};
  }

  Result<std::span<const float>> feed(std::span<const std::int32_t> tokens, const std::atomic<bool>* stop) override {
    LUM_RETURN_IF_ERROR(check(tokens));
    while (!tokens.empty()) {
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) return error("reading was interrupted");
      const std::size_t count = std::min(tokens.size(), static_cast<std::size_t>(sizes_.chunk));
      LUM_RETURN_IF_ERROR(pass(tokens.first(count), count == tokens.size()));
      tokens = tokens.subspan(count);
    }
    const auto bytes = session_->output(last_pass_, "logits");
    return std::span<const float>(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  }

 private:
  Status choose_sizes(const LoadOptions& options) {
    LUM_ASSIGN_OR_RETURN(const std::string name, file_.string("general.architecture"));
    LUM_ASSIGN_OR_RETURN(const std::int64_t most, file_.integer(name + ".context_length"));
    if (options.context < 1) return error("context: ", options.context, " tokens; at least 1 is needed");
    if (options.chunk < 1) return error("chunk: ", options.chunk, " tokens; at least 1 is needed");
    sizes_.context = std::min(options.context, most);
    if (sizes_.context < 1) return error(file_.name(), ": ", name, ".context_length is ", most);
    sizes_.chunk = std::min(options.chunk, sizes_.context);
    LUM_ASSIGN_OR_RETURN(const gguf::TensorInfo* embedding, file_.tensor("token_embd.weight"));
    vocabulary_ = embedding->shape.empty() ? 0 : embedding->shape[0];
    if (static_cast<std::int64_t>(tokenizer_.vocabulary.tokens.size()) > vocabulary_)
      return error(file_.name(), ": ", tokenizer_.vocabulary.tokens.size(), " tokens, but token_embd.weight has ",
                   vocabulary_, " rows");
    if (file_.has("tokenizer.chat_template")) {
      LUM_ASSIGN_OR_RETURN(chat_template_, file_.string("tokenizer.chat_template"));
    }
    return {};
  }

  Status check(std::span<const std::int32_t> tokens) const {
    if (tokens.empty()) return error("no tokens to read");
    for (std::int32_t id : tokens)
      if (id < 0 || id >= vocabulary_)
        return error("token ", id, " is outside of the vocabulary of ", vocabulary_);
    const auto total = position_ + static_cast<std::int64_t>(tokens.size());
    if (total > sizes_.context)
      return error(total, " tokens do not fit into the context of ", sizes_.context, "; raise --context");
    return {};
  }

  Status pass(std::span<const std::int32_t> tokens, bool last) {
    const int program = tokens.size() == 1 && last ? kDecode : kPrefill;
    const auto count = static_cast<std::int64_t>(tokens.size());
    LUM_RETURN_IF_ERROR(session_->set_symbol(program, "n_past", position_));
    if (program == kPrefill) {
      LUM_RETURN_IF_ERROR(session_->set_symbol(program, "T", count));
      LUM_RETURN_IF_ERROR(session_->set_symbol(program, "n_out", last ? 1 : 0));
    }
    LUM_RETURN_IF_ERROR(session_->set_input(program, "tokens", std::as_bytes(tokens)));
    LUM_RETURN_IF_ERROR(session_->run(program));
    position_ += count;
    last_pass_ = program;
    return {};
  }

  GgufFile file_;
  text::Tokenizer tokenizer_;
  std::string chat_template_;
  DecoderSizes sizes_;
  std::int64_t vocabulary_ = 0, position_ = 0;
  LoadTimes times_;
  int last_pass_ = kPrefill;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace

Result<std::unique_ptr<LanguageModel>> load_language_model(const std::string& path, const LoadOptions& options) {
  const Clock::time_point start = Clock::now();
  LUM_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open(path));
  LUM_ASSIGN_OR_RETURN(const Architecture* architecture, find_architecture(file));
  LUM_ASSIGN_OR_RETURN(text::Vocabulary vocabulary, gguf_vocabulary(file));
  LUM_ASSIGN_OR_RETURN(text::Tokenizer tokenizer, text::make_tokenizer(std::move(vocabulary)));
  auto model = std::make_unique<GgufModel>(std::move(file), std::move(tokenizer));
  LUM_RETURN_IF_ERROR(model->load(*architecture, options, start));
  return std::unique_ptr<LanguageModel>(std::move(model));
}

}  // namespace luminal::models
