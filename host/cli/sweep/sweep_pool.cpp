#include "host/cli/sweep/sweep_pool.hpp"

#include <csignal>
#include <utility>

#include "host/cli/base/interrupt.hpp"

namespace berth::cli {
namespace {

// Signals are for the thread that waits: a run is not disturbed, and the handler runs once.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t ends{};
    sigemptyset(&ends);
    for (const int signal : kEndSignals) sigaddset(&ends, signal);
    pthread_sigmask(SIG_BLOCK, &ends, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

SweepPool::SweepPool(const SweepPlan& plan, SweepInputs& inputs, int threads, std::function<void(SweepDone)> done)
    : plan_(plan), inputs_(inputs), done_(std::move(done)) {
  const BlockedSignals blocked;  // the threads inherit it
  for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
}

SweepPool::~SweepPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SweepPool::add(const SweepTask& task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(task);
  }
  changed_.notify_one();
}

void SweepPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
    if (stop_) return;
    const SweepTask task = tasks_.front();
    tasks_.pop_front();
    lock.unlock();
    done_(make_run(plan_, task, inputs_, [this] { return stop_.load(); }));
    lock.lock();
  }
}

}  // namespace berth::cli
