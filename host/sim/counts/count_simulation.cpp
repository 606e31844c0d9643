#include "host/sim/counts/count_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/job_events.hpp"
#include "host/sim/counts/counted_job.hpp"
#include "host/sim/counts/job_keys.hpp"
#include "host/sim/counts/node_counts.hpp"
#include "host/sim/counts/running_order.hpp"
#include "host/sim/counts/waiting_lines.hpp"
#include "host/sim/measures/series.hpp"

namespace berth::sim {
namespace {

class CountSimulator {
 public:
  CountSimulator(const Replayed& trace, const SimulationSettings& settings, const std::function<void(const JobOutcome&)>& done,
                 core::ChosenPolicy& chosen, NodeCounts& nodes)
      : source_(trace.jobs),
        settings_(settings),
        done_(done),
        preemptive_(chosen.entry->preemptive),
        strict_(chosen.rules.discipline == kernel::Discipline::kStrict),
        estimator_(settings.estimates, settings.request.seed),
        keys_(*chosen.policy, estimator_.knows_work()),
        nodes_(nodes),
        waiting_(nodes.pools(), strict_),
        running_(to_index(nodes.pools())),
        upcoming_(source_.next()) {
    totals_.gpus = nodes.gpus();
    if (settings.series != nullptr) nodes_.stop_token(settings.series->fragmentation());
  }

  SimulationTotals run() {
    totals_.first_submit_us = upcoming_ != nullptr ? upcoming_->submit_us : 0;
    totals_.last_end_us = totals_.last_release_us = totals_.first_submit_us;
    for (TimeUs now = next_event(); now != kNever; now = next_event()) {
      if (settings_.interrupted && totals_.decisions % 1024 == 0 && settings_.interrupted()) {
        totals_.interrupted = true;
        break;
      }
      live_us_ += static_cast<__int128>(n_running_ + n_waiting_) * (now - now_);
      now_ = now;
      complete();
      wake();
      arrive();
      // Pools are independent, unless the head of the line blocks all jobs.
      for (const std::int32_t group : waiting_.due()) decide_over(group);
      ++totals_.decisions;
      if (settings_.series != nullptr) settings_.series->level(now, levels());
    }
    leave_unfinished();
    totals_.gpu_up_us = static_cast<__int128>(totals_.gpus) * (totals_.last_release_us - totals_.first_submit_us);
    return totals_;
  }

 private:
  Levels levels() const {
    return {gpus_allocated_, totals_.gpus - gpus_allocated_, n_running_, n_waiting_, gpus_waited_, nodes_.fragmented_micro()};
  }

  TimeUs next_event() const { return std::min({upcoming_ != nullptr ? upcoming_->submit_us : kNever, ends_.next(), changes_.next()}); }

  void complete() {
    while (ends_.next() <= now_) {
      const std::int32_t job_index = ends_.job();
      CountedJob& job = jobs_[job_index];
      nodes_.give(jobs_.taken(job_index));
      // When searching victims, the jobs before this one had its GPUs available.
      JobPlace place{INT64_MIN, 0, job_index};
      if (preemptive_) {
        place = {job.steady ? job.key : keys_.key(job, now_), job.rank, job_index};
        running_[to_index(job.pool)].remove(jobs_, job_index);
      }
      stop(job_index);
      waiting_.look_behind_again(job.pool, place);
      estimator_.finished(*job.traced, job.held - job.restarting - job.moving);
      leave(job_index, JobOutcome::End::kCompleted);
    }
  }

  // Keys of running jobs change without events.
  void wake() {
    while (changes_.next() <= now_) {
      const std::int32_t job_index = changes_.job();
      const CountedJob& job = jobs_[job_index];
      waiting_.look_behind_again(job.pool, {job.key, job.rank, job_index});
      running_[to_index(job.pool)].move(jobs_, {keys_.key(job, now_), job.rank, job_index});
      await_change(job_index);
    }
  }

