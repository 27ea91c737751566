// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/answer.h"

#include "luminal/text/detokenizer.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdio>

namespace luminal::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool stopped(const AnswerRequest& request) {
  return request.stop != nullptr && request.stop->load(std::memory_order_relaxed);
}

}  // namespace

Result<Answer> answer(models::LanguageModel& model, text::Sampler& sampler, const AnswerRequest& request,
                      const std::function<void(std::string_view)>& write) {
  const Clock::time_point start = Clock::now();
  Answer result;
  LUM_ASSIGN_OR_RETURN(std::span<const float> logits, model.feed(request.prompt, request.stop));
  result.prefill_s = seconds_since(start);
  if (request.top_logits > 0) {
    LUM_ASSIGN_OR_RETURN(result.top_logits, text::largest_logits(logits, request.top_logits));
  }
  std::vector<std::int32_t> history = request.history;
  history.insert(history.end(), request.prompt.begin(), request.prompt.end());
  text::Detokenizer stream(model.tokenizer());
  const auto give = [&](const std::string& piece) {
    if (piece.empty()) return;
    result.text += piece;
    write(piece);
  };
  Clock::time_point first = Clock::now();
  while (request.max_tokens < 0 || static_cast<std::int64_t>(result.tokens.size()) < request.max_tokens) {
    if (stopped(request)) {
      result.ending = Ending::Stopped;
      break;
    }
    LUM_ASSIGN_OR_RETURN(const std::int32_t id, text::sample(sampler, logits, history));
    result.tokens.push_back(id);
    history.push_back(id);
    const bool ends = text::is_end_token(model.tokenizer(), id) && !request.ignore_end;
    if (!ends) {
      LUM_ASSIGN_OR_RETURN(const std::string piece, stream.push(id));
      give(piece);
    }
    if (result.tokens.size() == 1) {
      result.first_token_s = seconds_since(start);
      first = Clock::now();
    }
    if (ends) {
      result.ending = Ending::EndToken;
      break;
    }
    if (static_cast<std::int64_t>(result.tokens.size()) == request.max_tokens) break;
    if (model.position() >= model.context()) {
      result.ending = Ending::ContextFull;
      break;
    }
    LUM_ASSIGN_OR_RETURN(logits, model.feed({&id, 1}));
  }
  result.decode_s = seconds_since(first);
  give(stream.finish());
  return result;
}

std::string timing_line(const models::LanguageModel& model, const AnswerRequest& request, const Answer& answer) {
  const models::LoadTimes& times = model.times();
  char line[320];
  const double prefill = static_cast<double>(request.prompt.size()) / answer.prefill_s;
  const double decode = answer.tokens.size() > 1 ? static_cast<double>(answer.tokens.size() - 1) / answer.decode_s : 0;
  std::snprintf(line, sizeof line,
                "prompt %zu tokens, %.1f tok/s | answer %zu tokens, %.1f tok/s | first token %.3f s | load %.2f s, "
                "compile %.2f s (%d of %d kernels) | peak %.0f MiB",
                request.prompt.size(), prefill, answer.tokens.size(), decode, answer.first_token_s, times.load_s,
                times.compile_s, times.compiled, times.kernels, peak_rss_mib());
  return line;
}

double peak_rss_mib() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace luminal::cli
