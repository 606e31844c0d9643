#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/core/policy_api/chosen_policy.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/job_events.hpp"
#include "host/sim/base/outcome.hpp"
#include "host/sim/counts/counted_job.hpp"
#include "host/sim/counts/job_keys.hpp"
#include "host/sim/counts/node_counts.hpp"
#include "host/sim/counts/release_profile.hpp"
#include "host/sim/counts/resumed_jobs.hpp"
#include "host/sim/counts/running_order.hpp"
#include "host/sim/measures/series.hpp"
#include "host/sim/replay/settings.hpp"

namespace berth::sim {

/// The jobs of a simulation by counts, their GPUs and their outcomes. Which jobs start is decided elsewhere.
class CountRun {
 public:
  /// @param resumed  null: no job runs at the start
  CountRun(const Replayed& trace, const SimulationSettings& settings, const std::function<void(const JobOutcome&)>& done,
           core::ChosenPolicy& chosen, NodeCounts& nodes, ResumedJobs* resumed);
  CountRun(const CountRun&) = delete;
  CountRun& operator=(const CountRun&) = delete;

  TimeUs now() const { return now_; }
  CountedJobs& jobs() { return jobs_; }
  const CountedJobs& jobs() const { return jobs_; }
  NodeCounts& nodes() { return nodes_; }
  const NodeCounts& nodes() const { return nodes_; }
  JobKeys& keys() { return keys_; }
  bool preemptive() const { return preemptive_; }
  bool knows_work() const { return estimator_.knows_work(); }
  /// GPU-time of the jobs that have completed, ascending, for a policy that follows from columns and the history.
  std::span<const std::int64_t> services();
  /// The running jobs of a pool, where jobs may be displaced.
  RunningOrder& running(std::int32_t pool) { return running_[to_index(pool)]; }
  /// Predicted releases of a pool, under disciplines `easy` and `conservative`.
  ReleaseProfile& releases(std::int32_t pool) { return releases_[to_index(pool)]; }
  /// Predicted run time that a job still needs, at least 1; kNever: not known. Constant while it waits.
  TimeUs predicted(const CountedJob& job) const {
    const TimeUs left = predicted_left(job);
    return left == kNever ? left : std::max<TimeUs>(1, left);
  }

  // What happens at an instant, in this order.
  TimeUs next_event() const {
    const TimeUs next = std::min({upcoming_ != nullptr ? upcoming_->submit_us : kNever, ends_.next(), changes_.next(), again_at_});
    return resumed_ == nullptr ? next : std::max(std::min(next, next_node_event()), resumed_->now_us);
  }
  /// There is a decision then, where no other comes before. Later than now; kNever: none.
  void decide_again_at(TimeUs at) { again_at_ = at; }
  void advance(TimeUs now) {
    live_us_ += static_cast<__int128>(n_running_ + n_waiting_) * (now - now_);
    now_ = now;
  }
  /// Jobs that end leave. @param look  Called with the pool and place of each.
  template <class Look>
  void complete(const Look& look) {
    while (ends_.next() <= now_) {
      const std::int32_t job = ends_.job();
      const JobPlace place = complete(job);
      look(jobs_[job].pool, place);
    }
  }
  /// Keys of running jobs change without events. @param look  Called with the pool and former place of each.
  template <class Look>
  void wake(const Look& look) {
    while (changes_.next() <= now_) {
      const std::int32_t job = changes_.job();
      look(jobs_[job].pool, JobPlace{jobs_[job].key, jobs_[job].rank, job});
      wake(job);
    }
  }
  /// Nodes fail and return. @param push  Called for each job that waits again. @param changed  Called with the pool of each node.
  template <class Push, class Changed>
  void change_nodes(const Push& push, const Changed& changed) {
    while (next_node_event() <= now_) {
      const std::int32_t node = change_node();
      for (const JobPlace& place : thrown_out_) push(place);
      changed(nodes_.pool_of_node(node));
    }
  }
  /// @param receive  Called for each job that arrives, except those that can never run. The last argument: no other arrives now.
  template <class Receive>
  void arrive(const Receive& receive) {
    while (upcoming_ != nullptr && upcoming_->submit_us <= now_) {
      const std::int32_t job = next_arrival();
      if (job >= 0)
        receive(JobPlace{asks_for_all_ ? 0 : keys_.key(jobs_[job], now_), jobs_[job].rank, job},
                upcoming_ == nullptr || upcoming_->submit_us > now_);
    }
  }
  void decided() {
    ++totals_.decisions;
    if (settings_.series != nullptr) settings_.series->level(now_, levels());
  }

