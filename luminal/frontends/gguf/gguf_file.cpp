// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/frontends/gguf/gguf_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace luminal::gguf {
namespace {

constexpr int kMaxAxes = 4;

struct TypeRow {
  std::string_view name;
  std::size_t bytes;  // 0: String, Array
};
constexpr TypeRow kValueTypes[] = {{"u8", 1},  {"i8", 1},   {"u16", 2},    {"i16", 2},   {"u32", 4},
                                   {"i32", 4}, {"f32", 4},  {"bool", 1},   {"string", 0}, {"array", 0},
                                   {"u64", 8}, {"i64", 8},  {"f64", 8}};

const TypeRow& row(ValueType type) { return kValueTypes[static_cast<std::size_t>(type)]; }

template <class T>
T load(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::optional<std::int64_t> as_integer(ValueType type, std::span<const std::byte> at) {
  switch (type) {
    case ValueType::U8: case ValueType::Bool: return load<std::uint8_t>(at);
    case ValueType::I8: return load<std::int8_t>(at);
    case ValueType::U16: return load<std::uint16_t>(at);
    case ValueType::I16: return load<std::int16_t>(at);
    case ValueType::U32: return load<std::uint32_t>(at);
    case ValueType::I32: return load<std::int32_t>(at);
    case ValueType::I64: return load<std::int64_t>(at);
    case ValueType::U64: {
      const auto value = load<std::uint64_t>(at);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default: return std::nullopt;
  }
}

std::optional<double> as_number(ValueType type, std::span<const std::byte> at) {
  if (type == ValueType::F32) return load<float>(at);
  if (type == ValueType::F64) return load<double>(at);
  if (type == ValueType::Bool) return std::nullopt;
  const auto integer = as_integer(type, at);
  if (!integer) return std::nullopt;
  return static_cast<double>(*integer);
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// Walks the file; every step checks what is left.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, GgufFile& file) : bytes_(bytes), file_(file) {}

  Status run() {
    LUM_RETURN_IF_ERROR(read_head());
    for (std::uint64_t k = 0; k < pairs_; ++k) LUM_RETURN_IF_ERROR(read_pair());
    LUM_RETURN_IF_ERROR(read_alignment());
    for (std::uint64_t k = 0; k < tensors_; ++k) LUM_RETURN_IF_ERROR(read_tensor());
    const std::uint64_t start = (at_ + alignment_ - 1) / alignment_ * alignment_;
    // A file without tensors may end at once.
    file_.data_ = start <= bytes_.size() ? bytes_.subspan(start) : std::span<const std::byte>();
    return check_places();
  }

 private:
  template <class... Parts>
  Error failure(const Parts&... parts) const {
    return error(file_.name_, ": ", parts..., " (at byte ", at_, " of ", bytes_.size(), ")");
  }
  std::uint64_t left() const { return bytes_.size() - at_; }

  Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what) {
    if (count > left()) return failure("the file ends inside of ", what);
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  template <class T>
  Result<T> take_number(std::string_view what) {
    LUM_ASSIGN_OR_RETURN(const auto part, take(sizeof(T), what));
    return load<T>(part);
  }
  Result<std::span<const std::byte>> take_string(std::string_view what) {
    LUM_ASSIGN_OR_RETURN(const auto length, take_number<std::uint64_t>(what));
    return take(length, what);
  }

  Status read_head() {
    if (bytes_.size() < 4 || text_of(bytes_.first(4)) != "GGUF")
      return error(file_.name_, ": not a GGUF file (it does not begin with 'GGUF')");
    at_ = 4;
    LUM_ASSIGN_OR_RETURN(file_.version_, take_number<std::uint32_t>("the version"));
    if ((file_.version_ & 0xffff) == 0)
      return failure("a big-endian file; convert it to little-endian (gguf_convert_endian of the gguf package)");
    if (file_.version_ != 2 && file_.version_ != 3)
      return failure("GGUF version ", file_.version_, "; versions 2 and 3 are supported");
    LUM_ASSIGN_OR_RETURN(tensors_, take_number<std::uint64_t>("the number of tensors"));
    LUM_ASSIGN_OR_RETURN(pairs_, take_number<std::uint64_t>("the number of metadata values"));
    // The shortest pair takes 13 bytes, the shortest tensor 24.
    if (pairs_ > left() / 13) return failure(pairs_, " metadata values do not fit into the file");
    if (tensors_ > left() / 24) return failure(tensors_, " tensors do not fit into the file");
    return {};
  }

  Status skip_strings(std::uint64_t count, const std::string& key) {
    if (count > left() / 8) return failure(key, ": ", count, " strings do not fit into the file");
    for (std::uint64_t k = 0; k < count; ++k) LUM_RETURN_IF_ERROR(take_string(key));
    return {};
  }

  Result<ValueType> take_type(const std::string& key) {
    LUM_ASSIGN_OR_RETURN(const auto type, take_number<std::uint32_t>(key));
    if (type >= std::size(kValueTypes)) return failure(key, ": value type ", type, " is not known");
    return static_cast<ValueType>(type);
  }

  Status read_array(const std::string& key, Metadata& value) {
    LUM_ASSIGN_OR_RETURN(value.element, take_type(key));
    LUM_ASSIGN_OR_RETURN(value.count, take_number<std::uint64_t>(key));
    if (value.element == ValueType::Array) return failure(key, ": arrays of arrays are not supported");
    const std::uint64_t begin = at_;
    if (value.element == ValueType::String) {
      LUM_RETURN_IF_ERROR(skip_strings(value.count, key));
      value.data = bytes_.subspan(begin, at_ - begin);
      return {};
    }
    const std::size_t width = row(value.element).bytes;
    if (value.count > left() / width)
      return failure(key, ": ", value.count, " elements do not fit into the file");
    LUM_ASSIGN_OR_RETURN(value.data, take(value.count * width, key));
    return {};
  }

  Status read_pair() {
    LUM_ASSIGN_OR_RETURN(const auto key_bytes, take_string("a metadata key"));
    const std::string key = text_of(key_bytes);
    if (key.empty()) return failure("an empty metadata key");
    Metadata value;
    LUM_ASSIGN_OR_RETURN(value.type, take_type(key));
    if (value.type == ValueType::Array) {
      LUM_RETURN_IF_ERROR(read_array(key, value));
    } else if (value.type == ValueType::String) {
      LUM_ASSIGN_OR_RETURN(value.data, take_string(key));
    } else {
      LUM_ASSIGN_OR_RETURN(value.data, take(row(value.type).bytes, key));
    }
    if (!file_.metadata_.emplace(key, value).second) return failure("metadata key ", key, " occurs twice");
    return {};
  }

  Status read_alignment() {
    if (!file_.has("general.alignment")) return {};
    LUM_ASSIGN_OR_RETURN(const std::int64_t value, file_.integer("general.alignment"));
    if (value < 1 || value > (std::int64_t{1} << 30) || (value & (value - 1)) != 0)
      return failure("general.alignment is ", value, ", a power of two expected");
    alignment_ = static_cast<std::uint64_t>(value);
    return {};
  }

  Status read_shape(TensorInfo& tensor) {
    LUM_ASSIGN_OR_RETURN(const auto rank, take_number<std::uint32_t>("a tensor's rank"));
    if (rank > kMaxAxes) return failure("tensor ", tensor.name, ": ", rank, " axes, at most 4 expected");
    tensor.elements = 1;
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
      LUM_ASSIGN_OR_RETURN(const auto extent, take_number<std::uint64_t>("a tensor's shape"));
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
          __builtin_mul_overflow(tensor.elements, static_cast<std::int64_t>(extent), &tensor.elements))
        return failure("tensor ", tensor.name, ": the shape overflows");
      tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
    }
    return {};
  }

  Status read_tensor() {
    TensorInfo tensor;
    LUM_ASSIGN_OR_RETURN(const auto name, take_string("a tensor's name"));
    tensor.name = text_of(name);
    if (tensor.name.empty()) return failure("a tensor without a name");
    LUM_RETURN_IF_ERROR(read_shape(tensor));
    LUM_ASSIGN_OR_RETURN(const auto type, take_number<std::uint32_t>("a tensor's type"));
    LUM_ASSIGN_OR_RETURN(tensor.offset, take_number<std::uint64_t>("a tensor's offset"));
    tensor.type = tensor_type(type);
    if (tensor.type == nullptr)
      return failure("tensor ", tensor.name, ": type ", type, " is not known or retired; convert the model anew");
    const std::int64_t row_elements = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (row_elements % tensor.type->block != 0)
      return failure("tensor ", tensor.name, ": rows of ", row_elements, " elements, a multiple of ",
                     tensor.type->block, " expected for ", tensor.type->name);
    if (__builtin_mul_overflow(tensor.elements / tensor.type->block, tensor.type->block_bytes, &tensor.bytes))
      return failure("tensor ", tensor.name, ": the size overflows");
    if (tensor.offset % alignment_ != 0)
      return failure("tensor ", tensor.name, ": offset ", tensor.offset, " is not a multiple of ", alignment_);
    if (!file_.tensor_numbers_.emplace(tensor.name, file_.tensors_.size()).second)
      return failure("tensor ", tensor.name, " occurs twice");
    file_.tensors_.push_back(std::move(tensor));
    return {};
  }

  Status check_places() const {
    const std::uint64_t size = file_.data_.size();
    for (const TensorInfo& tensor : file_.tensors_)
      if (tensor.offset > size || static_cast<std::uint64_t>(tensor.bytes) > size - tensor.offset)
        return error(file_.name_, ": tensor ", tensor.name, " ends at byte ", tensor.offset, " + ", tensor.bytes,
                     " of ", size, " bytes of data; the file is cut off, fetch it again");
    return {};
  }

  std::span<const std::byte> bytes_;
  GgufFile& file_;
  std::uint64_t at_ = 0, pairs_ = 0, tensors_ = 0, alignment_ = 32;
};

Result<GgufFile> GgufFile::open(const std::string& path) {
  LUM_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  LUM_ASSIGN_OR_RETURN(GgufFile file, parse(mapped.bytes(), path));
  file.file_ = std::move(mapped);
  return file;
}

Result<GgufFile> GgufFile::parse(std::span<const std::byte> bytes, std::string name) {
  GgufFile file;
  file.name_ = std::move(name);
  LUM_RETURN_IF_ERROR(Reader(bytes, file).run());
  return file;
}

Result<const Metadata*> GgufFile::find(std::string_view key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return error(name_, ": there is no metadata key ", key);
  return &found->second;
}

Result<std::int64_t> GgufFile::integer(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  const auto integer = as_integer(value->type, value->data);
  if (!integer) return error(name_, ": ", key, " is ", metadata_type_name(*value), ", an integer expected");
  return *integer;
}

Result<double> GgufFile::number(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  const auto number = as_number(value->type, value->data);
  if (!number) return error(name_, ": ", key, " is ", metadata_type_name(*value), ", a number expected");
  return *number;
}

Result<bool> GgufFile::boolean(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const std::int64_t value, integer(key));
  return value != 0;
}

