// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <vector>

namespace luminal::cpu {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'L', 'U', 'M', 'O', 'B', 'J', '0', '1'};
constexpr std::string_view kSuffix = ".lumobj", kPartSuffix = ".part";
// A writer that died left its part file; nobody takes that long to write one.
constexpr auto kPartLifetime = std::chrono::hours(1);

struct Header {
  char magic[8];
  std::uint64_t length;
  Digest key;
  Digest checksum;
};
static_assert(sizeof(Header) == 80);

/// A file descriptor that closes itself.
struct File {
  int fd;
  explicit File(int fd) : fd(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
};

bool read_all(int fd, void* data, std::size_t size) {
  auto* next = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(fd, next, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got, size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* data, std::size_t size) {
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t put = ::write(fd, next, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    next += put, size -= static_cast<std::size_t>(put);
  }
  return true;
}

// The object if the file is whole and is the one that `key` names.
std::optional<std::string> read_entry(int fd, const Digest& key) {
  struct stat info;
  Header header;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (!read_all(fd, &header, sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key)
    return std::nullopt;
  if (header.length > kMaxObjectBytes ||
      static_cast<std::uint64_t>(info.st_size) != sizeof header + header.length)
    return std::nullopt;
  std::string object(header.length, '\0');
  if (!read_all(fd, object.data(), object.size()) || sha256(object) != header.checksum)
    return std::nullopt;
  return object;
}

Status check_owner(const std::string& directory) {
  struct stat info;
  if (::stat(directory.c_str(), &info) != 0)
    return error("object cache ", directory, ": ", std::strerror(errno));
  if (!S_ISDIR(info.st_mode)) return error("object cache ", directory, ": not a directory");
  if (info.st_uid != ::geteuid())
    return error("object cache ", directory, ": belongs to user ", info.st_uid, ", not to you (",
                 ::geteuid(), "); code is run from it, so give another directory");
  if (info.st_mode & S_IWOTH)
    return error("object cache ", directory,
                 ": everyone may write to it and code is run from it; chmod o-w, or give another");
  return {};
}

Status make_directory(const std::string& directory) {
  std::error_code failure;
  const fs::path parent = fs::path(directory).parent_path();
  if (!parent.empty()) fs::create_directories(parent, failure);
  if (failure) return error("object cache ", directory, ": ", failure.message());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return error("object cache ", directory, ": ", std::strerror(errno));
  return check_owner(directory);
}

struct Listed {
  fs::file_time_type used;
  std::string path;
  std::uint64_t bytes;
};

// All entries, oldest first; part files that nobody can still be writing are removed.
std::vector<Listed> list_entries(const std::string& directory) {
  std::vector<Listed> entries;
  std::error_code failure;
  fs::directory_iterator next(directory, failure);
  for (; !failure && next != fs::directory_iterator(); next.increment(failure)) {
    std::error_code gone;  // another process may remove any file between two of these calls
    const std::string path = next->path().string();
    const auto used = fs::last_write_time(path, gone);
    if (gone) continue;
    if (path.ends_with(kPartSuffix) && fs::file_time_type::clock::now() - used > kPartLifetime)
      fs::remove(path, gone);
    if (!path.ends_with(kSuffix)) continue;
    const std::uint64_t bytes = fs::file_size(path, gone);
    if (!gone) entries.push_back({used, path, bytes});
  }
  std::sort(entries.begin(), entries.end(), [](const Listed& a, const Listed& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  return entries;
}

}  // namespace

ObjectCache::ObjectCache(std::string directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

Result<std::unique_ptr<ObjectCache>> ObjectCache::open(std::string directory,
                                                       std::uint64_t max_bytes) {
  LUM_CHECK(!directory.empty(), "use in_memory");
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  LUM_RETURN_IF_ERROR(make_directory(directory));
  return std::unique_ptr<ObjectCache>(new ObjectCache(std::move(directory), max_bytes));
}

std::unique_ptr<ObjectCache> ObjectCache::in_memory(std::uint64_t max_bytes) {
  return std::unique_ptr<ObjectCache>(new ObjectCache("", max_bytes));
}

std::string ObjectCache::path(const Digest& key) const {
  return cat(directory_, "/", to_hex(key), kSuffix);
}

std::optional<std::string> ObjectCache::load(const Digest& key) {
  std::optional<std::string> object;
  if (!directory_.empty()) object = load_file(key);
  std::lock_guard lock(mutex_);
  if (directory_.empty()) {
    if (const auto found = kept_.find(key); found != kept_.end()) {
      found->second.last_use = ++clock_;
      object = found->second.object;
    }
  }
  ++(object ? stats_.hits : stats_.misses);
  return object;
}

std::optional<std::string> ObjectCache::load_file(const Digest& key) {
  const std::string name = path(key);
  const File file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.fd < 0) return std::nullopt;
  auto object = read_entry(file.fd, key);
  if (object) {
    // Used now. A read-only directory may refuse, which only ages the entry.
    ::futimens(file.fd, nullptr);
    return object;
  }
  ::unlink(name.c_str());
  std::lock_guard lock(mutex_);
  ++stats_.damaged;
  return std::nullopt;
}

Status ObjectCache::store(const Digest& key, const std::string& object) {
  if (object.size() > kMaxObjectBytes)
    return error("object of ", object.size(), " bytes: the cache takes at most ", kMaxObjectBytes);
  if (!directory_.empty()) return store_file(key, object);
  keep_in_memory(key, object);
  return {};
}

Status ObjectCache::store_file(const Digest& key, const std::string& object) {
  static std::atomic<std::uint64_t> serial{0};
  const std::string part =
      cat(directory_, "/", to_hex(key), ".", ::getpid(), ".", ++serial, kPartSuffix);
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.length = object.size();
  header.key = key;
  header.checksum = sha256(object);
  bool written = false;
  int reason = 0;
  {
    const File file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.fd < 0) return error("object cache ", part, ": ", std::strerror(errno));
    written = write_all(file.fd, &header, sizeof header) &&
              write_all(file.fd, object.data(), object.size());
    reason = errno;
  }
  if (written && ::rename(part.c_str(), path(key).c_str()) != 0) {
    written = false;
    reason = errno;
  }
  if (!written) {
    ::unlink(part.c_str());
    return error("object cache ", part, ": ", std::strerror(reason));
  }
  trim_directory(sizeof header + object.size());
  return {};
}

void ObjectCache::keep_in_memory(const Digest& key, const std::string& object) {
  std::lock_guard lock(mutex_);
  Kept& kept = kept_[key];
  bytes_ = bytes_.value_or(0) - kept.object.size() + object.size();
  kept = {object, ++clock_};
  while (*bytes_ > max_bytes_ && !kept_.empty()) {
    const auto oldest = std::min_element(
        kept_.begin(), kept_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    *bytes_ -= oldest->second.object.size();
    kept_.erase(oldest);
    ++stats_.evicted;
  }
}

// The directory is listed at the first store and whenever the sum passes the cap, not at every
// store. Others' stores are seen at the next listing, so the cap may be passed for a while by as
// much as each running process adds.
void ObjectCache::trim_directory(std::uint64_t added) {
  std::lock_guard lock(mutex_);
  if (bytes_) *bytes_ += added;
  if (bytes_ && *bytes_ <= max_bytes_) return;
  const std::vector<Listed> entries = list_entries(directory_);
  std::uint64_t total = 0;
  for (const Listed& entry : entries) total += entry.bytes;
  // Down to three quarters, so that a full cache is not listed again at the next store.
  const std::uint64_t goal = total > max_bytes_ ? max_bytes_ / 4 * 3 : max_bytes_;
  for (const Listed& entry : entries) {
    if (total <= goal) break;
    if (::unlink(entry.path.c_str()) == 0) ++stats_.evicted;
    total -= entry.bytes;
  }
  bytes_ = total;
}

ObjectCacheStats ObjectCache::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace luminal::cpu
