// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/cpu_isa.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace luminal::cpu {
namespace {

std::string fresh_folder(const std::string& name) {
  const auto path =
      std::filesystem::temp_directory_path() / cat("luminal_isa_", getpid(), "_", name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(CpuIsa, RowsAreWellFormedAndEveryArchitectureEndsInOneThatNeedsNothing) {
  for (Arch arch : {Arch::kX86_64, Arch::kArm64}) {
    const IsaRow& plain = best_isa(arch, 0);
    EXPECT_EQ(plain.needs, 0u);
    EXPECT_EQ(&best_isa(arch, ~0u), &*std::find_if(isa_rows().begin(), isa_rows().end(),
                                                   [&](auto& row) { return row.arch == arch; }));
  }
  for (const IsaRow& row : isa_rows()) {
    EXPECT_TRUE(row.vector_bytes == 16 || row.vector_bytes == 32 || row.vector_bytes == 64);
    EXPECT_EQ(row.prefer_vector_width, row.vector_bytes * 8) << row.name;
    EXPECT_FALSE(row.target_cpu.empty());
    EXPECT_EQ(*find_isa(row.name), &row);
  }
}

TEST(CpuIsa, PicksTheBestRowWhoseNeedsAreMet) {
  const CpuFeatures v3 = kX86V2 | kX86V3, v4 = v3 | kX86V4;
  EXPECT_EQ(best_isa(Arch::kX86_64, kX86V2).name, "x86-64");
  EXPECT_EQ(best_isa(Arch::kX86_64, v3).name, "avx2");
  EXPECT_EQ(best_isa(Arch::kX86_64, v3 | kAvxVnni).name, "avx2-vnni");
  EXPECT_EQ(best_isa(Arch::kX86_64, v4).name, "avx512");
  EXPECT_EQ(best_isa(Arch::kX86_64, v4 | kAvx512Bf16).name, "avx512");
  EXPECT_EQ(best_isa(Arch::kX86_64, v4 | kAvx512Vnni | kAvx512Vbmi).name, "avx512-vnni");
  EXPECT_EQ(best_isa(Arch::kX86_64, v4 | kAvx512Vnni | kAvx512Bf16 | kAvx512Vbmi).name,
            "avx512-vnni-bf16");
}

#if defined(__x86_64__)
TEST(CpuIsa, AgreesWithTheCompilersOwnDetection) {
  const CpuFeatures features = read_cpu_features();
  EXPECT_EQ((features & kX86V3) != 0, __builtin_cpu_supports("avx2") &&
                                          __builtin_cpu_supports("fma") &&
                                          __builtin_cpu_supports("bmi2"));
  EXPECT_EQ((features & kX86V4) != 0,
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ((features & kAvx512Vnni) != 0, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ((features & kAvx512Bf16) != 0, __builtin_cpu_supports("avx512bf16") != 0);
}
#endif

TEST(CpuIsa, UnknownNameListsTheNamesThereAre) {
  const auto row = find_isa("avx1024");
  ASSERT_FALSE(row.ok());
  EXPECT_NE(row.error().message.find("avx1024"), std::string::npos);
  EXPECT_NE(row.error().message.find("avx512-vnni-bf16, avx512-vnni"), std::string::npos);
}

TEST(CpuIsa, CacheSizesFromSysfs) {
  const std::string root = fresh_folder("sysfs");
  const auto entry = [&](int index, const char* level, const char* type, const char* size) {
    const std::string folder = cat(root, "/cpu3/cache/index", index);
    write(folder + "/level", level);
    write(folder + "/type", type);
    write(folder + "/size", size);
  };
  entry(0, "1\n", "Data\n", "48K\n");
  entry(1, "1\n", "Instruction\n", "64K\n");
  entry(2, "2\n", "Unified\n", "2048K\n");
  entry(3, "3\n", "Unified\n", "105M\n");
  const CacheSizes sizes = read_cache_sizes(root, 3);
  EXPECT_EQ(sizes.l1d, 48 << 10);
  EXPECT_EQ(sizes.l2, 2 << 20);
  EXPECT_EQ(sizes.l3, 105 << 20);
  std::filesystem::remove_all(root);
}

TEST(CpuIsa, CacheSizesFallBackWhenSysfsIsMissingOrNonsense) {
  const std::string root = fresh_folder("nonsense");
  write(root + "/cpu0/cache/index0/level", "1");
  write(root + "/cpu0/cache/index0/type", "Data");
  write(root + "/cpu0/cache/index0/size", "-12K");
  write(root + "/cpu0/cache/index1/level", "2");
  write(root + "/cpu0/cache/index1/size", "99999999999999999999K");
  const CacheSizes sizes = read_cache_sizes(root, 0);
  EXPECT_EQ(sizes.l1d, 32 << 10);
  EXPECT_EQ(sizes.l2, 512 << 10);
  EXPECT_EQ(sizes.l3, 8 << 20);
  std::filesystem::remove_all(root);
}

TEST(CpuIsa, CoresFollowAffinityAndQuota) {
  const std::string root = fresh_folder("quota"), quota = root + "/cpu.max";
  const int all = usable_cores(root + "/absent");
  EXPECT_GE(all, 1);
  write(quota, "max 100000\n");
  EXPECT_EQ(usable_cores(quota), all);
  write(quota, "100000 100000\n");
  EXPECT_EQ(usable_cores(quota), 1);
  write(quota, "50000 100000\n");
  EXPECT_EQ(usable_cores(quota), 1);
  write(quota, "0 0\n");
  EXPECT_EQ(usable_cores(quota), all);
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    int keep = 0;
    while (!CPU_ISSET(keep, &set)) ++keep;
    CPU_ZERO(&set);
    CPU_SET(keep, &set);
    sched_setaffinity(0, sizeof set, &set);
    EXPECT_EQ(usable_cores(root + "/absent"), 1);
  }).join();
  std::filesystem::remove_all(root);
}

TEST(CpuIsa, HostIsComplete) {
  const CpuInfo cpu = host_cpu();
  ASSERT_NE(cpu.isa, nullptr);
  EXPECT_EQ(cpu.isa->arch, host_arch());
  EXPECT_GE(cpu.caches.l1d, 8 << 10);
  EXPECT_GE(cpu.caches.l2, cpu.caches.l1d);
  EXPECT_GE(cpu.cores, 1);
}

}  // namespace
}  // namespace luminal::cpu
