#include "host/sim/replay/replay_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/model/trace_phases.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/base/trace_form.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/measures/series.hpp"
#include "host/sim/measures/stays.hpp"
#include "host/sim/replay/admission_of.hpp"
#include "host/sim/replay/cluster_changes.hpp"
#include "host/sim/replay/empty_state.hpp"
#include "host/sim/replay/job_event.hpp"
#include "host/sim/replay/job_nodes.hpp"
#include "host/sim/replay/live_job.hpp"
#include "host/sim/replay/needless_decisions.hpp"
#include "host/sim/replay/progress_reports.hpp"
#include "host/sim/replay/queue_watch.hpp"
#include "host/sim/replay/quota_timetable.hpp"
#include "host/sim/replay/slowdowns.hpp"
#include "host/sim/replay/stopping_jobs.hpp"
#include "host/sim/replay/submitted_job.hpp"

namespace berth::sim {
namespace {

constexpr int kMostTries = 24;              // about 32 years
constexpr std::int64_t kMostIdle = 10'000;  // decisions in a row without running or coming jobs

class Simulator {
 public:
  Simulator(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
            const std::function<void(const JobOutcome&)>& done)
      : source_(trace.jobs),
        settings_(settings),
        request_(settings.request),
        done_(done),
        forms_(trace.profiles, cluster, settings.elastic),
        demanded_(Demanded::all(cluster)),
        estimator_(settings.estimates, settings.request.seed),
        reports_(settings.progress, settings.request.seed),
        state_(empty_state(cluster, settings.iterations && settings.iterations->gpu_jobs > 1)),
        cluster_(state_, settings.events, settings.failures, settings.request.seed),
        timetable_(cluster, settings.queue_changes),
        slowdowns_(state_, settings, trace.profiles),
        needless_(settings),
        upcoming_(source_.next()) {
    check_settings(settings, trace.profiles);
    if (settings.queues != nullptr && !cluster.queues.empty()) queues_.emplace(cluster);
    timetable_.put_instants(changes_);
    totals_.gpus = working_gpus(cluster);
    for (std::int32_t n = 0; n < state_.node_count(); ++n) {
      const Node& node = state_.node(n);
      changes_.insert({node.available_from_us, node.available_until_us});
      if (settings.stays != nullptr) settings.stays->add_node(node.id, node.gpus);
    }
    for (const Reservation& reservation : StateView(state_).reservations()) changes_.insert({reservation.from_us, reservation.to_us});
    changes_.erase(0);
    if (!settings.iterations) return;
    std::vector<std::int32_t> gpus(to_index(state_.node_count()));
    for (std::size_t n = 0; n < gpus.size(); ++n) gpus[n] = state_.node(static_cast<std::int32_t>(n)).gpus;
    iterations_.emplace(settings.iterations->network, settings.iterations->rules, gpus);
  }

  SimulationTotals run() {
    totals_.first_submit_us = upcoming_ != nullptr ? upcoming_->submit_us : 0;
    totals_.last_end_us = totals_.last_release_us = totals_.first_submit_us;
    for (TimeUs now = next_event(); now != kNever; now = next_event()) {
      const bool enough = settings_.most_decisions > 0 && totals_.decisions >= settings_.most_decisions;
      if (enough || (settings_.interrupted && settings_.interrupted())) {
        totals_.interrupted = true;
        if (iterations_) advance(now);  // iterations have advanced until then
        break;
      }
      advance(now);
      deltas_.clear();
      deltas_.push_back(delta::SetTime{now});
      happen_to_jobs();
      happen_to_cluster();
      if (timetable_.take(now, deltas_) && queues_) queues_->change_queues();
      arrive();
      state_.apply(deltas_);
      remember_jobs();
      report_phases();
      if (cluster_changed_) count_gpus_up();
      if (queues_) queues_->settle(state_, now);
      undecided_ = true;
      if (settings_.round_us == 0 || settings_.events_too || now % settings_.round_us == 0) {
        if (!decide()) break;
        undecided_ = false;
      }
      if (queues_) queues_->settle(state_, now);
      change_rates();
      if (settings_.series != nullptr) settings_.series->level(now, levels());
    }
    leave_unfinished();
    if (queues_) *settings_.queues = queues_->finish(totals_.last_end_us);
    totals_.decision_ns = decision_ns_.finish();
    return totals_;
  }

