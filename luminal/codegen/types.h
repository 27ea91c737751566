// SPDX-License-Identifier: MIT OR Apache-2.0
// In what C type a value of each dtype is computed. Narrow floats are computed in float and rounded after each
// primitive; narrow integers in int and wrapped; Bool is an int, 0 or 1. Vectors have region::kLanes elements.
#pragma once

#include "luminal/ir/dtype.h"

#include <string>

namespace luminal::codegen {

enum class Class : std::uint8_t { F32, F64, I32, U32, I64, U64 };

Class class_of(ir::DType dtype);
/// "float" or "f32x16".
const char* c_type(Class c, bool vector);
/// "f" "d" "i" "u" "l" "m": the suffix of prelude functions.
char suffix(Class c);
/// A C literal with exactly these bits.
std::string literal(ir::DType dtype, std::uint64_t bits);
/// True when a result of the dtype's class must still be rounded or wrapped to the dtype.
bool narrower_than_class(ir::DType dtype);

}  // namespace luminal::codegen
