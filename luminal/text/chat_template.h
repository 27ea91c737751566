// SPDX-License-Identifier: MIT OR Apache-2.0
// Chat templates: the Jinja text of a model file (tokenizer.chat_template) turns a conversation
// into the text that the model was trained on.
//
//   LUM_ASSIGN_OR_RETURN(std::string prompt,
//                        render_chat(template_text, {{"user", "What is 2+2?"}},
//                                    {.bos_token = "<bos>", .eos_token = "<eos>"}));
//   encode(tokenizer, prompt, {.add_special = false, .parse_special = true});
//
// Rendering is done by Python's jinja2, the library that chat templates are written for, in a child
// process (docs/design/chat-templates.md has the reasons and the measurements). It takes some 150
// ms. A template is code from a stranger: it runs in Jinja's sandbox, under limits of time, memory
// and output. Nothing is installed or looked up beside the program; the script is part of it.
//
// A template sees: messages, tools, documents (none), add_generation_prompt, bos_token, eos_token,
// and the names in `variables_json`. Text that is not UTF-8 goes through unchanged.
#pragma once

#include "luminal/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::text {

struct ChatMessage {
  std::string role;  ///< system, user, assistant, tool, or what else the template knows
  std::string content;
  std::string fields_json;  ///< further fields as a JSON object: tool_calls, name, ..; may be empty
};

struct ChatOptions {
  bool add_generation_prompt = true;  ///< end with the opening of the assistant's answer
  std::string bos_token, eos_token;   ///< their texts; a template may write them
  std::string tools_json;             ///< a JSON array of tool definitions; empty: none
  std::string variables_json;         ///< a JSON object of further variables; empty: none
  std::optional<std::int64_t> now;    ///< what strftime_now tells, in seconds since 1970, UTC;
                                      ///< absent: the local time
  std::string python;                 ///< the interpreter; empty: /usr/bin/python3, then PATH's
  std::chrono::seconds time{10};
  std::size_t output_bytes = std::size_t{16} << 20;
};

/// The conversation as text. Errors: the template is not valid (with the line) or refuses the
/// conversation (with its own words); JSON that is not valid; a limit is passed; there is no Python
/// with jinja2 (with the package to install).
Result<std::string> render_chat(std::string_view template_text,
                                std::span<const ChatMessage> messages, const ChatOptions& options);

/// The same, for a list written in place.
inline Result<std::string> render_chat(std::string_view template_text,
                                       std::initializer_list<ChatMessage> messages,
                                       const ChatOptions& options) {
  return render_chat(template_text, std::span(messages.begin(), messages.size()), options);
}

}  // namespace luminal::text
