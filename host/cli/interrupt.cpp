#include "host/cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace berth::cli {
namespace {

std::atomic<Engine*> deciding{nullptr};
static_assert(std::atomic<Engine*>::is_always_lock_free, "read in a signal handler");

extern "C" void on_interrupt(int) {
  if (Engine* engine = deciding.load()) engine->cancel();
}

}  // namespace

CancelOnInterrupt::CancelOnInterrupt(Engine& engine) {
  deciding.store(&engine);
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;  // in the background: whoever started us wants no interrupts
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

void end_by_interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
  std::_Exit(128 + SIGINT);  // where it is blocked
}

CancelOnInterrupt::~CancelOnInterrupt() {
  sigaction(SIGINT, &before_, nullptr);
  deciding.store(nullptr);
}

}  // namespace berth::cli
