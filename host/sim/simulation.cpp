#include "host/sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/at.hpp"
#include "host/core/costs.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/wide.hpp"
#include "host/sim/count_simulation.hpp"
#include "host/sim/estimator.hpp"
#include "host/sim/overheads.hpp"
#include "host/sim/submitted_job.hpp"
#include "host/sim/trace_form.hpp"

namespace berth::sim {
namespace {

/// A job that was submitted and has not ended. Work is in millionths of a unit; of a job whose work is not stated a unit is a second.
struct LiveJob {
  JobOutcome outcome;
  std::int64_t work = 0, left = 0;
  std::int64_t rate = 0;    // millionths of a unit per second, where it runs
  std::int64_t gpus = 0;    // that it has; shares count as their part of a GPU, rounded up
  TimeUs working_from = 0;  // since when `left` goes down, where it runs: the end of what its last change cost
  TimeUs held_from = 0;
  TimeUs owed = 0;                                    // to be paid at its next start
  std::uint64_t run = 0;                              // counts starts, moves and stops: an end of an earlier run is void
  bool live = false, running = false, timed = false;  // timed: work is time, and the rate is 1
};

struct End {
  TimeUs at;
  std::int32_t job, slot;  // place in the trace, so that ends at one instant have an order
  std::uint64_t run;
  bool operator>(const End& other) const { return std::tie(at, job) > std::tie(other.at, other.job); }
};

class Simulator {
 public:
  Simulator(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
            const std::function<void(const JobOutcome&)>& done)
      : trace_(trace),
        settings_(settings),
        done_(done),
        forms_(trace, cluster, settings.elastic),
        estimator_(settings.estimates, settings.request.seed),
        costs_(overheads(settings.overheads)),
        state_(empty(cluster)) {
    require_sorted(trace);
    if (settings.round_us < 0) throw InvalidArgument("a round takes a time above 0");
    for (std::int32_t n = 0; n < state_.node_count(); ++n) totals_.gpus += working_gpus(state_.node(n));
    for (const Node& node : cluster.nodes) changes_.insert({node.available_from_us, node.available_until_us});
    for (const Reservation& reservation : cluster.reservations) changes_.insert({reservation.from_us, reservation.to_us});
  }

  SimulationTotals run() {
    totals_.first_submit_us = trace_.jobs.empty() ? 0 : trace_.jobs.front().submit_us;
    totals_.last_end_us = totals_.first_submit_us;
    for (TimeUs now = next_event(); now != kNever; now = next_event()) {
      if (settings_.interrupted && settings_.interrupted()) {
        totals_.interrupted = true;
        break;
      }
      now_ = now;
      deltas_.clear();
      deltas_.push_back(delta::SetTime{now});
      complete();
      arrive();
      state_.apply(deltas_);
      remember_slots();
      undecided_ = true;
      if (settings_.round_us > 0 && now % settings_.round_us != 0) continue;
      decide();
      undecided_ = false;
    }
    leave_unfinished();
    return std::move(totals_);
  }

 private:
  static ClusterState empty(Snapshot cluster) {
    cluster.jobs.clear();
    cluster.history.clear();
    cluster.now_us = 0;
    return ClusterState(std::move(cluster), "cluster");
  }

  static std::int64_t working_gpus(const Node& node) {
    if (node.state == NodeState::kFailed) return 0;
    if (node.gpu_list.empty()) return node.gpus;
    return std::count_if(node.gpu_list.begin(), node.gpu_list.end(), [](const Gpu& gpu) { return gpu.state != GpuState::kFailed; });
  }

  // The next completion, arrival, round with somebody waiting for it, or change of the order.
  TimeUs next_event() {
    while (!ends_.empty() && live_[at(ends_.top().slot)].run != ends_.top().run) ends_.pop();
    TimeUs next = next_job_ < trace_.jobs.size() ? trace_.jobs[next_job_].submit_us : kNever;
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    const auto change = changes_.upper_bound(now_);
    if (n_live_ > 0 && change != changes_.end()) next = std::min(next, *change);
    if (settings_.round_us == 0) return wake_ > now_ ? std::min(next, wake_) : next;
    // Where nothing runs, a round more finds what the last one found, unless somebody has come since.
    if (n_live_ > 0 && (n_running_ > 0 || undecided_)) next = std::min(next, (now_ / settings_.round_us + 1) * settings_.round_us);
    return next;
  }