  void arrive() {
    while (upcoming_ != nullptr && upcoming_->submit_us <= now_) {
      const TraceJob& traced = *upcoming_;
      upcoming_ = source_.next();
      const std::int32_t job_index = jobs_.add();
      CountedJob& job = jobs_[job_index];
      job.traced = &traced;
      job.rank = n_arrived_++;
      job.submit = traced.submit_us;
      job.live_from = live_us_;
      job.gpus = traced.gpus;
      job.pool = nodes_.pool_of(traced);
      if (job.pool < 0 || nodes_.total(job.pool) < traced.gpus) {
        leave(job_index, JobOutcome::End::kRejected);
        continue;
      }
      job.estimate = estimator_.run_time(traced, job.rank);
      job.deadline = traced.deadline_us;
      job.priority = traced.priority;
      job.left = traced.run_us;
      job.overheads = &settings_.overheads.of(traced.model);
      job.owed = job.overheads->start_us;
      job.line = waiting_.line_of(job.pool, traced.gpus);
      const JobPlace place{keys_.key(job, now_), job.rank, job_index};
      // Most jobs fit at once and have no job before them.
      const bool alone = waiting_.is_empty(job.pool) && (upcoming_ == nullptr || upcoming_->submit_us > now_);
      if (alone && nodes_.take(job.pool, job.gpus, jobs_.taken(job_index))) {
        start_waiting(place);
      } else {
        wait(place);
      }
    }
  }

  void wait(const JobPlace& place) {
    const CountedJob& job = jobs_[place.job];
    waiting_.push(job.line, place);
    ++n_waiting_;
    gpus_waited_ += job.gpus;
  }

  void decide_over(std::int32_t group) {
    displaced_.clear();
    std::size_t next_displaced = 0;
    waiting_.begin_heads(group, room(group));
    for (;;) {
      const JobPlace* head = waiting_.next_head();
      const bool again = next_displaced < displaced_.size() && (head == nullptr || displaced_[next_displaced] < *head);
      if (again) {
        if (start_elsewhere(group, next_displaced)) continue;
        ++next_displaced;
      } else if (head == nullptr) {
        break;
      } else if (try_first(group, *head, next_displaced)) {
        continue;
      } else {
        waiting_.blocked();
      }
      if (strict_) break;
    }
    for (const JobPlace& one : displaced_) {
      CountedJob& job = jobs_[one.job];
      ++job.preemptions;
      job.owed += core::displace_cost(job.overheads->costs);
      wait(one);
    }
  }

  /// Starts a displaced job, by displacing jobs behind it if necessary.
  bool start_elsewhere(std::int32_t group, std::size_t next_displaced) {
    const JobPlace place = displaced_[next_displaced];
    CountedJob& job = jobs_[place.job];
    const bool free = nodes_.take(job.pool, job.gpus, jobs_.taken(place.job));
    if (!free && !displace_for(place, next_displaced + 1)) return false;
    displaced_.erase(displaced_.begin() + static_cast<std::ptrdiff_t>(next_displaced));
    if (!free) waiting_.look_behind(foremost_, room(group));
    ++job.moves;
    start(place, core::migrate_cost(job.overheads->costs), true);
    return true;
  }

  /// Starts the first job, by displacing others if necessary.
  bool try_first(std::int32_t group, const JobPlace first, std::size_t next_displaced) {
    CountedJob& job = jobs_[first.job];
    const bool free = nodes_.take(job.pool, job.gpus, jobs_.taken(first.job));
    if (!free && !(preemptive_ && displace_for(first, next_displaced))) return false;
    waiting_.started(room(group));
    if (!free) waiting_.look_behind(foremost_, room(group));
    --n_waiting_;
    gpus_waited_ -= job.gpus;
    start_waiting(first);
    return true;
  }

  void start_waiting(const JobPlace& place) {
    CountedJob& job = jobs_[place.job];
    ++job.starts;
    if (job.start == kNever) job.start = now_;
    start(place, std::exchange(job.owed, 0), false);
  }

