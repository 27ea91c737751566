// SPDX-License-Identifier: MIT OR Apache-2.0
// The tokenizer model "llama": byte-pair encoding as SentencePiece does it (Llama 2, Mistral v1-v3,
// Gemma 1-3, Phi-3). The space is written U+2581. A part starts as its characters; of all adjacent
// pairs that together are a token, the one of the highest score is joined first, the leftmost on a
// tie, until no pair is left. A character without a token becomes the byte tokens of its bytes.
//
// A priority queue over a linked list: n log n in the length of the part, whatever it holds.
#pragma once

#include "luminal/base/result.h"
#include "luminal/text/tokenizer.h"

namespace luminal::text {

/// TokenizerModel::encode_part.
Status encode_spm_bpe(const Tokenizer& tokenizer, std::string_view part, bool after_added,
                      std::vector<std::int32_t>& ids);

/// TokenizerModel::append_bytes: U+2581 becomes a space, a byte token its byte.
void append_spm_bytes(const Tokenizer& tokenizer, std::int32_t id, std::string& bytes);

/// The byte that a token like "<0x0A>" stands for, or -1.
int spm_byte_of(std::string_view token);

}  // namespace luminal::text
