// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/conversation.h"

#include "luminal/cli/chat_text.h"

#include <algorithm>

namespace luminal::cli {

Conversation::Conversation(models::LanguageModel& model, text::Sampler sampler, std::string system,
                           std::int64_t max_tokens)
    : model_(model), sampler_(std::move(sampler)), system_(std::move(system)), max_tokens_(max_tokens) {
  reset();
}

void Conversation::reset() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_, ""});
  read_.clear();
  restore(0);
}

void Conversation::restore(std::int64_t position) {
  const Status status = model_.rewind(position);
  LUM_CHECK(status.ok(), status.ok() ? "" : status.error().message);
  read_.resize(static_cast<std::size_t>(position));
}

// All tokens of the conversation with the message, up to where the answer begins.
Result<std::vector<std::int32_t>> Conversation::wanted_tokens(const std::string& message) {
  if (!model_.chat_template().empty()) {
    std::vector<text::ChatMessage> messages = messages_;
    messages.push_back({"user", message, ""});
    return chat_tokens(model_, messages);
  }
  if (read_.empty()) return text_tokens(model_, system_.empty() ? message : system_ + "\n" + message);
  std::vector<std::int32_t> all = read_;
  LUM_ASSIGN_OR_RETURN(const auto added, text::encode(model_.tokenizer(), "\n" + message, {.add_special = false}));
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

Result<Conversation::Turn> Conversation::say(const std::string& message, const std::atomic<bool>* stop,
                                             const std::function<void(std::string_view)>& write) {
  LUM_ASSIGN_OR_RETURN(const std::vector<std::int32_t> wanted, wanted_tokens(message));
  // What the model has read already need not be read again, but the last token must be, for its logits.
  const auto same = std::mismatch(read_.begin(), read_.end(), wanted.begin(), wanted.end()).first - read_.begin();
  const auto kept = std::min<std::int64_t>(same, static_cast<std::int64_t>(wanted.size()) - 1);
  restore(kept);
  AnswerRequest request;
  request.prompt.assign(wanted.begin() + kept, wanted.end());
  request.history = read_;
  request.max_tokens = max_tokens_;
  request.stop = stop;
  const Result<Answer> result = answer(model_, sampler_, request, write);
  if (!result.ok()) {
    restore(std::min<std::int64_t>(kept, model_.position()));
    return result.error();
  }
  read_.insert(read_.end(), request.prompt.begin(), request.prompt.end());
  read_.insert(read_.end(), result->tokens.begin(), result->tokens.end());
  read_.resize(static_cast<std::size_t>(model_.position()));  // the last token drawn is not read yet
  messages_.push_back({"user", message, ""});
  messages_.push_back({"assistant", result->text, ""});
  return Turn{*result, timing_line(model_, request, *result)};
}

}  // namespace luminal::cli
