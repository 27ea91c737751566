// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/codegen/prelude.h"

#include "luminal/base/cat.h"
#include "luminal/codegen/types.h"
#include "luminal/ir/polynomials.h"

#include <cmath>

namespace luminal::codegen {
namespace {

using ir::DType;
using ir::DTypeInfo;

constexpr const char* kTypes = R"(
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
#define VEC(T, name) typedef T name __attribute__((ext_vector_type(16))); \
  typedef T name##u __attribute__((ext_vector_type(16), aligned(sizeof(T))));
VEC(float, f32x16) VEC(double, f64x16) VEC(int, i32x16) VEC(uint, u32x16) VEC(long, i64x16) VEC(ulong, u64x16)
VEC(uchar, u8x16) VEC(ushort, u16x16) VEC(signed char, s8x16) VEC(short, s16x16)
typedef int i32x4 __attribute__((ext_vector_type(4))); typedef ulong u64x8 __attribute__((ext_vector_type(8)));
#define FN static inline __attribute__((overloadable, always_inline, unused))
#define ONE static inline __attribute__((always_inline, unused))
#define LANES ((i32x16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#define CVT(x, T) __builtin_convertvector(x, T)
)";

constexpr const char* kIndexMath = R"(
ONE long lum_floordiv(long a, long b) { long q = a / b; return q - (a % b != 0 && (a % b < 0) != (b < 0)); }
ONE long lum_floormod(long a, long b) { long r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
ONE long lum_lmin(long a, long b) { return a < b ? a : b; }
ONE long lum_lmax(long a, long b) { return a > b ? a : b; }
ONE long lum_clamp(long i, long limit) { i = i < limit ? i : limit - 1; return i > 0 ? i : 0; }
ONE float lum_bits_f(uint bits) { union { uint b; float f; } u = {bits}; return u.f; }
ONE double lum_bits_d(ulong bits) { union { ulong b; double d; } u = {bits}; return u.d; }
)";

// Per compute class: select, comparison, maximum, and what is spelled by builtins.
constexpr const char* kScalarMath = R"(
FN int lum_bits(float x) { union { float f; int b; } u = {x}; return u.b; }
FN long lum_bits(double x) { union { double f; long b; } u = {x}; return u.b; }
FN float lum_float(int x) { return lum_bits_f((uint)x); }
FN i32x16 lum_bits(f32x16 x) { union { f32x16 f; i32x16 b; } u = {x}; return u.b; }
FN i64x16 lum_bits(f64x16 x) { union { f64x16 f; i64x16 b; } u = {x}; return u.b; }
FN f32x16 lum_float(i32x16 x) { union { i32x16 b; f32x16 f; } u = {x}; return u.f; }
FN int lum_f2i(float x) { return (int)x; }
FN i32x16 lum_f2i(f32x16 x) { return CVT(x, i32x16); }
FN float lum_i2f(int x) { return (float)x; }
FN f32x16 lum_i2f(i32x16 x) { return CVT(x, f32x16); }
#define SCALAR(T) \
  FN int lum_less(T a, T b) { return a < b; } \
  FN int lum_nonzero(T a) { return a != 0; } \
  FN T lum_select(int m, T a, T b) { return m != 0 ? a : b; }
#define VECTOR(V, M) \
  FN i32x16 lum_less(V a, V b) { return -CVT(a < b, i32x16); } \
  FN i32x16 lum_nonzero(V a) { return -CVT(a != 0, i32x16); } \
  FN V lum_select(i32x16 m, V a, V b) { return CVT(m != 0, M) ? a : b; }
SCALAR(float) SCALAR(double) SCALAR(int) SCALAR(uint) SCALAR(long) SCALAR(ulong)
VECTOR(f32x16, i32x16) VECTOR(f64x16, i64x16) VECTOR(i32x16, i32x16) VECTOR(u32x16, i32x16)
VECTOR(i64x16, i64x16) VECTOR(u64x16, i64x16)
)";

// Maximum: NaN if either is, +0 above -0. The bits of equal operands are and-ed: +0 wins over -0.
constexpr const char* kMaximum = R"(
FN float lum_maximum(float a, float b) {
  return a > b ? a : a < b ? b : a == b ? lum_float(lum_bits(a) & lum_bits(b)) : a + b; }
FN double lum_maximum(double a, double b) {
  return a > b ? a : a < b ? b : a == b ? lum_bits_d((ulong)(lum_bits(a) & lum_bits(b))) : a + b; }
