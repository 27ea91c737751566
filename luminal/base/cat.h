// SPDX-License-Identifier: MIT OR Apache-2.0
// cat(a, b, ..): one string of everything that has an operator<<. For messages and printers.
#pragma once

#include <sstream>
#include <string>

namespace luminal {

template <class... Parts>
std::string cat(const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    return {};
  } else {
    std::ostringstream out;
    (out << ... << parts);
    return std::move(out).str();
  }
}

/// "a, b, c" of a range; `show` turns an element into something printable.
template <class Range, class Show>
std::string join(const Range& range, const char* separator, Show show) {
  std::ostringstream out;
  const char* between = "";
  for (const auto& element : range) {
    out << between << show(element);
    between = separator;
  }
  return std::move(out).str();
}

template <class Range>
std::string join(const Range& range, const char* separator = ", ") {
  return join(range, separator, [](const auto& element) -> const auto& { return element; });
}

}  // namespace luminal
