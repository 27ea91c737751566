// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/backends/cpu/object_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace luminal::cpu {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / cat("luminal_cache_", getpid(), "_", test->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<ObjectCache> open(std::uint64_t cap = 1 << 20) {
    auto cache = ObjectCache::open(folder_ / "objects", cap);
    EXPECT_TRUE(cache.ok()) << cache.error().message;
    return std::move(cache).value();
  }
  fs::path file(const Digest& key) { return folder_ / "objects" / (to_hex(key) + ".lumobj"); }
  int count_files() {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "objects")) ++count;
    return count;
  }

  fs::path folder_;
};

std::string slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// FIPS 180-4's examples, and lengths around the padding's edges (values of sha256sum).
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  Sha256 all;
  for (int length = 0; length < 130; ++length) all.update(to_hex(sha256(std::string(length, 'a'))));
  EXPECT_EQ(to_hex(all.finish()),
            "c665ed20ef30f158e90c7e921d8182bc0943c4b087a82f64a18d417bcdfadce7");
}

TEST(Sha256, PiecesAndFields) {
  const std::string text(1000, 'q');
  for (std::size_t piece : {1u, 3u, 63u, 64u, 65u, 999u}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) hash.update(text.substr(at, piece));
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
  EXPECT_NE(Sha256().field("ab").field("c").finish(), Sha256().field("a").field("bc").finish());
}