FN f32x16 lum_maximum(f32x16 a, f32x16 b) {
  f32x16 same = lum_float(lum_bits(a) & lum_bits(b));
  f32x16 r = a == b ? same : a + b;
  r = a < b ? b : r;
  return a > b ? a : r; }
FN f64x16 lum_maximum(f64x16 a, f64x16 b) {
  union { i64x16 b; f64x16 f; } same = {lum_bits(a) & lum_bits(b)};
  f64x16 r = a == b ? same.f : a + b;
  r = a < b ? b : r;
  return a > b ? a : r; }
FN int lum_maximum(int a, int b) { return a > b ? a : b; }
FN uint lum_maximum(uint a, uint b) { return a > b ? a : b; }
FN long lum_maximum(long a, long b) { return a > b ? a : b; }
FN ulong lum_maximum(ulong a, ulong b) { return a > b ? a : b; }
FN i32x16 lum_maximum(i32x16 a, i32x16 b) { return a > b ? a : b; }
FN u32x16 lum_maximum(u32x16 a, u32x16 b) { return a > b ? a : b; }
FN i64x16 lum_maximum(i64x16 a, i64x16 b) { return a > b ? a : b; }
FN u64x16 lum_maximum(u64x16 a, u64x16 b) { return a > b ? a : b; }
#define BUILTINS(T) \
  FN T lum_fma(T a, T b, T c) { return __builtin_elementwise_fma(a, b, c); } \
  FN T lum_sqrt(T x) { return __builtin_elementwise_sqrt(x); } \
  FN T lum_recip(T x) { return (T)1 / x; } \
  FN T lum_floor(T x) { return __builtin_elementwise_floor(x); } \
  FN T lum_round(T x) { return __builtin_elementwise_roundeven(x); }
BUILTINS(float) BUILTINS(double) BUILTINS(f32x16) BUILTINS(f64x16)
)";

// What has no vector form: lane by lane.
constexpr const char* kLaneByLane = R"(
FN int lum_intdiv(int a, int b) { return b == 0 ? 0 : b == -1 ? -a : (int)lum_floordiv(a, b); }
FN long lum_intdiv(long a, long b) { return b == 0 ? 0 : b == -1 ? -a : lum_floordiv(a, b); }
FN uint lum_intdiv(uint a, uint b) { return b == 0 ? 0 : a / b; }
FN ulong lum_intdiv(ulong a, ulong b) { return b == 0 ? 0 : a / b; }
FN int lum_mod(int a, int b) { return b == 0 || b == -1 ? 0 : (int)lum_floormod(a, b); }
FN long lum_mod(long a, long b) { return b == 0 || b == -1 ? 0 : lum_floormod(a, b); }
FN uint lum_mod(uint a, uint b) { return b == 0 ? 0 : a % b; }
FN ulong lum_mod(ulong a, ulong b) { return b == 0 ? 0 : a % b; }
#define MOD(T) FN T lum_mod(T x, T y) { T r = lum_fma(-lum_floor(x / y), y, x); \
  return (y < 0 ? r > 0 : r < 0) ? r + y : r; }
MOD(float) MOD(double)
#define MODV(V) FN V lum_mod(V x, V y) { V r = lum_fma(-lum_floor(x / y), y, x); \
  V wrapped = r + y; V up = r < 0 ? wrapped : r; V down = r > 0 ? wrapped : r; return y < 0 ? down : up; }
MODV(f32x16) MODV(f64x16)
#define SHIFT(T, U, BITS) FN T lum_shift(T x, T y) { \
  long n = (long)y; \
  if (y >= 0 && (ulong)y >= BITS) return 0; \
  if (y >= 0) return (T)((U)x << n); \
  return n <= -BITS ? (x < 0 ? (T)-1 : 0) : x >> -n; }
SHIFT(int, uint, 32) SHIFT(long, ulong, 64)
FN uint lum_shift(uint x, uint y) { return y >= 32 ? 0 : x << y; }
FN ulong lum_shift(ulong x, ulong y) { return y >= 64 ? 0 : x << y; }
FN i32x16 lum_shift(i32x16 x, i32x16 y) {
  i32x16 up = y > 31 ? (i32x16)0 : x << (y & 31);
  i32x16 n = -y; n = n > 31 ? (i32x16)31 : n;
  return y >= 0 ? up : x >> (n & 31); }