 private:
  Levels levels() const {
    Levels now{gpus_allocated(), 0, n_running_, n_live_ - n_running_, gpus_waited_, 0};
    set_free_levels(state_, settings_.series->fragmentation(), now);
    return now;
  }

  std::int32_t gpu_jobs() const { return settings_.iterations ? settings_.iterations->gpu_jobs : 1; }
  std::int64_t gpus_allocated() const { return iterations_ ? iterations_->gpus_in_use() : gpus_allocated_; }
  std::int32_t index_of(const LiveJob& job) const { return static_cast<std::int32_t>(&job - live_.data()); }

  /// Whether nodes, GPUs and jobs go on failing.
  bool failing() const { return n_running_ > 0 || upcoming_ != nullptr; }

  TimeUs next_event() {
    const TimeUs next = next_outside();
    return iterations_ ? iterations_->run_until(now_, next, settings_.interrupted) : next;
  }

  // The next event of a job or a node, arrival, round with waiting jobs, or change of the order.
  TimeUs next_outside() {
    while (!events_.empty() && events_.top().is_void(live_[to_index(events_.top().job_index)])) events_.pop();
    TimeUs next = upcoming_ != nullptr ? upcoming_->submit_us : kNever;
    if (!events_.empty()) next = std::min(next, events_.top().at);
    if (n_live_ > 0 || upcoming_ != nullptr) next = std::min(next, cluster_.next(now_, failing()));
    const auto change = changes_.upper_bound(now_);
    if ((n_live_ > 0 || upcoming_ != nullptr) && change != changes_.end()) next = std::min(next, *change);
    const bool heeds_wakes =
        (settings_.round_us == 0 || settings_.events_too) && (n_live_ > 0 || upcoming_ != nullptr) && idle_ < kMostIdle;
    if (heeds_wakes && wake_ > now_) next = std::min(next, wake_);
    if (next == kNever && n_live_ > 0 && !undecided_) return asked_again();
    if (settings_.round_us == 0) return next;
    // When no job runs, another round gives the same result as the last one, unless a job has arrived since.
    if (n_live_ > 0 && (n_running_ > 0 || undecided_)) next = std::min(next, next_round(now_));
    return next <= kMaxTimeUs ? next : kNever;
  }

  TimeUs next_round(TimeUs after) const { return (after / settings_.round_us + 1) * settings_.round_us; }

  // No event is left, and jobs wait. Some policies give a higher value to jobs that have waited longer.
  // So the policy decides again after a minute, then after two, four and so on.
  TimeUs asked_again() {
    if (settings_.decide || n_running_ > 0 || upcoming_ != nullptr || tries_ == kMostTries) return kNever;
    const TimeUs later = core::saturating_add(now_, (60 * kSecond) << tries_++);
    const TimeUs next = settings_.round_us > 0 && !settings_.events_too ? next_round(later) : later;
    return next <= kMaxTimeUs ? next : kNever;
  }

  void advance(TimeUs now) {
    const TimeUs from = std::max(now_, totals_.first_submit_us);
    // A job holds GPUs that are down until a decision.
    if (now > from) gpu_up_us_ += static_cast<__int128>(std::max(gpus_up_, gpus_allocated())) * (now - from);
    live_us_ += static_cast<__int128>(n_live_) * (now - now_);
    if (changes_.upper_bound(now_) != changes_.upper_bound(now)) cluster_changed_ = true;
    now_ = now;
  }

