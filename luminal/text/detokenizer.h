// SPDX-License-Identifier: MIT OR Apache-2.0
// Tokens to text as they come, for a terminal or a client: what is given out is always well-formed
// UTF-8, and a character whose bytes lie in several tokens is held back until it is whole. Bytes
// that can never become a character come out as U+FFFD.
//
//   Detokenizer stream(tokenizer);
//   LUM_ASSIGN_OR_RETURN(std::string text, stream.push(id));   // may be empty: wait for more
//   text += stream.finish();                                   // what was held back at the end
//
// All the text of one stream together is utf8_repair(decode(ids)), with decode's options
// {special, drop_added_space = false}: a stream continues a text, so no space is taken off.
// The tokenizer must outlive the stream. One thread at a time.
#pragma once

#include "luminal/base/result.h"
#include "luminal/text/tokenizer.h"

#include <cstdint>
#include <string>

namespace luminal::text {

class Detokenizer {
 public:
  /// `special`: control tokens are written as their text instead of left out.
  explicit Detokenizer(const Tokenizer& tokenizer, bool special = false)
      : tokenizer_(&tokenizer), special_(special) {}

  /// The text that `id` completes. Errors: an id outside the vocabulary; the stream is unchanged.
  Result<std::string> push(std::int32_t id);

  /// What is still held back, as U+FFFD; empty when the last character was whole.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool special_;
  std::string held_;  // at most 3 bytes: a character cut short
};

}  // namespace luminal::text
