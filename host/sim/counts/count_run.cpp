#include "host/sim/counts/count_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/sim/measures/stays.hpp"

namespace berth::sim {
namespace {

bool reserves(kernel::Discipline discipline) {
  return discipline == kernel::Discipline::kEasy || discipline == kernel::Discipline::kConservative;
}

}  // namespace

CountRun::CountRun(const Replayed& trace, const SimulationSettings& settings, const std::function<void(const JobOutcome&)>& done,
                   core::ChosenPolicy& chosen, NodeCounts& nodes, ResumedJobs* resumed)
    : source_(trace.jobs),
      settings_(settings),
      done_(done),
      preemptive_(chosen.entry->preemptive),
      estimator_(settings.estimates, settings.request.seed),
      keys_(*chosen.policy, estimator_.knows_work()),
      nodes_(nodes),
      running_(to_index(nodes.pools())),
      releases_(reserves(chosen.rules.discipline) ? to_index(nodes.pools()) : 0),
      asks_for_all_(chosen.policy->follows_from_columns()),
      upcoming_(source_.next()),
      resumed_(resumed),
      failure_(resumed == nullptr ? NodeFailure{} : resumed->next_failure()) {
  totals_.gpus = nodes.gpus();
  if (settings.series != nullptr) nodes_.stop_token(settings.series->fragmentation());
  if (settings.stays != nullptr) nodes_.name(*settings.stays);
  totals_.first_submit_us = upcoming_ != nullptr ? upcoming_->submit_us : 0;
  totals_.last_end_us = totals_.last_release_us = totals_.first_submit_us;
}

bool CountRun::interrupted() {
  if (stopped_) return totals_.interrupted = true;
  const bool enough = settings_.most_decisions > 0 && totals_.decisions >= settings_.most_decisions;
  totals_.interrupted = enough || (settings_.interrupted && totals_.decisions % 1024 == 0 && settings_.interrupted());
  return totals_.interrupted;
}

std::span<const std::int64_t> CountRun::services() {
  const auto fresh = services_.begin() + static_cast<std::ptrdiff_t>(sorted_services_);
  constexpr std::ptrdiff_t kFew = 16;
  if (services_.end() - fresh > kFew) {
    std::sort(fresh, services_.end());
    std::inplace_merge(services_.begin(), fresh, services_.end());
  } else {
    for (auto one = fresh; one != services_.end(); ++one) std::rotate(std::upper_bound(services_.begin(), one, *one), one, one + 1);
  }
  sorted_services_ = services_.size();
  return services_;
}

JobPlace CountRun::complete(std::int32_t job_index) {
  CountedJob& job = jobs_[job_index];
  nodes_.give(jobs_.taken(job_index));
  // When searching victims, the jobs before this one had its GPUs available.
  JobPlace place{INT64_MIN, 0, job_index};
  if (preemptive_) {
    place = {job.steady ? job.key : keys_.key(job, now_), job.rank, job_index};
    running_[to_index(job.pool)].remove(jobs_, job_index);
  }
  stop(job_index);
  if (asks_for_all_) services_.push_back(core::saturating_mul(job.held, job.gpus));
  estimator_.finished(*job.traced, job.held - job.restarting - job.moving);
  leave(job_index, JobOutcome::End::kCompleted);
  return place;
}

void CountRun::wake(std::int32_t job_index) {
  const CountedJob& job = jobs_[job_index];
  running_[to_index(job.pool)].move(jobs_, {keys_.key(job, now_), job.rank, job_index});
  await_change(job_index);
}

// -1: it can never run, and has left.
std::int32_t CountRun::next_arrival() {
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
    return -1;
  }
  job.estimate = resumed_ == nullptr ? estimator_.run_time(traced, job.rank) : resumed_->estimate(traced);
  job.limit = traced.time_limit_us;
  job.deadline = traced.deadline_us;
  job.priority = traced.priority;
  job.left = traced.run_us;
  job.overheads = &settings_.overheads.of(traced.model);
  job.owed = job.overheads->start_us;
  if (resumed_ == nullptr || resumed_->held_us(traced) < 0) return job_index;
  resume(job_index);
  return -1;
}

// The job has run for a while when the simulation begins.
void CountRun::resume(std::int32_t job_index) {
  CountedJob& job = jobs_[job_index];
  job.held = resumed_->held_us(*job.traced);
  job.start = now_ - job.held;
  job.starts = 1;
  job.left = std::max<TimeUs>(0, job.left - job.held);
  std::vector<CountedGpus>& taken = jobs_.taken(job_index);
  const std::vector<CountedGpus>* gpus = resumed_->gpus(*job.traced);
  const bool known = gpus != nullptr && !gpus->empty();
  if (known) taken = *gpus;
  if (known ? !nodes_.take_again(taken) : !nodes_.take(job.pool, job.gpus, taken))
    throw InvalidArgument("job '" + job.traced->id + "' runs, and the jobs before it hold more GPUs than there are");
  run({asks_for_all_ ? 0 : keys_.key(job, now_), job.rank, job_index}, 0, false);
}

// The first of all returns and failures. @returns its node
std::int32_t CountRun::change_node() {
  thrown_out_.clear();
  std::int32_t node = failure_.node;
  if (!down_.empty() && down_.front().first <= failure_.at_us) {
    const CountedGpus gpus = down_.front().second;
    down_.erase(down_.begin());
    node = gpus.node;
    if (gpus.gpus > 0) nodes_.give(std::vector<CountedGpus>{gpus});
  } else {
    throw_out(node);
    const std::pair<TimeUs, CountedGpus> down{failure_.back_us, nodes_.take_node(node)};
    const auto later = [](TimeUs back, const std::pair<TimeUs, CountedGpus>& other) { return back < other.first; };
    down_.insert(std::upper_bound(down_.begin(), down_.end(), down.first, later), down);
    failure_ = resumed_->next_failure();
  }
  if (!releases_.empty()) releases_[to_index(nodes_.pool_of_node(node))].touch();
  return node;
}