  void count_gpus_up() {
    nodes_changed_ = true;
    if (queues_) queues_->change_gpus();
    gpus_up_ = cluster_.gpus_up(state_, now_);
    cluster_changed_ = false;
  }

  void happen_to_jobs() {
    if (iterations_) {
      for (const std::int32_t job_index : iterations_->ended()) complete(live_[to_index(job_index)]);
    }
    for (; !events_.empty() && events_.top().at <= now_; events_.pop()) {
      const JobEvent event = events_.top();
      LiveJob& job = live_[to_index(event.job_index)];
      if (event.is_void(job)) continue;
      if (event.what == JobEvent::What::kPhase) {
        turning_.push_back(event.job_index);
        continue;
      }
      if (event.what == JobEvent::What::kCrash) {
        stall(job, 0);
        give_up(job);
        gpus_waited_ += job.traced->gpus;
        job.owed = core::restart_cost(job.overheads->costs);
        ++job.crashes;
        job.crashed_gpu_us = job.outcome.gpu_us;
        deltas_.push_back(delta::StopJob{job.traced->id});
        unsettled_.push_back({event.job_index, job.run});
        turning_.push_back(event.job_index);
        continue;
      }
      if (event.what == JobEvent::What::kEnd) {
        complete(job);
      } else {
        give_up(job);
        leave(job, JobOutcome::End::kKilled);
      }
    }
  }

  void complete(LiveJob& job) {
    give_up(job);
    estimator_.finished(*job.traced, job.outcome.held_us - job.without_work);
    leave(job, JobOutcome::End::kCompleted);
  }

  void stall(LiveJob& job, TimeUs notice) {
    n_stalled_ += job.stalled ? 0 : 1;
    slowdowns_.stop(index_of(job));
    if (!iterations_) {
      job.stall(now_, notice);
    } else if (!job.stalled) {
      job.stall(now_, notice, iterations_->stop(index_of(job), now_, true));
    }
  }

  void happen_to_cluster() {
    happened_.deltas.clear();
    happened_.struck.clear();
    happened_.killed.clear();
    cluster_.take(now_, failing(), happened_);
    if (!happened_.deltas.empty()) cluster_changed_ = true;
    for (Delta& one : happened_.deltas) deltas_.push_back(std::move(one));
    for (const ClusterChanges::Struck& one : happened_.struck) {
      ++totals_.failures;
      strike(one);
    }
    for (const std::string& id : happened_.killed) {
      const std::int32_t job = state_.find_job(id);
      if (job < 0 || !live_[to_index(job)].live) continue;
      if (live_[to_index(job)].running) {
        give_up(live_[to_index(job)]);
      } else {
        gpus_waited_ -= live_[to_index(job)].traced->gpus;
      }
      leave(live_[to_index(job)], JobOutcome::End::kKilled);
    }
  }

  // A job that had one of these GPUs does no work until a decision.
  void strike(const ClusterChanges::Struck& struck) {
    for (std::int32_t job_index = 0; job_index < static_cast<std::int32_t>(live_.size()); ++job_index) {
      LiveJob& job = live_[to_index(job_index)];
      if (!job.live || !job.running) continue;
      for (const AllocationEntry& entry : state_.job(job_index)->allocation.entries) {
        const bool has = struck.gpu < 0 || std::find(entry.gpus.begin(), entry.gpus.end(), struck.gpu) != entry.gpus.end();
        if (!has || entry.node != state_.node(struck.node).id) continue;
        stall(job, struck.notice_us);
        unsettled_.push_back({job_index, job.run});
        turning_.push_back(job_index);
        break;
      }
    }
  }

