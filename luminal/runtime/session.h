// SPDX-License-Identifier: MIT OR Apache-2.0
// A session runs compiled programs that share weights and states (prefill and decode of one model, say). It owns the
// memory: weights, states, one slab for whichever program runs, scratch for each worker. After create() a run makes no
// allocation and no system call.
//
// Not thread-safe: one run at a time. Outputs stay valid until the next run.
//
//   LUM_ASSIGN_OR_RETURN(auto session, Session::create(std::move(programs), team, options));
//   session->set_symbol(program, "n_past", 12);
//   session->set_input(program, "tokens", bytes);
//   LUM_RETURN_IF_ERROR(session->run(program));
//   std::span<const std::byte> logits = session->output(program, "logits");
#pragma once

#include "luminal/plan/executable.h"
#include "luminal/runtime/weights.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal {
class Team;
}

namespace luminal::runtime {

using plan::Executable;

class Session {
 public:
  /// `team` must outlive the session.
  static Result<std::unique_ptr<Session>> create(std::vector<Executable> programs, Team& team,
                                                 const LoadOptions& options);
  ~Session();

  /// Fails when the name is unknown or the value is outside of the symbol's range.
  Status set_symbol(int program, std::string_view name, std::int64_t value);
  /// Copies a dense tensor in. Its size must be that of the input's shape for the symbols set.
  Status set_input(int program, std::string_view name, std::span<const std::byte> bytes);
  Status run(int program);
  /// The dense value of an output after the last run of that program; empty if there is no such output.
  std::span<const std::byte> output(int program, std::string_view name);
  /// States become zero.
  void clear_states();

  std::int64_t weight_bytes() const;
  std::int64_t slab_bytes() const;
  std::int64_t state_bytes() const;

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal::runtime
