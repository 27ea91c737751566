// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/tokenizer.h"

#include "luminal/text/small_vocabulary_for_test.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace luminal::text {
namespace {

using Ids = std::vector<std::int32_t>;

Tokenizer small(bool prefix = false) {
  Vocabulary v = small_vocabulary();
  v.add_space_prefix = prefix;
  return make_tokenizer(std::move(v)).value();
}

Ids ids(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {false, false}) {
  return encode(tokenizer, text, options).value();
}

std::string failure(const Vocabulary& v) {
  auto made = make_tokenizer(v);
  return made.ok() ? "no error" : made.error().message;
}

TEST(Tokenizer, highest_score_joins_first) {
  const Tokenizer t = small();
  EXPECT_EQ(ids(t, "abc"), (Ids{270}));  // ab, then abc
  EXPECT_EQ(ids(t, "aabcb"), (Ids{260, 270, 261}));
  EXPECT_EQ(ids(t, "bcbc"), (Ids{269, 269}));
  EXPECT_EQ(ids(t, "ccccccc"), (Ids{275, 274, 262}));  // ties from the left
  EXPECT_EQ(ids(t, ""), (Ids{}));
}

TEST(Tokenizer, spaces_and_the_added_space) {
  EXPECT_EQ(ids(small(), "a b"), (Ids{260, 259, 261}));
  EXPECT_EQ(ids(small(), " ab"), (Ids{272}));
  const Tokenizer prefixed = small(true);
  EXPECT_EQ(ids(prefixed, "ab"), (Ids{272}));
  EXPECT_EQ(ids(prefixed, " ab"), (Ids{259, 272}));
  // Also after an added token, not otherwise; not for an empty text.
  EXPECT_EQ(ids(prefixed, "\nab"), (Ids{276, 272}));
  EXPECT_EQ(ids(prefixed, "ab\n"), (Ids{272, 276}));
  EXPECT_EQ(ids(prefixed, ""), (Ids{}));
}

TEST(Tokenizer, characters_without_a_token_become_bytes) {
  const Tokenizer t = small();
  EXPECT_EQ(ids(t, "é"), (Ids{267}));
  EXPECT_EQ(ids(t, "è"), (Ids{3 + 0xc3, 3 + 0xa8}));
  EXPECT_EQ(ids(t, "a😀b"), (Ids{260, 3 + 0xf0, 3 + 0x9f, 3 + 0x98, 3 + 0x80, 261}));
  // Bytes that are no UTF-8 stay alone: what follows keeps its own tokens.
  EXPECT_EQ(ids(t,
                "\xe3\x81"
                "ab"),
            (Ids{3 + 0xe3, 3 + 0x81, 268}));
  EXPECT_EQ(ids(t, "\xff"), (Ids{3 + 0xff}));
}

TEST(Tokenizer, plain_text_never_becomes_a_control_or_byte_token) {
  const Tokenizer t = small();
  // "<s" + ">" are a token together: the control token <s>.
  EXPECT_EQ(ids(t, "<s>"), (Ids{273, 265}));
  EXPECT_EQ(ids(t, "<s>", {false, true}), (Ids{1}));
  EXPECT_EQ(ids(t, "<0x41>").size(), 6u);
  EXPECT_EQ(ids(t, "<0x41>", {false, true}).size(), 6u);
  EXPECT_EQ(ids(t, "a<end_of_turn>\n\n\n\nb", {false, true}), (Ids{260, 279, 278, 276, 261}));
}

TEST(Tokenizer, bos_and_eos_by_the_flags_of_the_file) {
  Vocabulary v = small_vocabulary();
  v.add_space_prefix = false;
  EXPECT_EQ(ids(make_tokenizer(v).value(), "a", {}), (Ids{1, 260}));  // the model's default
  EXPECT_EQ(ids(make_tokenizer(v).value(), "", {}), (Ids{1}));
  EXPECT_EQ(ids(make_tokenizer(v).value(), "<s>a", {true, true}), (Ids{1, 260}));  // no second one
  v.add_eos = true;
  EXPECT_EQ(ids(make_tokenizer(v).value(), "a", {}), (Ids{1, 260, 2}));
  v.add_bos = false;
  EXPECT_EQ(ids(make_tokenizer(v).value(), "a", {}), (Ids{260, 2}));
  v.bos = 260;
  v.add_bos = true;
  EXPECT_EQ(ids(make_tokenizer(v).value(), "b", {}), (Ids{260, 261, 2}));
}

TEST(Tokenizer, without_byte_tokens_the_unknown_token_stands_once_for_a_run) {
  Vocabulary v;
  v.model = "llama";
  v.add_space_prefix = v.add_bos = false;
  add_token(v, "<unk>", 0, TokenKind::Unknown);
  add_token(v, "a", 0, TokenKind::Normal);
  EXPECT_EQ(ids(make_tokenizer(v).value(), "axyaz"), (Ids{1, 0, 1, 0}));
  v.kinds[0] = TokenKind::Normal;
  v.unknown = 0;
  EXPECT_EQ(ids(make_tokenizer(v).value(), "x"), (Ids{0}));
  v.model = "llama";
  v.tokens = {"a"}, v.scores = {0}, v.kinds = {TokenKind::Normal}, v.unknown = {};
  v.add_bos = false;
  // The default id 0 is a normal token here, and is taken as the file's unknown token.
  EXPECT_EQ(ids(make_tokenizer(v).value(), "x"), (Ids{0}));
}

TEST(Tokenizer, decode_gives_the_text_back) {
  std::mt19937 random(11);
  for (const bool prefix : {false, true}) {
    const Tokenizer t = small(prefix);
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      for (std::size_t n = random() % 20; n > 0; --n) {
        const auto kind = random() % 4;
        if (kind == 0) text += static_cast<char>(11 + random() % 245);  // mostly not UTF-8
        if (kind == 1) text += "abc <>/s"[random() % 8];
        if (kind == 2) text += "é日😀";
        if (kind == 3 && !prefix) text += "\n\n";
      }
      const Ids encoded = encode(t, text).value();
      ASSERT_EQ(decode(t, encoded).value(), text) << "round " << round;
    }
  }
}