  void arrive() {
    for (; upcoming_ != nullptr && upcoming_->submit_us <= now_; upcoming_ = source_.next()) {
      const TraceJob& traced = *upcoming_;
      LiveJob live;
      live.traced = &traced;
      live.outcome.job = n_arrived_++;
      live.outcome.submit_us = traced.submit_us;
      live.outcome.live_us = -live_us_;
      if (std::string missing = forms_.missing_on_cluster(traced); !missing.empty()) {  // the state would reject it
        live.outcome.end = JobOutcome::End::kRejected;
        live.outcome.end_us = now_;
        live.outcome.reason = std::move(missing);
        report(live);
        source_.release(traced);
        continue;
      }
      const TraceForm form = forms_.of(traced);
      live.overheads = &settings_.overheads.of(traced.model);
      live.set_work(form);
      live.owed = live.overheads->start_us;
      Job job = submitted_job(traced, form, demanded_);
      job.costs = live.overheads->costs;
      job.estimate = estimator_.of(traced, live.outcome.job);
      if (gpu_jobs() > 1) {
        for (Shape& shape : job.shapes) shape.share_ppm = kWholeGpu / gpu_jobs();
        job.sharing = true;
      }
      if (iterations_) require_iterable(traced);
      if (!live.timed && !traced.phases.empty()) live.asked_rates = forms_.asked_rates(traced);
      if (estimator_.knows_work()) job.progress.work_total = form.profile == nullptr || !live.timed ? reported_left(live, live.left) : 0;
      if (!live.asked_rates.empty() && !estimator_.knows_phases() && estimator_.knows_work()) expect_rate_to_stay(job, live, live.left);
      arrived_.push_back(std::move(live));
      deltas_.push_back(delta::PutJob{std::move(job)});
      ++n_live_;
      n_hard_ += traced.deadline_hard ? 1 : 0;
      gpus_waited_ += traced.gpus;
    }
  }

  // Indices are known once the state has accepted the jobs.
  void remember_jobs() {
    for (LiveJob& job : arrived_) {
      const auto job_index = to_index(state_.find_job(job.traced->id));
      if (live_.size() <= job_index) live_.resize(job_index + 1);
      if (live_[job_index].live) throw InvalidArgument(fmt::format("the job id '{}' occurs twice", job.traced->id));
      job.run = live_[job_index].run + 1;
      job.live = true;
      live_[job_index] = std::move(job);
      if (queues_) queues_->touch(static_cast<std::int32_t>(job_index));
    }
    arrived_.clear();
  }

  // The remaining work to report, where it is reported.
  std::int64_t reported_left(const LiveJob& job, std::int64_t left) const {
    return estimator_.knows_phases() ? left_at_present_rate(*job.traced, job.phase, left, job.asked_rates) : left;
  }

  // A job in another phase has other rates. A failure may have returned it to an earlier phase.
  void report_phases() {
    deltas_.clear();
    for (const std::int32_t job_index : turning_) {
      LiveJob& job = live_[to_index(job_index)];
      if (!job.live || job.asked_rates.empty()) continue;
      const auto reached = [&] { return core::phase_at(*job.traced, job.work - job.left_at(now_)); };
      if (reached() == job.phase) continue;
      Job reported = *state_.job(job_index);
      const bool works = job.running && !job.stalled;
      slowdowns_.stop(job_index);
      do {
        job.phase = works ? job.phase + 1 : reached();
        set_form(reported, *job.traced, forms_.in_phase(std::move(reported.shapes), *job.traced, job.phase));
        if (works)
          job.begin_phase(job.work - core::phase_begin(*job.traced, job.phase),
                          slowdowns_.slowed(job_index, known_rate(job, rate_there(reported, job_index))));
      } while (works && reached() > job.phase);
      if (works) slowdowns_.start(job_index, reported, job.timed);
      if (works) expect_end(job, job_index);
      StateView(state_).advance(job_index, reported.progress);
      const std::int64_t left = job.left_at(now_);
      if (reported.progress.work_total > 0) {
        reported.progress.work_done = job.work - left;
        reported.progress.work_total = std::min(core::saturating_add(reported.progress.work_done, reported_left(job, left)), kScoreCeiling);
        if (!estimator_.knows_phases()) expect_rate_to_stay(reported, job, left);
      }
      deltas_.push_back(delta::PutJob{std::move(reported)});
      if (queues_) queues_->touch(job_index);
    }
    turning_.clear();
    if (!deltas_.empty()) state_.apply(deltas_);
  }

