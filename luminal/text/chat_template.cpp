// SPDX-License-Identifier: MIT OR Apache-2.0
#include "luminal/text/chat_template.h"

#include "chat_template_script.h"
#include "luminal/text/child_process.h"
#include "luminal/text/utf8.h"

#include <algorithm>

namespace luminal::text {
namespace {

// The exit codes of chat_template.py.
enum ScriptCode { kRendered = 0, kNoJinja = 10, kInvalid, kRefused, kBadRequest, kUnsafeJinja };

void append_json_string(std::string& json, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      json += "\\u00";
      json += kHex[byte >> 4];
      json += kHex[byte & 15];
    } else {
      json += c;
    }
  }
  json += '"';
}

// One JSON object for the script. JSON of the caller stands in strings, which the script parses one
// by one, so that it cannot reach out of its place.
std::string request_of(std::string_view template_text, std::span<const ChatMessage> messages,
                       const ChatOptions& options) {
  std::string json = "{\"template\": ";
  append_json_string(json, template_text);
  json += ", \"messages\": [";
  const char* between = "";
  for (const ChatMessage& message : messages) {
    json += between;
    json += "{\"role\": ";
    append_json_string(json, message.role);
    json += ", \"content\": ";
    append_json_string(json, message.content);
    json += ", \"fields\": ";
    append_json_string(json, message.fields_json);
    json += '}';
    between = ", ";
  }
  json += "], \"bos_token\": ";
  append_json_string(json, options.bos_token);
  json += ", \"eos_token\": ";
  append_json_string(json, options.eos_token);
  json += ", \"tools\": ";
  append_json_string(json, options.tools_json);
  json += ", \"variables\": ";
  append_json_string(json, options.variables_json);
  json += cat(", \"add_generation_prompt\": ", options.add_generation_prompt ? "true" : "false",
              ", \"seconds\": ", std::max<long long>(options.time.count(), 1), ", \"now\": ");
  json += options.now ? std::to_string(*options.now) : "null";
  json += '}';
  return json;
}

Error describe(const ChildOutcome& child, const std::string& python, const ChatOptions& options) {
  switch (child.end) {
    case ChildOutcome::OverTime:
      return error("chat template: not done after ", options.time.count(), " s; it may never end");
    case ChildOutcome::TooMuchOutput:
      return error("chat template: writes more than ", options.output_bytes, " bytes");
    case ChildOutcome::Signalled:
      return error("chat template: ", python, " was ended by signal ", child.code);
    default:
      break;
  }
  // The text comes from the template; it is shown, so it must be well-formed.
  const std::string reason = utf8_repair(child.errors.substr(0, 2000));
  switch (child.code) {
    case kInvalid:
      return error("chat template: not valid: ", reason);
    case kRefused:
      return error("chat template: cannot render this conversation: ", reason);
    case kBadRequest:
      return error("chat: ", reason);
    default:
      return error("chat template: ", python, " failed with exit code ", child.code, ": ", reason);
  }
}

}  // namespace

Result<std::string> render_chat(std::string_view template_text,
                                std::span<const ChatMessage> messages, const ChatOptions& options) {
  const std::string request = request_of(template_text, messages, options);
  // Debian's own Python comes first: the system's packages are installed for it.
  std::vector<std::string> pythons{"/usr/bin/python3", "python3"};
  if (!options.python.empty()) pythons = {options.python};
  std::vector<std::string> missing;
  for (const std::string& python : pythons) {
    // -I: no directory or variable of the user can put a module in the way of jinja2.
    LUM_ASSIGN_OR_RETURN(ChildOutcome child,
                         run_child({python, "-I", "-c", kChatTemplateScript}, request,
                                   {.time = options.time, .output_bytes = options.output_bytes}));
    if (child.end == ChildOutcome::Exited && child.code == kRendered) {
      return std::move(child.output);
    }
    if (child.end == ChildOutcome::NotFound) {
      missing.push_back(python + " is not there");
    } else if (child.end == ChildOutcome::Exited && child.code == kNoJinja) {
      missing.push_back(python + " has no jinja2");
    } else if (child.end == ChildOutcome::Exited && child.code == kUnsafeJinja) {
      missing.push_back(python + " has " + child.errors + " with known holes in its sandbox");
    } else {
      return describe(child, python, options);
    }
  }
  return error(
      "chat templates need Python 3 with jinja2: ", join(missing, "; "),
      "; install it with `apt install python3-jinja2`, or with `pip install -U jinja2` in a "
      "virtual environment");
}

}  // namespace luminal::text