TEST(Tokenizer, decode_leaves_control_tokens_out_unless_asked) {
  const Tokenizer t = small(true);
  const Ids some{1, 272, 279, 276, 3 + 'x'};
  EXPECT_EQ(decode(t, some).value(), "ab\nx");
  EXPECT_EQ(decode(t, some, {.special = true}).value(), "<s>ab<end_of_turn>\nx");
  EXPECT_EQ(decode(t, some, {.drop_added_space = false}).value(), " ab\nx");
  EXPECT_EQ(decode(t, Ids{280}).error().message, "token 280: the vocabulary has 280 tokens");
  EXPECT_EQ(decode(t, Ids{-1}).error().message, "token -1: the vocabulary has 280 tokens");
}

TEST(Tokenizer, end_tokens) {
  Vocabulary v = small_vocabulary();
  EXPECT_EQ(make_tokenizer(v).value().end_tokens, (Ids{2, 279}));
  v.eos = 260;
  v.eot = 261;
  v.fim_pad = 262;
  v.kinds[2] = TokenKind::UserDefined;  // </s> as HTML
  EXPECT_EQ(make_tokenizer(v).value().end_tokens, (Ids{260, 261, 262, 279}));
  EXPECT_TRUE(is_end_token(make_tokenizer(v).value(), 261));
  EXPECT_FALSE(is_end_token(make_tokenizer(v).value(), 2));
  for (const char* text : {"<|end|>", "<|return|>"}) add_token(v, text, 0, TokenKind::Control);
  EXPECT_TRUE(is_end_token(make_tokenizer(v).value(), 280));
  add_token(v, "<|call|>", 0, TokenKind::Control);
  EXPECT_FALSE(is_end_token(make_tokenizer(v).value(), 280));  // gpt-oss
  EXPECT_TRUE(is_end_token(make_tokenizer(v).value(), 282));
}

TEST(Tokenizer, refuses_what_it_cannot_do_by_name) {
  Vocabulary v = small_vocabulary();
  v.model = "gpt2";
  EXPECT_EQ(failure(v),
            "tokenizer model \"gpt2\" is not supported; supported: llama (SentencePiece "
            "byte-pair encoding)");
  v.model = "";
  EXPECT_EQ(failure(v).substr(0, 37), "tokenizer model \"\" is not supported; ");
}

TEST(Tokenizer, refuses_damaged_vocabularies) {
  const Vocabulary good = small_vocabulary();
  Vocabulary v = good;
  v.tokens.clear(), v.scores.clear(), v.kinds.clear();
  EXPECT_EQ(failure(v), "tokenizer: the vocabulary is empty; the file has no tokens");
  v = good, v.scores.pop_back();
  EXPECT_EQ(failure(v), "tokenizer: 279 scores for 280 tokens");
  v = good, v.kinds.pop_back();
  EXPECT_EQ(failure(v), "tokenizer: 279 token types for 280 tokens");
  v = good, v.tokens[261] = "a";
  EXPECT_EQ(failure(v), "tokenizer: tokens 260 and 261 are both \"a\"; the model file is damaged");
  v = good, v.scores[260] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(failure(v).substr(0, 51), "tokenizer: the score of token 260 (\"a\") is not a nu");
  v = good, v.eot = 280;
  EXPECT_EQ(failure(v), "tokenizer: eot token id 280: the vocabulary has 280 tokens");
  v = good, v.bos = -7;
  EXPECT_EQ(failure(v), "tokenizer: bos token id -7: the vocabulary has 280 tokens");
  v = good;
  v.tokens[5].clear(), v.tokens[6].clear();  // empty tokens match nothing and are no duplicates
  EXPECT_EQ(failure(v), "no error");
}

TEST(Tokenizer, long_runs_take_no_quadratic_time) {
  const Tokenizer t = small();
  EXPECT_EQ(ids(t, std::string(1 << 20, 'c')).size(), std::size_t{1} << 18);
  EXPECT_EQ(ids(t, std::string(1 << 20, ' ')).size(), std::size_t{1} << 20);
  EXPECT_EQ(ids(t, std::string(1 << 20, '\n')).size(), (std::size_t{1} << 20) / 3 + 1);
}

}  // namespace
}  // namespace luminal::text
