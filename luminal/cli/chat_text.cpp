// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/chat_text.h"

namespace luminal::cli {
namespace {

std::string token_text(const text::Tokenizer& tokenizer, std::int32_t id) {
  const auto& tokens = tokenizer.vocabulary.tokens;
  return id >= 0 && static_cast<std::size_t>(id) < tokens.size() ? tokens[static_cast<std::size_t>(id)] : "";
}

}  // namespace

Result<std::vector<std::int32_t>> text_tokens(const models::LanguageModel& model, std::string_view prompt) {
  LUM_ASSIGN_OR_RETURN(auto ids, text::encode(model.tokenizer(), prompt));
  if (ids.empty()) return error("the prompt is empty, and the model has no token that begins a text");
  return ids;
}

Result<std::vector<std::int32_t>> chat_tokens(const models::LanguageModel& model,
                                              std::span<const text::ChatMessage> messages) {
  const text::Tokenizer& tokenizer = model.tokenizer();
  text::ChatOptions options;
  options.bos_token = token_text(tokenizer, tokenizer.bos);
  options.eos_token = token_text(tokenizer, tokenizer.eos);
  LUM_ASSIGN_OR_RETURN(const std::string prompt, text::render_chat(model.chat_template(), messages, options));
  // A template may write bos itself; it must not come twice.
  const bool has_bos = !options.bos_token.empty() && prompt.compare(0, options.bos_token.size(), options.bos_token) == 0;
  return text::encode(tokenizer, prompt, {.add_special = !has_bos, .parse_special = true});
}

}  // namespace luminal::cli
