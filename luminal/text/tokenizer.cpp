// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/tokenizer.h"

#include "luminal/text/spm_bpe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace luminal::text {
namespace {

// A new tokenizer model is a row here and a file beside spm_bpe.cpp.
constexpr TokenizerModel kModels[] = {
    {.name = "llama",
     .description = "SentencePiece byte-pair encoding",
     .bos = 1,
     .eos = 2,
     .unknown = 0,
     .add_bos = true,
     .add_eos = false,
     .add_space_prefix = true,
     .encode_part = encode_spm_bpe,
     .append_bytes = append_spm_bytes},
};

// Files rarely say all the tokens that end an answer, so these texts say it too.
constexpr std::string_view kEndTexts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
    "</s>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eom_id|>",
    "<EOT>",
    "[EOT]",
    "[EOS]",
    "<end_of_utterance>",
    "<｜end▁of▁sentence｜>",
};

Status check_lengths(Vocabulary& vocabulary) {
  const std::size_t count = vocabulary.tokens.size();
  if (count == 0) return error("tokenizer: the vocabulary is empty; the file has no tokens");
  if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 4)) {
    return error("tokenizer: ", count, " tokens; at most 2^29 are supported");
  }
  if (vocabulary.scores.empty()) vocabulary.scores.assign(count, 0.0f);
  if (vocabulary.kinds.empty()) vocabulary.kinds.assign(count, TokenKind::Normal);
  if (vocabulary.scores.size() != count) {
    return error("tokenizer: ", vocabulary.scores.size(), " scores for ", count, " tokens");
  }
  if (vocabulary.kinds.size() != count) {
    return error("tokenizer: ", vocabulary.kinds.size(), " token types for ", count, " tokens");
  }
  for (std::size_t id = 0; id < count; ++id) {
    if (std::isnan(vocabulary.scores[id])) {
      return error("tokenizer: the score of token ", id, " (\"", vocabulary.tokens[id],
                   "\") is not a number; the model file is damaged");
    }
  }
  return {};
}

// The id that the file gives, else the model's default where the vocabulary reaches it.
Result<std::int32_t> special_id(const Vocabulary& vocabulary, const char* what,
                                std::optional<std::int32_t> given, std::int32_t otherwise) {
  const auto count = static_cast<std::int32_t>(vocabulary.tokens.size());
  if (!given) return otherwise < count ? otherwise : -1;
  if (*given < 0 || *given >= count) {
    return error("tokenizer: ", what, " token id ", *given, ": the vocabulary has ", count,
                 " tokens");
  }
  return *given;
}

Status resolve_special_ids(Tokenizer& tokenizer) {
  const Vocabulary& v = tokenizer.vocabulary;
  const TokenizerModel& model = *tokenizer.model;
  LUM_ASSIGN_OR_RETURN(tokenizer.bos, special_id(v, "bos", v.bos, model.bos));
  LUM_ASSIGN_OR_RETURN(tokenizer.eos, special_id(v, "eos", v.eos, model.eos));
  LUM_ASSIGN_OR_RETURN(tokenizer.unknown, special_id(v, "unknown", v.unknown, model.unknown));
  const std::pair<const char*, std::optional<std::int32_t>> others[] = {
      {"eot", v.eot},
      {"eom", v.eom},
      {"separator", v.separator},
      {"padding", v.padding},
      {"mask", v.mask},
      {"fim_pad", v.fim_pad},
      {"fim_rep", v.fim_repository},
      {"fim_sep", v.fim_separator}};
  for (const auto& [what, id] : others) {
    LUM_RETURN_IF_ERROR([&]() -> Status {
      const Result<std::int32_t> checked = special_id(v, what, id, -1);
      return checked.ok() ? Status() : Status(checked.error());
    }());
  }
  tokenizer.add_bos = v.add_bos.value_or(model.add_bos);
  tokenizer.add_eos = v.add_eos.value_or(model.add_eos);
  tokenizer.add_space_prefix = v.add_space_prefix.value_or(model.add_space_prefix);
  if (tokenizer.add_bos && tokenizer.bos < 0) {
    return error("tokenizer: add_bos_token is set and there is no bos token");
  }
  if (tokenizer.add_eos && tokenizer.eos < 0) {
    return error("tokenizer: add_eos_token is set and there is no eos token");
  }
  return {};
}