FN u32x16 lum_shift(u32x16 x, u32x16 y) { return y > 31 ? (u32x16)0 : x << (y & 31); }
#define EACH1(V, T, name) FN V name(V x) { V r; for (int l = 0; l < 16; ++l) r[l] = name((T)x[l]); return r; }
#define EACH2(V, T, name) FN V name(V x, V y) { V r; for (int l = 0; l < 16; ++l) r[l] = name((T)x[l], (T)y[l]); return r; }
EACH2(i64x16, long, lum_shift) EACH2(u64x16, ulong, lum_shift)
EACH2(i32x16, int, lum_intdiv) EACH2(i64x16, long, lum_intdiv) EACH2(u32x16, uint, lum_intdiv)
EACH2(u64x16, ulong, lum_intdiv) EACH2(i32x16, int, lum_mod) EACH2(i64x16, long, lum_mod)
EACH2(u32x16, uint, lum_mod) EACH2(u64x16, ulong, lum_mod)
FN double lum_exp2(double x) { return lum_rt_exp2(x); }
FN double lum_log2(double x) { return lum_rt_log2(x); }
FN double lum_sin(double x) { return lum_rt_sin(x); }
EACH1(f64x16, double, lum_exp2) EACH1(f64x16, double, lum_log2) EACH1(f64x16, double, lum_sin)
)";

// Float to integer: truncated; at or above `high` the greatest, at or below `low` the least number; NaN is 0.
constexpr const char* kSaturate = R"(
#define SAT(name, F, I, FV, IV, MV) \
  FN I name(F x, F low, F high, I least, I most) { \
    return x >= high ? most : x <= low ? least : x == x ? (I)x : 0; } \
  FN IV name(FV x, F low, F high, I least, I most) { \
    FV inside = x < high ? x : (FV)0; inside = x > low ? inside : (FV)0; \
    IV r = CVT(inside, IV); \
    r = CVT(x >= high, MV) ? (IV)most : r; \
    return CVT(x <= low, MV) ? (IV)least : r; }
SAT(lum_saturate_f_i, float, int, f32x16, i32x16, i32x16) SAT(lum_saturate_f_u, float, uint, f32x16, u32x16, i32x16)
SAT(lum_saturate_f_l, float, long, f32x16, i64x16, i64x16) SAT(lum_saturate_f_m, float, ulong, f32x16, u64x16, i64x16)
SAT(lum_saturate_d_i, double, int, f64x16, i32x16, i32x16) SAT(lum_saturate_d_u, double, uint, f64x16, u32x16, i32x16)
SAT(lum_saturate_d_l, double, long, f64x16, i64x16, i64x16) SAT(lum_saturate_d_m, double, ulong, f64x16, u64x16, i64x16)
)";

// Formats of at most 8 bits, and f16 where the processor has no conversion. Rounding to nearest even is done on the
// bits of the f32: of the mantissa that the format keeps, or of the fixed point below its smallest normal number.
constexpr const char* kSmallFloats = R"(
#define DEC_SMALL(F, I) FN F lum_dec_small(I bits, int man, int exp, int bias, int specials) { \
  I e = (bits >> man) & ((1 << exp) - 1), m = bits & ((1 << man) - 1); \
  F normal = lum_float(((e + (127 - bias)) << 23) | (m << (23 - man))); \
  F sub = lum_i2f(m) * lum_bits_f((uint)(127 + 1 - bias - man) << 23); \
  F x = lum_select(lum_nonzero(e), normal, sub); \
  I top = -((e == ((1 << exp) - 1)) ? (I)-1 : (I)0); \
  I nan = (I)0x7fc00000; \
  if (specials == 1) x = lum_select(top, lum_float(((m == 0) ? (I)0x7f800000 : nan)), x); \
  if (specials == 2) x = lum_select((top & -((m == ((1 << man) - 1)) ? (I)-1 : (I)0)), lum_float(nan), x); \
  I sign = (bits >> (man + exp)) & 1; \
  return lum_float(lum_bits(x) | (sign << 31)); }
