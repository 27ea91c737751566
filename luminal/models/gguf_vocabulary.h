// SPDX-License-Identifier: MIT OR Apache-2.0
// The tokenizer of a GGUF file, as text/ wants it.
#pragma once

#include "luminal/frontends/gguf/gguf_file.h"
#include "luminal/text/vocabulary.h"

namespace luminal::models {

/// Reads tokenizer.ggml.*. Errors: the file has no tokenizer, or a key holds the wrong kind of value.
Result<text::Vocabulary> gguf_vocabulary(const gguf::GgufFile& file);

}  // namespace luminal::models
