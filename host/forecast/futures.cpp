#include "host/forecast/futures.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/forecast/future_jobs.hpp"
#include "host/forecast/live_future.hpp"
#include "host/sim/counts/count_simulation.hpp"

namespace berth::sim {
namespace {

using FutureClock = std::chrono::steady_clock;

/// The futures of one thread.
class FutureThread {
 public:
  FutureThread(const Present& present, const Learned& learned, const std::vector<RunLaw>& laws, const FutureSettings& settings,
               const TraceFacts& facts)
      : present_(present),
        facts_(facts),
        jobs_(present, learned, laws, settings),
        ends_(settings.ends),
        restarts_(settings.node_failures.mean_us > 0),
        until_(core::saturating_add(present.now_us, settings.horizon_us)) {
    settings_.request = settings.request;
    settings_.request.threads = 1;
    settings_.estimates = "none";
    restarts_ = restarts_ || core::find_policy(settings.request.policy).preemptive;
  }

  bool by_counts() { return counts_.begin(facts_, *present_.cluster, settings_); }
  void live(const Snapshot& begin, const FutureSettings& settings, const PolicyState& policy_state) {
    live_ = std::make_unique<LiveFuture>(begin, *present_.cluster, settings, policy_state);
  }

  /// @returns false when the deadline came first
  bool run(std::int32_t future, const FutureDeadline& deadline, FutureTimes& out) {
    jobs_.begin(future);
    if (live_ != nullptr) {
      if (!live_->run(jobs_, present_.jobs.size(), deadline)) return false;
    } else {
      jobs_.ends_follow(!restarts_ || !ends_);
      const auto done = [this](const JobOutcome& outcome) {
        if (outcome.end == JobOutcome::End::kCompleted && restarts_ && ends_) jobs_.ended(*outcome.traced, outcome.end_us);
        if (outcome.end == JobOutcome::End::kRejected) jobs_.reject(*outcome.traced);
      };
      counts_.run({profiles_, facts_, jobs_}, settings_, done, &jobs_);
    }
    for (std::int32_t row = 0; row < present_.asked; ++row) {
      const std::size_t at = to_index(row) * to_index(out.futures) + to_index(future);
      out.start[at] = within_horizon(jobs_.start_of(row));
      out.end[at] = within_horizon(jobs_.end_of(row));
      if (!out.withdrawn.empty()) out.withdrawn[at] = jobs_.was_withdrawn(row) ? 1 : 0;
    }
    return true;
  }

 private:
  TimeUs within_horizon(TimeUs at) const { return at > until_ ? kNever : at; }

  const Present& present_;
  const TraceFacts& facts_;
  FutureJobs jobs_;
  TraceProfiles profiles_;
  SimulationSettings settings_;
  CountSimulations counts_;
  std::unique_ptr<LiveFuture> live_;
  bool ends_, restarts_;  // ends are wanted; jobs may lose their GPUs
  TimeUs until_;
};

/// Keeps the first futures of each row.
void keep_first(FutureTimes& times, std::int32_t futures) {
  const auto shrink = [&](auto& rows) {
    if (rows.empty()) return;
    for (std::int32_t row = 0; row < times.asked; ++row) {
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(row) * times.futures;
      std::copy(from, from + futures, rows.begin() + static_cast<std::ptrdiff_t>(row) * futures);
    }
    rows.resize(to_index(times.asked) * to_index(futures));
  };
  if (futures == times.futures) return;
  shrink(times.start);
  shrink(times.end);
  shrink(times.withdrawn);
  times.futures = futures;
}

}  // namespace

FutureTimes simulate_futures(const Present& present, const Learned& learned, const FutureSettings& settings, bool& by_counts) {
  const FutureClock::time_point begin = FutureClock::now();
  FutureTimes times;
  times.asked = present.asked;
  times.futures = settings.futures;
  times.start.assign(to_index(times.asked) * to_index(times.futures), kNever);
  times.end = times.start;
  if (learned.withdrawals.any()) times.withdrawn.assign(times.start.size(), 0);
  std::vector<RunLaw> laws;
  TraceFacts facts;
  for (const PresentJob& one : present.jobs) {
    const TraceJob& job = one.job;
    laws.push_back(run_law(learned.times, {job.user, job.queue.empty() ? job.virtual_cluster : job.queue, job.gpus, job.time_limit_us},
                           std::max<TimeUs>(0, one.held_us)));
    facts.add(job);
  }
  for (const TraceJob& kind : learned.arrivals.kinds()) facts.add(kind);

  const int threads = std::clamp(settings.request.threads, 1, std::max(1, settings.futures));
  std::vector<std::unique_ptr<FutureThread>> workers;
  by_counts = present.countable;
  for (int t = 0; t < threads; ++t) {
    workers.push_back(std::make_unique<FutureThread>(present, learned, laws, settings, facts));
    by_counts = by_counts && workers.back()->by_counts();
  }
  if (!by_counts) {
    for (auto& worker : workers) worker->live(*present.begin, settings, present.policy_state);
  }

  FutureDeadline deadline;
  if (settings.within_us > 0) deadline = begin + std::chrono::microseconds(settings.within_us);
  std::atomic<std::int32_t> next{0};
  std::atomic<bool> late{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr failure;
  std::int32_t done = 0;
  int running = threads;
  std::vector<std::uint8_t> simulated(to_index(settings.futures), 0);
  const auto work = [&](FutureThread& worker) {
    try {
      while (!late.load(std::memory_order_relaxed)) {
        const std::int32_t future = next.fetch_add(1, std::memory_order_relaxed);
        if (future >= settings.futures) break;
        if (!worker.run(future, deadline, times)) break;
        if (deadline && FutureClock::now() > *deadline) late = true;
        const std::lock_guard<std::mutex> lock(mutex);
        simulated[to_index(future)] = 1;
        ++done;
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
      late = true;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    --running;
    changed.notify_all();
  };
  std::vector<std::thread> helpers;
  helpers.reserve(workers.size());
  for (auto& worker : workers) helpers.emplace_back([&work, &worker] { work(*worker); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    while (running > 0) {
      changed.wait_for(lock, std::chrono::milliseconds(100));
      if (settings.progress) settings.progress(done, settings.futures);
    }
  }
  for (std::thread& helper : helpers) helper.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  // Which futures are drawn does not depend on the threads: those before the first that is missing.
  keep_first(times, static_cast<std::int32_t>(std::find(simulated.begin(), simulated.end(), 0) - simulated.begin()));
  return times;
}

}  // namespace berth::sim
