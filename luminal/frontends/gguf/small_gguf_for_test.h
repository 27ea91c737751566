// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests: writes GGUF files, well formed or not.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::gguf {

class SmallGguf {
 public:
  explicit SmallGguf(std::uint32_t version = 3) : version_(version) {}

  template <class T>
  static std::string raw(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  static std::string text(std::string_view value) {
    return raw<std::uint64_t>(value.size()) + std::string(value);
  }

  /// A metadata value: `type` is the number of its type, `bytes` its encoding.
  void pair(std::string_view key, std::uint32_t type, const std::string& bytes) {
    pairs_ += text(key) + raw(type) + bytes;
    ++pair_count_;
  }
  void number(std::string_view key, std::uint32_t value) { pair(key, 4, raw(value)); }
  void string(std::string_view key, std::string_view value) { pair(key, 8, text(value)); }
  void strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes = raw<std::uint32_t>(8) + raw<std::uint64_t>(values.size());
    for (const std::string& value : values) bytes += text(value);
    pair(key, 9, bytes);
  }
  /// `dims` innermost first, as in the file.
  void tensor(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dims,
              const std::string& bytes) {
    tensors_ += text(name) + raw(static_cast<std::uint32_t>(dims.size()));
    for (std::uint64_t dim : dims) tensors_ += raw(dim);
    tensors_ += raw(type) + raw<std::uint64_t>(data_.size());
    data_ += bytes;
    data_.resize((data_.size() + 31) / 32 * 32, '\0');
    ++tensor_count_;
  }

  std::string write() const {
    std::string file = "GGUF" + raw(version_) + raw(tensor_count_) + raw(pair_count_) + pairs_ + tensors_;
    file.resize((file.size() + 31) / 32 * 32, '\0');
    return file + data_;
  }

 private:
  std::uint32_t version_;
  std::uint64_t tensor_count_ = 0, pair_count_ = 0;
  std::string pairs_, tensors_, data_;
};

}  // namespace luminal::gguf
