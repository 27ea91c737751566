// SPDX-License-Identifier: MIT OR Apache-2.0
// luminal info: what a model file holds.
#include "luminal/cli/terminal.h"
#include "luminal/cli/verb.h"
#include "luminal/frontends/gguf/gguf_file.h"

#include <cstdio>
#include <map>
#include <memory>

namespace luminal::cli {
namespace {

struct TypeTotal {
  int tensors = 0;
  std::int64_t elements = 0, bytes = 0;
};

std::string shape_text(const gguf::TensorInfo& tensor) {
  std::string text;
  for (std::int64_t extent : tensor.shape) text += cat(text.empty() ? "" : " x ", extent);
  return text.empty() ? "1" : text;
}

void print_totals(const gguf::GgufFile& file) {
  std::map<std::string_view, TypeTotal> types;
  TypeTotal all;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    for (TypeTotal* total : {&types[tensor.type->name], &all}) {
      ++total->tensors;
      total->elements += tensor.elements;
      total->bytes += tensor.bytes;
    }
  }
  std::printf("\n%-10s %8s %16s %16s %7s\n", "type", "tensors", "parameters", "bytes", "bits");
  types["all"] = all;
  for (const auto& [name, total] : types)
    std::printf("%-10s %8d %16lld %16lld %7.2f\n", std::string(name).c_str(), total.tensors,
                static_cast<long long>(total.elements), static_cast<long long>(total.bytes),
                total.elements > 0 ? 8.0 * static_cast<double>(total.bytes) / static_cast<double>(total.elements) : 0);
}

Status run_info(const std::string& path, bool tensors) {
  LUM_ASSIGN_OR_RETURN(const gguf::GgufFile file, gguf::GgufFile::open(path));
  std::printf("%s: GGUF version %u, %zu metadata values, %zu tensors\n\n", path.c_str(), file.version(),
              file.metadata().size(), file.tensors().size());
  for (const auto& [key, value] : file.metadata())
    std::printf("%-44s %-16s %s\n", key.c_str(), gguf::metadata_type_name(value).c_str(),
                gguf::metadata_text(value).c_str());
  if (tensors) {
    std::printf("\n");
    for (const gguf::TensorInfo& tensor : file.tensors())
      std::printf("%-44s %-10s %s\n", tensor.name.c_str(), std::string(tensor.type->name).c_str(),
                  shape_text(tensor).c_str());
  }
  print_totals(file);
  return {};
}

}  // namespace

std::function<int()> declare_info(CLI::App& command) {
  auto path = std::make_shared<std::string>();
  auto totals = std::make_shared<bool>(false);
  command.add_option("file", *path, "GGUF file")->required();
  command.add_flag("--no-tensors", *totals, "leave the list of tensors out");
  return [path, totals]() -> int {
    const Status status = run_info(*path, !*totals);
    return status.ok() ? kOk : fail(status.error());
  };
}

}  // namespace luminal::cli