DEC_SMALL(float, int) DEC_SMALL(f32x16, i32x16)
ONE int lum_enc_small_one(float x, int man, int exp, int bias, int specials) {
  int bits = lum_bits(x), sign = (bits >> 31) & 1, a = bits & 0x7fffffff;
  int all = (1 << exp) - 1, out;
  int inf = specials == 1 ? all << man : specials == 2 ? (all << man | ((1 << man) - 1)) : ((all << man) | ((1 << man) - 1));
  int nan = specials == 1 ? (all << man | 1 << (man - 1)) : inf;
  if (specials == 0) nan = 1 << (man + exp), sign = 0;
  if (a > 0x7f800000) return nan | (specials == 0 ? 0 : sign << (man + exp));
  int least = (127 + 1 - bias) << 23;
  if (a < least) {
    float fixed = lum_float(a) * lum_bits_f((uint)(127 + bias - 1 + man) << 23);
    out = (int)lum_round(fixed);
  } else {
    int drop = 23 - man;
    int r = a + ((1 << (drop - 1)) - 1) + ((a >> drop) & 1);
    out = (r >> drop) - ((127 - bias) << man);
    int most = specials == 1 ? (all << man) : specials == 2 ? ((all << man) | ((1 << man) - 1)) : ((1 << (man + exp)) - 1);
    if (specials == 0) { if (out > most) out = most; }
    else if (out >= most) out = inf;
  }
  return out | sign << (man + exp); }
FN int lum_enc_small(float x, int man, int exp, int bias, int specials) { return lum_enc_small_one(x, man, exp, bias, specials); }
FN i32x16 lum_enc_small(f32x16 x, int man, int exp, int bias, int specials) {
  i32x16 r; for (int l = 0; l < 16; ++l) r[l] = lum_enc_small_one(x[l], man, exp, bias, specials); return r; }
FN int lum_enc_f8e8m0(float x) { return lum_rt_encode_e8m0(x); }
FN i32x16 lum_enc_f8e8m0(f32x16 x) { i32x16 r; for (int l = 0; l < 16; ++l) r[l] = lum_rt_encode_e8m0(x[l]); return r; }
FN float lum_dec_f8e8m0(int b) { return b == 255 ? lum_bits_f(0x7fc00000u) : b == 0 ? 0x1p-127f : lum_bits_f((uint)b << 23); }
FN f32x16 lum_dec_f8e8m0(i32x16 b) {
  f32x16 x = lum_float(b << 23); x = b == 0 ? (f32x16)0x1p-127f : x;
  return b == 255 ? lum_float((i32x16)0x7fc00000) : x; }
#if defined(__F16C__) || defined(__aarch64__)
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
FN float lum_dec_f16(int b) { union { ushort b; _Float16 h; } u = {(ushort)b}; return (float)u.h; }
FN f32x16 lum_dec_f16(i32x16 b) { union { u16x16 b; f16x16 h; } u = {CVT(b, u16x16)}; return CVT(u.h, f32x16); }
FN int lum_enc_f16(float x) { union { _Float16 h; ushort b; } u = {(_Float16)x}; return u.b; }
FN i32x16 lum_enc_f16(f32x16 x) { union { f16x16 h; u16x16 b; } u = {CVT(x, f16x16)}; return CVT(u.b, i32x16); }
#else
FN float lum_dec_f16(int b) { return lum_dec_small(b, 10, 5, 15, 1); }
FN f32x16 lum_dec_f16(i32x16 b) { return lum_dec_small(b, 10, 5, 15, 1); }
FN int lum_enc_f16(float x) { return lum_enc_small(x, 10, 5, 15, 1); }
FN i32x16 lum_enc_f16(f32x16 x) { return lum_enc_small(x, 10, 5, 15, 1); }
#endif
FN float lum_dec_bf16(int b) { return lum_float(b << 16); }
FN f32x16 lum_dec_bf16(i32x16 b) { return lum_float(b << 16); }
FN int lum_enc_bf16(float x) { int b = lum_bits(x);
  return x == x ? ((b + 0x7fff + ((b >> 16) & 1)) >> 16) & 0xffff : ((b >> 16) & 0xffff) | 64; }
FN i32x16 lum_enc_bf16(f32x16 x) { i32x16 b = lum_bits(x);
  i32x16 r = ((b + 0x7fff + ((b >> 16) & 1)) >> 16) & 0xffff;
  return x == x ? r : (((b >> 16) & 0xffff) | 64); }
