// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/added_tokens.h"

#include "luminal/base/cat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace luminal::text {
namespace {

Vocabulary vocabulary_of(const std::vector<std::string>& user_defined,
                         const std::vector<std::string>& control = {}) {
  Vocabulary v;
  v.tokens = user_defined;
  v.kinds.assign(user_defined.size(), TokenKind::UserDefined);
  for (const std::string& text : control) {
    v.tokens.push_back(text);
    v.kinds.push_back(TokenKind::Control);
  }
  return v;
}

std::string shown(const Vocabulary& v, std::string_view text, bool parse_special = false) {
  std::string out;
  for (const Piece& piece : cut_added_tokens(index_added_tokens(v), text, parse_special)) {
    out += piece.token >= 0 ? cat("[", piece.text, "]|") : cat(piece.text, "|");
    if (piece.token >= 0) {
      EXPECT_EQ(v.tokens[static_cast<std::size_t>(piece.token)], piece.text);
    }
  }
  return out;
}

// llama.cpp's way: each token in turn, longest first, cut out of the plain parts that are left.
std::string shown_by_definition(const Vocabulary& v, const std::string& text) {
  std::vector<std::string> tokens = v.tokens;
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<std::pair<std::string, bool>> parts;
  if (!text.empty()) parts.push_back({text, false});
  for (const std::string& token : tokens) {
    std::vector<std::pair<std::string, bool>> cut;
    for (auto [part, is_token] : parts) {
      for (std::size_t at; !is_token && (at = part.find(token)) != part.npos;) {
        if (at > 0) cut.push_back({part.substr(0, at), false});
        cut.push_back({token, true});
        part = part.substr(at + token.size());
      }
      if (!part.empty()) cut.push_back({part, is_token});
    }
    parts = std::move(cut);
  }
  std::string out;
  for (const auto& [part, is_token] : parts) out += is_token ? cat("[", part, "]|") : part + "|";
  return out;
}

TEST(AddedTokens, longest_first_then_leftmost) {
  const Vocabulary runs = vocabulary_of({"\n", "\n\n", "\n\n\n"});
  EXPECT_EQ(shown(runs, ""), "");
  EXPECT_EQ(shown(runs, "plain"), "plain|");
  EXPECT_EQ(shown(runs, "a\n\n\n\n\nb\n"), "a|[\n\n\n]|[\n\n]|b|[\n]|");
  // The long token wins though the short one begins before it.
  EXPECT_EQ(shown(vocabulary_of({"ab", "bcd"}), "xabcdx"), "xa|[bcd]|x|");
  EXPECT_EQ(shown(vocabulary_of({"ab", "a", "bcd"}), "xabcdx"), "x|[a]|[bcd]|x|");
}

TEST(AddedTokens, control_tokens_only_with_parse_special) {
  const Vocabulary v = vocabulary_of({"<b>"}, {"<end>"});
  EXPECT_EQ(shown(v, "a<b><end>"), "a|[<b>]|<end>|");
  EXPECT_EQ(shown(v, "a<b><end>", true), "a|[<b>]|[<end>]|");
  // A user-defined token inside a control token is cut when the control token is not.
  const Vocabulary inner = vocabulary_of({"end"}, {"<end>"});
  EXPECT_EQ(shown(inner, "<end>"), "<|[end]|>|");
  EXPECT_EQ(shown(inner, "<end>", true), "[<end>]|");
}

TEST(AddedTokens, equal_to_the_definition_on_random_text) {
  std::mt19937 random(7);
  auto letters = [&](std::size_t most) {
    std::string out;
    const std::size_t count = 1 + random() % most;
    while (out.size() < count) out += "abc"[random() % 3];
    return out;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> tokens;
    for (std::size_t length = 1; length <= 6; ++length) {  // one a length: no ties but by place
      if (random() % 2 == 0) continue;
      std::string token;
      while (token.size() < length) token += "abc"[random() % 3];
      tokens.push_back(token);
    }
    const Vocabulary v = vocabulary_of(tokens);
    const std::string text = letters(40);
    ASSERT_EQ(shown(v, text), shown_by_definition(v, text)) << "round " << round << ": " << text;
  }
}

TEST(AddedTokens, a_megabyte_of_one_character_is_cut_in_linear_time) {
  std::vector<std::string> runs;
  for (std::size_t n = 1; n <= 31; ++n) runs.push_back(std::string(n, '\n'));
  const Vocabulary v = vocabulary_of(runs);
  const std::string text(1000003, '\n');
  const auto pieces = cut_added_tokens(index_added_tokens(v), text, false);
  ASSERT_EQ(pieces.size(), 1000003u / 31 + 1);
  EXPECT_EQ(pieces.front().text.size(), 31u);
  EXPECT_EQ(pieces.back().text.size(), 1000003u % 31);
}

}  // namespace
}  // namespace luminal::text