std::vector<std::int32_t> find_end_tokens(const Tokenizer& tokenizer) {
  const Vocabulary& v = tokenizer.vocabulary;
  std::vector<std::int32_t> ends;
  auto find = [&](std::string_view text) { return tokenizer.index.find(v.tokens, text); };
  for (const std::string_view text : kEndTexts) {
    const std::int32_t id = find(text);
    if (id < 0) continue;
    const bool user_defined = v.kinds[static_cast<std::size_t>(id)] == TokenKind::UserDefined;
    if (text == "</s>" && user_defined) continue;  // the HTML tag
    ends.push_back(id);
  }
  // In gpt-oss <|end|> closes a message, and the answer goes on with the next one.
  const bool has_channels = find("<|return|>") >= 0 && find("<|call|>") >= 0;
  const bool has_calls = find("<|calls|>") >= 0 && find("<|flush|>") >= 0;
  if (has_channels || has_calls) std::erase(ends, find("<|end|>"));
  if (tokenizer.eos >= 0) ends.push_back(tokenizer.eos);
  for (const auto& id : {v.eot, v.eom, v.fim_pad, v.fim_repository, v.fim_separator}) {
    if (id) ends.push_back(*id);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

void find_byte_tokens(Tokenizer& tokenizer) {
  tokenizer.byte_tokens.fill(-1);
  const Vocabulary& v = tokenizer.vocabulary;
  for (std::size_t id = 0; id < v.tokens.size(); ++id) {
    if (v.kinds[id] != TokenKind::Byte) continue;
    const int byte = spm_byte_of(v.tokens[id]);
    if (byte >= 0)
      tokenizer.byte_tokens[static_cast<std::size_t>(byte)] = static_cast<std::int32_t>(id);
  }
}

}  // namespace

std::string supported_tokenizer_models() {
  return join(kModels, ", ",
              [](const TokenizerModel& row) { return cat(row.name, " (", row.description, ")"); });
}

Result<Tokenizer> make_tokenizer(Vocabulary vocabulary) {
  Tokenizer tokenizer;
  for (const TokenizerModel& row : kModels) {
    if (row.name == vocabulary.model) tokenizer.model = &row;
  }
  if (tokenizer.model == nullptr) {
    return error("tokenizer model \"", vocabulary.model,
                 "\" is not supported; supported: ", supported_tokenizer_models());
  }
  LUM_RETURN_IF_ERROR(check_lengths(vocabulary));
  LUM_ASSIGN_OR_RETURN(tokenizer.index, index_tokens(vocabulary.tokens));
  tokenizer.vocabulary = std::move(vocabulary);
  LUM_RETURN_IF_ERROR(resolve_special_ids(tokenizer));
  tokenizer.added = index_added_tokens(tokenizer.vocabulary);
  find_byte_tokens(tokenizer);
  tokenizer.end_tokens = find_end_tokens(tokenizer);
  return tokenizer;
}

Result<std::vector<std::int32_t>> encode(const Tokenizer& tokenizer, std::string_view text,
                                         EncodeOptions options) {
  if (text.size() >= (std::size_t{1} << 30)) {
    return error("tokenizer: a text of ", text.size(), " bytes; at most 1 GiB at once");
  }
  const std::vector<Piece> pieces = cut_added_tokens(tokenizer.added, text, options.parse_special);
  std::vector<std::int32_t> ids;
  const bool begins_with_bos = !pieces.empty() && pieces[0].token == tokenizer.bos;
  if (options.add_special && tokenizer.add_bos && !begins_with_bos) ids.push_back(tokenizer.bos);
  bool after_added = true;
  for (const Piece& piece : pieces) {
    if (piece.token >= 0) {
      ids.push_back(piece.token);
    } else {
      LUM_RETURN_IF_ERROR(tokenizer.model->encode_part(tokenizer, piece.text, after_added, ids));
    }
    after_added = piece.token >= 0;
  }
  if (options.add_special && tokenizer.add_eos) ids.push_back(tokenizer.eos);
  return ids;
}

Status append_token_bytes(const Tokenizer& tokenizer, std::int32_t id, bool special,
                          std::string& bytes) {
  const Vocabulary& vocabulary = tokenizer.vocabulary;
  if (id < 0 || static_cast<std::size_t>(id) >= vocabulary.tokens.size()) {
    return error("token ", id, ": the vocabulary has ", vocabulary.tokens.size(), " tokens");
  }
  const auto at = static_cast<std::size_t>(id);
  switch (vocabulary.kinds[at]) {
    case TokenKind::Control:
    case TokenKind::Unknown:
      if (special) bytes += vocabulary.tokens[at];
      break;
    case TokenKind::UserDefined:
      bytes += vocabulary.tokens[at];
      break;
    default:
      tokenizer.model->append_bytes(tokenizer, id, bytes);
  }
  return {};
}

Result<std::string> decode(const Tokenizer& tokenizer, std::span<const std::int32_t> ids,
                           DecodeOptions options) {
  std::string bytes;
  bool at_start = options.drop_added_space && tokenizer.add_space_prefix;
  for (const std::int32_t id : ids) {
    const std::size_t before = bytes.size();
    LUM_RETURN_IF_ERROR(append_token_bytes(tokenizer, id, options.special, bytes));
    if (!at_start || id == tokenizer.bos) continue;
    if (bytes.size() > before && bytes[before] == ' ') bytes.erase(before, 1);
    at_start = false;
  }
  return bytes;
}

bool is_end_token(const Tokenizer& tokenizer, std::int32_t id) {
  return std::binary_search(tokenizer.end_tokens.begin(), tokenizer.end_tokens.end(), id);
}

}  // namespace luminal::text
