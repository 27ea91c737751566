// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/added_tokens.h"

#include <algorithm>
#include <functional>
#include <map>

namespace luminal::text {
namespace {

struct Match {
  std::size_t begin = 0, length = 0;  // length 0: none
  std::int32_t token = -1;
};

// Of the siblings from `node` on, the one for `byte`; -1: none.
std::int32_t find_sibling(const std::vector<AddedTokens::Node>& nodes, std::int32_t node,
                          unsigned char byte) {
  while (node >= 0 && nodes[static_cast<std::size_t>(node)].byte != byte) {
    node = nodes[static_cast<std::size_t>(node)].sibling;
  }
  return node;
}

void insert(AddedTokens& added, const std::string& text, std::int32_t token, bool needs_special) {
  std::int32_t parent = -1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    std::int32_t& first =
        parent < 0 ? added.roots[byte] : added.nodes[static_cast<std::size_t>(parent)].child;
    std::int32_t node = find_sibling(added.nodes, first, byte);
    if (node < 0) {
      node = static_cast<std::int32_t>(added.nodes.size());
      const AddedTokens::Node fresh{.sibling = first, .byte = byte};
      first = node;
      added.nodes.push_back(fresh);
    }
    parent = node;
  }
  auto& last = added.nodes[static_cast<std::size_t>(parent)];
  last.token = token;
  last.needs_special = needs_special;
}

// The longest token of at most `limit` bytes that stands at `begin`.
Match longest_match(const AddedTokens& added, std::string_view text, std::size_t begin,
                    std::size_t limit, bool parse_special) {
  Match best{.begin = begin};
  const std::size_t end = std::min(text.size() - begin, limit) + begin;
  std::int32_t node = added.roots[static_cast<unsigned char>(text[begin])];
  for (std::size_t at = begin; at < end && node >= 0;) {
    const AddedTokens::Node& here = added.nodes[static_cast<std::size_t>(node)];
    if (here.byte != static_cast<unsigned char>(text[at])) {
      node = here.sibling;
      continue;
    }
    ++at;
    if (here.token >= 0 && (parse_special || !here.needs_special)) {
      best.length = at - begin;
      best.token = here.token;
    }
    node = here.child;
  }
  return best;
}

// Takes the matches by falling length. A match that runs into one already taken, all of which are
// at least as long, does so with its first or its last byte; it is tried again shorter.
std::vector<Match> choose_matches(const AddedTokens& added, std::string_view text,
                                  bool parse_special) {
  std::map<std::size_t, std::vector<Match>, std::greater<>> by_length;
  auto offer = [&](std::size_t begin, std::size_t limit) {
    const Match match = longest_match(added, text, begin, limit, parse_special);
    if (match.length > 0) by_length[match.length].push_back(match);
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (added.roots[static_cast<unsigned char>(text[at])] >= 0) offer(at, text.size());
  }
  std::vector<Match> chosen;
  std::vector<bool> taken(by_length.empty() ? 0 : text.size());
  while (!by_length.empty()) {
    auto longest = by_length.extract(by_length.begin());
    const std::size_t length = longest.key();
    std::vector<Match>& matches = longest.mapped();
    std::sort(matches.begin(), matches.end(),
              [](const Match& a, const Match& b) { return a.begin < b.begin; });
    for (const Match& match : matches) {
      if (taken[match.begin]) continue;
      if (taken[match.begin + length - 1]) {
        offer(match.begin, length - 1);
        continue;
      }
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(match.begin), length, true);
      chosen.push_back(match);
    }
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Match& a, const Match& b) { return a.begin < b.begin; });
  return chosen;
}

}  // namespace

AddedTokens index_added_tokens(const Vocabulary& vocabulary) {
  AddedTokens added;
  added.roots.fill(-1);
  for (std::size_t id = 0; id < vocabulary.kinds.size() && id < vocabulary.tokens.size(); ++id) {
    const TokenKind kind = vocabulary.kinds[id];
    const bool needs_special = kind == TokenKind::Control || kind == TokenKind::Unknown;
    if (!needs_special && kind != TokenKind::UserDefined) continue;
    if (vocabulary.tokens[id].empty()) continue;
    insert(added, vocabulary.tokens[id], static_cast<std::int32_t>(id), needs_special);
  }
  return added;
}

std::vector<Piece> cut_added_tokens(const AddedTokens& added, std::string_view text,
                                    bool parse_special) {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  for (const Match& match : choose_matches(added, text, parse_special)) {
    if (match.begin > done) pieces.push_back({text.substr(done, match.begin - done), -1});
    pieces.push_back({text.substr(match.begin, match.length), match.token});
    done = match.begin + match.length;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), -1});
  return pieces;
}

}  // namespace luminal::text
