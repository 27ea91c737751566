// SPDX-License-Identifier: MIT OR Apache-2.0
// luminal chat: a conversation, line by line.
#include "luminal/cli/conversation.h"
#include "luminal/cli/model_options.h"
#include "luminal/cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>

namespace luminal::cli {
namespace {

struct ChatVerbOptions : ModelOptions {
  std::string prompt, system;
  CLI::Option* prompt_given = nullptr;
};

// A line of standard input without its end; none at the end of the input or after Ctrl-C.
std::optional<std::string> read_line(std::string& buffered) {
  while (true) {
    const std::size_t end = buffered.find('\n');
    if (end != std::string::npos) {
      std::string line = buffered.substr(0, end);
      buffered.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    char bytes[4096];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR && !interrupted()) continue;
    if (count <= 0) {
      if (interrupted() || buffered.empty()) return std::nullopt;
      return std::exchange(buffered, "");
    }
    buffered.append(bytes, static_cast<std::size_t>(count));
  }
}

void write_out(std::string_view piece) {
  std::fwrite(piece.data(), 1, piece.size(), stdout);
  std::fflush(stdout);
}

// One message and its answer. An answer that Ctrl-C stopped is no error.
Status exchange(Conversation& conversation, const std::string& line, const ChatVerbOptions& options) {
  clear_interrupt();
  const auto turn = conversation.say(line, &interrupt_flag(), write_out);
  std::fputc('\n', stdout);
  std::fflush(stdout);
  if (!turn.ok()) {
    if (!interrupted()) return turn.error();
  } else {
    if (turn->answer.ending == Ending::ContextFull)
      note("the context is full: /reset begins anew, --context makes it larger");
    if (!options.quiet && !interrupted()) note(turn->timings);
  }
  if (interrupted()) note("stopped; the conversation goes on");
  clear_interrupt();
  return {};
}

constexpr const char* kHelp = "/reset forgets the conversation, /quit (or Ctrl-D) leaves, Ctrl-C stops an answer";

int converse(Conversation& conversation, const ChatVerbOptions& options) {
  const bool terminal = isatty(STDIN_FILENO) == 1;
  if (terminal && !options.quiet) note(kHelp);
  std::string buffered;
  while (true) {
    if (terminal) write_out("> ");
    const std::optional<std::string> line = read_line(buffered);
    if (!line) {
      if (terminal) write_out("\n");
      return interrupted() ? kInterrupted : kOk;
    }
    if (*line == "/quit" || *line == "/exit") return kOk;
    if (line->empty()) continue;
    if (*line == "/help") {
      note(kHelp);
    } else if (*line == "/reset") {
      conversation.reset();
      note("the conversation begins anew");
    } else if (line->front() == '/' && line->find(' ') == std::string::npos && line->size() < 12) {
      note(cat("no command ", *line, "; ", kHelp));
    } else if (const Status status = exchange(conversation, *line, options); !status.ok()) {
      if (!terminal) return fail(status.error());
      fail(status.error());
    }
  }
}

int run_chat(const ChatVerbOptions& options) {
  auto sampler = text::make_sampler(options.sampling);
  if (!sampler.ok()) return fail(sampler.error());
  auto model = load_model(options);
  if (!model.ok()) return fail(model.error());
  if ((*model)->chat_template().empty())
    note("this model has no chat template (a base model?): it continues your text plainly");
  Conversation conversation(**model, *sampler, options.system, options.max_tokens);
  if (options.prompt_given->count() == 0) return converse(conversation, options);
  const auto turn = conversation.say(options.prompt, &interrupt_flag(), write_out);
  std::fputc('\n', stdout);
  if (!turn.ok()) return fail(turn.error());
  if (!options.quiet) note(turn->timings);
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

std::function<int()> declare_chat(CLI::App& command) {
  auto options = std::make_shared<ChatVerbOptions>();
  options->prompt_given = command.add_option("-p,--prompt", options->prompt, "one message; the program ends after its answer");
  command.add_option("--system", options->system, "the system message");
  declare_model_options(command, *options, 0.8f);
  command.footer(
      "Without --prompt it reads messages line by line. /reset /quit /help; Ctrl-C stops an answer.\n"
      "Examples:\n"
      "  luminal chat -m model.gguf --system \"Answer briefly.\"\n"
      "  luminal chat -m model.gguf --prompt \"Why is the sky blue?\" --temperature 0");
  return [options] { return run_chat(*options); };
}

}  // namespace luminal::cli
