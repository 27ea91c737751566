// SPDX-License-Identifier: MIT OR Apache-2.0
// C text to running code, in this process: clang compiles, LLVM ORC links, and objects are kept by
// content, so that a kernel that was ever compiled on this machine needs no compiler again.
//
// Code is compiled for one ISA row, with strict floating point (no contraction, no re-association),
// integers that wrap, no aliasing by type (kernels use one slab under several types), no headers
// and no library: a unit may call only what is listed in kExactFunctions and what the caller adds
// as helpers. Units do not see each other's names.
//
//   LUM_ASSIGN_OR_RETURN(auto jit, Jit::create({.cache_directory =
//   "/home/me/.cache/luminal/objects"})); std::vector<Unit> units = {{"axpy", "void axpy(float* y,
//   ..) {..}", {"axpy"}}}; LUM_ASSIGN_OR_RETURN(std::vector<Symbol> symbols, jit->compile(units));
//   auto* axpy = symbols[0].as<void(float*, const float*, long)>();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/backends/cpu/cpu_isa.h"
#include "luminal/backends/cpu/jit_plugin.h"
#include "luminal/backends/cpu/object_cache.h"
#include "luminal/base/ids.h"
#include "luminal/base/result.h"

namespace luminal::cpu {

/// One translation unit.
struct Unit {
  std::string name;                  ///< for messages only
  std::string text;                  ///< C17 with clang's extensions (vector types, builtins)
  std::vector<std::string> exports;  ///< functions that it defines and the caller wants
};

/// Names the code of one unit of one compile() call.
struct CodeTag;
using CodeId = Id<CodeTag>;

/// A compiled function. It lives until its code is released or the Jit goes.
struct Symbol {
  std::string name;
  void* address = nullptr;
  CodeId code;

  /// The address as a function: symbol.as<void(float*, long)>().
  template <class Signature>
  Signature* as() const {
    return reinterpret_cast<Signature*>(address);
  }
};

/// Calls body(0), .., body(count - 1), each once, on any threads, and returns when all are done.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

struct JitOptions {
  const IsaRow* isa = nullptr;               ///< null: the best of this machine
  std::string cache_directory;               ///< empty: objects are kept in memory
  std::uint64_t cache_bytes = 256ull << 20;  ///< the cap of the cache
  std::vector<HelperSymbol> helpers;         ///< what kernels may call besides kExactFunctions
  int threads = 0;               ///< that compile() starts for itself; 0: usable_cores()
  ParallelFor parallel_for;      ///< used in place of own threads, when given
  std::string plugin_directory;  ///< where the plugins are; empty: beside the program
};

struct JitStats {
  std::uint64_t units = 0;     ///< linked
  std::uint64_t compiled = 0;  ///< of them, by clang
  ObjectCacheStats cache;
  double compile_ms = 0, link_ms = 0;  ///< summed over units and threads
  double load_linker_ms = 0, load_compiler_ms = 0;
  bool compiler_loaded = false;
  std::string cache_note;  ///< why objects are not kept on disk, or empty
};

/// The functions that every unit may call: those of the C library that clang itself may call for
/// plain C, and those of libm whose result is exact, hence the same everywhere.
std::span<const HelperSymbol> exact_functions();

/// The arguments clang gets for a row; they are a part of the cache key.
std::vector<std::string> compiler_arguments(const IsaRow& isa);

class Jit {
 public:
  /// Fails when the linker plugin or LLVM is missing. A cache directory that cannot be used is not
  /// an error: objects are kept in memory and stats().cache_note says why.
  static Result<std::unique_ptr<Jit>> create(JitOptions options);
  ~Jit();

  /// Compiles and links all units, in parallel. The symbols come unit by unit, in the order of
  /// their exports. If units fail, the error is that of the first of them, and nothing is kept
  /// linked. May be called from several threads.
  Result<std::vector<Symbol>> compile(std::span<const Unit> units);

  /// Frees code. Nobody may be running it, and its symbols must not be used again.
  void release(CodeId code);

  JitStats stats() const;
  const IsaRow& isa() const;

 private:
  struct State;
  explicit Jit(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace luminal::cpu
