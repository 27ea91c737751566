// SPDX-License-Identifier: MIT OR Apache-2.0
// From a token's bytes to its id: a flat hash table of ids over the strings of the vocabulary,
// which stay where they are (no copy of 262,144 strings, no node for each).
//
//   LUM_ASSIGN_OR_RETURN(TokenIndex index, index_tokens(vocabulary.tokens));
//   std::int32_t id = index.find(vocabulary.tokens, "the");   // -1: no such token
//
// The table holds ids only, so every call is given the same tokens that it was built from.
#pragma once

#include "luminal/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::text {

struct TokenIndex {
  std::vector<std::int32_t> slots;  ///< a power of two of them, at most half in use; -1: free
  std::size_t longest = 0;          ///< bytes of the longest token

  /// The id of the token that is `text`, or -1.
  std::int32_t find(const std::vector<std::string>& tokens, std::string_view text) const;
};

/// An error when two tokens are the same bytes. Empty tokens are left out: they match nothing.
Result<TokenIndex> index_tokens(const std::vector<std::string>& tokens);

}  // namespace luminal::text
