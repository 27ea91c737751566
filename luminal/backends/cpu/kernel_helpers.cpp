// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/kernel_helpers.h"

#include "luminal/ir/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace luminal::cpu {
namespace {

double exp2_double(double x) { return std::exp2(x); }
double log2_double(double x) { return std::log2(x); }
double sin_double(double x) { return std::sin(x); }
int encode_e8m0(float x) { return static_cast<int>(ir::encode(ir::DType::F8E8M0, x)); }


}  // namespace

void sort_keys(const unsigned long* keys, int* order, long count, char* scratch) {
  // Positions move, keys stay and are looked up.
  int* from = order;
  int* to = reinterpret_cast<int*>(scratch);
  unsigned long differing = 0;
  for (long i = 0; i < count; ++i) {
    from[i] = static_cast<int>(i);
    differing |= keys[i] ^ keys[0];
  }
  if (count < 64) {
    std::stable_sort(order, order + count, [&](int a, int b) { return keys[a] < keys[b]; });
    return;
  }
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differing >> shift & 255) == 0) continue;
    std::array<long, 257> start{};
    for (long i = 0; i < count; ++i) ++start[(keys[i] >> shift & 255) + 1];
    for (int digit = 0; digit < 256; ++digit) start[digit + 1] += start[digit];
    for (long i = 0; i < count; ++i) to[start[keys[from[i]] >> shift & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != order) std::memcpy(order, from, static_cast<std::size_t>(count) * sizeof(int));
}

std::vector<HelperSymbol> kernel_helpers() {
  auto helper = [](const char* name, auto* function) {
    return HelperSymbol{name, reinterpret_cast<const void*>(function)};
  };
  return {helper("lum_rt_exp2", exp2_double),     helper("lum_rt_log2", log2_double),
          helper("lum_rt_sin", sin_double),       helper("lum_rt_encode_e8m0", encode_e8m0),
          helper("lum_rt_sort", sort_keys)};
}

}  // namespace luminal::cpu
