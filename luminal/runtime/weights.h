// SPDX-License-Identifier: MIT OR Apache-2.0
// Weights from the bytes of a file into the layouts that kernels read. Each is copied once, in parallel; dense ones
// that already lie in the file as they are needed stay there.
#pragma once

#include "luminal/region/program.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace luminal {
class Team;
}

namespace luminal::runtime {

/// Bytes of a named buffer of the model file; they must live as long as the session.
using BufferSource = std::function<Result<std::span<const std::byte>>(const std::string& buffer)>;

/// Memory of its own, page-aligned, zero at the start, returned to the system at the end.
class Memory {
 public:
  Memory() = default;
  /// `large_pages` asks for them; the system may say no.
  static Result<Memory> allocate(std::int64_t bytes, bool large_pages);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

struct LoadOptions {
  BufferSource source;
  /// Called with (bytes done, bytes in all) from the loading thread; may be null. Returns false to stop.
  std::function<bool(std::int64_t, std::int64_t)> progress;
};

struct Weights {
  std::map<std::string, const std::byte*> data;  ///< by the name of the Input
  Memory memory;
};

/// Lays out every weight of the programs (same name: same layout in all). Errors: a buffer is missing or too short, a
/// number is not finite where the program relies on it, memory runs out, or progress() said stop.
Result<Weights> load_weights(std::span<region::Program* const> programs, Team& team,
                             const LoadOptions& options);

}  // namespace luminal::runtime