  void count_reservation(bool kept) { ++(kept ? totals_.reservations_kept : totals_.reservations_made); }

  // What decisions do to jobs.
  void wait(std::int32_t job) {
    ++n_waiting_;
    gpus_waited_ += jobs_[job].gpus;
  }
  /// A waiting job that has got its GPUs runs. @param counted  It was counted as waiting.
  void start(const JobPlace& place, bool counted);
  /// A job that was displaced in this decision runs on other GPUs.
  void move(const JobPlace& place);
  /// A running job stops. The caller handles its GPUs and its place among the running jobs.
  void stop(std::int32_t job);
  /// A job that was displaced in this decision waits.
  void preempt(std::int32_t job);

  bool interrupted();
  /// Reports unfinished jobs. @param waiting  All jobs that wait.
  SimulationTotals finish(std::span<const std::int32_t> waiting);

 private:
  JobPlace complete(std::int32_t job);
  void wake(std::int32_t job);
  std::int32_t next_arrival();
  void resume(std::int32_t job);
  TimeUs next_node_event() const { return std::min(failure_.at_us, down_.empty() ? kNever : down_.front().first); }
  std::int32_t change_node();
  void throw_out(std::int32_t node);
  void run(const JobPlace& place, TimeUs cost, bool moved);
  void await_change(std::int32_t job);
  // Where the work is not known: 0 or less when the job has run for longer than predicted.
  TimeUs predicted_left(const CountedJob& job) const {
    if (estimator_.knows_work()) return std::max<TimeUs>(1, job.left_at(now_));
    const TimeUs run = job.estimate == kNever ? job.limit : job.estimate;
    return run == kNever ? kNever : run - job.held_at(now_);
  }
  void leave(std::int32_t job, JobOutcome::End how);
  void report(std::int32_t job, JobOutcome::End how);
  std::string why_never(const CountedJob& job) const;
  Levels levels() const {
    return {gpus_allocated_, totals_.gpus - gpus_allocated_, n_running_, n_waiting_, gpus_waited_, nodes_.fragmented_micro()};
  }

  JobSource& source_;
  const SimulationSettings& settings_;
  const std::function<void(const JobOutcome&)>& done_;
  bool preemptive_;
  Estimator estimator_;
  JobKeys keys_;
  NodeCounts& nodes_;
  TimeUs now_ = -1;
  std::int32_t n_arrived_ = 0;
  __int128 live_us_ = 0;  // number of jobs present, summed over time
  std::int64_t n_running_ = 0, n_waiting_ = 0, gpus_allocated_ = 0, gpus_waited_ = 0;
  CountedJobs jobs_;
  std::vector<RunningOrder> running_;     // [pools] where jobs may be displaced
  std::vector<ReleaseProfile> releases_;  // [pools] under disciplines `easy` and `conservative`
  bool asks_for_all_;                     // keys of all jobs are asked for in each decision: none is asked for here, and services are kept
  std::vector<std::int64_t> services_;
  std::size_t sorted_services_ = 0;  // the first ones, which are in order
  JobEvents ends_, changes_;
  TimeUs again_at_ = kNever;
  const TraceJob* upcoming_;
  ResumedJobs* resumed_;
  NodeFailure failure_;                               // the next one
  std::vector<std::pair<TimeUs, CountedGpus>> down_;  // nodes that have failed, by return
  std::vector<JobPlace> thrown_out_;                  // jobs of the node that failed last
  bool stopped_ = false;                              // no job that starts matters any more
  SimulationTotals totals_;
  JobOutcome outcome_;  // last outcome reported; what `report` does not set never applies here
};

}  // namespace berth::sim
