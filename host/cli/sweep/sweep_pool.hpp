#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "host/cli/sweep/sweep_run.hpp"

namespace berth::cli {

/// Threads that make runs.
class SweepPool {
 public:
  /// @param done  called by the threads
  SweepPool(const SweepPlan& plan, SweepInputs& inputs, int threads, std::function<void(SweepDone)> done);
  /// Ends the runs early.
  ~SweepPool();
  SweepPool(const SweepPool&) = delete;
  SweepPool& operator=(const SweepPool&) = delete;

  void add(const SweepTask& task);

 private:
  void work();

  const SweepPlan& plan_;
  SweepInputs& inputs_;
  std::function<void(SweepDone)> done_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SweepTask> tasks_;
  std::vector<std::thread> threads_;
};

}  // namespace berth::cli
