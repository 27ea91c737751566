// SPDX-License-Identifier: MIT OR Apache-2.0
// What this processor can do, as far as code generation asks: one row of a table per instruction
// set, the sizes of the caches, and how many cores we may use. A new instruction set is one more
// row in cpu_isa.cpp.
//
// Invariants: rows are ordered best first within an architecture; the last row of an architecture
// needs nothing, so every machine has a row. Nothing is cached: every function reads the machine
// when it is called.
//
//   CpuInfo cpu = host_cpu();
//   cpu.isa->vector_bytes;      // 64 with AVX-512
//   cpu.isa->multiply_adds & kDotU8I8;
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "luminal/base/result.h"

namespace luminal::cpu {

enum class Arch { kX86_64, kArm64 };

/// Features of the processor that the operating system also saves, one bit each.
enum CpuFeature : std::uint32_t {
  kX86V2 = 1u << 0,  ///< SSE4.2, POPCNT and older: the x86-64-v2 level
  kX86V3 = 1u << 1,  ///< AVX2, FMA, F16C, BMI1, BMI2, LZCNT, MOVBE: x86-64-v3
  kX86V4 = 1u << 2,  ///< AVX-512 F, BW, CD, DQ, VL: x86-64-v4
  kAvxVnni = 1u << 3,
  kAvx512Vnni = 1u << 4,
  kAvx512Bf16 = 1u << 5,
  kAvx512Vbmi = 1u << 6,
};
using CpuFeatures = std::uint32_t;

/// Multiply-accumulate kinds and conversions that are one instruction, one bit each.
enum MultiplyAdd : std::uint32_t {
  kFma = 1u << 0,          ///< f32 and f64 fused multiply-add
  kDotU8I8 = 1u << 1,      ///< i32 += four products of u8 and i8, without saturation
  kDotBf16 = 1u << 2,      ///< f32 += two products of bf16
  kHalfConvert = 1u << 3,  ///< f16 to f32 and back
};

/// One instruction set. Strings live as long as the program.
struct IsaRow {
  std::string_view name;
  Arch arch;
  int vector_bytes;                  ///< width of the widest vector register
  int vector_registers;              ///< how many of them there are
  int fma_latency;                   ///< cycles from operand to result
  std::string_view target_cpu;       ///< clang's -target-cpu
  std::string_view target_features;  ///< clang's -target-feature, separated by commas; may be empty
  int prefer_vector_width;           ///< bits that the vectoriser may use; 0: clang's choice
  std::uint32_t multiply_adds;       ///< set of MultiplyAdd
  CpuFeatures needs;                 ///< what the processor must have
};

struct CacheSizes {
  std::int64_t l1d = 0, l2 = 0, l3 = 0;  ///< bytes of one instance
};

struct CpuInfo {
  const IsaRow* isa = nullptr;
  CacheSizes caches;
  int cores = 1;  ///< that this process may run on at once
};

/// All rows, of every architecture.
std::span<const IsaRow> isa_rows();

/// The architecture this program was built for.
Arch host_arch();

/// The features of the processor at hand (CPUID and XGETBV on x86-64; none elsewhere).
CpuFeatures read_cpu_features();

/// The first row of `arch` whose needs are met.
const IsaRow& best_isa(Arch arch, CpuFeatures features);

/// The row of that name; the error lists the names there are.
Result<const IsaRow*> find_isa(std::string_view name);

/// Cache sizes of `cpu` from sysfs; a level that is not there gets a typical size (32 KiB, 512 KiB,
/// 8 MiB).
CacheSizes read_cache_sizes(const std::string& sysfs_cpu_root = "/sys/devices/system/cpu",
                            int cpu = 0);

/// Cores in this thread's affinity mask, no more than the control group's quota ("max 100000" or
/// "200000 100000" in `quota_file`) lets run; at least 1.
int usable_cores(const std::string& quota_file = "/sys/fs/cgroup/cpu.max");

/// All of it for the machine at hand.
CpuInfo host_cpu();

}  // namespace luminal::cpu
