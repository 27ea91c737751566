// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/types.h"

#include "luminal/base/cat.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace luminal::codegen {

using ir::DType;

Class class_of(DType dtype) {
  if (dtype == DType::F64) return Class::F64;
  if (ir::is_float(dtype)) return Class::F32;
  if (dtype == DType::I64) return Class::I64;
  if (dtype == DType::U64) return Class::U64;
  if (dtype == DType::U32) return Class::U32;
  return Class::I32;
}

const char* c_type(Class c, bool vector) {
  static constexpr const char* kScalar[] = {"float", "double", "int", "uint", "long", "ulong"};
  static constexpr const char* kVector[] = {"f32x16", "f64x16", "i32x16",
                                            "u32x16", "i64x16", "u64x16"};
  return (vector ? kVector : kScalar)[static_cast<int>(c)];
}

char suffix(Class c) { return "fdiulm"[static_cast<int>(c)]; }

std::string literal(DType dtype, std::uint64_t bits) {
  const Class c = class_of(dtype);
  if (c == Class::F32 || c == Class::F64) {
    const double number = ir::decode(dtype, bits);
    const char* cast = c == Class::F32 ? "lum_bits_f(0x" : "lum_bits_d(0x";
    char text[64];
    if (!std::isfinite(number)) {
      const std::uint64_t raw = c == Class::F32
                                    ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                    : std::bit_cast<std::uint64_t>(number);
      std::snprintf(text, sizeof text, "%s%llxu%s)", cast, static_cast<unsigned long long>(raw),
                    c == Class::F32 ? "" : "l");
    } else {
      std::snprintf(text, sizeof text, "(%a%s)", number, c == Class::F32 ? "f" : "");
    }
    return text;
  }
  const std::int64_t number = ir::decode_integer(dtype, bits);
  switch (c) {
    case Class::U32: return cat(static_cast<std::uint32_t>(number), "u");
    case Class::U64: return cat(static_cast<std::uint64_t>(number), "ul");
    case Class::I64:
      return number == INT64_MIN ? "(-9223372036854775807l - 1)" : cat("(", number, "l)");
    default:
      return number == INT32_MIN ? "(-2147483647 - 1)" : cat("(", number, ")");
  }
}

bool narrower_than_class(DType dtype) {
  return dtype != DType::Bool && ir::dtype_bits(dtype) < 32;
}

}  // namespace luminal::codegen
