// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/token_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace luminal::text {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

// Eight bytes a step; the order of bytes in a word may differ between machines, which only changes
// where an id lies in the table.
std::uint64_t hash(std::string_view text) {
  std::uint64_t state = text.size();
  while (text.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data(), 8);
    state = mix(state ^ word);
    text.remove_prefix(8);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, text.data(), text.size());
  return mix(state ^ word ^ 0x9e3779b97f4a7c15ull);
}

}  // namespace

std::int32_t TokenIndex::find(const std::vector<std::string>& tokens, std::string_view text) const {
  if (text.empty() || text.size() > longest) return -1;
  const std::size_t mask = slots.size() - 1;
  for (std::size_t slot = hash(text) & mask;; slot = (slot + 1) & mask) {
    const std::int32_t id = slots[slot];
    if (id < 0 || tokens[static_cast<std::size_t>(id)] == text) return id;
  }
}

Result<TokenIndex> index_tokens(const std::vector<std::string>& tokens) {
  TokenIndex index;
  index.slots.assign(std::bit_ceil(2 * tokens.size() + 2), -1);
  const std::size_t mask = index.slots.size() - 1;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::string& token = tokens[id];
    if (token.empty()) continue;
    std::size_t slot = hash(token) & mask;
    for (; index.slots[slot] >= 0; slot = (slot + 1) & mask) {
      if (tokens[static_cast<std::size_t>(index.slots[slot])] == token) {
        return error("tokenizer: tokens ", index.slots[slot], " and ", id, " are both \"", token,
                     "\"; the model file is damaged");
      }
    }
    index.slots[slot] = static_cast<std::int32_t>(id);
    index.longest = std::max(index.longest, token.size());
  }
  return index;
}

}  // namespace luminal::text