Result<std::string> GgufFile::string(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  if (value->type != ValueType::String)
    return error(name_, ": ", key, " is ", metadata_type_name(*value), ", a string expected");
  return text_of(value->data);
}

namespace {

// The strings of an array; the reader has checked their lengths.
std::vector<std::string> split_strings(const Metadata& value, std::uint64_t most) {
  std::vector<std::string> strings;
  std::span<const std::byte> rest = value.data;
  for (std::uint64_t k = 0; k < std::min(value.count, most); ++k) {
    const auto length = load<std::uint64_t>(rest);
    strings.push_back(text_of(rest.subspan(8, length)));
    rest = rest.subspan(8 + length);
  }
  return strings;
}

}  // namespace

Result<std::vector<std::string>> GgufFile::strings(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  if (value->type != ValueType::Array || value->element != ValueType::String)
    return error(name_, ": ", key, " is ", metadata_type_name(*value), ", an array of strings expected");
  return split_strings(*value, value->count);
}

Result<std::vector<std::int64_t>> GgufFile::integers(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  std::vector<std::int64_t> out;
  const std::size_t width = value->type == ValueType::Array ? row(value->element).bytes : 0;
  for (std::uint64_t k = 0; width != 0 && k < value->count; ++k) {
    const auto number = as_integer(value->element, value->data.subspan(k * width, width));
    if (!number) break;
    out.push_back(*number);
  }
  if (width == 0 || out.size() != value->count)
    return error(name_, ": ", key, " is ", metadata_type_name(*value), ", an array of integers expected");
  return out;
}

