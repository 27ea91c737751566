// SPDX-License-Identifier: MIT OR Apache-2.0
// Needs python3 with jinja2 (apt install python3-jinja2), as chats do.
#include "luminal/text/chat_template.h"

#include "luminal/text/golden_text.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace luminal::text {
namespace {

std::string read_template(const std::string& name) {
  std::ifstream file("luminal/text/testdata/chat/" + name + ".jinja", std::ios::binary);
  LUM_CHECK(file.good(), "no template ", name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string rendered(std::string_view text, const ChatOptions& options = {},
                     const ChatMessage& message = {"user", "hi"}) {
  auto result = render_chat(text, {message}, options);
  return result.ok() ? *result : "error: " + result.error().message;
}

// A program that stands in for Python: a shell script with this body.
std::string stand_in(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + "luminal_" + name + ".sh";
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(ChatTemplate, same_text_as_transformers) {
  const auto cases = read_golden("chat_cases.tsv");
  ASSERT_EQ(cases.size(), 15u);
  for (const auto& line : cases) {
    std::vector<ChatMessage> messages;
    for (std::size_t i = 5; i + 2 < line.size(); i += 3) {
      messages.push_back({line[i], line[i + 1], line[i + 2]});
    }
    ChatOptions options{.bos_token = "<bos>", .eos_token = "<eos>", .now = 1740787200};
    options.add_generation_prompt = line[1] == "1";
    options.tools_json = line[2];
    options.variables_json = line[3];
    auto text = render_chat(read_template(line[0]), messages, options);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, line[4]) << line[0];
  }
}

TEST(ChatTemplate, any_bytes_go_through) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(rendered("{{ messages[0].content }}", {}, {"user", bytes}), bytes);
  EXPECT_EQ(rendered("x\ny\n"), "x\ny");
  EXPECT_EQ(rendered(""), "");
}

TEST(ChatTemplate, errors_of_the_template) {
  EXPECT_EQ(
      rendered("a\n{% if %}"),
      "error: chat template: not valid: line 2: Expected an expression, got 'end of statement "
      "block'");
  EXPECT_EQ(rendered("{% for m in messages %}").substr(0, 52),
            "error: chat template: not valid: line 1: Unexpected ");
  EXPECT_EQ(rendered("{{ raise_exception('no system\nrole: ' + messages[0].content) }}"),
            "error: chat template: cannot render this conversation: no system role: hi");
  EXPECT_EQ(rendered("{{ a.b }}"),
            "error: chat template: cannot render this conversation: 'a' is undefined");
  EXPECT_EQ(rendered("{{ 1 // 0 }}").substr(0, 72),
            "error: chat template: cannot render this conversation: ZeroDivisionError");
  EXPECT_EQ(rendered("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
            "error: chat template: cannot render this conversation: it calls itself without end");
}

TEST(ChatTemplate, a_template_cannot_leave_the_sandbox) {
  for (const char* attempt :
       {"{{ ''.__class__.__mro__ }}", "{{ messages.append(1) }}", "{{ dict.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}", "{{ namespace(__class__=1) }}",
        "{% set n = namespace() %}{% set n.__init__ = 1 %}{{ cycler.__init__.__globals__.os }}",
        "{{ range(10000000) | list | length }}", "{% include '/etc/passwd' %}"}) {
    // What is unsafe counts as undefined, which prints as nothing.
    const std::string got = rendered(attempt);
    EXPECT_TRUE(got.empty() || got.substr(0, 7) == "error: ") << attempt << ": " << got;
  }
}

TEST(ChatTemplate, limits) {
  const std::string loop = "{% for i in range(99999) %}{% for j in range(99999) %}";
  EXPECT_EQ(
      rendered(loop + "{% endfor %}{% endfor %}", {.time = std::chrono::seconds(1)}).substr(0, 21),
      "error: chat template:");
  EXPECT_EQ(rendered("{{ 'x' * 9000 }}", {.output_bytes = 5000}),
            "error: chat template: writes more than 5000 bytes");
  EXPECT_EQ(rendered("{{ 'x' * 3000000000 }}"),
            "error: chat template: cannot render this conversation: it needs more than 1024 MiB of "
            "memory");
}

TEST(ChatTemplate, json_of_the_caller_is_checked) {
  EXPECT_EQ(rendered("", {.tools_json = "[1"}).substr(0, 34), "error: chat: tools: not valid JSON");
  EXPECT_EQ(rendered("", {.tools_json = "{}"}), "error: chat: tools: a JSON array is expected");
  EXPECT_EQ(rendered("", {.variables_json = "[]"}),
            "error: chat: variables: a JSON object is expected");
  EXPECT_EQ(rendered("", {}, {"user", "", "3"}),
            "error: chat: fields of message 0: a JSON object is expected");
  EXPECT_EQ(rendered("{{ x }}{{ messages[0].x }}", {.variables_json = R"({"x": "\"}, {"})"},
                     {"user", "", R"({"x": "'}]"})"}),
            "\"}, {'}]");
}

TEST(ChatTemplate, a_python_that_will_not_do_is_named_with_the_way_out) {
  const std::string bare = stand_in("bare", "exec /usr/bin/python3 -S \"$@\"");
  EXPECT_EQ(
      rendered("x", {.python = bare}),
      "error: chat templates need Python 3 with jinja2: " + bare +
          " has no jinja2; install it with `apt install python3-jinja2`, or with `pip install "
          "-U jinja2` in a virtual environment");
  EXPECT_EQ(rendered("x", {.python = "/nonexistent/python3"}).substr(0, 83),
            "error: chat templates need Python 3 with jinja2: /nonexistent/python3 is not there;");
  const std::string broken = stand_in("broken", "echo oh no >&2; exit 1");
  EXPECT_EQ(rendered("x", {.python = broken}),
            "error: chat template: " + broken + " failed with exit code 1: oh no\n");
  const std::string killed = stand_in("killed", "kill -11 $$");
  EXPECT_EQ(rendered("x", {.python = killed}),
            "error: chat template: " + killed + " was ended by signal 11");
}

TEST(ChatTemplate, an_old_jinja_with_a_hole_in_its_sandbox_is_refused) {
  // Stands in for one: takes the mended format away before the script runs.
  const std::string old = stand_in("old",
                                   "shift; shift\n"
                                   "exec /usr/bin/python3 -I -c \"import jinja2.sandbox as s\n"
                                   "s.SandboxedEnvironment.wrap_str_format = lambda *a: None\n"
                                   "$1\"");
  EXPECT_NE(rendered("x", {.python = old}).find("with known holes in its sandbox"),
            std::string::npos)
      << rendered("x", {.python = old});
}

}  // namespace
}  // namespace luminal::text
