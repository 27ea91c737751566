// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/jit.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

namespace luminal::cpu {
namespace {

// Raised when what is stored changes its meaning in a way that text and arguments do not show.
constexpr char kFormat[] = "luminal object 1";

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The folder of the file that this code was loaded from (the program, or a Python module), then of
/// the program.
std::vector<std::string> plugin_folders(const std::string& given) {
  if (!given.empty()) return {given};
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& file) {
    std::error_code failure;
    const fs::path real = fs::canonical(file, failure);
    if (failure || !real.has_parent_path()) return;
    folders.push_back(real.parent_path().string());
    folders.push_back((real.parent_path().parent_path() / "lib" / "luminal").string());
  };
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&plugin_folders), &info) && info.dli_fname) {
    if (std::string_view(info.dli_fname).find('/') != std::string_view::npos) add(info.dli_fname);
  }
  add("/proc/self/exe");
  folders.push_back(LUMINAL_PLUGIN_BUILD_DIR);
  return folders;
}

// The entry point of a plugin. Plugins stay loaded: LLVM keeps state that outlives any use of it.
Result<void*> load_plugin(const std::string& file, const char* entry, const std::string& given) {
  std::string tried;
  for (const std::string& folder : plugin_folders(given)) {
    const std::string path = folder + "/" + file;
    if (::access(path.c_str(), R_OK) != 0) {
      tried += (tried.empty() ? "" : ", ") + folder;
      continue;
    }
    void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) return error("cannot load ", path, ": ", ::dlerror(), "; is LLVM 19 installed?");
    void* address = ::dlsym(library, entry);
    if (!address) return error("cannot load ", path, ": it has no ", entry, "; rebuild it");
    return address;
  }
  return error(file, ": not found in ", tried, "; it belongs beside the program");
}

// Runs body on `threads` threads that live for this call; thread_local state of LLVM goes with
// them.
void run_on_own_threads(int threads, int count, const std::function<void(int)>& body) {
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

template <class Function>
HelperSymbol helper(const char* name, Function* function) {
  return {name, reinterpret_cast<const void*>(function)};
}

std::string triple(Arch arch) {
  return arch == Arch::kX86_64 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu";
}

}  // namespace

std::span<const HelperSymbol> exact_functions() {
  static const std::vector<HelperSymbol> kFunctions = {
      helper<void*(void*, const void*, size_t)>("memcpy", ::memcpy),
      helper<void*(void*, const void*, size_t)>("memmove", ::memmove),
      helper<void*(void*, int, size_t)>("memset", ::memset),
      helper<int(const void*, const void*, size_t)>("memcmp", ::memcmp),
      // Called where the row has no instruction for them (x86-64 without SSE4.1 or FMA; fmod
      // everywhere).
      helper<float(float, float, float)>("fmaf", ::fmaf),
      helper<double(double, double, double)>("fma", ::fma),
      helper<float(float)>("floorf", ::floorf),
      helper<double(double)>("floor", ::floor),
      helper<float(float)>("ceilf", ::ceilf),
      helper<double(double)>("ceil", ::ceil),
      helper<float(float)>("truncf", ::truncf),
      helper<double(double)>("trunc", ::trunc),
      helper<float(float)>("rintf", ::rintf),
      helper<double(double)>("rint", ::rint),
      helper<float(float)>("nearbyintf", ::nearbyintf),
      helper<double(double)>("nearbyint", ::nearbyint),
      helper<float(float)>("roundevenf", ::roundevenf),
      helper<double(double)>("roundeven", ::roundeven),
      helper<float(float, float)>("fmodf", ::fmodf),
      helper<double(double, double)>("fmod", ::fmod),
  };
  return kFunctions;
}

