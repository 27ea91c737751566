// SPDX-License-Identifier: MIT OR Apache-2.0
// Prompts to tokens: plain text, or a conversation through the model's chat template.
#pragma once

#include "luminal/models/language_model.h"
#include "luminal/text/chat_template.h"

#include <span>
#include <string_view>
#include <vector>

namespace luminal::cli {

/// The tokens of a text, with bos where the model wants it. Errors: nothing at all to read.
Result<std::vector<std::int32_t>> text_tokens(const models::LanguageModel& model, std::string_view prompt);

/// The tokens of a conversation up to the opening of the next answer. Errors: those of the template.
Result<std::vector<std::int32_t>> chat_tokens(const models::LanguageModel& model,
                                              std::span<const text::ChatMessage> messages);

}  // namespace luminal::cli
