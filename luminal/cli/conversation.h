// SPDX-License-Identifier: MIT OR Apache-2.0
// A conversation with a model. What the model has read stays read: of each turn only the new tokens are fed. A turn
// that fails or is stopped leaves the conversation ready for the next one.
#pragma once

#include "luminal/cli/answer.h"
#include "luminal/text/chat_template.h"

#include <functional>
#include <string>
#include <vector>

namespace luminal::cli {

class Conversation {
 public:
  /// `model` must outlive the conversation. A model without a chat template continues plain text.
  Conversation(models::LanguageModel& model, text::Sampler sampler, std::string system, std::int64_t max_tokens);

  struct Turn {
    Answer answer;
    std::string timings;
  };
  /// Stopped while it reads: an error, and the message is forgotten. Stopped while it answers: what was said counts.
  Result<Turn> say(const std::string& message, const std::atomic<bool>* stop,
                   const std::function<void(std::string_view)>& write);
  void reset();
  /// What the model has read, as far as the conversation counts.
  const std::vector<std::int32_t>& tokens() const { return read_; }

 private:
  Result<std::vector<std::int32_t>> wanted_tokens(const std::string& message);
  void restore(std::int64_t position);

  models::LanguageModel& model_;
  text::Sampler sampler_;
  std::string system_;
  std::int64_t max_tokens_;
  std::vector<text::ChatMessage> messages_;
  std::vector<std::int32_t> read_;  // as long as the model's position
};

}  // namespace luminal::cli
