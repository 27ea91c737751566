// SPDX-License-Identifier: MIT OR Apache-2.0
// Token ids against other programs: sentencepiece on small trained vocabularies, and llama.cpp on
// the real Gemma 3 vocabulary when LUMINAL_GEMMA3 names its GGUF file.
#include "luminal/text/gguf_vocabulary_for_test.h"
#include "luminal/text/golden_text.h"
#include "luminal/text/tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace luminal::text {
namespace {

Vocabulary read_small_vocabulary(const std::string& name) {
  Vocabulary v;
  v.model = "llama";
  for (const auto& line : read_golden("small_" + name + "_vocabulary.tsv")) {
    v.scores.push_back(std::stof(line[0]));
    v.kinds.push_back(token_kind(std::stoi(line[1])));
    v.tokens.push_back(line[2]);
  }
  v.add_space_prefix = name == "prefix";
  return v;
}

class Sentencepiece : public testing::TestWithParam<const char*> {};

TEST_P(Sentencepiece, same_ids_and_text) {
  const std::string name = GetParam();
  const Tokenizer tokenizer = make_tokenizer(read_small_vocabulary(name)).value();
  const auto cases = read_golden("small_" + name + "_cases.tsv");
  ASSERT_GT(cases.size(), 300u);
  for (const auto& line : cases) {
    const auto ids = encode(tokenizer, line[1], {.add_special = false}).value();
    EXPECT_EQ(ids, read_ids(line[0])) << line[1];
    // U+2581 in a text reads as a space, and what is unknown is lost.
    if (name == "unknown" || line[1].find("▁") != line[1].npos) continue;
    EXPECT_EQ(decode(tokenizer, ids).value(), line[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Small, Sentencepiece, testing::Values("prefix", "added", "unknown"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Gemma3, same_ids_as_llama_cpp) {
  const char* path = std::getenv("LUMINAL_GEMMA3");
  if (path == nullptr) GTEST_SKIP() << "LUMINAL_GEMMA3 does not name the Gemma 3 270M GGUF file";
  const Tokenizer tokenizer = make_tokenizer(GgufVocabularyReader(path).read()).value();
  EXPECT_EQ(tokenizer.end_tokens, (std::vector<std::int32_t>{1, 106}));
  const auto cases = read_golden("gemma3_cases.tsv");
  ASSERT_GT(cases.size(), 100u);
  for (const auto& line : cases) {
    const EncodeOptions options{.add_special = line[0][0] == '1',
                                .parse_special = line[0][1] == '1'};
    const auto ids = encode(tokenizer, line[2], options).value();
    EXPECT_EQ(ids, read_ids(line[1])) << line[0] << " " << line[2];
    if (line[2].find("▁") != line[2].npos) continue;
    EXPECT_EQ(decode(tokenizer, ids, {.special = options.parse_special}).value(),
              cat(options.add_special && options.parse_special ? "<bos>" : "", line[2]));
  }
}

}  // namespace
}  // namespace luminal::text