  // Rate of a job at its place.
  std::int64_t rate_there(const Job& job, std::int32_t job_index) const {
    return core::placed_rate(state_, job, StateView(state_).job().shape[to_index(job_index)],
                             StateView(state_).jobs()[to_index(job_index)].entries);
  }

  // Of jobs that share links or GPUs with some that came or left.
  void change_rates() {
    for (const std::int32_t job_index : slowdowns_.settle()) {
      LiveJob& job = live_[to_index(job_index)];
      const std::int64_t alone = job.timed ? kSecond : known_rate(job, rate_there(*state_.job(job_index), job_index));
      job.change_rate(now_, slowdowns_.slowed(job_index, alone));
      expect_end(job, job_index);
      if (!job.slowed) unsettled_.push_back({job_index, job.run});  // else it is there
      job.slowed = slowdowns_.is_slowed(job_index);
    }
  }

  // Once per instant with a decision, made or needless.
  void note_whether_idle() {
    if (n_running_ > 0 || upcoming_ != nullptr) {
      idle_ = tries_ = 0;
    } else {
      ++idle_;
    }
  }

  bool needs_no_decision() const { return n_live_ == n_running_ && !nodes_changed_ && needless_.where_none_waits(state_, memory_); }

  /// @returns false when the decision was stopped.
  bool decide() {
    if (needs_no_decision()) {
      note_whether_idle();
      return true;
    }
    nodes_changed_ = false;
    report_progress();
    const auto before = std::chrono::steady_clock::now();
    away_.clear();
    if (settings_.decide) {
      try {
        settings_.decide(state_, plan_, away_);
      } catch (const DecisionStopped&) {
        totals_.interrupted = true;
        return false;
      }
    } else {
      // Jobs that are stalled, or may miss a hard deadline, need what a plan says of jobs that it does not change.
      request_.changes_only = n_stalled_ == 0 && n_hard_ == 0;
      engine_.decide(state_, memory_, request_, plan_);
    }
    decision_ns_.add(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - before).count());
    ++totals_.decisions;
    stopping_.displace(state_, plan_, live_, now_);
    commit(state_, plan_);
    deltas_.clear();
    wake_ = plan_.order_until_us;
    for (const Decision& d : plan_.decisions) give_back(d);
    for (const Decision& d : plan_.decisions) carry_out(d);
    for (const Rejected& one : away_) reject(one.job, one.why);
    if (!deltas_.empty()) state_.apply(deltas_);
    note_whether_idle();
    return true;
  }

  // As in the state: what jobs give back is free before anything starts.
  void give_back(const Decision& d) {
    LiveJob& job = live_[to_index(d.job)];
    switch (d.action) {
      case Action::kMigrate:
      case Action::kResize:
        if (job.stalled) job.owed = core::restart_cost(job.overheads->costs);
        give_up(job);
        break;
      case Action::kReplace:
        give_up(job);
        break;
      case Action::kPreempt:
        job.owed += job.stalled ? core::restart_cost(job.overheads->costs) : d.cost_us;
        give_up(job);
        if (queues_ && d.reason.code == ReasonCode::kLostPriority && d.reason.queue >= 0) {
          job.owes_to_quotas = true;
          queues_->displace(d.job, d.reason.queue);
        }
        ++job.outcome.preemptions;
        gpus_waited_ += job.traced->gpus;
        wake_for_deadline(d.job);
        break;
      default:
        break;
    }
  }

