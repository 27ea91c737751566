// SPDX-License-Identifier: MIT OR Apache-2.0
// Every tensor type as graph arithmetic, compiled, equals the gguf package's dequantiser bit for bit.
#include "luminal/frontends/gguf/tensor_graph.h"

#include "luminal/api/engine.h"
#include "luminal/frontends/gguf/small_gguf_for_test.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace luminal::gguf {
namespace {

struct Case {
  std::string type;
  std::int64_t rows = 0, columns = 0;
  std::string bytes;
  std::uint64_t hash = 0;
};

std::vector<Case> read_cases() {
  std::ifstream file("luminal/frontends/gguf/testdata/blocks.tsv");
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    Case one;
    std::string hex, hash;
    words >> one.type >> one.rows >> one.columns >> hex >> hash;
    for (std::size_t k = 0; k + 1 < hex.size(); k += 2)
      one.bytes.push_back(static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16)));
    one.hash = std::stoull(hash, nullptr, 16);
    cases.push_back(std::move(one));
  }
  return cases;
}

std::uint64_t fnv(std::span<const std::byte> bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (std::size_t k = 0; k < bytes.size(); k += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + k, 4);
    value = (value ^ word) * 0x100000001b3;
  }
  return value;
}

// All tensors of a file through one session: one output each, by the tensor's name.
class Values {
 public:
  explicit Values(const std::string& bytes) : bytes_(bytes) {
    auto file = GgufFile::parse(std::as_bytes(std::span<const char>(bytes_)), "m.gguf");
    EXPECT_TRUE(file.ok()) << file.error().message;
    file_ = std::make_unique<GgufFile>(std::move(*file));
    ir::Graph graph;
    for (const TensorInfo& tensor : file_->tensors()) {
      const auto value = tensor_value(graph, *file_, tensor.name);
      EXPECT_TRUE(value.ok()) << value.error().message;
      graph.output(tensor.name, *value);
    }
    engine_ = std::move(*Engine::create({.threads = 2}));
    SessionOptions options;
    options.source = [this](const std::string& name) -> Result<std::span<const std::byte>> {
      LUM_ASSIGN_OR_RETURN(const TensorInfo* tensor, file_->tensor(name));
      return file_->bytes(*tensor);
    };
    const ir::Graph* graphs[] = {&graph};
    auto session = engine_->compile(graphs, options);
    EXPECT_TRUE(session.ok()) << session.error().message;
    session_ = std::move(*session);
    EXPECT_TRUE(session_->run(0).ok());
  }
  std::span<const std::byte> of(const std::string& name) { return session_->output(0, name); }

 private:
  std::string bytes_;
  std::unique_ptr<GgufFile> file_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<runtime::Session> session_;
};

TEST(TensorGraph, EqualsTheGgufPackage) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GE(cases.size(), 23u);
  SmallGguf file;
  for (const Case& one : cases)
    file.tensor(one.type, tensor_type(one.type)->id,
                {static_cast<std::uint64_t>(one.columns), static_cast<std::uint64_t>(one.rows)}, one.bytes);
  Values values(file.write());
  for (const Case& one : cases) {
    const auto bytes = values.of(one.type);
    ASSERT_EQ(bytes.size(), static_cast<std::size_t>(4 * one.rows * one.columns)) << one.type;
    EXPECT_EQ(fnv(bytes), one.hash) << one.type;
  }
}

// The types that the package has no dequantiser for, by their definition.
TEST(TensorGraph, OneAndTwoBitTypesFollowTheirDefinition) {
  std::string one = SmallGguf::raw<std::uint16_t>(0x3800), two = one;  // d = 0.5
  for (int k = 0; k < 16; ++k) {
    one.push_back(static_cast<char>(37 * k + 11));
    two.push_back(static_cast<char>(91 * k + 5));
  }
  SmallGguf file;
  file.tensor("one", 41, {128}, one);
  file.tensor("two", 42, {64}, two);
  Values values(file.write());
  const auto number = [&](const char* name, int k) {
    float value = 0;
    std::memcpy(&value, values.of(name).data() + 4 * k, 4);
    return value;
  };
  for (int k = 0; k < 128; ++k)
    EXPECT_EQ(number("one", k), ((one[static_cast<std::size_t>(2 + k / 8)] >> (k % 8)) & 1) != 0 ? 0.5f : -0.5f);
  for (int k = 0; k < 64; ++k)
    EXPECT_EQ(number("two", k),
              0.5f * static_cast<float>(((two[static_cast<std::size_t>(2 + k / 4)] >> (2 * (k % 4))) & 3) - 1));
}

TEST(TensorGraph, OtherTypesAreNamed) {
  SmallGguf file;
  file.tensor("t", 16, {256}, std::string(66, 'x'));
  const std::string bytes = file.write();
  const auto parsed = GgufFile::parse(std::as_bytes(std::span<const char>(bytes)), "m.gguf");
  ASSERT_TRUE(parsed.ok());
  ir::Graph graph;
  const auto value = tensor_value(graph, *parsed, "t");
  ASSERT_FALSE(value.ok());
  EXPECT_NE(value.error().message.find("IQ2_XXS; supported are F32"), std::string::npos);
}

}  // namespace
}  // namespace luminal::gguf
