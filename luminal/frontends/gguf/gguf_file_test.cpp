// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/frontends/gguf/gguf_file.h"

#include "luminal/frontends/gguf/small_gguf_for_test.h"

#include <gtest/gtest.h>

#include <random>

namespace luminal::gguf {
namespace {

std::span<const std::byte> view(const std::string& bytes) {
  return std::as_bytes(std::span<const char>(bytes));
}

std::string refusal(const std::string& bytes) {
  const auto file = GgufFile::parse(view(bytes), "m.gguf");
  return file.ok() ? "" : file.error().message;
}

SmallGguf sample(std::uint32_t version = 3) {
  SmallGguf file(version);
  file.string("general.architecture", "gemma3");
  file.number("gemma3.block_count", 18);
  file.pair("general.wide", 10, SmallGguf::raw<std::uint64_t>(7));
  file.pair("general.rate", 6, SmallGguf::raw(0.5f));
  file.pair("general.flag", 7, SmallGguf::raw<std::uint8_t>(1));
  file.pair("general.sizes", 9, SmallGguf::raw<std::uint32_t>(5) + SmallGguf::raw<std::uint64_t>(2) +
                                    SmallGguf::raw<std::int32_t>(-3) + SmallGguf::raw<std::int32_t>(9));
  file.strings("tokenizer.ggml.tokens", {"a", "", "bc"});
  file.tensor("w", 0, {3, 2}, std::string(24, 'x'));
  file.tensor("q", 2, {64}, std::string(36, 'y'));
  return file;
}

TEST(GgufFile, ReadsValuesAndTensors) {
  for (std::uint32_t version : {2u, 3u}) {
    const std::string bytes = sample(version).write();
    const auto file = GgufFile::parse(view(bytes), "m.gguf");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(*file->string("general.architecture"), "gemma3");
    EXPECT_EQ(*file->integer("gemma3.block_count"), 18);
    EXPECT_EQ(*file->integer("general.wide"), 7);
    EXPECT_EQ(*file->number("general.rate"), 0.5);
    EXPECT_EQ(*file->number("general.wide"), 7.0);
    EXPECT_TRUE(*file->boolean("general.flag"));
    EXPECT_EQ(*file->integers("general.sizes"), (std::vector<std::int64_t>{-3, 9}));
    EXPECT_EQ(*file->strings("tokenizer.ggml.tokens"), (std::vector<std::string>{"a", "", "bc"}));
    const auto w = file->tensor("w");
    ASSERT_TRUE(w.ok());
    EXPECT_EQ((*w)->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(file->bytes(**w).size(), 24u);
    EXPECT_EQ(static_cast<char>(file->bytes(**file->tensor("q"))[0]), 'y');
    EXPECT_EQ(metadata_text(file->metadata().at("general.sizes")), "[-3, 9]");
  }
}

TEST(GgufFile, MessagesNameTheKey) {
  const std::string bytes = sample().write();
  const auto file = GgufFile::parse(view(bytes), "m.gguf");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->integer("nothing").error().message, "m.gguf: there is no metadata key nothing");
  EXPECT_NE(file->integer("general.rate").error().message.find("is f32, an integer"), std::string::npos);
  EXPECT_NE(file->string("general.sizes").error().message.find("array of i32"), std::string::npos);
  EXPECT_FALSE(file->tensor("none").ok());
}

TEST(GgufFile, EveryCutIsRefused) {
  const std::string bytes = sample().write();
  for (std::size_t length = 0; length < bytes.size() - 28; ++length)
    EXPECT_NE(refusal(bytes.substr(0, length)), "") << length;
  EXPECT_EQ(refusal(bytes), "");
}

TEST(GgufFile, HostileFilesAreRefused) {
  EXPECT_NE(refusal("GGML").find("not a GGUF"), std::string::npos);
  std::string old = sample().write();
  old[4] = 1;
  EXPECT_NE(refusal(old).find("version 1"), std::string::npos);
  std::string swapped = sample().write();
  std::swap(swapped[4], swapped[7]);
  EXPECT_NE(refusal(swapped).find("big-endian"), std::string::npos);
  std::string many = sample().write();
  many[15] = '\x7f';
  EXPECT_NE(refusal(many).find("tensors do not fit"), std::string::npos);

  SmallGguf twice;
  twice.number("a", 1);
  twice.number("a", 2);
  EXPECT_NE(refusal(twice.write()).find("occurs twice"), std::string::npos);
  SmallGguf uneven;
  uneven.number("general.alignment", 48);
  EXPECT_NE(refusal(uneven.write()).find("power of two"), std::string::npos);
  SmallGguf nested;
  nested.pair("a", 9, SmallGguf::raw<std::uint32_t>(9) + SmallGguf::raw<std::uint64_t>(1));
  EXPECT_NE(refusal(nested.write()).find("arrays of arrays"), std::string::npos);
  SmallGguf vast;
  vast.pair("a", 9, SmallGguf::raw<std::uint32_t>(10) + SmallGguf::raw<std::uint64_t>(std::uint64_t{1} << 61));
  EXPECT_NE(refusal(vast.write()).find("do not fit"), std::string::npos);
  SmallGguf strings;
  strings.pair("a", 9, SmallGguf::raw<std::uint32_t>(8) + SmallGguf::raw<std::uint64_t>(std::uint64_t{1} << 61));
  EXPECT_NE(refusal(strings.write()).find("do not fit"), std::string::npos);
}

TEST(GgufFile, HostileTensorsAreRefused) {
  const auto with = [](std::uint32_t type, std::vector<std::uint64_t> dims) {
    SmallGguf file;
    file.tensor("t", type, dims, std::string(32, 'x'));
    return refusal(file.write());
  };
  EXPECT_NE(with(0, {std::uint64_t{1} << 62, 16}).find("overflows"), std::string::npos);
  EXPECT_NE(with(0, {~std::uint64_t{0}}).find("overflows"), std::string::npos);
  EXPECT_NE(with(2, {33}).find("a multiple of 32"), std::string::npos);
  EXPECT_NE(with(4, {32}).find("retired"), std::string::npos);
  EXPECT_NE(with(999, {32}).find("type 999"), std::string::npos);
  EXPECT_NE(with(0, {1, 1, 1, 1, 1}).find("at most 4"), std::string::npos);
  EXPECT_NE(with(0, {1000}).find("cut off"), std::string::npos);
  EXPECT_EQ(with(0, {0}), "");
  SmallGguf twice;
  twice.tensor("t", 0, {1}, "abcd");
  twice.tensor("t", 0, {1}, "abcd");
  EXPECT_NE(refusal(twice.write()).find("occurs twice"), std::string::npos);
}

// Random damage: an error or a file whose every value can be read, never a crash.
TEST(GgufFile, DamagedFilesDoNoHarm) {
  const std::string good = sample().write();
  std::mt19937 random(11);
  int read = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string bytes = good;
    for (int change = 1 + static_cast<int>(random() % 4); change > 0; --change) {
      const std::size_t at = random() % bytes.size();
      static constexpr unsigned char kEdges[] = {0, 1, 0x7f, 0x80, 0xff};
      bytes[at] = static_cast<char>(random() % 2 == 0 ? kEdges[random() % 5] : random() % 256);
    }
    if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
    const auto file = GgufFile::parse(view(bytes), "m.gguf");
    if (!file.ok()) continue;
    ++read;
    std::size_t total = 0;
    for (const auto& [key, value] : file->metadata()) total += metadata_text(value).size();
    for (const TensorInfo& tensor : file->tensors())
      for (std::byte byte : file->bytes(tensor)) total += static_cast<std::size_t>(byte);
    EXPECT_GT(total, 0u);
  }
  EXPECT_GT(read, 1000);
  EXPECT_LT(read, 29000);
}

}  // namespace
}  // namespace luminal::gguf