  void carry_out(const Decision& d) {
    LiveJob& job = live_[to_index(d.job)];
    switch (d.action) {
      case Action::kStart:
        ++job.outcome.starts;
        if (job.outcome.start_us == kNever) job.outcome.start_us = now_;
        gpus_waited_ -= job.traced->gpus;
        hold(d, std::exchange(job.owed, 0), Loss::kRestart);
        break;
      case Action::kMigrate:
      case Action::kResize:
        ++job.outcome.moves;
        hold(d, std::max(d.cost_us, std::exchange(job.owed, 0)), Loss::kMove);
        break;
      case Action::kReplace:
        ++job.outcome.repairs;
        hold(d, d.cost_us, Loss::kRestart);
        break;
      case Action::kPreempt:  // gave back all that it had
        break;
      case Action::kKeep:
        // Its GPUs returned before any decision.
        if (job.stalled) {
          give_up(job);
          hold(d, core::restart_cost(job.overheads->costs), Loss::kRestart);
        }
        break;
      case Action::kReject:
        if (d.reason.certified && timetable_.lets_wait(state_, d.job, job)) break;
        job.refused = d.reason.code == ReasonCode::kNotAdmitted;
        reject(d.job, render_reason(state_, d.reason, d.job));
        break;
      default:
        wake_for_deadline(d.job);
        break;
    }
  }

  void reject(std::int32_t job_index, std::string reason) {
    LiveJob& job = live_[to_index(job_index)];
    gpus_waited_ -= job.traced->gpus;
    job.outcome.reason = std::move(reason);
    leave(job, JobOutcome::End::kRejected);
  }

  // A job that cannot meet its hard deadline any more is rejected, so that it blocks no other job.
  void wake_for_deadline(std::int32_t job) {
    const TimeUs last = StateView(state_).last_start(job);
    if (last != kNever && last >= now_ && (wake_ <= now_ || last < wake_)) wake_ = last + 1;
  }

  // The job receives GPUs. It works once displaced jobs have left them and the cost of the change is paid.
  void hold(const Decision& d, TimeUs cost, Loss pays_for) {
    LiveJob& job = live_[to_index(d.job)];
    std::int64_t ppm = 0;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan_.entries[to_index(e)];
      ppm += std::int64_t{std::popcount(entry.gpus)} * entry.share_ppm;
      if (settings_.stays != nullptr) settings_.stays->hold(job.outcome.job, entry.node, entry.gpus, now_, entry.share_ppm);
    }
    const std::int64_t rate = job.timed ? kSecond : known_rate(job, StateView(state_).job().rate[to_index(d.job)]);
    job.begins_at = std::max(job.stops_at, stopping_.usable_from(entries_of(plan_, d), now_));
    job.hold((ppm + kWholeGpu - 1) / kWholeGpu, rate, now_, core::saturating_add(job.begins_at - now_, cost), pays_for);
    ++n_running_;
    gpus_allocated_ += job.gpus;
    if (queues_) queues_->start(d.job, job.begins_at - now_);
    if (iterations_) begin_iterations(d);
    slowdowns_.start(d.job, *state_.job(d.job), job.timed);
    const TimeUs end = iterations_ ? kNever : expect_end(job, d.job);
    const auto mishap = [&](TimeUs mean, RandomStream stream, JobEvent::What what, std::int64_t count) {
      if (mean == 0) return;
      ItemDraws draws(settings_.request.seed, stream,
                      (static_cast<std::uint64_t>(job.outcome.job) << 32) | static_cast<std::uint64_t>(count));
      const __int128 service = static_cast<__int128>(draws.exponential(mean)) - (job.outcome.gpu_us - job.crashed_gpu_us);
      const TimeUs when = core::saturating_add(now_, std::max<TimeUs>(1, static_cast<TimeUs>(service / job.gpus)));
      if (when < end || slowdowns_.any()) events_.push({when, job.outcome.job, d.job, job.run, job.rate_changes, what});
    };
    mishap(settings_.failures.crash_gpu_us, RandomStream::kCrash, JobEvent::What::kCrash, job.crashes);
    mishap(settings_.failures.kill_gpu_us, RandomStream::kKill, JobEvent::What::kKill, job.crashes);
    if (works_unevenly(job) || reports_.of(*job.traced)) unsettled_.push_back({d.job, job.run});
  }

