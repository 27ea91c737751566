// SPDX-License-Identifier: MIT OR Apache-2.0
// A text model that is loaded, compiled for this machine and ready to continue token sequences. It keeps what it has
// read (the KV cache) between calls.
//
//   LUM_ASSIGN_OR_RETURN(auto model, load_language_model(path, {.context = 4096, .threads = 2}));
//   LUM_ASSIGN_OR_RETURN(std::span<const float> logits, model->feed(prompt_ids));
//   LUM_ASSIGN_OR_RETURN(logits, model->feed({&next, 1}));
#pragma once

#include "luminal/base/result.h"
#include "luminal/text/tokenizer.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace luminal::models {

struct LoadOptions {
  std::int64_t context = 4096;    ///< most tokens in a conversation; at most the model's own limit
  int threads = 0;                ///< 0: all cores
  std::int64_t chunk = 512;       ///< most prompt tokens in one pass
  std::string cache_folder;       ///< of compiled kernels; empty: none
  std::string backend = "cpu";    ///< or "reference"
  /// Called from the loading thread with (stage, done, total); stages: "load", "compile". Returns false to stop.
  std::function<bool(std::string_view stage, std::int64_t done, std::int64_t total)> progress;
};

struct LoadTimes {
  double load_s = 0;     ///< file, tokenizer, weights laid out
  double compile_s = 0;  ///< graph to kernels
  int kernels = 0, compiled = 0;
};

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  virtual const text::Tokenizer& tokenizer() const = 0;
  /// The chat template of the file (Jinja), or empty.
  virtual std::string_view chat_template() const = 0;
  virtual std::int64_t context() const = 0;
  virtual std::int64_t vocabulary_size() const = 0;
  virtual const LoadTimes& times() const = 0;

  /// Reads tokens after those already read; gives the logits [vocabulary_size] after the last one, valid until the
  /// next call. Errors: no tokens, an id outside the vocabulary, more than context() tokens together (nothing is read
  /// then), or `stop` became true (what was read before stays read: position() tells).
  virtual Result<std::span<const float>> feed(std::span<const std::int32_t> tokens,
                                              const std::atomic<bool>* stop = nullptr) = 0;
  /// Tokens read so far.
  virtual std::int64_t position() const = 0;
  /// Forgets what was read after the first `position` tokens.
  virtual Status rewind(std::int64_t position) = 0;
};

/// Loads a GGUF file. Errors: the file cannot be read or is damaged, the architecture is not supported (named, with
/// what is), memory runs out, a compiler or device failure, or progress() said stop.
Result<std::unique_ptr<LanguageModel>> load_language_model(const std::string& path,
                                                           const LoadOptions& options);

}  // namespace luminal::models
