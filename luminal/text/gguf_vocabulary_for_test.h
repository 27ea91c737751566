// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests: the vocabulary of a real GGUF file, with no help from the frontend (which this folder
// does not see). It trusts the file: for files that a developer names, not for files of users.
#pragma once

#include "luminal/base/check.h"
#include "luminal/text/vocabulary.h"

#include <cstdint>
#include <fstream>
#include <string>

namespace luminal::text {

class GgufVocabularyReader {
 public:
  explicit GgufVocabularyReader(const std::string& path) : file_(path, std::ios::binary) {
    LUM_CHECK(file_.good(), "cannot open ", path);
  }

  Vocabulary read() {
    LUM_CHECK(number<std::uint32_t>() == 0x46554747, "not a GGUF file");
    LUM_CHECK(number<std::uint32_t>() == 3, "not GGUF version 3");
    number<std::uint64_t>();
    for (auto left = number<std::uint64_t>(); left > 0; --left) {
      const std::string key = string();
      value(key, number<std::uint32_t>());
    }
    return std::move(vocabulary_);
  }

 private:
  template <class T>
  T number() {
    T out{};
    file_.read(reinterpret_cast<char*>(&out), sizeof out);
    LUM_CHECK(file_.good(), "the file ends too early");
    return out;
  }
  std::string string() {
    std::string out(number<std::uint64_t>(), '\0');
    file_.read(out.data(), static_cast<std::streamsize>(out.size()));
    return out;
  }
  void value(const std::string& key, std::uint32_t type) {
    constexpr int kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      const std::string text = string();
      if (key == "tokenizer.ggml.model") vocabulary_.model = text;
      if (key == "tokenizer.ggml.tokens") vocabulary_.tokens.push_back(text);
    } else if (type == 9) {
      const auto element = number<std::uint32_t>();
      for (auto left = number<std::uint64_t>(); left > 0; --left) value(key, element);
    } else if (type == 6) {
      const auto score = number<float>();
      if (key == "tokenizer.ggml.scores") vocabulary_.scores.push_back(score);
    } else {
      std::int64_t bits = 0;
      file_.read(reinterpret_cast<char*>(&bits), kBytes[type]);
      integer(key, bits);
    }
  }
  void integer(const std::string& key, std::int64_t bits) {
    const auto id = static_cast<std::int32_t>(bits);
    if (key == "tokenizer.ggml.token_type") vocabulary_.kinds.push_back(token_kind(bits));
    if (key == "tokenizer.ggml.bos_token_id") vocabulary_.bos = id;
    if (key == "tokenizer.ggml.eos_token_id") vocabulary_.eos = id;
    if (key == "tokenizer.ggml.unknown_token_id") vocabulary_.unknown = id;
    if (key == "tokenizer.ggml.padding_token_id") vocabulary_.padding = id;
    if (key == "tokenizer.ggml.add_bos_token") vocabulary_.add_bos = bits != 0;
    if (key == "tokenizer.ggml.add_eos_token") vocabulary_.add_eos = bits != 0;
    if (key == "tokenizer.ggml.add_space_prefix") vocabulary_.add_space_prefix = bits != 0;
  }

  std::ifstream file_;
  Vocabulary vocabulary_;
};

}  // namespace luminal::text
