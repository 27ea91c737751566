// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/ir/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace luminal::ir {
namespace {

constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;
constexpr std::uint64_t kDoubleFraction = (std::uint64_t{1} << kDoubleMantissa) - 1;

constexpr std::uint64_t low_mask(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kDoubleBias)
                               << kDoubleMantissa);
}

double decode_small_float(const DTypeInfo& info, std::uint64_t code) {
  const int man = info.mantissa_bits;
  const std::uint64_t top = low_mask(info.exponent_bits);
  const std::uint64_t fraction = code & low_mask(man);
  const std::uint64_t exponent = (code >> man) & top;
  const bool negative = ((code >> (man + info.exponent_bits)) & 1) != 0;
  double magnitude;
  if (info.specials == Specials::Ieee && exponent == top) {
    magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (info.specials == Specials::NanOnly && exponent == top && fraction == low_mask(man)) {
    magnitude = std::nan("");
  } else if (exponent == 0) {
    magnitude = static_cast<double>(fraction) * power_of_two(1 - info.bias - man);
  } else {
    magnitude = std::bit_cast<double>((exponent - info.bias + kDoubleBias) << kDoubleMantissa |
                                      fraction << (kDoubleMantissa - man));
  }
  return negative ? -magnitude : magnitude;
}

/// A scale is a power of two from 2^-127 (code 0) to 2^127; ties go up, too small goes to the
/// smallest.
std::uint64_t encode_scale(double number) {
  constexpr std::uint64_t kNan = 0xff;
  if (!(number > 0) || std::isinf(number)) return kNan;
  if (number < power_of_two(-127)) return 0;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(number);
  const std::uint64_t rounded =
      (bits + (std::uint64_t{1} << (kDoubleMantissa - 1))) >> kDoubleMantissa;
  return std::min<std::uint64_t>(rounded - kDoubleBias + 127, kNan);
}

std::uint64_t encode_small_float(const DTypeInfo& info, double number) {
  const int man = info.mantissa_bits;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(number);
  const std::uint64_t sign = (bits >> 63) << (man + info.exponent_bits);
  const std::uint64_t all_ones = low_mask(man + info.exponent_bits);
  const std::uint64_t infinity = all_ones ^ low_mask(man);  // Ieee only
  if (std::isnan(number)) {
    if (info.specials == Specials::None) return 0;
    if (info.specials == Specials::NanOnly) return sign | all_ones;
    return sign | infinity | std::uint64_t{1} << (man - 1);
  }
  // |number| = significand * 2^(exponent - 52); subnormal doubles are below half of every type
  // here.
  int exponent = static_cast<int>((bits >> kDoubleMantissa) & 0x7ff) - kDoubleBias;
  std::uint64_t significand = bits & kDoubleFraction;
  if (exponent == -kDoubleBias) return sign;
  significand |= std::uint64_t{1} << kDoubleMantissa;
  const int lowest = 1 - info.bias;
  const int shift = kDoubleMantissa - man + std::max(0, lowest - exponent);
  if (shift > kDoubleMantissa + 1) return sign;
  exponent = std::max(exponent, lowest);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t odd = (significand >> shift) & 1;
  const std::uint64_t rounded = (significand + half - 1 + odd) >> shift;
  // A carry out of the fraction lands in the exponent, which is the right code.
  const std::uint64_t code = (static_cast<std::uint64_t>(exponent - lowest) << man) + rounded;
  switch (info.specials) {
    case Specials::Ieee:
      return sign | std::min(code, infinity);
    case Specials::NanOnly:
    case Specials::None:
      return sign | std::min(code, all_ones);
  }
  return sign;
}

/// The integer part of `number` modulo 2^64.
std::uint64_t wrapped_integer(double number) {
  if (!std::isfinite(number)) return 0;
  const double whole = std::trunc(number);
  const double magnitude = std::fmod(std::fabs(whole), 18446744073709551616.0);
  const auto value = static_cast<std::uint64_t>(magnitude);
  return whole < 0 ? 0 - value : value;
}

}  // namespace

std::optional<DType> dtype_of_name(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

double decode(DType dtype, std::uint64_t bits) {
  const DTypeInfo& info = dtype_info(dtype);
  switch (info.kind) {
    case NumberKind::Float:
      break;
    case NumberKind::Unsigned:
      return static_cast<double>(static_cast<std::uint64_t>(decode_integer(dtype, bits)));
    case NumberKind::Signed:
    case NumberKind::Bool:
      return static_cast<double>(decode_integer(dtype, bits));
  }
  if (dtype == DType::F64) return std::bit_cast<double>(bits);
  if (dtype == DType::F32) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  if (dtype == DType::F8E8M0) {
    const int code = static_cast<int>(bits & 0xff);
    return code == 0xff ? std::nan("") : power_of_two(code - info.bias);
  }
  return decode_small_float(info, bits);
}

std::uint64_t encode(DType dtype, double number) {
  const DTypeInfo& info = dtype_info(dtype);
  switch (info.kind) {
    case NumberKind::Float:
      break;
    case NumberKind::Unsigned:
    case NumberKind::Signed:
      return wrapped_integer(number) & low_mask(info.bits);
    case NumberKind::Bool:
      return number != 0 ? 1 : 0;
  }
  if (dtype == DType::F64) return std::bit_cast<std::uint64_t>(number);
  if (dtype == DType::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (dtype == DType::F8E8M0) return encode_scale(number);
  return encode_small_float(info, number);
}

std::int64_t decode_integer(DType dtype, std::uint64_t bits) {
  const DTypeInfo& info = dtype_info(dtype);
  const std::uint64_t field = bits & low_mask(info.bits);
  if (info.kind == NumberKind::Bool) return field != 0 ? 1 : 0;
  if (info.kind != NumberKind::Signed) return static_cast<std::int64_t>(field);
  const int unused = 64 - info.bits;
  return static_cast<std::int64_t>(field << unused) >> unused;
}

std::uint64_t encode_integer(DType dtype, std::int64_t number) {
  const DTypeInfo& info = dtype_info(dtype);
  if (info.kind == NumberKind::Bool) return number != 0 ? 1 : 0;
  return static_cast<std::uint64_t>(number) & low_mask(info.bits);
}

}  // namespace luminal::ir
