// SPDX-License-Identifier: MIT OR Apache-2.0
// GGUF files, versions 2 and 3, little-endian (specification: docs/gguf.md of the ggml project). Everything that is
// read is checked first: counts against the bytes that are left, sizes for overflow, offsets against the end, so a
// hostile file costs an error message and no more memory than its own size.
//
//   LUM_ASSIGN_OR_RETURN(GgufFile file, GgufFile::open("model.gguf"));
//   LUM_ASSIGN_OR_RETURN(std::int64_t layers, file.integer("gemma3.block_count"));
//   LUM_ASSIGN_OR_RETURN(const TensorInfo* tensor, file.tensor("token_embd.weight"));
//   file.bytes(*tensor);
#pragma once

#include "luminal/base/mapped_file.h"
#include "luminal/base/result.h"
#include "luminal/frontends/gguf/tensor_types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::gguf {

enum class ValueType : std::uint32_t {
  U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64
};

/// A metadata value. Numbers are held as the file has them, strings and arrays as places in the file.
struct Metadata {
  ValueType type = ValueType::U8;
  ValueType element = ValueType::U8;  ///< Array: of its elements
  std::uint64_t count = 0;            ///< Array: elements
  std::span<const std::byte> data;    ///< number, characters of the string, or elements back to back
};

struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;  ///< outermost first, as PyTorch has it (the file stores the reverse)
  const TensorType* type = nullptr;
  std::uint64_t offset = 0;  ///< from the start of the data section
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

class GgufFile {
 public:
  /// Errors: the file cannot be read, is no GGUF, is of another version or byte order, or is damaged (what and where).
  static Result<GgufFile> open(const std::string& path);
  /// From memory that outlives the result; `name` is for messages.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, std::string name);

  std::uint32_t version() const { return version_; }
  const std::string& name() const { return name_; }
  const std::map<std::string, Metadata, std::less<>>& metadata() const { return metadata_; }
  /// In the order of the file.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  bool has(std::string_view key) const { return metadata_.find(key) != metadata_.end(); }
  /// Errors: the key is missing or holds another kind of value. Integers of any width, and Bool for boolean().
  Result<std::int64_t> integer(std::string_view key) const;
  Result<double> number(std::string_view key) const;  ///< an integer or a float
  Result<bool> boolean(std::string_view key) const;
  Result<std::string> string(std::string_view key) const;
  Result<std::vector<std::string>> strings(std::string_view key) const;
  Result<std::vector<std::int64_t>> integers(std::string_view key) const;
  Result<std::vector<double>> numbers(std::string_view key) const;

  /// Errors: there is no tensor of that name.
  Result<const TensorInfo*> tensor(std::string_view name) const;
  const TensorInfo* find_tensor(std::string_view name) const;
  std::span<const std::byte> bytes(const TensorInfo& tensor) const;

 private:
  friend class Reader;
  Result<const Metadata*> find(std::string_view key) const;

  MappedFile file_;
  std::string name_;
  std::uint32_t version_ = 0;
  std::map<std::string, Metadata, std::less<>> metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::size_t, std::less<>> tensor_numbers_;
  std::span<const std::byte> data_;
};

/// The value as people read it; long arrays and strings are cut to their first part.
std::string metadata_text(const Metadata& value);
/// "u32", "array of string", ..
std::string metadata_type_name(const Metadata& value);

}  // namespace luminal::gguf
