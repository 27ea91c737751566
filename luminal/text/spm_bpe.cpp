// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/spm_bpe.h"

#include "luminal/text/utf8.h"

#include <queue>

namespace luminal::text {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581

std::string with_spaces_written(std::string_view part, bool space_before) {
  std::string written;
  written.reserve(part.size() + part.size() / 4 + kSpace.size());
  if (space_before) written += kSpace;
  for (const char c : part) {
    if (c == ' ') {
      written += kSpace;
    } else {
      written += c;
    }
  }
  return written;
}

// A run of characters joined so far. The runs are a linked list; one that was joined into its left
// neighbour has size 0.
struct Run {
  std::uint32_t begin, size;
  std::int32_t left, right;
};

struct Join {
  float score;
  std::int32_t left, right;
  std::uint32_t size;  // of both together, to see that neither has changed since

  bool operator<(const Join& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

// Only these can come out of plain text: a control token must be asked for.
bool is_plain(TokenKind kind) {
  return kind != TokenKind::Control && kind != TokenKind::Unknown && kind != TokenKind::Byte;
}

std::int32_t find_plain(const Tokenizer& tokenizer, std::string_view text) {
  const Vocabulary& vocabulary = tokenizer.vocabulary;
  const std::int32_t id = tokenizer.index.find(vocabulary.tokens, text);
  return id >= 0 && is_plain(vocabulary.kinds[static_cast<std::size_t>(id)]) ? id : -1;
}

std::vector<Run> characters(std::string_view text) {
  std::vector<Run> runs;
  runs.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text.substr(at));
    const std::size_t size = step.kind == Utf8Step::Character ? step.length : 1;
    const auto here = static_cast<std::int32_t>(runs.size());
    runs.push_back(
        {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size), here - 1, here + 1});
    at += size;
  }
  if (!runs.empty()) runs.back().right = -1;
  return runs;
}

void join_runs(const Tokenizer& tokenizer, std::string_view text, std::vector<Run>& runs) {
  std::vector<Join> storage;
  storage.reserve(runs.size());
  std::priority_queue<Join> joins(std::less<Join>{}, std::move(storage));
  auto run = [&](std::int32_t at) -> Run& { return runs[static_cast<std::size_t>(at)]; };
  auto offer = [&](std::int32_t left, std::int32_t right) {
    if (left < 0 || right < 0) return;
    const std::uint32_t size = run(left).size + run(right).size;
    const std::int32_t id = find_plain(tokenizer, text.substr(run(left).begin, size));
    if (id < 0) return;
    joins.push({tokenizer.vocabulary.scores[static_cast<std::size_t>(id)], left, right, size});
  };
  for (std::int32_t at = 0; at + 1 < static_cast<std::int32_t>(runs.size()); ++at) {
    offer(at, at + 1);
  }
  while (!joins.empty()) {
    const Join join = joins.top();
    joins.pop();
    Run& left = run(join.left);
    Run& right = run(join.right);
    if (left.size == 0 || right.size == 0 || left.size + right.size != join.size) continue;
    left.size = join.size;
    right.size = 0;
    left.right = right.right;
    if (left.right >= 0) run(left.right).left = join.left;
    offer(left.left, join.left);
    offer(join.left, left.right);
  }
}

// The tokens of a single character that is no token itself: its bytes, or else the unknown token,
// once for several such characters in a row as SentencePiece does.
Status append_fallback(const Tokenizer& tokenizer, std::string_view character, bool& after_unknown,
                       std::vector<std::int32_t>& ids) {
  const std::size_t before = ids.size();
  for (const char c : character) {
    const std::int32_t id = tokenizer.byte_tokens[static_cast<unsigned char>(c)];
    if (id < 0) break;
    ids.push_back(id);
  }
  if (ids.size() - before == character.size()) {
    after_unknown = false;
    return {};
  }
  ids.resize(before);
  if (tokenizer.unknown < 0) {
    return error("tokenizer: no token for \"", utf8_repair(character),
                 "\": the vocabulary has neither its bytes nor an unknown token");
  }
  if (!after_unknown) ids.push_back(tokenizer.unknown);
  after_unknown = true;
  return {};
}

}  // namespace

Status encode_spm_bpe(const Tokenizer& tokenizer, std::string_view part, bool after_added,
                      std::vector<std::int32_t>& ids) {
  const std::string text = with_spaces_written(part, tokenizer.add_space_prefix && after_added);
  std::vector<Run> runs = characters(text);
  join_runs(tokenizer, text, runs);
  bool after_unknown = false;
  for (const Run& run : runs) {
    if (run.size == 0) continue;
    const std::string_view bytes = std::string_view(text).substr(run.begin, run.size);
    const std::int32_t id = find_plain(tokenizer, bytes);
    if (id >= 0) {
      ids.push_back(id);
      after_unknown = false;
    } else {
      LUM_RETURN_IF_ERROR(append_fallback(tokenizer, bytes, after_unknown, ids));
    }
  }
  return {};
}

void append_spm_bytes(const Tokenizer& tokenizer, std::int32_t id, std::string& bytes) {
  const auto at = static_cast<std::size_t>(id);
  std::string_view token = tokenizer.vocabulary.tokens[at];
  if (tokenizer.vocabulary.kinds[at] == TokenKind::Byte) {
    const int byte = spm_byte_of(token);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
      return;
    }
  }
  for (std::size_t space; (space = token.find(kSpace)) != token.npos;) {
    bytes += token.substr(0, space);
    bytes += ' ';
    token.remove_prefix(space + kSpace.size());
  }
  bytes += token;
}

int spm_byte_of(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return -1;
  int byte = 0;
  for (const char c : token.substr(3, 2)) {
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (digit < 0) return -1;
    byte = byte * 16 + digit;
  }
  return byte;
}

}  // namespace luminal::text
