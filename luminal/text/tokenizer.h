// SPDX-License-Identifier: MIT OR Apache-2.0
// Text to token ids and back, for the tokenizer that a model file names.
//
//   LUM_ASSIGN_OR_RETURN(Tokenizer tokenizer, make_tokenizer(std::move(vocabulary)));
//   LUM_ASSIGN_OR_RETURN(auto ids, encode(tokenizer, "The capital of France is"));
//   LUM_ASSIGN_OR_RETURN(std::string text, decode(tokenizer, ids));
//
// Steps of encode: bos where the file asks for it; the text is cut at added tokens
// (added_tokens.h); each plain part goes through the tokenizer model (one row of the table in
// tokenizer.cpp, its code in a file of its own: spm_bpe.h); eos where the file asks for it.
// Ids are those of llama.cpp for the same text, with three differences, all on purpose:
//   - a text that already begins with bos (parse_special) gets no second one;
//   - plain text never turns into a control, unknown or byte token, whatever its characters are;
//   - a user-defined token stays user-defined when its text is one that ends generation in some
//     other model: "</s>" is a HTML tag for Gemma and the end of the answer for Llama.
// A Tokenizer does not change after it is made: threads may share one.
#pragma once

#include "luminal/base/result.h"
#include "luminal/text/added_tokens.h"
#include "luminal/text/token_index.h"
#include "luminal/text/vocabulary.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::text {

struct TokenizerModel;

struct Tokenizer {
  Vocabulary vocabulary;  ///< as the file has it; kinds and scores filled up
  const TokenizerModel* model = nullptr;
  TokenIndex index;
  AddedTokens added;
  std::int32_t bos = -1, eos = -1, unknown = -1;  ///< the model's defaults applied; -1: none
  bool add_bos = false, add_eos = false, add_space_prefix = false;
  std::array<std::int32_t, 256> byte_tokens{};  ///< "<0x00>" .. "<0xFF>"; -1: none
  std::vector<std::int32_t> end_tokens;         ///< rising
};

struct EncodeOptions {
  bool add_special = true;     ///< bos and eos, where the file asks for them
  bool parse_special = false;  ///< control tokens in the text count as such (chat templates)
};

/// Checks the vocabulary and builds the tables. Errors: an unsupported tokenizer model (named, with
/// what is supported), lengths that differ, duplicate tokens, scores that are not numbers, special
/// ids outside the vocabulary.
Result<Tokenizer> make_tokenizer(Vocabulary vocabulary);

/// The names that make_tokenizer accepts as Vocabulary::model, for messages: "llama (..)".
std::string supported_tokenizer_models();

/// The ids of `text`. Bytes that are not UTF-8 become byte tokens, one by one, so that decode gives
/// them back. Errors: a text of 1 GiB or more; a character that the vocabulary has no way to write.
Result<std::vector<std::int32_t>> encode(const Tokenizer& tokenizer, std::string_view text,
                                         EncodeOptions options = {});

struct DecodeOptions {
  bool special = false;          ///< control tokens are written as their text instead of left out
  bool drop_added_space = true;  ///< the space that encode put before a text is taken off again
};

/// The bytes that `ids` stand for; not always UTF-8 (detokenizer.h gives well-formed text).
/// Errors: an id outside the vocabulary.
Result<std::string> decode(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                           DecodeOptions options = {});

/// Appends the bytes of one token. Errors as decode.
Status append_token_bytes(const Tokenizer& tokenizer, std::int32_t id, bool special,
                          std::string& bytes);

/// True when `id` ends an answer: eos, eot, eom, the fim padding and separators, and control tokens
/// known by their text (<end_of_turn>, <|im_end|>, ..).
bool is_end_token(const Tokenizer& tokenizer, std::int32_t id);

/// One tokenizer model: its name in the file, its defaults, and how a plain part of a text becomes
/// ids and a plain token becomes bytes. `after_added`: the part opens the text or follows an added
/// token.
struct TokenizerModel {
  std::string_view name, description;
  std::int32_t bos, eos, unknown;
  bool add_bos, add_eos, add_space_prefix;
  Status (*encode_part)(const Tokenizer& tokenizer, std::string_view part, bool after_added,
                        std::vector<std::int32_t>& ids);
  void (*append_bytes)(const Tokenizer& tokenizer, std::int32_t id, std::string& bytes);
};

}  // namespace luminal::text