TEST_F(ObjectCacheTest, KeepsObjectsAcrossInstances) {
  const Digest one = sha256("one"), two = sha256("two");
  std::string bytes("\0binary\xff\n", 9);
  ASSERT_TRUE(open()->store(one, bytes).ok());
  auto cache = open();
  EXPECT_EQ(cache->load(one), bytes);
  EXPECT_EQ(cache->load(two), std::nullopt);
  ASSERT_TRUE(cache->store(two, "").ok());
  EXPECT_EQ(cache->load(two), "");
  EXPECT_EQ(cache->stats().hits, 2u);
  EXPECT_EQ(cache->stats().misses, 1u);
  struct stat info;
  ASSERT_EQ(::stat((folder_ / "objects").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(ObjectCacheTest, EveryKindOfDamageIsAbsenceAndIsRepaired) {
  const Digest key = sha256("key");
  const std::string object(5000, 'x');
  auto cache = open();
  ASSERT_TRUE(cache->store(key, object).ok());
  const std::string good = slurp(file(key));
  std::vector<std::string> bad = {"", "short", good.substr(0, good.size() - 1), good + "more"};
  for (std::size_t at : {0u, 8u, 15u, 16u, 47u, 48u, 79u, 80u, 5079u}) {
    bad.push_back(good);
    bad.back()[at] ^= 0x40;
  }
  for (std::size_t i = 0; i < bad.size(); ++i) {
    spill(file(key), bad[i]);
    EXPECT_EQ(cache->load(key), std::nullopt) << i;
    EXPECT_EQ(cache->stats().damaged, i + 1);
    EXPECT_FALSE(fs::exists(file(key))) << i;
    ASSERT_TRUE(cache->store(key, object).ok());
    EXPECT_EQ(cache->load(key), object) << i;
  }
}

TEST_F(ObjectCacheTest, AnEntryUnderAnotherNameIsDamage) {
  auto cache = open();
  ASSERT_TRUE(cache->store(sha256("a"), "object of a").ok());
  fs::rename(file(sha256("a")), file(sha256("b")));
  EXPECT_EQ(cache->load(sha256("b")), std::nullopt);
  EXPECT_EQ(cache->stats().damaged, 1u);
}

TEST_F(ObjectCacheTest, RemovesTheLeastRecentlyUsedAboveTheCap) {
  auto cache = open(10 * 1080);
  const auto key = [](int i) { return sha256(cat("object ", i)); };
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(cache->store(key(i), std::string(1000, 'x')).ok());
    fs::last_write_time(file(key(i)),
                        fs::file_time_type::clock::now() - std::chrono::hours(20 - i));
  }
  EXPECT_EQ(count_files(), 10);
  EXPECT_TRUE(cache->load(key(0)));  // used now, so it stays
  ASSERT_TRUE(cache->store(key(10), std::string(1000, 'x')).ok());
  EXPECT_EQ(count_files(), 7);
  EXPECT_EQ(cache->stats().evicted, 4u);
  EXPECT_TRUE(cache->load(key(0)));
  EXPECT_TRUE(cache->load(key(10)));
  for (int i = 1; i <= 4; ++i) EXPECT_FALSE(cache->load(key(i))) << i;
  for (int i = 5; i <= 9; ++i) EXPECT_TRUE(cache->load(key(i))) << i;
}

TEST_F(ObjectCacheTest, SweepsWhatADeadWriterLeft) {
  fs::create_directories(folder_ / "objects");
  const fs::path old = folder_ / "objects" / "x.1.1.part",
                 young = folder_ / "objects" / "x.2.1.part";
  spill(old, "half");
  spill(young, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(open()->store(sha256("k"), "object").ok());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(ObjectCacheTest, InMemoryKeepsToItsCap) {
  auto cache = ObjectCache::in_memory(3000);
  EXPECT_EQ(cache->directory(), "");
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(cache->store(sha256(name), std::string(1000, *name)).ok());
  EXPECT_TRUE(cache->load(sha256("a")));
  ASSERT_TRUE(cache->store(sha256("d"), std::string(1000, 'd')).ok());
  EXPECT_EQ(cache->load(sha256("a")), std::string(1000, 'a'));
  EXPECT_FALSE(cache->load(sha256("b")));
  EXPECT_TRUE(cache->load(sha256("d")));
  ASSERT_TRUE(cache->store(sha256("d"), "again").ok());
  EXPECT_EQ(cache->load(sha256("d")), "again");
  EXPECT_TRUE(cache->load(sha256("c")));
}

TEST_F(ObjectCacheTest, RefusesDirectoriesThatCodeMustNotComeFrom) {
  fs::create_directories(folder_ / "open_to_all");
  ::chmod((folder_ / "open_to_all").c_str(), 0777);
  auto cache = ObjectCache::open(folder_ / "open_to_all", 1000);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message.find("everyone may write"), std::string::npos);
  spill(folder_ / "file", "");
  cache = ObjectCache::open(folder_ / "file", 1000);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().message.find("not a directory"), std::string::npos);
  cache = ObjectCache::open(folder_ / "file" / "below", 1000);
  EXPECT_FALSE(cache.ok());
}

TEST_F(ObjectCacheTest, AStoreThatFailsIsAnErrorAndLeavesNothing) {
  auto cache = open();
  fs::remove_all(folder_ / "objects");
  EXPECT_FALSE(cache->store(sha256("k"), "object").ok());
  EXPECT_FALSE(cache->load(sha256("k")));
}

// Four processes of two threads write and read the same twelve entries; whoever finds one, finds it
// whole.
TEST_F(ObjectCacheTest, ProcessesAndThreadsShareADirectory) {
  constexpr int kProcesses = 4, kEntries = 12;
  open();
  const auto object = [](int i) { return std::string(20000 + i, static_cast<char>('a' + i)); };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto cache = ObjectCache::open(folder_ / "objects", 150000);  // also evicts
      std::atomic<bool> good = cache.ok();
      std::vector<std::thread> threads;
      for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
          for (int round = 0; good && round < 120; ++round) {
            const int i = (round * 5 + process * 3 + t) % kEntries;
            auto found = (*cache)->load(sha256(cat(i)));
            if (found && *found != object(i)) good = false;
            if (!found && !(*cache)->store(sha256(cat(i)), object(i)).ok()) good = false;
          }
        });
      }
      for (auto& thread : threads) thread.join();
      ::_exit(good && (*cache)->stats().damaged == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "objects"))
    EXPECT_EQ(entry.path().extension(), ".lumobj") << entry.path();
}

}  // namespace
}  // namespace luminal::cpu
