// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/cli/terminal.h"
#include "luminal/cli/verb.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::cli {
namespace {

constexpr Verb kVerbs[] = {
    {"chat", "talk with a model", declare_chat},
    {"generate", "continue a text", declare_generate},
    {"info", "show what a model file holds", declare_info},
};

constexpr const char* kFooter =
    "Examples:\n"
    "  luminal generate \"The capital of France is\"\n"
    "  luminal chat -m model.gguf\n"
    "  luminal info model.gguf\n"
    "`luminal VERB --help` lists the options of a verb.";

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t kept = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({kept, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// A first word that is no verb gets the nearest one as advice.
bool unknown_verb(const std::string& word) {
  if (word.empty() || word[0] == '-') return false;
  const Verb* nearest = kVerbs;
  for (const Verb& verb : kVerbs) {
    if (word == verb.name) return false;
    if (edit_distance(word, verb.name) < edit_distance(word, nearest->name)) nearest = &verb;
  }
  std::fprintf(stderr, "luminal: error: no verb '%s'; did you mean '%s'? (luminal --help lists them)\n", word.c_str(),
               nearest->name);
  return true;
}

int run(int argc, char** argv) {
  install_signals();
  CLI::App app("Luminal runs AI models fast on the machine at hand: it compiles them for its processor.", "luminal");
  app.set_version_flag("--version", "luminal " LUMINAL_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  std::map<const CLI::App*, std::function<int()>> bodies;
  for (const Verb& verb : kVerbs) {
    CLI::App* command = app.add_subcommand(verb.name, verb.help);
    bodies[command] = verb.declare(*command);
  }
  if (argc > 1 && unknown_verb(argv[1])) return kUsage;
  if (argc == 1) {
    std::printf("%s", app.help().c_str());
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app.exit(failure);
    std::fprintf(stderr, "luminal: error: %s\n(luminal %s --help)\n", failure.what(), argv[1]);
    return kUsage;
  }
  return bodies.at(app.get_subcommands()[0])();
}

}  // namespace
}  // namespace luminal::cli

int main(int argc, char** argv) { return luminal::cli::run(argc, argv); }
