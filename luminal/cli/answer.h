// SPDX-License-Identifier: MIT OR Apache-2.0
// One answer: the prompt is read, tokens are drawn and given out as text until the model, a limit or the user ends it.
#pragma once

#include "luminal/models/language_model.h"
#include "luminal/text/sampler.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::cli {

enum class Ending { EndToken, MaxTokens, ContextFull, Stopped };

struct AnswerRequest {
  std::vector<std::int32_t> prompt;   ///< tokens to read first; not empty
  std::vector<std::int32_t> history;  ///< tokens read before, for the repetition penalty
  std::int64_t max_tokens = -1;       ///< -1: no limit but the context
  bool ignore_end = false;            ///< end tokens do not end the answer
  std::size_t top_logits = 0;         ///< how many of the last prompt position to report
  const std::atomic<bool>* stop = nullptr;
};

struct Answer {
  std::vector<std::int32_t> tokens;   ///< drawn, the end token included
  std::string text;
  Ending ending = Ending::MaxTokens;
  std::vector<text::Candidate> top_logits;
  double prefill_s = 0;      ///< reading the prompt
  double first_token_s = 0;  ///< from the start to the first text
  double decode_s = 0;       ///< all tokens after the first
};

/// `write` gets the text piece by piece, whole characters only. Stopped by the user: what was drawn so far stays read.
/// Errors: those of the model and of the sampler, and a model that is stopped while it reads the prompt.
Result<Answer> answer(models::LanguageModel& model, text::Sampler& sampler, const AnswerRequest& request,
                      const std::function<void(std::string_view)>& write);

/// "prompt 6 tokens, 120.0 tok/s | answer ..": one line.
std::string timing_line(const models::LanguageModel& model, const AnswerRequest& request, const Answer& answer);

/// Greatest resident memory of this process so far, in MiB.
double peak_rss_mib();

}  // namespace luminal::cli
