// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/api/engine.h"

#include "luminal/backends/cpu/cpu_backend.h"
#include "luminal/base/team.h"
#include "luminal/compiler/compile.h"

#include <chrono>

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct BackendRow {
  std::string_view name;
  Result<std::unique_ptr<target::Backend>> (*make)(const EngineOptions& options, int threads);
};

constexpr BackendRow kBackends[] = {
    {"cpu",
     [](const EngineOptions& options, int threads) {
       return cpu::make_cpu_backend(options.cache_folder, threads);
     }},
};

}  // namespace

struct Engine::Impl {
  explicit Impl(int threads) : team(threads) {}
  Team team;
  std::unique_ptr<target::Backend> backend;
  std::string cache_folder;
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

std::string backend_names() {
  std::string names;
  for (const BackendRow& row : kBackends) names += cat(names.empty() ? "" : ", ", row.name);
  return names;
}

Result<std::unique_ptr<Engine>> Engine::create(const EngineOptions& options) {
  if (options.threads < 0 || options.threads > 1024)
    return error("threads: ", options.threads, " is not between 0 (all cores) and 1024");
  const int threads = options.threads == 0 ? available_cores() : options.threads;
  for (const BackendRow& row : kBackends) {
    if (row.name != options.backend) continue;
    auto impl = std::make_unique<Impl>(threads);
    LUM_ASSIGN_OR_RETURN(impl->backend, row.make(options, threads));
    impl->cache_folder = options.cache_folder;
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
  }
  return error("back end '", options.backend, "' is not known; there are: ", backend_names());
}

Result<std::unique_ptr<runtime::Session>> Engine::compile(
    std::span<const ir::Graph* const> graphs, const SessionOptions& options, SessionTimes* times) {
  const Clock::time_point start = Clock::now();
  bool stopped = false;
  target::CompileOptions compile_options;
  compile_options.threads = impl_->team.count();
  compile_options.cache_folder = impl_->cache_folder;
  compile_options.progress = [&](int done, int total) {
    if (options.progress && !options.progress("compile", done, total)) stopped = true;
    return !stopped;
  };
  LUM_ASSIGN_OR_RETURN(compiler::CompileResult compiled,
                       compiler::compile(graphs, *impl_->backend, compile_options));
  const double compile_s = seconds_since(start);
  const Clock::time_point loading = Clock::now();
  runtime::LoadOptions load;
  load.source = options.source;
  load.progress = [&](std::int64_t done, std::int64_t total) {
    return !options.progress || options.progress("load", done, total);
  };
  if (!load.source)
    load.source = [](const std::string& buffer) -> Result<std::span<const std::byte>> {
      return error("no source of weights was given for buffer ", buffer);
    };
  LUM_ASSIGN_OR_RETURN(auto session, runtime::Session::create(std::move(compiled.executables),
                                                              impl_->team, load));
  if (times != nullptr)
    *times = {compile_s, seconds_since(loading), compiled.stats.kernels, compiled.stats.compiled};
  return session;
}

int Engine::threads() const { return impl_->team.count(); }
std::string_view Engine::backend() const { return impl_->backend->name(); }

}  // namespace luminal
