// SPDX-License-Identifier: MIT OR Apache-2.0
// Element types, one row each. Everything else reads the row: sizes, names, conversion, C spelling.
// Sub-byte types are bit fields: they lie in memory at bit offsets (layouts of Inputs), never alone in a byte
// unless a layout says so. F8E8M0 is a power-of-two scale without sign; F6/F4 have no infinities and no NaN.
//
//   dtype_info(DType::F16).bits == 16;   decode(DType::F16, 0x3c00) == 1.0;   encode(DType::F16, 1.0) == 0x3c00
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace luminal::ir {

enum class NumberKind : std::uint8_t { Float, Signed, Unsigned, Bool };

/// What the top exponent of a float format encodes.
enum class Specials : std::uint8_t {
  None,      ///< only finite numbers; encode saturates
  Ieee,      ///< infinities and NaN
  NanOnly,   ///< "fn" formats: all ones is NaN, no infinities; too large values become NaN
};

//        enum      text      bits kind      exp man bias  specials  stored C type
#define LUM_DTYPES(ROW)                                                \
  ROW(F64, "f64", 64, Float, 11, 52, 1023, Ieee, "double")             \
  ROW(F32, "f32", 32, Float, 8, 23, 127, Ieee, "float")                \
  ROW(F16, "f16", 16, Float, 5, 10, 15, Ieee, "unsigned short")        \
  ROW(BF16, "bf16", 16, Float, 8, 7, 127, Ieee, "unsigned short")      \
  ROW(F8E4M3FN, "f8e4m3fn", 8, Float, 4, 3, 7, NanOnly, "unsigned char") \
  ROW(F8E5M2, "f8e5m2", 8, Float, 5, 2, 15, Ieee, "unsigned char")     \
  ROW(F8E8M0, "f8e8m0", 8, Float, 8, 0, 127, NanOnly, "unsigned char") \
  ROW(F6E2M3, "f6e2m3", 6, Float, 2, 3, 1, None, "unsigned char")      \
  ROW(F6E3M2, "f6e3m2", 6, Float, 3, 2, 3, None, "unsigned char")      \
  ROW(F4E2M1, "f4e2m1", 4, Float, 2, 1, 1, None, "unsigned char")      \
  ROW(I64, "i64", 64, Signed, 0, 0, 0, None, "long")                   \
  ROW(I32, "i32", 32, Signed, 0, 0, 0, None, "int")                    \
  ROW(I16, "i16", 16, Signed, 0, 0, 0, None, "short")                  \
  ROW(I8, "i8", 8, Signed, 0, 0, 0, None, "signed char")               \
  ROW(I4, "i4", 4, Signed, 0, 0, 0, None, "signed char")               \
  ROW(U64, "u64", 64, Unsigned, 0, 0, 0, None, "unsigned long")        \
  ROW(U32, "u32", 32, Unsigned, 0, 0, 0, None, "unsigned int")         \
  ROW(U16, "u16", 16, Unsigned, 0, 0, 0, None, "unsigned short")       \
  ROW(U8, "u8", 8, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U7, "u7", 7, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U6, "u6", 6, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U5, "u5", 5, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U4, "u4", 4, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U3, "u3", 3, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U2, "u2", 2, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(U1, "u1", 1, Unsigned, 0, 0, 0, None, "unsigned char")           \
  ROW(Bool, "bool", 8, Bool, 0, 0, 0, None, "unsigned char")

enum class DType : std::uint8_t {
#define LUM_ROW(id, ...) id,
  LUM_DTYPES(LUM_ROW)
#undef LUM_ROW
};

struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as `.lum` text, Python and messages spell it
  int bits;               ///< width of the field in memory
  NumberKind kind;
  int exponent_bits, mantissa_bits, bias;  ///< Float only
  Specials specials;
  std::string_view c_type;  ///< the C type that holds one element's bits when it stands alone
};

inline constexpr std::array kDTypes = {
#define LUM_ROW(id, name, bits, kind, exponent, mantissa, bias, specials, c) \
  DTypeInfo{DType::id, name, bits, NumberKind::kind, exponent, mantissa, bias, Specials::specials, c},
    LUM_DTYPES(LUM_ROW)
#undef LUM_ROW
};

constexpr const DTypeInfo& dtype_info(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
constexpr std::string_view dtype_name(DType dtype) { return dtype_info(dtype).name; }
constexpr bool is_float(DType dtype) { return dtype_info(dtype).kind == NumberKind::Float; }
constexpr bool is_integer(DType dtype) {
  return dtype_info(dtype).kind == NumberKind::Signed ||
         dtype_info(dtype).kind == NumberKind::Unsigned;
}
constexpr int dtype_bits(DType dtype) { return dtype_info(dtype).bits; }
/// Bytes of one element when elements stand alone in memory (sub-byte types take a byte).
constexpr int dtype_bytes(DType dtype) { return (dtype_info(dtype).bits + 7) / 8; }

/// The dtype of that name, if there is one.
std::optional<DType> dtype_of_name(std::string_view name);

/// The number that the low bits of `bits` stand for. Exact for every type but I64 and U64 (use decode_integer).
double decode(DType dtype, std::uint64_t bits);
/// The nearest number of the type, ties to even mantissas; floats overflow as Specials says (F8E5M2, F16, BF16
/// and F32 to infinity). Integers: truncated towards zero, then wrapped; a NaN or infinity gives 0 (Cast saturates
/// first where its documentation says so). F8E8M0: nearest power of two, ties up, at least 2^-127; NaN for negatives
/// and zero, as ml-dtypes. A NaN keeps its sign and becomes the quiet one without payload; +0 in F6 and F4, which have
/// none (ml-dtypes: a zero whose sign depends on the NaN's, which hardware leaves open).
std::uint64_t encode(DType dtype, double number);

/// Integers and Bool, sign-extended or zero-extended to 64 bits. U64 keeps its bit pattern.
std::int64_t decode_integer(DType dtype, std::uint64_t bits);
/// The low bits of `number`, wrapped to the type; Bool: number != 0.
std::uint64_t encode_integer(DType dtype, std::int64_t number);

}  // namespace luminal::ir
