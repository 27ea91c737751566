// SPDX-License-Identifier: MIT OR Apache-2.0
// Options that chat and generate share: the model, the machine, sampling; and loading a model by them.
#pragma once

#include "luminal/cli/verb.h"
#include "luminal/models/language_model.h"
#include "luminal/text/sampler.h"

#include <memory>
#include <string>

namespace luminal::cli {

struct ModelOptions {
  std::string model;
  std::string backend = "cpu";
  std::int64_t context = 4096, chunk = 512;
  int threads = 0;
  bool quiet = false;

  std::int64_t max_tokens = -1;
  text::SamplerOptions sampling;
};

/// `temperature` is the verb's default.
void declare_model_options(CLI::App& command, ModelOptions& options, float temperature);

/// The model file: --model, else LUMINAL_MODEL, else the packaged model where `./run generate` keeps it.
Result<std::string> model_path(const ModelOptions& options);

/// Loads with progress on stderr.
Result<std::unique_ptr<models::LanguageModel>> load_model(const ModelOptions& options);

/// $XDG_CACHE_HOME/luminal, or ~/.cache/luminal; empty without a home.
std::string cache_folder();

}  // namespace luminal::cli
