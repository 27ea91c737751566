// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests: a hand-made vocabulary of the model "llama" in which every step of encode shows.
#pragma once

#include "luminal/text/vocabulary.h"

#include <cstdio>
#include <string>

namespace luminal::text {

inline void add_token(Vocabulary& v, const std::string& text, float score, TokenKind kind) {
  v.tokens.push_back(text);
  v.scores.push_back(score);
  v.kinds.push_back(kind);
}

/// Ids: 0 <unk>, 1 <s>, 2 </s>, 3 to 258 the bytes, then what is listed below.
inline Vocabulary small_vocabulary() {
  Vocabulary v;
  v.model = "llama";
  add_token(v, "<unk>", 0, TokenKind::Unknown);
  add_token(v, "<s>", 0, TokenKind::Control);
  add_token(v, "</s>", 0, TokenKind::Control);
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    add_token(v, text, 0, TokenKind::Byte);
  }
  float score = 0;
  for (const char* text : {"▁", "a", "b", "c", "<", "s", ">", "/", "é", "ab", "bc", "abc", "▁a",
                           "▁ab", "<s", "cc", "cccc"}) {
    add_token(v, text, score--, TokenKind::Normal);  // 259 to 275
  }
  add_token(v, "\n", 0, TokenKind::UserDefined);         // 276
  add_token(v, "\n\n", 0, TokenKind::UserDefined);       // 277
  add_token(v, "\n\n\n", 0, TokenKind::UserDefined);     // 278
  add_token(v, "<end_of_turn>", 0, TokenKind::Control);  // 279
  return v;
}

}  // namespace luminal::text