void CountRun::throw_out(std::int32_t node) {
  for (std::int32_t index = 0; index < jobs_.jobs(); ++index) {
    CountedJob& job = jobs_[index];
    const std::vector<CountedGpus>& taken = jobs_.taken(index);
    if (!job.running || std::none_of(taken.begin(), taken.end(), [&](const CountedGpus& one) { return one.node == node; })) continue;
    nodes_.give(taken);
    if (preemptive_) running_[to_index(job.pool)].remove(jobs_, index);
    stop(index);
    // It has no past, but that it has started before.
    job.left = job.traced->run_us;
    job.held = job.restarting = job.moving = 0;
    job.owed = job.overheads->start_us;
    thrown_out_.push_back({asks_for_all_ ? 0 : keys_.key(job, now_), job.rank, index});
    wait(index);
  }
}

void CountRun::start(const JobPlace& place, bool counted) {
  CountedJob& job = jobs_[place.job];
  if (counted) {
    --n_waiting_;
    gpus_waited_ -= job.gpus;
  }
  ++job.starts;
  if (job.start == kNever) {
    job.start = now_;
    if (resumed_ != nullptr) {
      job.left = resumed_->run_from(*job.traced, now_);
      if (!resumed_->started(*job.traced, now_)) stopped_ = true;
    }
  }
  run(place, std::exchange(job.owed, 0), false);
}

void CountRun::move(const JobPlace& place) {
  CountedJob& job = jobs_[place.job];
  ++job.moves;
  run(place, core::migrate_cost(job.overheads->costs), true);
}

void CountRun::run(const JobPlace& place, TimeUs cost, bool moved) {
  CountedJob& job = jobs_[place.job];
  ++n_running_;
  gpus_allocated_ += job.gpus;
  job.running = true;
  job.moved = moved;
  job.held_from = now_;
  if (settings_.stays != nullptr) {
    for (const CountedGpus& one : jobs_.taken(place.job)) settings_.stays->hold(job.rank, one.node, one.mask, now_);
  }
  job.working_from = core::saturating_add(now_, cost);
  const TimeUs end = core::saturating_add(job.working_from, std::max<TimeUs>(1, job.left));
  if (end > kMaxTimeUs) throw InvalidArgument("job '" + job.traced->id + "' would end beyond the largest time");
  ends_.set(end, job.rank, place.job);
  if (!releases_.empty()) {
    const TimeUs fixed_from = estimator_.knows_work() ? job.working_from : now_;
    releases_[to_index(job.pool)].add(jobs_, place.job, now_, predicted_left(job), fixed_from);
  }
  if (!preemptive_) return;
  running_[to_index(job.pool)].add(jobs_, place);
  await_change(place.job);
}

void CountRun::await_change(std::int32_t job) {
  if (asks_for_all_) {
    jobs_[job].steady = true;
    return;
  }
  const TimeUs next = keys_.next_change(jobs_[job], now_);
  jobs_[job].steady = next > now_;
  if (next != kNever && next > now_) {
    changes_.set(next, jobs_[job].rank, job);
  } else {
    changes_.remove(job);
  }
}

void CountRun::stop(std::int32_t job_index) {
  CountedJob& job = jobs_[job_index];
  if (!releases_.empty()) releases_[to_index(job.pool)].remove(jobs_, job_index);
  const TimeUs paid = std::min(now_, job.working_from) - job.held_from;
  (job.moved ? job.moving : job.restarting) += paid;
  job.left = job.left_at(now_);
  job.held = job.held_at(now_);
  job.running = false;
  if (settings_.stays != nullptr) settings_.stays->release(job.rank, now_);
  totals_.last_release_us = now_;
  --n_running_;
  gpus_allocated_ -= job.gpus;
  ends_.remove(job_index);
  if (preemptive_) changes_.remove(job_index);
}

void CountRun::preempt(std::int32_t job_index) {
  CountedJob& job = jobs_[job_index];
  ++job.preemptions;
  job.owed += core::displace_cost(job.overheads->costs);
  wait(job_index);
}

void CountRun::leave(std::int32_t job, JobOutcome::End how) {
  report(job, how);
  if (how != JobOutcome::End::kRejected) totals_.last_end_us = now_;
  source_.release(*jobs_[job].traced);
  jobs_.free(job);
}

void CountRun::report(std::int32_t job_index, JobOutcome::End how) {
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

std::string CountRun::why_never(const CountedJob& job) const {
  if (job.pool < 0) return "no node has its GPU type and virtual cluster";
  return fmt::format("needs {} GPUs; {} {}", job.gpus, nodes_.pools() == 1 ? "the cluster has" : "those that it may use are",
                     nodes_.total(job.pool));
}

SimulationTotals CountRun::finish(std::span<const std::int32_t> waiting) {
  if (totals_.interrupted) totals_.last_end_us = std::max(now_, totals_.first_submit_us);
  std::vector<std::int32_t> left(waiting.begin(), waiting.end());
  for (std::int32_t job = 0; job < jobs_.jobs(); ++job) {
    if (!jobs_[job].running) continue;
    left.push_back(job);
    stop(job);
  }
  std::sort(left.begin(), left.end(), [&](std::int32_t a, std::int32_t b) { return jobs_[a].rank < jobs_[b].rank; });
  for (const std::int32_t job : left) report(job, JobOutcome::End::kUnfinished);
  totals_.gpu_up_us = static_cast<__int128>(totals_.gpus) * (totals_.last_release_us - totals_.first_submit_us);
  return totals_;
}

}  // namespace berth::sim
