// SPDX-License-Identifier: MIT OR Apache-2.0
// The border between the program and LLVM. Mapping libLLVM and libclang-cpp costs tens of
// milliseconds of relocations, so the program is not linked with them: two plugins are, each loaded
// when it is first needed. The linker plugin (libLLVM) serves every kernel, the compiler plugin
// (libclang-cpp too) only those that no cache holds.
//
// Invariants: this header names neither LLVM nor anything but the standard library; plugins and
// program are built together by one compiler; plugins are never unloaded; no exception crosses;
// every function may be called from any thread. Functions return false and fill `failure` (without
// the unit's name) when they cannot do their work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace luminal::cpu {

/// A function outside the kernels that they may call.
struct HelperSymbol {
  std::string name;
  const void* address = nullptr;
};

/// Entry point of luminal_cpu_clang.so, under the name kCompileEntry.
/// Compiles C text with these cc1 arguments to an ELF object; `failure` holds clang's errors with
/// their lines.
using CompileFn = bool(const std::vector<std::string>& arguments, const std::string& text,
                       std::string* object, std::string* failure);
inline constexpr char kCompileEntry[] = "luminal_cpu_compile";

/// Linked objects and what they may call.
struct LinkSession;

/// The table that luminal_cpu_orc.so gives by its entry point, under the name kLinkEntry.
struct LinkTable {
  /// The version of the LLVM that is loaded, as "19.1.7".
  std::string (*llvm_version)();
  /// Null and `failure` when this process cannot hold linked code.
  LinkSession* (*create)(std::span<const HelperSymbol> allowed, std::string* failure);
  void (*destroy)(LinkSession*);
  /// Links one object on its own: it sees `allowed` and nothing else. Gives the address of each
  /// export in order, and a handle to release it with.
  bool (*link)(LinkSession*, const std::string& object, std::span<const std::string> exports,
               std::vector<void*>* addresses, void** handle, std::string* failure);
  /// Frees the code of a link; nobody may be running it.
  void (*release)(LinkSession*, void* handle);
};
using LinkEntryFn = const LinkTable*();
inline constexpr char kLinkEntry[] = "luminal_cpu_linker";

}  // namespace luminal::cpu
