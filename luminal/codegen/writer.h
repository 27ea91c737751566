// SPDX-License-Identifier: MIT OR Apache-2.0
// Lines of C with indentation, and fresh names.
#pragma once

#include "luminal/base/cat.h"

#include <string>

namespace luminal::codegen {

class Writer {
 public:
  template <class... Parts>
  void line(const Parts&... parts) {
    text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    text_ += cat(parts...);
    text_ += '\n';
  }
  /// A line that opens a block; close() ends it.
  template <class... Parts>
  void open(const Parts&... parts) {
    line(parts..., " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  /// A name that has not been given yet.
  std::string fresh(const char* prefix) { return cat(prefix, count_++); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
  int count_ = 0;
};

}  // namespace luminal::codegen
