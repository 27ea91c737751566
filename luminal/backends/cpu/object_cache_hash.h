// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 (FIPS 180-4): the name of what an object file was made from, and the check that it came
// back whole.
//
//   Sha256 hash;
//   hash.field(flags).field(text);     // lengths are hashed too: ("ab", "c") is not ("a", "bc")
//   Digest digest = hash.finish();
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::cpu {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  /// Adds bytes.
  Sha256& update(std::string_view bytes);
  /// Adds the length and then the bytes.
  Sha256& field(std::string_view bytes);
  /// The digest of all that was added. Call it once.
  Digest finish();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_;
  std::uint64_t length_ = 0;
};

Digest sha256(std::string_view bytes);

/// 64 hexadecimal digits, lower case.
std::string to_hex(const Digest& digest);

}  // namespace luminal::cpu
