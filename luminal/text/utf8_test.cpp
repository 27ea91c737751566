// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/utf8.h"

#include <gtest/gtest.h>

namespace luminal::text {
namespace {

std::string encode(char32_t point) {
  std::string out;
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | (point >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | (point >> 18));
    tail(12), tail(6), tail(0);
  }
  return out;
}

TEST(Utf8, every_code_point_is_one_character_and_its_prefixes_are_cut_short) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    const std::string bytes = encode(point);
    const Utf8Step step = utf8_step(bytes + "x");
    if (point >= 0xd800 && point <= 0xdfff) {
      ASSERT_EQ(step.kind, Utf8Step::Malformed) << static_cast<unsigned>(point);
      continue;
    }
    ASSERT_EQ(step.kind, Utf8Step::Character) << static_cast<unsigned>(point);
    ASSERT_EQ(step.length, bytes.size());
    for (std::size_t n = 1; n < bytes.size(); ++n) {
      ASSERT_EQ(utf8_step(bytes.substr(0, n)).kind, Utf8Step::CutShort);
      ASSERT_EQ(utf8_cut_short_tail("abc" + bytes.substr(0, n)), n);
    }
    ASSERT_EQ(utf8_cut_short_tail("abc" + bytes), 0u);
  }
}

TEST(Utf8, overlong_surrogate_and_too_large_are_malformed) {
  for (const char* bytes :
       {"\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xff"}) {
    EXPECT_EQ(utf8_step(bytes).kind, Utf8Step::Malformed);
    EXPECT_EQ(utf8_step(bytes).length, 1u);
  }
  EXPECT_EQ(utf8_step("\xe2\x82z").length, 2u);
}

TEST(Utf8, repair_replaces_each_maximal_part_once) {
  EXPECT_EQ(utf8_repair(""), "");
  EXPECT_EQ(utf8_repair("é日😀"), "é日😀");
  // The example of the standard, chapter 3.9, table 3-8.
  EXPECT_EQ(utf8_repair("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(utf8_repair("end\xf0\x9f\x98"), "end\uFFFD");
}

}  // namespace
}  // namespace luminal::text
