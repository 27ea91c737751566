// SPDX-License-Identifier: MIT OR Apache-2.0
// luminal generate: continues a text.
#include "luminal/cli/answer.h"
#include "luminal/cli/chat_text.h"
#include "luminal/cli/model_options.h"
#include "luminal/cli/terminal.h"
#include "luminal/text/utf8.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

namespace luminal::cli {
namespace {

struct GenerateOptions : ModelOptions {
  std::string prompt, prompt_file, system;
  bool chat = false, ignore_end = false, json = false;
  std::size_t top_logits = 0;
  CLI::Option* prompt_given = nullptr;
};

Result<std::string> read_prompt(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  if (options.prompt_file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(options.prompt_file, std::ios::binary);
  if (!file) return error("prompt file ", options.prompt_file, " cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::vector<std::int32_t>> prompt_tokens(const models::LanguageModel& model, const GenerateOptions& options,
                                                const std::string& prompt) {
  if (!options.chat) return text_tokens(model, prompt);
  if (model.chat_template().empty())
    return error("the model has no chat template, so --chat means nothing to it; leave --chat out");
  std::vector<text::ChatMessage> messages;
  if (!options.system.empty()) messages.push_back({"system", options.system, ""});
  messages.push_back({"user", prompt, ""});
  return chat_tokens(model, messages);
}

nlohmann::json report(const models::LanguageModel& model, const AnswerRequest& request, const Answer& answer) {
  nlohmann::json top = nlohmann::json::array();
  for (const text::Candidate& candidate : answer.top_logits)
    top.push_back({{"id", candidate.id}, {"logit", candidate.logit}});
  const auto rate = [](double count, double seconds) { return seconds > 0 ? count / seconds : 0.0; };
  const auto decoded = static_cast<double>(answer.tokens.empty() ? 0 : answer.tokens.size() - 1);
  return {{"prompt_tokens", request.prompt},
          {"output_tokens", answer.tokens},
          {"text", answer.text},
          {"top_logits", top},
          {"timings",
           {{"load_s", model.times().load_s},
            {"compile_s", model.times().compile_s},
            {"first_token_s", answer.first_token_s},
            {"prefill_tok_s", rate(static_cast<double>(request.prompt.size()), answer.prefill_s)},
            {"decode_tok_s", rate(decoded, answer.decode_s)},
            {"peak_rss_mib", peak_rss_mib()}}}};
}

Status run_generate(const GenerateOptions& options) {
  LUM_ASSIGN_OR_RETURN(text::Sampler sampler, text::make_sampler(options.sampling));
  LUM_ASSIGN_OR_RETURN(const std::string prompt, read_prompt(options));
  LUM_ASSIGN_OR_RETURN(const auto model, load_model(options));
  AnswerRequest request;
  LUM_ASSIGN_OR_RETURN(request.prompt, prompt_tokens(*model, options, prompt));
  request.max_tokens = options.max_tokens;
  request.ignore_end = options.ignore_end;
  request.top_logits = options.top_logits;
  request.stop = &interrupt_flag();
  const bool stream = !options.json;
  if (stream && !options.chat) {
    std::fwrite(prompt.data(), 1, prompt.size(), stdout);
    std::fflush(stdout);
  }
  LUM_ASSIGN_OR_RETURN(const Answer result, answer(*model, sampler, request, [&](std::string_view piece) {
                         if (!stream) return;
                         std::fwrite(piece.data(), 1, piece.size(), stdout);
                         std::fflush(stdout);
                       }));
  if (stream) {
    std::fputc('\n', stdout);
  } else {
    const auto replace = nlohmann::json::error_handler_t::replace;
    std::printf("%s\n", report(*model, request, result).dump(-1, ' ', false, replace).c_str());
  }
  if (result.ending == Ending::ContextFull)
    note(cat("the context of ", model->context(), " tokens is full; raise --context"));
  if (!options.quiet && stream) note(timing_line(*model, request, result));
  return {};
}

}  // namespace

std::function<int()> declare_generate(CLI::App& command) {
  auto options = std::make_shared<GenerateOptions>();
  options->prompt_given = command.add_option("prompt,-p,--prompt", options->prompt, "the text to continue");
  command.add_option("-f,--prompt-file", options->prompt_file, "read the text from a file; -: from stdin")
      ->excludes(options->prompt_given);
  command.add_flag("--chat", options->chat, "put the text into the model's chat template");
  command.add_option("--system", options->system, "with --chat: the system message");
  command.add_flag("--ignore-eos", options->ignore_end, "go on after the end of the text");
  command.add_flag("--json", options->json, "print one JSON object instead of text");
  command.add_option("--top-logits", options->top_logits, "with --json: report the K best logits after the prompt")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  declare_model_options(command, *options, 0.0f);
  command.footer(
      "Examples:\n"
      "  luminal generate \"The capital of France is\" -n 32\n"
      "  luminal generate -f story.txt --temperature 0.8 --seed 7 -m model.gguf\n"
      "  luminal generate \"2+2=\" --json --top-logits 5 -n 1");
  return [options]() -> int {
    if (options->prompt_given->count() == 0 && options->prompt_file.empty()) {
      std::fprintf(stderr, "luminal: error: no prompt: luminal generate \"The capital of France is\"\n");
      return kUsage;
    }
    const Status status = run_generate(*options);
    if (!status.ok()) return fail(status.error());
    return interrupted() ? kInterrupted : kOk;
  };
}

}  // namespace luminal::cli
