// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/cpu_backend.h"

#include "luminal/backends/cpu/jit.h"
#include "luminal/backends/cpu/kernel_helpers.h"
#include "luminal/codegen/lower.h"
#include "luminal/codegen/prelude.h"

#include <chrono>
#include <map>

namespace luminal::cpu {
namespace {

using target::CompileOptions;
using target::CompileStats;
using target::Kernel;
using target::Launch;

using TasksFn = long(const std::int64_t*);
using KernelFn = void(std::byte* const*, const std::int64_t*, long, long, std::byte*);

class CpuKernel final : public Kernel {
 public:
  CpuKernel(std::shared_ptr<Jit> jit, TasksFn* tasks, KernelFn* entry, codegen::KernelText source)
      : jit_(std::move(jit)), tasks_(tasks), entry_(entry), source_(std::move(source)) {}

  std::int64_t tasks(std::span<const std::int64_t> symbols) const override {
    return tasks_(symbols.data());
  }
  std::int64_t scratch_bytes() const override { return source_.scratch_bytes; }
  void run(const Launch& launch) const override {
    entry_(launch.buffers.data(), launch.symbols.data(), launch.begin, launch.end, launch.scratch);
  }
  std::string_view text() const override { return source_.text; }

 private:
  std::shared_ptr<Jit> jit_;
  TasksFn* tasks_;
  KernelFn* entry_;
  codegen::KernelText source_;
};

class CpuBackend final : public target::Backend {
 public:
  explicit CpuBackend(std::shared_ptr<Jit> jit) : jit_(std::move(jit)) {
    const IsaRow& isa = jit_->isa();
    machine_.vector_registers = isa.vector_registers * isa.vector_bytes / 64;
  }

  std::string_view name() const override { return "cpu"; }

  Result<std::vector<std::shared_ptr<const Kernel>>> compile(
      ir::Exprs& exprs, std::span<const region::Region> regions, const CompileOptions& options,
      CompileStats* stats) override {
    const auto start = std::chrono::steady_clock::now();
    const JitStats before = jit_->stats();
    std::vector<codegen::KernelText> texts;      // distinct ones
    std::map<std::string, std::size_t> numbers;  // text -> its place in `texts`
    std::vector<std::size_t> chosen;
    for (const region::Region& region : regions) {
      codegen::KernelText text =
          lower(region, exprs, default_knobs(region, exprs, machine_));
      const auto [found, added] = numbers.emplace(text.text, texts.size());
      if (added) texts.push_back(std::move(text));
      chosen.push_back(found->second);
    }
    LUM_ASSIGN_OR_RETURN(auto kernels, compile_texts(std::move(texts), options));
    std::vector<std::shared_ptr<const Kernel>> out;
    for (std::size_t number : chosen) out.push_back(kernels[number]);
    if (stats != nullptr) {
      const JitStats after = jit_->stats();
      stats->kernels = static_cast<int>(kernels.size());
      stats->compiled = static_cast<int>(after.compiled - before.compiled);
      stats->cached = stats->kernels - stats->compiled;
      stats->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return out;
  }

 private:
  // A few at a time, so that progress can be told.
  Result<std::vector<std::shared_ptr<const Kernel>>> compile_texts(
      std::vector<codegen::KernelText> texts, const CompileOptions& options) {
    constexpr std::size_t kBatch = 8;
    std::vector<std::shared_ptr<const Kernel>> kernels;
    for (std::size_t first = 0; first < texts.size(); first += kBatch) {
      const std::size_t last = std::min(first + kBatch, texts.size());
      std::vector<Unit> units;
      for (std::size_t k = first; k < last; ++k)
        units.push_back({cat("kernel ", k), codegen::prelude() + texts[k].text, {"lum_tasks", "lum_kernel"}});
      LUM_ASSIGN_OR_RETURN(const std::vector<Symbol> symbols, jit_->compile(units));
      for (std::size_t k = first; k < last; ++k) {
        const Symbol& tasks = symbols[2 * (k - first)];
        const Symbol& entry = symbols[2 * (k - first) + 1];
        kernels.push_back(std::make_shared<CpuKernel>(jit_, tasks.as<TasksFn>(), entry.as<KernelFn>(),
                                                      std::move(texts[k])));
      }
      if (options.progress &&
          !options.progress(static_cast<int>(last), static_cast<int>(texts.size())))
        return error("compiling was interrupted");
    }
    return kernels;
  }

  std::shared_ptr<Jit> jit_;
  codegen::Machine machine_;
};

}  // namespace

Result<std::unique_ptr<target::Backend>> make_cpu_backend(std::string cache_folder, int threads) {
  JitOptions options;
  options.cache_directory = std::move(cache_folder);
  options.helpers = kernel_helpers();
  options.threads = threads;
  LUM_ASSIGN_OR_RETURN(std::unique_ptr<Jit> jit, Jit::create(std::move(options)));
  return std::unique_ptr<target::Backend>(std::make_unique<CpuBackend>(std::move(jit)));
}

}  // namespace luminal::cpu
