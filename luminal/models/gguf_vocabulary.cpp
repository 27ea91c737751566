// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/models/gguf_vocabulary.h"

#include <limits>

namespace luminal::models {
namespace {

using gguf::GgufFile;
using text::Vocabulary;

struct IdKey {
  const char* key;
  std::optional<std::int32_t> Vocabulary::*field;
};
constexpr IdKey kIds[] = {
    {"tokenizer.ggml.bos_token_id", &Vocabulary::bos},
    {"tokenizer.ggml.eos_token_id", &Vocabulary::eos},
    {"tokenizer.ggml.eot_token_id", &Vocabulary::eot},
    {"tokenizer.ggml.eom_token_id", &Vocabulary::eom},
    {"tokenizer.ggml.unknown_token_id", &Vocabulary::unknown},
    {"tokenizer.ggml.seperator_token_id", &Vocabulary::separator},  // spelled so in files
    {"tokenizer.ggml.padding_token_id", &Vocabulary::padding},
    {"tokenizer.ggml.mask_token_id", &Vocabulary::mask},
    {"tokenizer.ggml.fim_pad_token_id", &Vocabulary::fim_pad},
    {"tokenizer.ggml.fim_rep_token_id", &Vocabulary::fim_repository},
    {"tokenizer.ggml.fim_sep_token_id", &Vocabulary::fim_separator},
};

struct FlagKey {
  const char* key;
  std::optional<bool> Vocabulary::*field;
};
constexpr FlagKey kFlags[] = {
    {"tokenizer.ggml.add_bos_token", &Vocabulary::add_bos},
    {"tokenizer.ggml.add_eos_token", &Vocabulary::add_eos},
    {"tokenizer.ggml.add_space_prefix", &Vocabulary::add_space_prefix},
};

Status read_arrays(const GgufFile& file, Vocabulary& vocabulary) {
  LUM_ASSIGN_OR_RETURN(vocabulary.tokens, file.strings("tokenizer.ggml.tokens"));
  if (file.has("tokenizer.ggml.scores")) {
    LUM_ASSIGN_OR_RETURN(const auto scores, file.numbers("tokenizer.ggml.scores"));
    for (double score : scores) vocabulary.scores.push_back(static_cast<float>(score));
  }
  if (file.has("tokenizer.ggml.token_type")) {
    LUM_ASSIGN_OR_RETURN(const auto kinds, file.integers("tokenizer.ggml.token_type"));
    for (std::int64_t kind : kinds) vocabulary.kinds.push_back(text::token_kind(kind));
  }
  if (file.has("tokenizer.ggml.merges")) {
    LUM_ASSIGN_OR_RETURN(vocabulary.merges, file.strings("tokenizer.ggml.merges"));
  }
  return {};
}

}  // namespace

Result<Vocabulary> gguf_vocabulary(const GgufFile& file) {
  if (!file.has("tokenizer.ggml.model"))
    return error(file.name(), ": the file has no tokenizer (tokenizer.ggml.model); convert the model with one");
  Vocabulary vocabulary;
  LUM_ASSIGN_OR_RETURN(vocabulary.model, file.string("tokenizer.ggml.model"));
  if (file.has("tokenizer.ggml.pre")) {
    LUM_ASSIGN_OR_RETURN(vocabulary.pre, file.string("tokenizer.ggml.pre"));
  }
  LUM_RETURN_IF_ERROR(read_arrays(file, vocabulary));
  for (const IdKey& row : kIds) {
    if (!file.has(row.key)) continue;
    LUM_ASSIGN_OR_RETURN(const std::int64_t id, file.integer(row.key));
    if (id >= 0 && id <= std::numeric_limits<std::int32_t>::max())
      vocabulary.*row.field = static_cast<std::int32_t>(id);
  }
  for (const FlagKey& row : kFlags) {
    if (!file.has(row.key)) continue;
    LUM_ASSIGN_OR_RETURN(vocabulary.*row.field, file.boolean(row.key));
  }
  return vocabulary;
}

}  // namespace luminal::models
