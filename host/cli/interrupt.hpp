#pragma once

#include <csignal>

#include "berth/engine.hpp"

namespace berth::cli {

/// While it lives, Ctrl-C cancels the engine's decision, which then returns the best so far; a second Ctrl-C ends the process.
class CancelOnInterrupt {
 public:
  explicit CancelOnInterrupt(Engine& engine);
  ~CancelOnInterrupt();
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

/// While it lives, Ctrl-C is remembered, for work that looks now and then; a second Ctrl-C ends the process. One at a time.
class RememberInterrupt {
 public:
  RememberInterrupt();
  ~RememberInterrupt();
  RememberInterrupt(const RememberInterrupt&) = delete;
  RememberInterrupt& operator=(const RememberInterrupt&) = delete;
  bool came() const;

 private:
  struct sigaction before_ {};
};

/// Ends the process as Ctrl-C would have.
[[noreturn]] void end_by_interrupt();

}  // namespace berth::cli
