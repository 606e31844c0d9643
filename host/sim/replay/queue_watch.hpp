#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/core/quota/queue_balance.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/measures/queues.hpp"

namespace berth::sim {

/// Follows what queues have and are due during a simulation. What it finds does not depend on the policy's `quotas`.
class QueueWatch {
 public:
  explicit QueueWatch(const Snapshot& cluster);

  /// The job has come, or its GPUs or shapes have changed, since the last `settle`.
  void touch(std::int32_t job) { touched_.push_back(job); }
  /// The same of a job that has other GPUs now, and can use them after `wait_us`: displaced jobs have to stop.
  void start(std::int32_t job, TimeUs wait_us);
  /// GPUs have come or gone.
  void change_gpus() { changed_ = true; }
  /// The job leaves. @param lost_gpu_us  what being displaced for quotas has cost it in all
  void leave(std::int32_t job, __int128 lost_gpu_us);
  /// Queues have changed.
  void change_queues() { stale_ = true; }
  /// A job was displaced for an entitled one of this queue of the state.
  void displace(std::int32_t job, std::int32_t for_queue);
  /// Before and after each decision, with the state as it is then.
  void settle(const StateView& state, TimeUs now);
  /// @param end  of the run, or earlier. @returns figures in the order of the cluster
  std::vector<QueueFigures> finish(TimeUs end);

 private:
  static constexpr std::int32_t kNotWaiting = -1;
  /// What the watch knows of a job.
  struct Watched {
    std::int32_t place = kNotWaiting;  // in the list of those of its queue that wait
    TimeUs entitled_since = kNever;
    TimeUs wait_us = 0;  // from its last start until it could use its GPUs
  };
  /// One queue of the state.
  struct Watch {
    std::int32_t figures = -1;          // its position in the cluster
    std::vector<std::int32_t> waiting;  // jobs
    std::int64_t entitled = 0;          // of them, and of those below it
    std::vector<std::int32_t> started;  // jobs, since the last `settle`
    bool fresh = false;                 // others wait than at the last `settle`
  };
  struct Account {
    QueueFigures figures;
    SpreadOf reclaim;
    core::QueueBalance::Row now;
    bool starved = false;
    __int128 hour_had = 0, hour_due = 0;
  };

  /// Calls `see(Watch&)` for the queue and those above it.
  template <class See>
  void each_above(std::int32_t queue, const See& see) {
    for (; queue >= 0; queue = balance_.parent_of(queue)) see(queues_[static_cast<std::size_t>(queue)]);
  }
  /// Time passes; levels were those of the last `settle`.
  void advance(TimeUs now);
  Account& account(const Watch& queue) { return accounts_[static_cast<std::size_t>(queue.figures)]; }
  void begin(const StateView& state);
  void put(const StateView& state, std::int32_t job);
  void stop_waiting(std::int32_t job);
  void set_entitled(std::int32_t job, TimeUs since);
  void count_starts(TimeUs now);
  void look_at_waiting(TimeUs now);
  static void add(Account& to, TimeUs time);
  static void end_hour(Account& of);

  std::vector<std::string> names_;
  std::vector<Account> accounts_;  // by position in the cluster
  std::vector<Watch> queues_;      // by queue of the state
  std::vector<Watched> jobs_;      // [jobs]
  std::vector<std::int32_t> touched_;
  std::vector<std::uint8_t> were_;
  core::QueueBalance balance_;
  bool stale_ = true, changed_ = true;
  TimeUs now_ = 0;
};

}  // namespace berth::sim