  // A job that got GPUs in this decision is before all jobs still to be tried, and so is not a victim.
  bool displace_for(const JobPlace& first, std::size_t next_displaced) {
    CountedJob& job = jobs_[first.job];
    RunningOrder& order = running_[to_index(job.pool)];
    if (order.end() < first) return false;
    std::size_t n = 0;
    for (std::int64_t have = nodes_.free(job.pool); have < job.gpus; ++n) {
      if (n == order.size()) return false;
      const JobPlace& victim = order.at_end(n, jobs_, keys_, now_);
      if (victim < first) return false;
      have += jobs_[victim.job].gpus;
    }
    order.read_end(n, victims_);
    for (const JobPlace& victim : victims_) nodes_.give(jobs_.taken(victim.job));
    nodes_.take(job.pool, job.gpus, jobs_.taken(first.job));
    // The first victim returns first, if its GPUs are still free.
    kept_.clear();
    foremost_ = victims_.back();
    for (const JobPlace& victim : victims_) {
      if (nodes_.take_again(jobs_.taken(victim.job))) {
        kept_.push_back(victim);
        continue;
      }
      stop(victim.job);
      foremost_ = std::min(foremost_, victim);
      displaced_.insert(std::upper_bound(displaced_.begin() + static_cast<std::ptrdiff_t>(next_displaced), displaced_.end(), victim),
                        victim);
    }
    order.replace_end(victims_.size(), kept_);
    return true;
  }

  void start(const JobPlace& place, TimeUs cost, bool moved) {
    CountedJob& job = jobs_[place.job];
    ++n_running_;
    gpus_allocated_ += job.gpus;
    job.running = true;
    job.moved = moved;
    job.held_from = now_;
    job.working_from = core::saturating_add(now_, cost);
    const TimeUs end = core::saturating_add(job.working_from, std::max<TimeUs>(1, job.left));
    if (end > kMaxTimeUs) throw InvalidArgument("job '" + job.traced->id + "' would end beyond the largest time");
    ends_.set(end, job.rank, place.job);
    if (!preemptive_) return;
    running_[to_index(job.pool)].add(jobs_, place);
    await_change(place.job);
  }

  void await_change(std::int32_t job) {
    const TimeUs next = keys_.next_change(jobs_[job], now_);
    jobs_[job].steady = next > now_;
    if (next != kNever && next > now_) {
      changes_.set(next, jobs_[job].rank, job);
    } else {
      changes_.remove(job);
    }
  }

  // The caller handles its GPUs and its place among the running jobs.
  void stop(std::int32_t job_index) {
    CountedJob& job = jobs_[job_index];
    const TimeUs paid = std::min(now_, job.working_from) - job.held_from;
    (job.moved ? job.moving : job.restarting) += paid;
    job.left = job.left_at(now_);
    job.held = job.held_at(now_);
    job.running = false;
    totals_.last_release_us = now_;
    --n_running_;
    gpus_allocated_ -= job.gpus;
    ends_.remove(job_index);
    if (preemptive_) changes_.remove(job_index);
  }

  void leave(std::int32_t job, JobOutcome::End how) {
    report(job, how);
    if (how != JobOutcome::End::kRejected) totals_.last_end_us = now_;
    source_.release(*jobs_[job].traced);
    jobs_.free(job);
  }

  void report(std::int32_t job_index, JobOutcome::End how) {
    const CountedJob& job = jobs_[job_index];
    const auto gpu_time = [&job](TimeUs time) { return static_cast<__int128>(time) * job.gpus; };
    JobOutcome& outcome = outcome_;
    outcome.job = job.rank;
    outcome.traced = job.traced;
    outcome.end = how;
    outcome.submit_us = job.submit;
    outcome.start_us = job.start;
    outcome.end_us = how == JobOutcome::End::kUnfinished ? kNever : now_;
    outcome.live_us = live_us_ - job.live_from;
    outcome.held_us = job.held;
    outcome.overhead_us = job.restarting + job.moving;
    outcome.gpu_us = gpu_time(job.held);
    outcome.lost_gpu_us[static_cast<std::size_t>(Loss::kRestart)] = gpu_time(job.restarting);
    outcome.lost_gpu_us[static_cast<std::size_t>(Loss::kMove)] = gpu_time(job.moving);
    outcome.starts = job.starts;
    outcome.preemptions = job.preemptions;
    outcome.moves = job.moves;
    const bool name_nodes = settings_.name_nodes && how == JobOutcome::End::kCompleted;
    outcome.nodes = name_nodes ? nodes_.names_of(jobs_.taken(job_index)) : std::string();
    outcome.reason = how == JobOutcome::End::kRejected ? why_never(job) : std::string();
    totals_.gpu_us += outcome.gpu_us;
    done_(outcome);
  }

