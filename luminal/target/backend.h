// SPDX-License-Identifier: MIT OR Apache-2.0
// What a back end is to the rest of the compiler: it turns regions into kernels and runs ranges of them.
// A kernel's work is a number of tasks that may run in any order, on any thread, at the same time; ranges of tasks are
// how threads share a kernel. A back end is a folder under backends/; the conformance suite runs on every one.
#pragma once

#include "luminal/base/result.h"
#include "luminal/region/region.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::target {

/// One run of a range of a kernel's tasks.
struct Launch {
  std::span<std::byte* const> buffers;     ///< as Region::buffers, each 64-byte aligned, output last
  std::span<const std::int64_t> symbols;   ///< the value of every symbol of the program's Exprs
  std::int64_t begin = 0, end = 0;         ///< tasks
  std::byte* scratch = nullptr;            ///< scratch_bytes() bytes of this worker alone, 64-byte aligned
};

/// Immutable and safe for several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// How many tasks there are for these symbols; 0 when the output is empty.
  virtual std::int64_t tasks(std::span<const std::int64_t> symbols) const = 0;
  /// An upper bound over all symbol values.
  virtual std::int64_t scratch_bytes() const = 0;
  virtual void run(const Launch& launch) const = 0;
  /// The generated text, for people; empty where there is none.
  virtual std::string_view text() const { return {}; }
};

struct CompileStats {
  int kernels = 0;     ///< distinct kernels asked for
  int compiled = 0;    ///< of these, translated by a compiler now
  int cached = 0;      ///< of these, taken from the object cache
  double seconds = 0;
};

struct CompileOptions {
  int threads = 1;
  std::string cache_folder;  ///< of compiled objects; empty: none
  /// Called with (done, total) from the compiling thread; may be null. Returns false to stop.
  std::function<bool(int, int)> progress;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// One kernel a region, in order. Every verified region has a kernel: an error is a failure of the device or of the
  /// compiler, never a refusal.
  virtual Result<std::vector<std::shared_ptr<const Kernel>>> compile(
      ir::Exprs& exprs, std::span<const region::Region> regions, const CompileOptions& options,
      CompileStats* stats) = 0;
};

}  // namespace luminal::target
