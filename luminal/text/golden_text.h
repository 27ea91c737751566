// SPDX-License-Identifier: MIT OR Apache-2.0
// For tests: the golden files of testdata/. A line is fields between tabs; in a field \n, \t, \r,
// \\ and \xHH stand for bytes; lines that begin with # and empty lines are left out.
#pragma once

#include "luminal/base/check.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::text {

inline std::string unescape(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      out += field[i];
      continue;
    }
    const char kind = field[++i];
    if (kind == 'x') {
      out += static_cast<char>(std::stoi(std::string(field.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind;
    }
  }
  return out;
}

/// The lines of luminal/text/testdata/`name`, each as its unescaped fields.
inline std::vector<std::vector<std::string>> read_golden(const std::string& name) {
  std::ifstream file("luminal/text/testdata/" + name, std::ios::binary);
  LUM_CHECK(file.good(), "luminal/text/testdata/", name, " is missing; run the tests from the top");
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::size_t begin = 0;
    for (std::size_t tab; (tab = line.find('\t', begin)) != line.npos; begin = tab + 1) {
      fields.push_back(unescape(std::string_view(line).substr(begin, tab - begin)));
    }
    fields.push_back(unescape(std::string_view(line).substr(begin)));
    lines.push_back(std::move(fields));
  }
  return lines;
}

inline std::vector<std::int32_t> read_ids(const std::string& field) {
  std::istringstream in(field);
  std::vector<std::int32_t> ids;
  for (std::int32_t id; in >> id;) ids.push_back(id);
  return ids;
}

}  // namespace luminal::text
