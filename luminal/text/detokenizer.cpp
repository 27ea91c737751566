// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/detokenizer.h"

#include "luminal/text/utf8.h"

#include <utility>

namespace luminal::text {

Result<std::string> Detokenizer::push(std::int32_t id) {
  std::string bytes = held_;
  LUM_RETURN_IF_ERROR(append_token_bytes(*tokenizer_, id, special_, bytes));
  const std::size_t whole = bytes.size() - utf8_cut_short_tail(bytes);
  held_ = bytes.substr(whole);
  bytes.resize(whole);
  return utf8_repair(bytes);
}

std::string Detokenizer::finish() { return utf8_repair(std::exchange(held_, {})); }

}  // namespace luminal::text