  std::string why_never(const CountedJob& job) const {
    if (job.pool < 0) return "no node has its GPU type and virtual cluster";
    return fmt::format("needs {} GPUs; {} {}", job.gpus, nodes_.pools() == 1 ? "the cluster has" : "those that it may use are",
                       nodes_.total(job.pool));
  }

  void leave_unfinished() {
    if (totals_.interrupted) totals_.last_end_us = std::max(now_, totals_.first_submit_us);
    std::vector<std::int32_t> left;
    for (std::int32_t job = 0; job < jobs_.jobs(); ++job) {
      if (!jobs_[job].running) continue;
      left.push_back(job);
      stop(job);
    }
    for (std::int32_t job = waiting_.take_any(); job >= 0; job = waiting_.take_any()) left.push_back(job);
    std::sort(left.begin(), left.end(), [&](std::int32_t a, std::int32_t b) { return jobs_[a].rank < jobs_[b].rank; });
    for (const std::int32_t job : left) report(job, JobOutcome::End::kUnfinished);
  }

  // Where the head of the line also blocks other pools, it must be tried to find that out.
  WaitingLines::Room room(std::int32_t group) const {
    if (strict_) return {INT64_MAX, kNoJob};
    return {nodes_.free(group), preemptive_ ? running_[to_index(group)].end() : kNoJob};
  }

  JobSource& source_;
  const SimulationSettings& settings_;
  const std::function<void(const JobOutcome&)>& done_;
  bool preemptive_, strict_;
  Estimator estimator_;
  JobKeys keys_;
  NodeCounts& nodes_;
  TimeUs now_ = -1;
  std::int32_t n_arrived_ = 0;
  __int128 live_us_ = 0;  // number of jobs present, summed over time
  std::int64_t n_running_ = 0, n_waiting_ = 0, gpus_allocated_ = 0, gpus_waited_ = 0;
  CountedJobs jobs_;
  WaitingLines waiting_;
  std::vector<RunningOrder> running_;  // [pools] where jobs may be displaced
  std::vector<JobPlace> displaced_;    // jobs displaced in this decision, in order
  std::vector<JobPlace> victims_, kept_;
  JobPlace foremost_{};  // of the jobs displaced last
  JobEvents ends_, changes_;
  const TraceJob* upcoming_;
  SimulationTotals totals_;
  JobOutcome outcome_;  // last outcome reported; what `report` does not set never applies here
};

}  // namespace

std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done) {
  if (settings.decide || settings.iterations) return std::nullopt;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  const bool by_count = chosen.policy != nullptr && chosen.policy->rests_while_waiting() && !chosen.entry->class_rule &&
                        (!chosen.entry->preemptive || chosen.policy->rises_only_at_changes()) && !plans_ahead(chosen.rules.discipline) &&
                        chosen.rules.packing != core::Packing::kConsolidate && !chosen.rules.consolidation && !chosen.rules.admits_by_count;
  const auto pauses = [](const ModelOverheads& one) { return one.costs.checkpoint_every_us > 0 && one.costs.checkpoint_save_us > 0; };
  const bool steady = settings.events.events.empty() && !settings.failures.any() && !pauses(settings.overheads.general) &&
                      std::none_of(settings.overheads.models.begin(), settings.overheads.models.end(),
                                   [&](const auto& model) { return pauses(model.second); });
  if (!by_count || !steady || settings.round_us > 0 || settings.request.max_iterations > 0 || settings.request.budget_us > 0)
    return std::nullopt;
  NodeCounts nodes;
  if (!nodes.begin(cluster, trace.facts, chosen.rules.packing)) return std::nullopt;
  return CountSimulator(trace, settings, done, chosen, nodes).run();
}

}  // namespace berth::sim
