// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/cpu_isa.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace luminal::cpu {
namespace {

constexpr std::uint32_t kV3Kinds = kFma | kHalfConvert;

// clang-format off
constexpr IsaRow kRows[] = {
    // name, architecture, vector bytes, registers, FMA latency,
    //   -target-cpu, -target-feature, width, kinds, needs
    {"avx512-vnni-bf16", Arch::kX86_64, 64, 32, 4,
     "x86-64-v4", "+avx512vnni,+avx512bf16,+avx512vbmi", 512, kV3Kinds | kDotU8I8 | kDotBf16,
     kX86V4 | kAvx512Vnni | kAvx512Bf16 | kAvx512Vbmi},
    {"avx512-vnni", Arch::kX86_64, 64, 32, 4,
     "x86-64-v4", "+avx512vnni", 512, kV3Kinds | kDotU8I8, kX86V4 | kAvx512Vnni},
    {"avx512", Arch::kX86_64, 64, 32, 4,
     "x86-64-v4", "", 512, kV3Kinds, kX86V4},
    {"avx2-vnni", Arch::kX86_64, 32, 16, 4,
     "x86-64-v3", "+avxvnni", 256, kV3Kinds | kDotU8I8, kX86V3 | kAvxVnni},
    {"avx2", Arch::kX86_64, 32, 16, 4,
     "x86-64-v3", "", 256, kV3Kinds, kX86V3},
    {"x86-64", Arch::kX86_64, 16, 16, 8,
     "x86-64", "", 128, 0, 0},
    {"neon", Arch::kArm64, 16, 32, 4,
     "generic", "+neon", 128, kFma | kHalfConvert, 0},
};
// clang-format on

#if defined(__x86_64__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros for a leaf that the processor does not have, which reads as "no feature".
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
  return r;
}

// Which register states the operating system saves (XCR0).
std::uint64_t saved_states() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

constexpr bool all(unsigned word, unsigned bits) { return (word & bits) == bits; }
constexpr unsigned bit(int n) { return 1u << n; }
#endif

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// "48K", "1024K", "32M" in bytes; 0 when it is something else.
std::int64_t parse_size(const std::string& text) {
  std::int64_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number <= 0 || number > (1 << 30)) return 0;
  std::string_view unit(end, text.data() + text.size());
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  return unit.empty() ? number : 0;
}

int first_allowed_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) return cpu;
  }
  return 0;
}

}  // namespace

std::span<const IsaRow> isa_rows() { return kRows; }

Arch host_arch() {
#if defined(__x86_64__)
  return Arch::kX86_64;
#elif defined(__aarch64__)
  return Arch::kArm64;
#else
#error "the CPU back end knows x86-64 and Arm64; another architecture needs rows in kRows"
#endif
}

CpuFeatures read_cpu_features() {
  CpuFeatures features = 0;
#if defined(__x86_64__)
  const Registers basic = cpuid(1), extended = cpuid(7), more = cpuid(7, 1),
                  amd = cpuid(0x80000001u);
  // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF.
  if (all(basic.c, bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23)) && all(amd.c, bit(0)))
    features |= kX86V2;
  if (!all(basic.c, bit(27))) return features;  // OSXSAVE
  const std::uint64_t states = saved_states();
  const bool ymm = (states & 0x6) == 0x6, zmm = (states & 0xe6) == 0xe6;
  // FMA, MOVBE, AVX, F16C; LZCNT; BMI1, AVX2, BMI2.
  if ((features & kX86V2) && ymm && all(basic.c, bit(12) | bit(22) | bit(28) | bit(29)) &&
      all(amd.c, bit(5)) && all(extended.b, bit(3) | bit(5) | bit(8)))
    features |= kX86V3;
  if (!(features & kX86V3)) return features;
  if (all(more.a, bit(4))) features |= kAvxVnni;
  // AVX-512 F, DQ, CD, BW, VL.
  if (!zmm || !all(extended.b, bit(16) | bit(17) | bit(28) | bit(30) | bit(31))) return features;
  features |= kX86V4;
  if (all(extended.c, bit(1))) features |= kAvx512Vbmi;
  if (all(extended.c, bit(11))) features |= kAvx512Vnni;
  if (all(more.a, bit(5))) features |= kAvx512Bf16;
#endif
  return features;
}

const IsaRow& best_isa(Arch arch, CpuFeatures features) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const IsaRow& candidate) {
    return candidate.arch == arch && (candidate.needs & features) == candidate.needs;
  });
  LUM_CHECK(row != std::end(kRows), "an architecture without a row that needs nothing");
  return *row;
}

Result<const IsaRow*> find_isa(std::string_view name) {
  for (const IsaRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return error("instruction set ", name, ": not known; choose one of ",
               join(kRows, ", ", [](const IsaRow& row) { return row.name; }));
}

CacheSizes read_cache_sizes(const std::string& sysfs_cpu_root, int cpu) {
  CacheSizes sizes;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = cat(sysfs_cpu_root, "/cpu", cpu, "/cache/index", index);
    const std::string level = first_line(folder + "/level");
    if (level.empty() || first_line(folder + "/type") == "Instruction") continue;
    const std::int64_t bytes = parse_size(first_line(folder + "/size"));
    if (level == "1") sizes.l1d = bytes;
    if (level == "2") sizes.l2 = bytes;
    if (level == "3") sizes.l3 = bytes;
  }
  if (sizes.l1d == 0) sizes.l1d = 32 << 10;
  if (sizes.l2 == 0) sizes.l2 = 512 << 10;
  if (sizes.l3 == 0) sizes.l3 = 8 << 20;
  return sizes;
}

int usable_cores(const std::string& quota_file) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  std::ifstream file(quota_file);
  std::int64_t quota = 0, period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) {
    // A part of a core counts as one, else nothing could run; the rest rounds down.
    cores =
        static_cast<int>(std::min<std::int64_t>(cores, std::max<std::int64_t>(1, quota / period)));
  }
  return std::max(cores, 1);
}

CpuInfo host_cpu() {
  return {&best_isa(host_arch(), read_cpu_features()),
          read_cache_sizes("/sys/devices/system/cpu", first_allowed_cpu()), usable_cores()};
}

}  // namespace luminal::cpu
