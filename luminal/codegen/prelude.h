// SPDX-License-Identifier: MIT OR Apache-2.0
// The C text that every kernel starts with: vector types, and the functions that primitives, casts, loads and stores
// are spelled with, each for scalars and for vectors of 16 lanes (clang's overloadable attribute picks).
//
//   lum_ld_T(base, i)  lum_ldv_T(base, i)        element i of a dense buffer; elements i .. i+15
//   lum_ldg_T(base, g, lane)  lum_ldgv_T(base, g)  a lane, or all lanes, of lane group g (region/layout.h)
//   lum_st_T  lum_stv_T                           stores of values of T's compute class
//   lum_r_T(x)                                    x rounded or wrapped to T
//   lum_enc_T(x) -> bits   lum_dec_T(bits) -> x   as I32, or I64 for 64-bit types
// What it calls in turn are the exact functions of the C library and the helpers named in helpers().
#pragma once

#include <string>
#include <vector>

namespace luminal::codegen {

const std::string& prelude();

/// Functions that kernels call and the back end must provide, as C declarations (math in double, sorting).
const std::string& helper_declarations();

}  // namespace luminal::codegen
