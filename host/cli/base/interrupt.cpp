#include "host/cli/base/interrupt.hpp"

#include <atomic>
#include <cstdlib>

namespace berth::cli {
namespace {

std::atomic<Engine*> deciding{nullptr};
static_assert(std::atomic<Engine*>::is_always_lock_free, "read in a signal handler");

std::atomic<int> remembered{0};
static_assert(std::atomic<int>::is_always_lock_free, "written in a signal handler");

extern "C" void on_end_signal(int signal) {
  remembered.store(signal);
  if (Engine* engine = deciding.load()) engine->cancel();
}

}  // namespace

RememberSignals::RememberSignals() noexcept {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    sigaction(kEndSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) continue;  // in the background, or under nohup
    struct sigaction action {};
    action.sa_handler = on_end_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(kEndSignals[i], &action, nullptr);
  }
}

RememberSignals::~RememberSignals() {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) sigaction(kEndSignals[i], &before_[i], nullptr);
}

// A signal between the two is remembered, and the decision whole.
CancelOnSignal::CancelOnSignal(Engine& engine) noexcept {
  deciding.store(&engine);
  if (remembered_signal() != 0) engine.cancel();
}

CancelOnSignal::~CancelOnSignal() { deciding.store(nullptr); }

int remembered_signal() noexcept { return remembered.load(); }

void end_by_signal(int signal) noexcept {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  std::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace berth::cli
