#include "host/cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace berth::cli {
namespace {

std::atomic<Engine*> deciding{nullptr};
static_assert(std::atomic<Engine*>::is_always_lock_free, "read in a signal handler");

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written in a signal handler");

extern "C" void on_interrupt(int) {
  if (Engine* engine = deciding.load()) engine->cancel();
}

extern "C" void on_remembered(int) { interrupted.store(true); }

// For one Ctrl-C; the next one ends the process.
void handle_once(void (*handler)(int), struct sigaction& before) {
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // in the background: whoever started us wants no interrupts
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

CancelOnInterrupt::CancelOnInterrupt(Engine& engine) {
  deciding.store(&engine);
  handle_once(on_interrupt, before_);
}

RememberInterrupt::RememberInterrupt() {
  interrupted.store(false);
  handle_once(on_remembered, before_);
}

RememberInterrupt::~RememberInterrupt() { sigaction(SIGINT, &before_, nullptr); }

bool RememberInterrupt::came() const { return interrupted.load(std::memory_order_relaxed); }

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
