// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/detokenizer.h"

#include "luminal/text/small_vocabulary_for_test.h"
#include "luminal/text/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace luminal::text {
namespace {

constexpr std::int32_t kByte = 3;  // the id of <0x00>

TEST(Detokenizer, holds_a_character_back_until_it_is_whole) {
  const Tokenizer t = make_tokenizer(small_vocabulary()).value();
  Detokenizer stream(t);
  EXPECT_EQ(stream.push(260).value(), "a");
  EXPECT_EQ(stream.push(kByte + 0xf0).value(), "");
  EXPECT_EQ(stream.push(kByte + 0x9f).value(), "");
  EXPECT_EQ(stream.push(kByte + 0x98).value(), "");
  EXPECT_EQ(stream.push(kByte + 0x80).value(), "😀");
  EXPECT_EQ(stream.push(272).value(), " ab");
  EXPECT_EQ(stream.push(279).value(), "");  // control
  EXPECT_EQ(stream.finish(), "");
}

TEST(Detokenizer, what_cannot_become_a_character_is_replaced_at_once) {
  const Tokenizer t = make_tokenizer(small_vocabulary()).value();
  Detokenizer stream(t, true);
  EXPECT_EQ(stream.push(kByte + 0xff).value(), "\uFFFD");
  EXPECT_EQ(stream.push(kByte + 0xe3).value(), "");
  EXPECT_EQ(stream.push(260).value(), "\uFFFDa");
  EXPECT_EQ(stream.push(279).value(), "<end_of_turn>");
  EXPECT_EQ(stream.push(kByte + 0xe3).value(), "");
  EXPECT_EQ(stream.push(1000).error().message, "token 1000: the vocabulary has 280 tokens");
  EXPECT_EQ(stream.push(kByte + 0x81).value(), "");
  EXPECT_EQ(stream.push(kByte + 0x82).value(), "あ");
  EXPECT_EQ(stream.push(kByte + 0xc3).value(), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Detokenizer, a_stream_is_the_repaired_text_cut_between_characters) {
  const Tokenizer t = make_tokenizer(small_vocabulary()).value();
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::int32_t> ids;
    for (std::size_t n = random() % 12; n > 0; --n) {
      ids.push_back(static_cast<std::int32_t>(random() % 3 == 0 ? 259 + random() % 21
                                                                : kByte + 0x80 + random() % 0x80));
    }
    Detokenizer stream(t);
    std::string all;
    for (const std::int32_t id : ids) {
      const std::string part = stream.push(id).value();
      ASSERT_EQ(utf8_repair(part), part);
      all += part;
    }
    all += stream.finish();
    ASSERT_EQ(all, utf8_repair(decode(t, ids, {.drop_added_space = false}).value()));
  }
}

}  // namespace
}  // namespace luminal::text