FN float lum_dec_f32(int b) { return lum_float(b); }
FN f32x16 lum_dec_f32(i32x16 b) { return lum_float(b); }
FN int lum_enc_f32(float x) { return lum_bits(x); }
FN i32x16 lum_enc_f32(f32x16 x) { return lum_bits(x); }
FN double lum_dec_f64(long b) { return lum_bits_d((ulong)b); }
FN f64x16 lum_dec_f64(i64x16 b) { union { i64x16 b; f64x16 f; } u = {b}; return u.f; }
FN long lum_enc_f64(double x) { return lum_bits(x); }
FN i64x16 lum_enc_f64(f64x16 x) { return lum_bits(x); }
)";

constexpr const char* kHelpers = R"(
double lum_rt_exp2(double); double lum_rt_log2(double); double lum_rt_sin(double);
int lum_rt_encode_e8m0(float);
void lum_rt_sort(unsigned long* keys, int* order, long count, char* scratch);
)";

constexpr Class kClasses[] = {Class::F32, Class::F64, Class::I32, Class::U32, Class::I64, Class::U64};

// lum_cvt_x_y of all pairs of classes.
std::string conversions() {
  std::string out;
  for (Class from : kClasses) {
    for (Class to : kClasses) {
      const bool same = from == to;
      for (const bool vector : {false, true}) {
        const char* source = c_type(from, vector);
        const char* target = c_type(to, vector);
        const std::string body = same     ? std::string("x")
                                 : vector ? cat("CVT(x, ", target, ")")
                                          : cat("(", target, ")x");
        out += cat("FN ", target, " lum_cvt_", suffix(from), "_", suffix(to), "(", source,
                   " x) { return ", body, "; }\n");
      }
    }
  }
  return out;
}

// enc, dec and rounding of one dtype.
std::string codec(const DTypeInfo& info) {
  const std::string name(info.name);
  const Class c = class_of(info.dtype);
  const bool wide = info.bits == 64;
  std::string out;
  for (const bool vector : {false, true}) {
    const std::string value = c_type(c, vector);
    const std::string bits = c_type(wide ? Class::I64 : Class::I32, vector);
    const bool small_float = ir::is_float(info.dtype) && info.bits <= 8 && info.dtype != DType::F8E8M0;
    if (small_float) {
      const std::string format = cat(info.mantissa_bits, ", ", info.exponent_bits, ", ", info.bias,
                                     ", ", static_cast<int>(info.specials));
      out += cat("FN ", value, " lum_dec_", name, "(", bits, " b) { return lum_dec_small(b, ", format,
                 "); }\nFN ", bits, " lum_enc_", name, "(", value, " x) { return lum_enc_small(x, ",
                 format, "); }\n");
    }
    if (!ir::is_float(info.dtype)) {
      std::string decoded = "b";
      const int spare = 32 - info.bits;
      if (info.dtype == DType::Bool) {
        decoded = "lum_nonzero(b)";
      } else if (spare > 0) {
        decoded = info.kind == ir::NumberKind::Signed ? cat("(b << ", spare, ") >> ", spare)
                                                      : cat("b & ", (1 << info.bits) - 1);
      } else if (c == Class::U32 || c == Class::U64) {
        decoded = cat("lum_cvt_", wide ? "l" : "i", "_", suffix(c), "(b)");
      }
      std::string encoded = "x";
      if (c == Class::U32 || c == Class::U64)
        encoded = cat("lum_cvt_", suffix(c), "_", wide ? "l" : "i", "(x)");
      else if (spare > 0)
        encoded = cat("x & ", (1 << info.bits) - 1);
      out += cat("FN ", value, " lum_dec_", name, "(", bits, " b) { return ", decoded, "; }\nFN ", bits,
                 " lum_enc_", name, "(", value, " x) { return ", encoded, "; }\n");
    }
    if (narrower_than_class(info.dtype))
      out += cat("FN ", value, " lum_r_", name, "(", value, " x) { return lum_dec_", name, "(lum_enc_",
                 name, "(x)); }\n");
  }
  return out;
}

struct Raw {
  const char* type;    // unsigned type of one stored element
  const char* vector;  // 16 of them, unaligned
};

Raw raw_type(int bytes) {
  switch (bytes) {
    case 1: return {"uchar", "u8x16u"};
    case 2: return {"ushort", "u16x16u"};
    case 4: return {"int", "i32x16u"};
    default: return {"long", "i64x16u"};
  }
}

