// SPDX-License-Identifier: MIT OR Apache-2.0
// Cuts a text at the vocabulary's added tokens, before any other step of tokenizing: user-defined
// tokens (runs of newlines, <h1>) always, control and unknown tokens (<end_of_turn>) only with
// parse_special, so that what a user types cannot become a control token.
//
//   AddedTokens added = index_added_tokens(vocabulary);
//   for (Piece piece : cut_added_tokens(added, "a\n\n\nb", false)) ..   // "a", token 109, "b"
//
// Where matches overlap the longest token wins over the whole text, then the leftmost: llama.cpp's
// order. Time is linear in the text for each token length that overlaps, memory linear in the text.
#pragma once

#include "luminal/text/vocabulary.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace luminal::text {

/// A trie over the bytes of the added tokens; children are sibling lists.
struct AddedTokens {
  struct Node {
    std::int32_t child = -1, sibling = -1;
    std::int32_t token = -1;  ///< the token that ends here
    unsigned char byte = 0;
    bool needs_special = false;  ///< the token is cut with parse_special only
  };
  std::vector<Node> nodes;
  std::array<std::int32_t, 256> roots{};  ///< by first byte; -1: none
};

/// A part of a text: an added token, or plain text (token < 0), never empty.
struct Piece {
  std::string_view text;
  std::int32_t token = -1;
};

AddedTokens index_added_tokens(const Vocabulary& vocabulary);

/// The pieces of `text` in order; together they are `text`, whose bytes they point into.
std::vector<Piece> cut_added_tokens(const AddedTokens& added, std::string_view text,
                                    bool parse_special);

}  // namespace luminal::text
