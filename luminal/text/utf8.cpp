// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/utf8.h"

#include <algorithm>

namespace luminal::text {
namespace {

struct Lead {
  std::size_t length;       // 0: no character starts with this byte
  unsigned char low, high;  // the range of the second byte
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte == 0xe0) return {3, 0xa0, 0xbf};
  if (byte == 0xed) return {3, 0x80, 0x9f};
  if (byte < 0xf0) return {3, 0x80, 0xbf};
  if (byte == 0xf0) return {4, 0x90, 0xbf};
  if (byte < 0xf4) return {4, 0x80, 0xbf};
  if (byte == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

Utf8Step utf8_step(std::string_view text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.length == 0) return {1, Utf8Step::Malformed};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {i, Utf8Step::CutShort};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xbf;
    if (byte < low || byte > high) return {i, Utf8Step::Malformed};
  }
  return {lead.length, Utf8Step::Character};
}

std::size_t utf8_cut_short_tail(std::string_view text) {
  for (std::size_t tail = 1; tail <= std::min<std::size_t>(3, text.size()); ++tail) {
    const Utf8Step step = utf8_step(text.substr(text.size() - tail));
    if (step.kind == Utf8Step::CutShort && step.length == tail) return tail;
  }
  return 0;
}

std::string utf8_repair(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = utf8_step(text);
    if (step.kind == Utf8Step::Character) {
      repaired.append(text.substr(0, step.length));
    } else {
      repaired.append("\xef\xbf\xbd");
    }
    text.remove_prefix(step.length);
  }
  return repaired;
}

}  // namespace luminal::text
