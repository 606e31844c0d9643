#pragma once

#include <array>
#include <csignal>

#include "berth/engine.hpp"

namespace berth::cli {

/// The signals that ask a command to end: Ctrl-C, `kill`, and a terminal that closes.
inline constexpr std::array<int, 3> kEndSignals{SIGINT, SIGTERM, SIGHUP};

/// Records the signal; long work polls it. A second one ends the process. Signals that were ignored when the command began stay
/// ignored. At most one instance at a time.
///
/// A command that has kept its results and cleaned up then ends by the signal (see end_by_signal), so that a shell loop stops.
class RememberSignals {
 public:
  RememberSignals() noexcept;
  ~RememberSignals();
  RememberSignals(const RememberSignals&) = delete;
  RememberSignals& operator=(const RememberSignals&) = delete;

 private:
  std::array<struct sigaction, kEndSignals.size()> before_{};
};

/// The same; the signal also cancels the engine's decision, which then returns the best so far.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(Engine& engine) noexcept;
  ~CancelOnSignal();
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;

 private:
  RememberSignals remember_;
};

/// The signal that was remembered, also after the end of what remembers; 0: none.
int remembered_signal() noexcept;

/// Ends the process as the signal would have.
[[noreturn]] void end_by_signal(int signal) noexcept;

}  // namespace berth::cli
