// SPDX-License-Identifier: MIT OR Apache-2.0
// What a model file says about its tokenizer, as plain data. A frontend fills it; make_tokenizer
// (tokenizer.h) checks it and applies the defaults of the tokenizer model.
//
//   Vocabulary v;
//   v.model = "llama";
//   v.tokens = {"<unk>", "<s>", "</s>", "a", "b", "ab"};
//   v.scores = {0, 0, 0, -1, -2, 0};
//   v.kinds = {TokenKind::Unknown, TokenKind::Control, TokenKind::Control, ..};
//
// A field that the file does not have stays empty: absent is not the same as zero or false.
// The names are GGUF's (tokenizer.ggml.*); nothing here depends on GGUF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace luminal::text {

/// The numbers are those of tokenizer.ggml.token_type.
enum class TokenKind : std::uint8_t {
  Undefined = 0,
  Normal = 1,
  Unknown = 2,      ///< stands for what the vocabulary cannot write
  Control = 3,      ///< not text: <bos>, <end_of_turn>; cut from text only when asked for
  UserDefined = 4,  ///< added text, cut from the input before anything else
  Unused = 5,
  Byte = 6,  ///< "<0x41>": one byte of a character that has no token
};

/// The kind for a number of a file; a number that is not in the table is Undefined.
constexpr TokenKind token_kind(std::int64_t number) {
  return number >= 1 && number <= 6 ? static_cast<TokenKind>(number) : TokenKind::Undefined;
}

struct Vocabulary {
  std::string model;                ///< tokenizer.ggml.model: "llama", "gpt2", ..
  std::string pre;                  ///< tokenizer.ggml.pre, for the byte-level models
  std::vector<std::string> tokens;  ///< the id is the index; any bytes
  std::vector<float> scores;        ///< as many as tokens, or none (all zero)
  std::vector<TokenKind> kinds;     ///< as many as tokens, or none (all Normal)
  std::vector<std::string> merges;  ///< "left right" in order of rank, for the byte-level models

  std::optional<std::int32_t> bos, eos, eot, eom, unknown, separator, padding, mask;
  std::optional<std::int32_t> fim_pad, fim_repository, fim_separator;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
};

}  // namespace luminal::text
