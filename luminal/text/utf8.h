// SPDX-License-Identifier: MIT OR Apache-2.0
// UTF-8 by the Unicode standard's table of well-formed sequences (3-7): no overlong forms, no
// surrogates, nothing above U+10FFFF. Text from outside may hold anything; these functions say
// what.
//
//   Utf8Step step = utf8_step("\xc3\xa9t\xc3\xa9");   // {2, Utf8Step::Character}
//   utf8_step("\xe2\x82");                            // {2, Utf8Step::CutShort}
//   utf8_repair("a\xff" "b");                         // "a\uFFFDb"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luminal::text {

struct Utf8Step {
  enum Kind {
    Character,  ///< a whole, well-formed character
    CutShort,   ///< the text ends inside what may become a character
    Malformed,  ///< these bytes can never be part of a character
  };
  std::size_t length;  ///< bytes of the step, at least 1
  Kind kind;
};

/// The first step of `text`, which must not be empty. A malformed step is the longest run of bytes
/// that began like a character ("maximal subpart" in the standard), at least one byte.
Utf8Step utf8_step(std::string_view text);

/// How many bytes at the end of `text` may become a character when more bytes follow: 0 to 3.
std::size_t utf8_cut_short_tail(std::string_view text);

/// `text` with U+FFFD for each malformed or cut short step: always well-formed.
std::string utf8_repair(std::string_view text);

}  // namespace luminal::text