Result<std::vector<double>> GgufFile::numbers(std::string_view key) const {
  LUM_ASSIGN_OR_RETURN(const Metadata* value, find(key));
  std::vector<double> out;
  const std::size_t width = value->type == ValueType::Array ? row(value->element).bytes : 0;
  for (std::uint64_t k = 0; width != 0 && k < value->count; ++k) {
    const auto number = as_number(value->element, value->data.subspan(k * width, width));
    if (!number) break;
    out.push_back(*number);
  }
  if (width == 0 || out.size() != value->count)
    return error(name_, ": ", key, " is ", metadata_type_name(*value), ", an array of numbers expected");
  return out;
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto found = tensor_numbers_.find(name);
  return found == tensor_numbers_.end() ? nullptr : &tensors_[found->second];
}

Result<const TensorInfo*> GgufFile::tensor(std::string_view name) const {
  const TensorInfo* found = find_tensor(name);
  if (found == nullptr) return error(name_, ": there is no tensor ", name);
  return found;
}

std::span<const std::byte> GgufFile::bytes(const TensorInfo& tensor) const {
  return data_.subspan(tensor.offset, static_cast<std::size_t>(tensor.bytes));
}

std::string metadata_type_name(const Metadata& value) {
  if (value.type != ValueType::Array) return std::string(row(value.type).name);
  return cat("array of ", row(value.element).name);
}