  void complete() {
    for (; !ends_.empty() && ends_.top().at <= now_; ends_.pop()) {
      const End end = ends_.top();
      LiveJob& job = live_[at(end.slot)];
      if (job.run != end.run) continue;
      release(job);
      job.outcome.end = JobOutcome::End::kCompleted;
      const TraceJob& traced = trace_.jobs[at(end.job)];
      estimator_.finished(traced, job.outcome.held_us - job.outcome.overhead_us);
      deltas_.push_back(delta::RemoveJob{traced.id, "completed"});
      leave(job);
    }
  }

  void arrive() {
    for (; next_job_ < trace_.jobs.size() && trace_.jobs[next_job_].submit_us <= now_; ++next_job_) {
      const TraceJob& traced = trace_.jobs[next_job_];
      const TraceForm form = forms_.of(traced);
      Job job = submitted_job(traced, form, Demanded{});
      job.costs = costs_;
      job.estimate = estimator_.of(traced, static_cast<std::int64_t>(next_job_));
      LiveJob live;
      live.outcome.job = static_cast<std::int32_t>(next_job_);
      live.outcome.submit_us = traced.submit_us;
      live.timed = form.profile == nullptr || traced.work == 0;
      live.work = live.left = live.timed ? traced.run_us : traced.work;
      if (estimator_.is_oracle()) job.progress.work_total = form.profile == nullptr || !live.timed ? live.work : 0;
      arrived_.push_back(std::move(live));
      deltas_.push_back(delta::PutJob{std::move(job)});
      ++n_live_;
    }
  }

  // Slots are known once the state has taken the jobs.
  void remember_slots() {
    for (LiveJob& job : arrived_) {
      const auto slot = at(state_.find_job(trace_.jobs[at(job.outcome.job)].id));
      if (live_.size() <= slot) live_.resize(slot + 1);
      job.run = live_[slot].run + 1;
      job.live = true;
      live_[slot] = std::move(job);
    }
    arrived_.clear();
  }

  void decide() {
    tell_progress();
    const auto before = std::chrono::steady_clock::now();
    away_.clear();
    if (settings_.decide) {
      settings_.decide(state_, plan_, away_);
    } else {
      engine_.decide(state_, memory_, settings_.request, plan_);
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    totals_.decision_s.push_back(took);
    ++totals_.decisions;
    commit(state_, plan_);
    deltas_.clear();
    for (const Decision& d : plan_.decisions) carry_out(d);
    for (const TurnedAway& one : away_) turn_away(one.job, one.why);
    if (!deltas_.empty()) state_.apply(deltas_);
    wake_ = plan_.order_until_us;
  }

  void carry_out(const Decision& d) {
    LiveJob& job = live_[at(d.job)];
    switch (d.action) {
      case Action::kStart:
        hold(d, job.owed);
        job.owed = 0;
        ++job.outcome.starts;
        if (job.outcome.start_us == kNever) job.outcome.start_us = now_;
        break;
      case Action::kMigrate:
      case Action::kResize:
        release(job);
        ++job.outcome.moves;
        hold(d, d.cost_us);
        break;
      case Action::kPreempt:
        release(job);
        ++job.outcome.preemptions;
        job.owed += d.cost_us;
        break;
      case Action::kDecline:
        turn_away(d.job, render_reason(state_, d.reason, d.job));
        break;
      default:
        break;
    }
  }

  void turn_away(std::int32_t slot, std::string reason) {
    LiveJob& job = live_[at(slot)];
    job.outcome.end = JobOutcome::End::kDeclined;
    job.outcome.reason = std::move(reason);
    deltas_.push_back(delta::RemoveJob{trace_.jobs[at(job.outcome.job)].id, ""});
    leave(job);
  }

  // It gets GPUs, and works once the change is paid for.
  void hold(const Decision& d, TimeUs cost) {
    LiveJob& job = live_[at(d.job)];
    std::int64_t ppm = 0;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan_.entries[at(e)];
      ppm += std::int64_t{std::popcount(entry.gpus)} * entry.share_ppm;
    }
    job.gpus = (ppm + kWholeGpu - 1) / kWholeGpu;
    job.held_from = now_;
    job.working_from = core::saturating_add(now_, cost);
    job.running = true;
    ++n_running_;
    job.rate = job.timed ? kSecond : state_.impl().job.rate[at(d.job)];
    ++job.run;
    if (job.rate <= 0) {
      throw InvalidArgument(
          fmt::format("job '{}' states its work, but its profile has no rate for where it runs", trace_.jobs[at(job.outcome.job)].id));
    }
    const TimeUs needs = core::saturate(core::ceil_div(core::Wide{job.left} * kSecond, core::Wide{job.rate}));
    const TimeUs end = core::saturating_add(job.working_from, std::max<TimeUs>(1, needs));
    if (end > kMaxTimeUs)
      throw InvalidArgument(fmt::format("job '{}' would end beyond the largest time", trace_.jobs[at(job.outcome.job)].id));
    ends_.push({end, job.outcome.job, d.job, job.run});
    if (job.working_from > now_) paying_.push_back({d.job, job.run});
  }

