// SPDX-License-Identifier: MIT OR Apache-2.0
// A file mapped into memory, read-only. Pages come in as they are touched. A file that another program shortens
// meanwhile ends this one by a signal, as with any mapped file.
//
//   LUM_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open("model.gguf"));
//   std::span<const std::byte> bytes = file.bytes();
#pragma once

#include "luminal/base/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace luminal {

class MappedFile {
 public:
  MappedFile() = default;
  /// Fails when the path cannot be opened or is not a regular file; an empty file has no bytes.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace luminal
