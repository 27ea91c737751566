// SPDX-License-Identifier: MIT OR Apache-2.0
// Object files by content: the key is a hash of all that an object was made from (text, flags,
// compiler, ISA row), so an entry never grows stale and any process may reuse what another one
// compiled.
//
// On disk an entry is one file, <directory>/<key>.lumobj: a header (magic, length, key, SHA-256 of
// the object) and the object. Files are written under another name and renamed, so a reader sees
// all of an entry or none; one that does not check is removed and counts as absent. When the
// entries together pass the cap, those not used for longest go. With no directory the same
// interface keeps objects in memory.
//
//   auto cache = ObjectCache::open("/home/me/.cache/luminal/objects", 256 << 20);
//   if (auto object = (*cache)->load(key)) link(*object);
//
// Threads: every call may come from any thread, and any number of processes may share a directory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "luminal/backends/cpu/object_cache_hash.h"
#include "luminal/base/result.h"

namespace luminal::cpu {

/// The largest object that is stored or believed.
inline constexpr std::uint64_t kMaxObjectBytes = 64u << 20;

struct ObjectCacheStats {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t damaged = 0;  ///< entries that were there and did not check
  std::uint64_t evicted = 0;
};

class ObjectCache {
 public:
  /// Makes the directory (mode 0700) where it is missing. Code is run from it, so one that belongs
  /// to another user or that everyone may write to is an error.
  static Result<std::unique_ptr<ObjectCache>> open(std::string directory, std::uint64_t max_bytes);
  /// In memory only.
  static std::unique_ptr<ObjectCache> in_memory(std::uint64_t max_bytes);

  /// The object, or nothing when it is absent or damaged.
  std::optional<std::string> load(const Digest& key);
  /// Keeps the object. An error (disk full, directory gone) leaves no entry behind and harms
  /// nothing else.
  Status store(const Digest& key, const std::string& object);

  ObjectCacheStats stats() const;
  /// Empty when in memory.
  const std::string& directory() const { return directory_; }

 private:
  ObjectCache(std::string directory, std::uint64_t max_bytes);
  std::string path(const Digest& key) const;
  std::optional<std::string> load_file(const Digest& key);
  Status store_file(const Digest& key, const std::string& object);
  void keep_in_memory(const Digest& key, const std::string& object);
  void trim_directory(std::uint64_t added);

  struct Kept {
    std::string object;
    std::uint64_t last_use = 0;
  };

  const std::string directory_;
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  ObjectCacheStats stats_;
  std::optional<std::uint64_t>
      bytes_;  // held, as far as this process knows; on disk: unknown until the first store
  std::map<Digest, Kept> kept_;
  std::uint64_t clock_ = 0;
};

}  // namespace luminal::cpu
