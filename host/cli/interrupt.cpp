#include "host/cli/interrupt.hpp"

#include <atomic>
#include <csignal>

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
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

CancelOnInterrupt::~CancelOnInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  deciding.store(nullptr);
}

}  // namespace berth::cli