  void begin_iterations(const Decision& d) {
    const LiveJob& job = live_[to_index(d.job)];
    places_.clear();
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan_.entries[to_index(e)];
      for (std::uint64_t left = entry.gpus; left != 0; left &= left - 1) places_.push_back({entry.node, std::countr_zero(left)});
    }
    iterations_->start({d.job, job.outcome.job, job.left, job.working_from, &job.overheads->costs, places_},
                       iteration_form(state_.job(d.job)->profile, !job.timed, job.rate), now_);
  }

  bool works_unevenly(const LiveJob& job) const { return iterations_ ? job.running : job.works_unevenly(now_); }
  std::int64_t left_of(const LiveJob& job) const {
    return iterations_ ? job.left - iterations_->done(index_of(job), now_) : job.left_at(now_);
  }

  /// Schedules its end, or the start of its next phase. @returns its end; never, when its rate changes before.
  TimeUs expect_end(LiveJob& job, std::int32_t job_index) {
    const bool has_next_phase = job.phase + 1 < job.asked_rates.size();
    // At a very slow rate work left is rounded up by what a faster one does in no time.
    const TimeUs when =
        std::max(now_, has_next_phase ? job.reaches_at(job.work - core::phase_begin(*job.traced, job.phase + 1)) : job.ends_at());
    if (when > kMaxTimeUs) throw InvalidArgument(fmt::format("job '{}' would end beyond the largest time", job.traced->id));
    events_.push(
        {when, job.outcome.job, job_index, job.run, job.rate_changes, has_next_phase ? JobEvent::What::kPhase : JobEvent::What::kEnd});
    return has_next_phase ? kNever : when;
  }

  void give_up(LiveJob& job) {
    gpus_allocated_ -= job.gpus;
    n_stalled_ -= job.stalled ? 1 : 0;
    slowdowns_.stop(index_of(job));
    if (iterations_) {
      job.release(now_, iterations_->stop(index_of(job), now_));
    } else {
      job.release(now_);
    }
    --n_running_;
    if (queues_) queues_->touch(index_of(job));
    if (settings_.stays != nullptr) settings_.stays->release(job.outcome.job, now_);
    totals_.last_release_us = now_;
    totals_.gpu_up_us = gpu_up_us_;
  }

  // The state assumes that a job works from the instant at which it has its GPUs; other time is subtracted here.
  // Jobs that train by epochs report them.
  void report_progress() {
    deltas_.clear();
    std::size_t kept = 0;
    for (const Unsettled& one : unsettled_) {
      const LiveJob& job = live_[to_index(one.job)];
      if (!job.live || job.run != one.run) continue;
      const Job* reported = state_.job(one.job);
      const bool reports = reports_.of(*job.traced);
      if (reported->progress.work_total > 0 || reports) {
        const std::int64_t done = job.work - left_of(job);
        Progress progress = reported->progress;
        StateView(state_).advance(one.job, progress);
        if (progress.work_total > 0) progress.work_done = done;
        if (reports) reports_.put(progress, *job.traced, job.outcome.job, done, job.work);
        deltas_.push_back(delta::SetProgress{reported->id, std::move(progress)});
      }
      if (works_unevenly(job) || (reports && job.running)) unsettled_[kept++] = one;
    }
    unsettled_.resize(kept);
    if (!deltas_.empty()) state_.apply(deltas_);
  }

  void leave(LiveJob& job, JobOutcome::End end) {
    job.outcome.end = end;
    job.outcome.end_us = now_;
    read_admission(memory_, job.traced->id, job.refused, job.outcome);
    // The state keeps its allocation until the job is removed from it.
    if (settings_.name_nodes) job.outcome.nodes = job_nodes(*state_.job(state_.find_job(job.traced->id)));
    if (queues_) queues_->leave(index_of(job), job.lost_to_quotas);
    const char* status = end == JobOutcome::End::kCompleted ? "completed" : end == JobOutcome::End::kKilled ? "cancelled" : "";
    deltas_.push_back(delta::RemoveJob{job.traced->id, status});
    job.live = false;
    ++job.run;
    --n_live_;
    n_hard_ -= job.traced->deadline_hard ? 1 : 0;
    totals_.gpu_us += job.outcome.gpu_us;
    if (end != JobOutcome::End::kRejected) totals_.last_end_us = now_;
    report(job);
    source_.release(*job.traced);
  }

  void report(LiveJob& job) {
    job.outcome.traced = job.traced;
    job.outcome.live_us += live_us_;
    done_(job.outcome);
  }

  void leave_unfinished() {
    if (totals_.interrupted) totals_.last_end_us = std::max(now_, totals_.first_submit_us);
    std::vector<LiveJob*> left;
    for (LiveJob& job : live_) {
      if (!job.live) continue;
      if (job.running) give_up(job);
      if (queues_) queues_->leave(index_of(job), job.lost_to_quotas);
      totals_.gpu_us += job.outcome.gpu_us;
      left.push_back(&job);
    }
    std::sort(left.begin(), left.end(), [](const LiveJob* a, const LiveJob* b) { return a->outcome.job < b->outcome.job; });
    for (LiveJob* one : left) report(*one);
  }

  JobSource& source_;
  const SimulationSettings& settings_;
  Request request_;
  const std::function<void(const JobOutcome&)>& done_;
  TraceForms forms_;
  Demanded demanded_;
  Estimator estimator_;
  ProgressReports reports_;
  ClusterState state_;
  ClusterChanges cluster_;
  QuotaTimetable timetable_;
  Slowdowns slowdowns_;
  StoppingJobs stopping_;
  std::optional<QueueWatch> queues_;
  std::optional<Iterations> iterations_;
  std::vector<Iterations::Place> places_;
  Engine engine_;
  PolicyState memory_;
  Plan plan_;
  NeedlessDecisions needless_;
  std::vector<Rejected> away_;
  std::set<TimeUs> changes_;  // instants at which nodes and reservations come and go
  TimeUs now_ = -1, wake_ = kNever;
  const TraceJob* upcoming_;
  std::int32_t n_arrived_ = 0;
  std::int64_t n_stalled_ = 0, n_hard_ = 0;  // live jobs that are stalled, that have a hard deadline
  std::int64_t n_live_ = 0, n_running_ = 0, gpus_allocated_ = 0, gpus_waited_ = 0;
  bool undecided_ = false;       // something has happened since the last decision
  bool cluster_changed_ = true;  // since GPUs that are up were last counted
  bool nodes_changed_ = true;    // since the last decision
  std::int64_t gpus_up_ = 0;
  __int128 gpu_up_us_ = 0;     // since the first submission
  __int128 live_us_ = 0;       // sum of n_live_ over time
  std::vector<LiveJob> live_;  // [jobs]
  std::vector<LiveJob> arrived_;
  std::vector<Unsettled> unsettled_;
  std::vector<std::int32_t> turning_;  // jobs that may have entered another phase
  std::vector<Delta> deltas_;
  ClusterChanges::Happened happened_;
  std::priority_queue<JobEvent, std::vector<JobEvent>, std::greater<>> events_;
  std::int64_t idle_ = 0;  // decisions in a row after which no job ran and none was to come
  int tries_ = 0;
  SpreadOf decision_ns_;
  SimulationTotals totals_;
};

}  // namespace

SimulationTotals replay_plans(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                              const std::function<void(const JobOutcome&)>& done) {
  require_queues(trace.facts, cluster);
  return Simulator(trace, cluster, settings, done).run();
}

}  // namespace berth::sim