std::vector<std::string> compiler_arguments(const IsaRow& isa) {
  std::vector<std::string> arguments = {"-triple", triple(isa.arch), "-target-cpu",
                                        std::string(isa.target_cpu)};
  for (std::string_view rest = isa.target_features; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    arguments.insert(arguments.end(), {"-target-feature", std::string(rest.substr(0, comma))});
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (isa.prefer_vector_width > 0)
    arguments.push_back(cat("-mprefer-vector-width=", isa.prefer_vector_width));
  // These are arguments of clang's inner compiler (cc1), which unlike the driver has no
  // -fmath-errno, no stack protector, no unwind tables and no traps on floating point unless they
  // are asked for.
  for (const char* argument : {"-O2", "-vectorize-loops", "-vectorize-slp", "-ffp-contract=off",
                               "-fwrapv", "-relaxed-aliasing", "-ffreestanding", "-nostdsysteminc",
                               "-nobuiltininc", "-mrelocation-model", "pic", "-pic-level", "2",
                               "-fvisibility=hidden", "-x", "c", "-std=c17", "-w"})
    arguments.push_back(argument);
  return arguments;
}

struct Jit::State {
  JitOptions options;
  const IsaRow* isa = nullptr;
  std::vector<std::string> arguments;
  std::string key_prefix;  ///< what all keys have in common
  std::unique_ptr<ObjectCache> cache;
  std::string cache_note;
  const LinkTable* linker = nullptr;
  LinkSession* session = nullptr;

  std::once_flag compiler_once;
  std::optional<Result<void*>> compiler;  ///< set under compiler_once

  mutable std::mutex mutex;  ///< guards what follows
  JitStats stats;
  std::vector<void*> linked;  ///< by CodeId: the linker's handle, null once released

  ~State() {
    if (session) linker->destroy(session);
  }

  Digest key(const std::string& text) const {
    return Sha256().field(key_prefix).field(text).finish();
  }
  Result<CompileFn*> load_compiler();
  Result<std::string> object_of(const Unit& unit);
  Result<std::vector<Symbol>> build(const Unit& unit);
  Result<std::string> run_compiler(const Unit& unit);
};

Result<CompileFn*> Jit::State::load_compiler() {
  std::call_once(compiler_once, [this] {
    const auto start = Clock::now();
    compiler = load_plugin("luminal_cpu_clang.so", kCompileEntry, options.plugin_directory);
    std::lock_guard lock(mutex);
    stats.load_compiler_ms = milliseconds_since(start);
    stats.compiler_loaded = compiler->ok();
  });
  if (!compiler->ok()) return compiler->error();
  return reinterpret_cast<CompileFn*>(compiler->value());
}

Result<std::string> Jit::State::run_compiler(const Unit& unit) {
  LUM_ASSIGN_OR_RETURN(CompileFn * compile, load_compiler());
  const auto start = Clock::now();
  std::string object, failure;
  const bool good = compile(arguments, unit.text, &object, &failure);
  std::lock_guard lock(mutex);
  stats.compile_ms += milliseconds_since(start);
  ++stats.compiled;
  if (!good) return error("does not compile for ", isa->name, ": ", failure);
  return object;
}

Result<std::string> Jit::State::object_of(const Unit& unit) {
  const Digest name = key(unit.text);
  if (auto object = cache->load(name)) return *std::move(object);
  LUM_ASSIGN_OR_RETURN(std::string object, run_compiler(unit));
  if (const Status stored = cache->store(name, object); !stored.ok()) {
    std::lock_guard lock(mutex);
    stats.cache_note = stored.error().message;
  }
  return object;
}

Result<std::vector<Symbol>> Jit::State::build(const Unit& unit) {
  LUM_ASSIGN_OR_RETURN(const std::string object, object_of(unit));
  const auto start = Clock::now();
  std::vector<void*> addresses;
  void* handle = nullptr;
  std::string failure;
  if (!linker->link(session, object, unit.exports, &addresses, &handle, &failure))
    return error(failure);
  std::lock_guard lock(mutex);
  stats.link_ms += milliseconds_since(start);
  ++stats.units;
  linked.push_back(handle);
  const CodeId code(linked.size() - 1);
  std::vector<Symbol> symbols;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    symbols.push_back({unit.exports[i], addresses[i], code});
  return symbols;
}

Jit::Jit(std::unique_ptr<State> state) : state_(std::move(state)) {}
Jit::~Jit() = default;

Result<std::unique_ptr<Jit>> Jit::create(JitOptions options) {
  auto state = std::make_unique<State>();
  state->isa = options.isa ? options.isa : host_cpu().isa;
  if (state->isa->arch != host_arch() ||
      (state->isa->needs & read_cpu_features()) != state->isa->needs)
    return error("instruction set ", state->isa->name, ": this processor has ",
                 best_isa(host_arch(), read_cpu_features()).name, " and could not run its code");
  if (options.threads <= 0) options.threads = usable_cores();

  const auto start = Clock::now();
  LUM_ASSIGN_OR_RETURN(void* entry,
                       load_plugin("luminal_cpu_orc.so", kLinkEntry, options.plugin_directory));
  state->linker = reinterpret_cast<LinkEntryFn*>(entry)();
  std::vector<HelperSymbol> allowed(exact_functions().begin(), exact_functions().end());
  allowed.insert(allowed.end(), options.helpers.begin(), options.helpers.end());
  std::string failure;
  state->session = state->linker->create(allowed, &failure);
  if (!state->session) return error("cannot hold compiled code: ", failure);
  state->stats.load_linker_ms = milliseconds_since(start);

  if (!options.cache_directory.empty()) {
    auto opened = ObjectCache::open(options.cache_directory, options.cache_bytes);
    if (opened.ok()) {
      state->cache = std::move(opened).value();
    } else {
      state->stats.cache_note = opened.error().message;
    }
  }
  if (!state->cache) state->cache = ObjectCache::in_memory(options.cache_bytes);

  state->arguments = compiler_arguments(*state->isa);
  state->key_prefix = cat(kFormat, "\n", state->linker->llvm_version(), "\n", state->isa->name,
                          "\n", join(state->arguments, "\n"));
  state->options = std::move(options);
  return std::unique_ptr<Jit>(new Jit(std::move(state)));
}

Result<std::vector<Symbol>> Jit::compile(std::span<const Unit> units) {
  std::vector<std::optional<Result<std::vector<Symbol>>>> built(units.size());
  const auto body = [&](int i) { built[i] = state_->build(units[i]); };
  const int count = static_cast<int>(units.size());
  if (state_->options.parallel_for && count > 1) {
    state_->options.parallel_for(count, body);
  } else {
    run_on_own_threads(state_->options.threads, count, body);
  }

  std::vector<Symbol> symbols;
  std::optional<Error> failure;
  for (int i = 0; i < count; ++i) {
    if (built[i]->ok()) {
      const std::vector<Symbol>& found = built[i]->value();
      symbols.insert(symbols.end(), found.begin(), found.end());
    } else if (!failure) {
      failure = built[i]->error().within("kernel " + units[i].name);
    }
  }
  if (!failure) return symbols;
  CodeId last;
  for (const Symbol& symbol : symbols) {
    if (symbol.code != last) release(symbol.code);
    last = symbol.code;
  }
  return *failure;
}

void Jit::release(CodeId code) {
  void* handle = nullptr;
  {
    std::lock_guard lock(state_->mutex);
    LUM_CHECK(code.index < state_->linked.size(), "code ", code, " is not of this Jit");
    std::swap(handle, state_->linked[code.index]);
  }
  LUM_CHECK(handle, "code ", code, " is already released");
  state_->linker->release(state_->session, handle);
}

JitStats Jit::stats() const {
  std::lock_guard lock(state_->mutex);
  JitStats stats = state_->stats;
  stats.cache = state_->cache->stats();
  return stats;
}

const IsaRow& Jit::isa() const { return *state_->isa; }

}  // namespace luminal::cpu
