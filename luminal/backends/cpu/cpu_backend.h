// SPDX-License-Identifier: MIT OR Apache-2.0
// The CPU back end: regions become C by codegen/, C becomes code of this process by the Jit.
#pragma once

#include "luminal/target/backend.h"

#include <memory>
#include <string>

namespace luminal::cpu {

/// `cache_folder`: of compiled objects, shared by processes; empty keeps them in memory.
/// Fails when LLVM is missing, with what to install.
Result<std::unique_ptr<target::Backend>> make_cpu_backend(std::string cache_folder, int threads);

}  // namespace luminal::cpu
