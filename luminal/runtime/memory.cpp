// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/runtime/weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace luminal::runtime {

Result<Memory> Memory::allocate(std::int64_t bytes, bool large_pages) {
  Memory memory;
  memory.bytes_ = std::max<std::int64_t>(bytes, 64);
  void* data = mmap(nullptr, static_cast<std::size_t>(memory.bytes_), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return error("no memory for ", bytes >> 20, " MiB: use a smaller context or a smaller model");
  if (large_pages) madvise(data, static_cast<std::size_t>(memory.bytes_), MADV_HUGEPAGE);
  memory.data_ = static_cast<std::byte*>(data);
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

}  // namespace luminal::runtime