// Loads and stores of one dtype: dense, and in lane groups.
std::string accesses(const DTypeInfo& info) {
  const std::string name(info.name);
  const Class c = class_of(info.dtype);
  const std::string scalar = c_type(c, false), vector = c_type(c, true);
  const int bytes = ir::dtype_bytes(info.dtype);
  const Raw raw = raw_type(bytes);
  const char* bits_vector = bytes == 8 ? "i64x16" : "i32x16";
  const char* bits_scalar = bytes == 8 ? "long" : "int";
  std::string raw_value = raw.vector;
  raw_value.pop_back();  // the aligned type of the same shape
  std::string out;
  out += cat("ONE ", scalar, " lum_ld_", name, "(const char* p, long i) { return lum_dec_", name, "((",
             bits_scalar, ")((const ", raw.type, "*)p)[i]); }\n");
  out += cat("ONE ", vector, " lum_ldv_", name, "(const char* p, long i) { return lum_dec_", name,
             "(CVT(*(const ", raw.vector, "*)(p + i * ", bytes, "), ", bits_vector, ")); }\n");
  out += cat("ONE void lum_st_", name, "(char* p, long i, ", scalar, " x) { ((", raw.type,
             "*)p)[i] = (", raw.type, ")lum_enc_", name, "(x); }\n");
  out += cat("ONE void lum_stv_", name, "(char* p, long i, ", vector, " x) { *(", raw.vector, "*)(p + i * ",
             bytes, ") = CVT(lum_enc_", name, "(x), ", raw_value, "); }\n");
  const bool packed = info.bits == 1 || info.bits == 2 || info.bits == 4;
  if (!packed) {
    out += cat("ONE ", scalar, " lum_ldg_", name, "(const char* p, long g, long lane) { return lum_ld_",
               name, "(p, g * 16 + lane); }\n");
    out += cat("ONE ", vector, " lum_ldgv_", name, "(const char* p, long g) { return lum_ldv_", name,
               "(p, g * 16); }\n");
    return out;
  }
  const int group_bytes = 2 * info.bits;
  const char* bit = info.bits == 4 ? "32 * (lane & 1) + 4 * (lane >> 1)"
                                   : (info.bits == 2 ? "2 * lane" : "lane");
  out += cat("ONE ", scalar, " lum_ldg_", name, "(const char* p, long g, long lane) { long bit = ", bit,
             "; return lum_dec_", name, "((((const uchar*)p)[g * ", group_bytes,
             " + (bit >> 3)] >> (bit & 7)) & ", (1 << info.bits) - 1, "); }\n");
  std::string spread;
  if (info.bits == 4)
    spread = "union { u64x8 a; u32x16 b; } u = {(u64x8)(*(const ulong_u*)(p + g * 8))}; "
             "u32x16 w = u.b >> (u32x16)(4 * (LANES >> 1));";
  else if (info.bits == 2)
    spread = "u32x16 w = (u32x16)(*(const uint_u*)(p + g * 4)) >> (u32x16)(2 * LANES);";
  else
    spread = "u32x16 w = (u32x16)((uint)*(const ushort_u*)(p + g * 2)) >> (u32x16)LANES;";
  out += cat("ONE ", vector, " lum_ldgv_", name, "(const char* p, long g) { ", spread, " return lum_dec_",
             name, "(CVT(w & ", (1 << info.bits) - 1, "u, i32x16)); }\n");
  return out;
}

std::string make_prelude() {
  std::string out = kTypes;
  out += "typedef ulong ulong_u __attribute__((aligned(1))); typedef uint uint_u __attribute__((aligned(1)));"
         " typedef ushort ushort_u __attribute__((aligned(1)));\n";
  out += kHelpers;
  out += kIndexMath;
  out += kScalarMath;
  out += kMaximum;
  out += kLaneByLane;
  out += kSaturate;
  out += conversions();
  out += kSmallFloats;
  for (const DTypeInfo& info : ir::kDTypes) out += codec(info);
  for (const DTypeInfo& info : ir::kDTypes) out += accesses(info);
  for (const ir::Polynomial* polynomial :
       {&ir::exp2_polynomial(), &ir::log2_polynomial(), &ir::sin_polynomial()}) {
    out += polynomial_c(*polynomial, {.float_type = "float", .int_type = "int", .prefix = "FN"});
    out += polynomial_c(*polynomial, {.float_type = "f32x16", .int_type = "i32x16", .prefix = "FN"});
  }
  return out;
}

}  // namespace

const std::string& prelude() {
  static const std::string text = make_prelude();
  return text;
}

const std::string& helper_declarations() {
  static const std::string text = kHelpers;
  return text;
}

}  // namespace luminal::codegen