namespace {

std::string scalar_text(ValueType type, std::span<const std::byte> at) {
  if (type == ValueType::Bool) return load<std::uint8_t>(at) != 0 ? "true" : "false";
  if (type == ValueType::U64) return std::to_string(load<std::uint64_t>(at));
  if (type == ValueType::F32 || type == ValueType::F64) return cat(*as_number(type, at));
  return std::to_string(*as_integer(type, at));
}

std::string cut(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string shown = text.substr(0, kMost);
  for (char& letter : shown)
    if (static_cast<unsigned char>(letter) < 0x20) letter = ' ';
  return text.size() <= kMost ? shown : cat(shown, ".. (", text.size(), " bytes)");
}

}  // namespace

std::string metadata_text(const Metadata& value) {
  if (value.type == ValueType::String) return cut(text_of(value.data));
  if (value.type != ValueType::Array) return scalar_text(value.type, value.data);
  constexpr std::uint64_t kShown = 4;
  std::string text = "[";
  if (value.element == ValueType::String) {
    for (const std::string& part : split_strings(value, kShown)) text += cat(text.size() > 1 ? ", " : "", cut(part));
  } else {
    const std::size_t width = row(value.element).bytes;
    for (std::uint64_t k = 0; k < std::min(value.count, kShown); ++k)
      text += cat(k > 0 ? ", " : "", scalar_text(value.element, value.data.subspan(k * width, width)));
  }
  if (value.count > kShown) text += cat(", .. (", value.count, ")");
  return text + "]";
}

}  // namespace luminal::gguf