  void release(LiveJob& job) {
    const TimeUs held = now_ - job.held_from;
    job.outcome.held_us += held;
    job.outcome.overhead_us += std::min(now_, job.working_from) - job.held_from;
    job.outcome.gpu_us += static_cast<__int128>(held) * job.gpus;
    job.left = left_now(job);
    job.running = false;
    --n_running_;
    ++job.run;
  }

  std::int64_t left_now(const LiveJob& job) const {
    if (!job.running || now_ <= job.working_from) return job.left;
    return std::max<std::int64_t>(0, job.left - core::mul_div(job.rate, now_ - job.working_from, kSecond));
  }

  // The state lets a job work from the instant at which it has its GPUs; what a change cost is taken off again.
  void tell_progress() {
    deltas_.clear();
    std::size_t kept = 0;
    for (const Paying& one : paying_) {
      const LiveJob& job = live_[at(one.slot)];
      if (!job.live || job.run != one.run) continue;
      const Job* told = state_.job(one.slot);
      if (told->progress.work_total > 0) {
        Progress progress = told->progress;
        state_.impl().advance(one.slot, progress);
        progress.work_done = job.work - left_now(job);
        deltas_.push_back(delta::SetProgress{told->id, std::move(progress)});
      }
      if (now_ < job.working_from) paying_[kept++] = one;
    }
    paying_.resize(kept);
    if (!deltas_.empty()) state_.apply(deltas_);
  }

  void leave(LiveJob& job) {
    job.outcome.end_us = now_;
    job.live = false;
    ++job.run;
    --n_live_;
    totals_.gpu_us += job.outcome.gpu_us;
    totals_.last_end_us = now_;
    done_(job.outcome);
  }

  void leave_unfinished() {
    if (totals_.interrupted) totals_.last_end_us = now_;
    std::vector<JobOutcome> left;
    for (LiveJob& job : live_) {
      if (!job.live) continue;
      if (job.running) release(job);
      totals_.gpu_us += job.outcome.gpu_us;
      left.push_back(job.outcome);
    }
    std::sort(left.begin(), left.end(), [](const JobOutcome& a, const JobOutcome& b) { return a.job < b.job; });
    for (const JobOutcome& one : left) done_(one);
  }

  struct Paying {
    std::int32_t slot;
    std::uint64_t run;
  };

  const Trace& trace_;
  const SimulationSettings& settings_;
  const std::function<void(const JobOutcome&)>& done_;
  TraceForms forms_;
  Estimator estimator_;
  Costs costs_;
  ClusterState state_;
  Engine engine_;
  PolicyState memory_;
  Plan plan_;
  std::vector<TurnedAway> away_;
  std::set<TimeUs> changes_;  // when nodes and reservations come and go
  TimeUs now_ = -1, wake_ = kNever;
  std::size_t next_job_ = 0;
  std::int64_t n_live_ = 0, n_running_ = 0;
  bool undecided_ = false;     // something has happened since the last decision
  std::vector<LiveJob> live_;  // [slots]
  std::vector<LiveJob> arrived_;
  std::vector<Paying> paying_;
  std::vector<Delta> deltas_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  SimulationTotals totals_;
};

}  // namespace

SimulationTotals simulate_by_engine(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                    const std::function<void(const JobOutcome&)>& done) {
  return Simulator(trace, cluster, settings, done).run();
}

SimulationTotals simulate(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings,
                          const std::function<void(const JobOutcome&)>& done) {
  std::optional<SimulationTotals> by_counts = simulate_counts(trace, cluster, settings, done);
  return by_counts ? std::move(*by_counts) : simulate_by_engine(trace, cluster, settings, done);
}

}  // namespace berth::sim
