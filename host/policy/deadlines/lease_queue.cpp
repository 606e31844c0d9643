#include "host/policy/deadlines/lease_queue.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/deadlines/promise_guard.hpp"

namespace berth::policy {
namespace {

constexpr const char* kLeaseIndex = "lease_index";
constexpr std::int64_t kUnaccepted = -1, kBrokenLease = -2;  // in place of an end
constexpr TimeUs kLeaseSlop = 1'000;                         // work is rounded each time that progress is reported
constexpr std::int64_t kMostProgramLeases = 4'096;

// Classes of keys, most urgent first.
enum LeaseClass : std::int64_t {
  kLeaseRuns,
  kLeaseWaits,
  kWithinLease,
  kAcceptedEarly,
  kUnacceptedJob,
  kBestEffort,
  kAcceptedLast,
  kLowest
};
constexpr std::int64_t kLeaseSpan = std::int64_t{1} << 60;

std::int64_t lease_key(LeaseClass of, std::int64_t within) { return of * kLeaseSpan + std::clamp<std::int64_t>(within, 0, kLeaseSpan - 1); }

LeasePlanner& planner() {
  static LeasePlanner one;
  return one;
}

void join_leases(const std::vector<std::int32_t>& indices, std::int64_t first, TimeUs lease, std::vector<LeaseRun>& out) {
  out.clear();
  for (const std::int32_t index : indices) {
    const TimeUs begin = (first + index) * lease;
    if (out.empty() || out.back().to != begin) out.push_back({begin, begin});
    out.back().to += lease;
  }
}

}  // namespace

void set_lease_planner(LeasePlanner solver) { planner() = std::move(solver); }

void LeaseQueue::load(const PolicyState& state) {
  end_.load(state);
  table_.load(state);
  const auto found = state.scalars.find(kLeaseIndex);
  kept_index_ = found == state.scalars.end() ? -1 : found->second;
}

void LeaseQueue::store(PolicyState& state) const {
  end_.store(state);
  table_.store(state);
  state.scalars[kLeaseIndex] = index_;
}

void LeaseQueue::retain(PolicyState& state, const core::LiveJobs& live) const {
  end_.retain(state, live);
  table_.retain(state, live);
}

// Of an accepted job the step within which its leases end, else the first.
TimeUs LeaseQueue::deadline(const core::JobColumns& jobs, std::int32_t job) const {
  const DeadlineStep* const step = accepted(job) ? core::step_until(jobs.promise->steps_of(job), runs(job).back().to) : nullptr;
  return step != nullptr ? step->at_us : jobs.deadline[job];
}

// The published padding is of the whole run time; here it is of what is left of it.
LeaseNeed LeaseQueue::need(const core::JobColumns& jobs, std::int32_t job) const {
  const core::PromiseColumns& columns = *jobs.promise;
  LeaseNeed need{columns.gpus[job], std::max<TimeUs>(1, columns.need[job] - columns.cost[job]), columns.cost[job], deadline(jobs, job),
                 columns.stays[job] > 0};
  if (!rules_.published) return need;
  const auto log = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(need.gpus))) - 1;
  // 1.1 x (1 + (1 + log2 GPUs) x 0.5 s / lease)
  const core::Wide factor = core::Wide{11} * (2 * core::Wide{rules_.lease} + (1 + log) * kSecond);
  need.work = core::saturate(core::ceil_div(core::Wide{need.work} * factor, core::Wide{20} * rules_.lease));
  need.work = std::min(need.work, kMaxTimeUs);
  need.cost = 0;
  return need;
}

LeaseQueue::Candidate LeaseQueue::candidate(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const {
  const LeaseNeed of = need(jobs, job);
  const std::int64_t needed = leases_up(of.work + of.cost, rules_.lease);
  const std::int64_t available = of.deadline / rules_.lease - leases_up(now, rules_.lease);
  return {of.gpus, available - needed, of.deadline, job};
}

void LeaseQueue::sort(std::vector<Candidate>& candidates, const core::JobColumns& jobs) const {
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return std::tie(b.gpus, a.slack, b.deadline, *jobs.id[a.job]) < std::tie(a.gpus, b.slack, a.deadline, *jobs.id[b.job]);
  });
}

void LeaseQueue::set_runs(const core::JobColumns& jobs, std::int32_t job, const std::vector<LeaseRun>& runs) {
  std::vector<LeaseRun>& kept = runs_[to_index(job)];
  if (kept == runs) return;
  kept = runs;
  table_.set(*jobs.id[job], kept);
  end_.set(*jobs.id[job], kept.back().to);
}

void LeaseQueue::drop(const core::JobColumns& jobs, std::int32_t job) {
  runs_[to_index(job)].clear();
  table_.set(*jobs.id[job], {});
  end_.set(*jobs.id[job], kBrokenLease);
}

// Whether its leases are enough. A job that runs in one does not begin again there.
bool LeaseQueue::keeps(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const {
  const core::PromiseColumns& columns = *jobs.promise;
  const std::vector<LeaseRun>& of = runs(job);
  if (columns.type[job] < 0 || columns.need[job] == kNever) return false;
  if (core::step_until(columns.steps_of(job), of.back().to) == nullptr) return false;
  const TimeUs cost = rules_.published ? 0 : columns.cost[job];
  core::Wide left = core::Wide{columns.need[job]} - columns.cost[job] - kLeaseSlop;
  for (const LeaseRun& run : of) {
    const bool runs_in_it = run.from <= now && jobs.running[job] != 0;
    left -= std::max<TimeUs>(0, run.to - std::max(run.from, now) - (runs_in_it ? 0 : cost));
  }
  return left <= 0;
}

// What it did early it needs no more in leases: the earliest go. A job stays in the leases in which it runs.
void LeaseQueue::trim(const core::JobColumns& jobs, TimeUs now, std::int32_t job) {
  const LeaseNeed of = need(jobs, job);
  if (of.whole && has_lease(job, now)) return;
  found_ = runs(job);
  TimeUs left = of.work;
  for (std::size_t at = found_.size(); at-- > 0;) {
    LeaseRun& run = found_[at];
    if (run.from <= now && jobs.running[job] != 0) continue;
    const TimeUs enough = left <= 0 ? 0 : lease_ceil(left + of.cost, rules_.lease);
    run.from = std::max(run.from, run.to - enough);
    left -= std::max<TimeUs>(0, run.to - std::max(run.from, now) - of.cost);
  }
  std::erase_if(found_, [](const LeaseRun& run) { return run.from >= run.to; });
  set_runs(jobs, job, found_);
}

void LeaseQueue::read(const core::JobColumns& jobs, TimeUs now, Jobs job_indices) {
  for (const std::int32_t job : job_indices) {
    const std::size_t at = to_index(job);
    if (runs_.size() <= at) {
      runs_.resize(at + 1);
      seen_.resize(at + 1);
    }
    std::vector<LeaseRun>& of = runs_[at];
    of.clear();
    seen_[at] = 0;
    // After its deadline what is kept of a job stays as it is.
    if (jobs.deadline[job] == kNever || jobs.deadline[job] <= now) continue;
    const std::int64_t end = end_.get(*jobs.id[job], INT64_MIN);
    seen_[at] = end != INT64_MIN ? 1 : 0;
    if (end < 0) continue;
    table_.read(*jobs.id[job], of);
    while (!of.empty() && of.front().to <= now) of.erase(of.begin());
    if (of.empty() || !keeps(jobs, now, job)) {
      drop(jobs, job);
    } else {
      trim(jobs, now, job);
    }
  }
}

void LeaseQueue::lay_lines(const core::JobColumns& jobs, TimeUs now, Jobs job_indices, bool with_promises,
                           std::vector<CapacityLine>& lines) {
  const core::PromiseColumns& columns = *jobs.promise;
  lines.resize(columns.type_gpus.size());
  n_promises_.assign(lines.size(), 0);
  for (std::size_t type = 0; type < lines.size(); ++type) lines[type].begin(now, columns.type_gpus[type]);
  for (const std::int32_t job : job_indices) {
    const TimeUs free = displaceable_from(jobs, now, job, accepted(job) ? columns.need[job] : kNever);
    if (free > now) {
      for (std::size_t type = 0; type < lines.size(); ++type) {
        if (columns.held_type[job] < 0 || to_index(columns.held_type[job]) == type) lines[type].add(now, free, jobs.gpus[job]);
      }
    }
    if (!accepted(job)) continue;
    const std::size_t type = to_index(columns.type[job]);
    ++n_promises_[type];
    if (!with_promises && !stays(jobs, job)) continue;
    for (const LeaseRun& run : runs(job)) lines[type].add(std::max(run.from, free), run.to, columns.gpus[job]);
  }
  for (CapacityLine& line : lines) line.settle();
}

void LeaseQueue::find_candidates(const core::JobColumns& jobs, TimeUs now, Jobs job_indices) {
  candidates_.clear();
  for (const std::int32_t job : job_indices) {
    if (jobs.deadline[job] == kNever || jobs.deadline[job] <= now || accepted(job)) continue;
    const bool seen = seen_[to_index(job)] != 0;
    if (seen && !(rules_.again && boundary_)) continue;
    if (!seen) end_.set(*jobs.id[job], kUnaccepted);
    if (jobs.promise->type[job] < 0 || jobs.promise->need[job] == kNever) continue;
    candidates_.push_back(candidate(jobs, now, job));
  }
  sort(candidates_, jobs);
}

// The first step before which enough leases are free. @returns whether there is one; `found_` has the leases then
bool LeaseQueue::find_leases(const core::JobColumns& jobs, TimeUs now, std::int32_t job, const CapacityLine& line) {
  LeaseNeed of = need(jobs, job);
  for (const DeadlineStep& step : jobs.promise->steps_of(job)) {
    of.deadline = step.at_us;
    if (latest_leases(line, rules_.lease, now, of, found_)) return true;
  }
  return false;
}

// Reservations stay as they are; each new job takes the latest leases that are left.
void LeaseQueue::admit(const core::JobColumns& jobs, TimeUs now) {
  for (const Candidate& one : candidates_) {
    if (accepted(one.job)) continue;
    CapacityLine& line = lines_[to_index(jobs.promise->type[one.job])];
    const LeaseNeed of = need(jobs, one.job);
    if (find_leases(jobs, now, one.job, line)) {
      for (const LeaseRun& run : found_) line.take(run.from, run.to, of.gpus);
      ++n_promises_[to_index(jobs.promise->type[one.job])];
      set_runs(jobs, one.job, found_);
    } else if (rules_.rejects && jobs.running[one.job] == 0 && jobs.promise->hard[one.job] != 0) {
      const TimeUs earliest = earliest_lease_end(line, rules_.lease, now, of);
      refused_.push_back({one.job, true, earliest == kNever ? kNever : std::max(earliest, of.deadline + 1)});
    }
  }
}

// All reservations are laid again. Where one finds no room, all stay as they were.
bool LeaseQueue::plan_greedily(const core::JobColumns& jobs, TimeUs now, Jobs job_indices) {
  laid_.clear();
  for (const std::int32_t job : job_indices) {
    if (accepted(job) && !stays(jobs, job)) laid_.push_back(candidate(jobs, now, job));
  }
  if (std::ssize(laid_) > rules_.replanned) return false;
  sort(laid_, jobs);
  lay_lines(jobs, now, job_indices, false, spare_lines_);
  if (laid_runs_.size() < laid_.size()) laid_runs_.resize(laid_.size());
  for (std::size_t i = 0; i < laid_.size(); ++i) {
    CapacityLine& line = spare_lines_[to_index(jobs.promise->type[laid_[i].job])];
    const LeaseNeed of = need(jobs, laid_[i].job);
    if (!latest_leases(line, rules_.lease, now, of, laid_runs_[i])) return false;
    for (const LeaseRun& run : laid_runs_[i]) line.take(run.from, run.to, of.gpus);
  }
  for (std::size_t i = 0; i < laid_.size(); ++i) set_runs(jobs, laid_[i].job, laid_runs_[i]);
  std::swap(lines_, spare_lines_);
  return true;
}

// One program for each GPU type. Jobs that are asked now are part of it.
bool LeaseQueue::plan_by_program(const core::JobColumns& jobs, TimeUs now, Jobs job_indices) {
  if (!planner()) return false;
  lay_lines(jobs, now, job_indices, false, spare_lines_);
  const std::int64_t first = leases_up(now, rules_.lease);
  bool planned = true;
  for (std::size_t type = 0; type < spare_lines_.size(); ++type) {
    laid_.clear();
    question_.jobs.clear();
    std::int64_t horizon = 0;
    for (const std::int32_t job : job_indices) {
      const bool asked = std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& one) { return one.job == job; });
      if ((!accepted(job) && !asked) || stays(jobs, job) || to_index(jobs.promise->type[job]) != type) continue;
      const LeaseNeed of = need(jobs, job);
      const TimeUs useful = rules_.lease - of.cost;
      LeaseJob asked_for{of.gpus, useful > 0 ? leases_up(of.work, useful) : kNever, {}, accepted(job)};
      for (const DeadlineStep& step : jobs.promise->steps_of(job)) {
        const std::int64_t available = step.at_us / rules_.lease - first;
        // An accepted job keeps its step or gets an earlier one.
        if ((accepted(job) && step.at_us > of.deadline) || asked_for.needed > available) continue;
        asked_for.options.push_back({available, step.value});
      }
      if (asked_for.options.empty() && !accepted(job)) continue;
      if (asked_for.options.empty()) return false;
      horizon = std::max(horizon, asked_for.options.back().available);
      laid_.push_back(candidate(jobs, now, job));
      question_.jobs.push_back(std::move(asked_for));
    }
    if (laid_.empty()) continue;
    if (horizon > kMostProgramLeases) return false;
    question_.free.assign(to_index(horizon), 0);
    for (std::int64_t lease = 0; lease < horizon; ++lease) {
      const TimeUs begin = (first + lease) * rules_.lease;
      question_.free[to_index(lease)] = spare_lines_[type].least_free(begin, begin + rules_.lease);
    }
    if (!planner()(question_, answer_)) return false;
    if (laid_runs_.size() < laid_.size()) laid_runs_.resize(laid_.size());
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      join_leases(answer_[i], first, rules_.lease, laid_runs_[i]);
      planned = planned && laid_runs_[i].size() <= LeaseTable::kMostRuns;
    }
    if (!planned) return false;
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      if (!laid_runs_[i].empty()) set_runs(jobs, laid_[i].job, laid_runs_[i]);
    }
  }
  lay_lines(jobs, now, job_indices, true, lines_);
  return true;
}

void LeaseQueue::plan(const core::JobColumns& jobs, TimeUs now, Jobs job_indices) {
  lay_lines(jobs, now, job_indices, true, lines_);
  if (!boundary_) return;
  if (!plan_by_program(jobs, now, job_indices)) plan_greedily(jobs, now, job_indices);
}

std::int64_t LeaseQueue::key(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const {
  const bool running = jobs.running[job] != 0;
  const TimeUs left = jobs.remaining[job];
  const auto times_gpus = [&](TimeUs time) { return time == kNever ? kNever : core::saturating_mul(time, jobs.gpus[job]); };
  if (has_lease(job, now)) return lease_key(running ? kLeaseRuns : kLeaseWaits, runs(job).front().from);
  if (running && !boundary_) return lease_key(kWithinLease, 0);
  if (jobs.deadline[job] == kNever) return lease_key(kBestEffort, times_gpus(left));
  const TimeUs end = std::max(core::end_of(now, left), accepted(job) ? runs(job).back().to : 0);
  const DeadlineStep* const step = left == kNever ? nullptr : core::step_until(jobs.promise->steps_of(job), end);
  if (step == nullptr) return lease_key(kLowest, times_gpus(left));
  const std::int64_t slack = times_gpus(step->at_us - now - left);
  return lease_key(!accepted(job) ? kUnacceptedJob : rules_.early_last ? kAcceptedLast : kAcceptedEarly, slack);
}

void LeaseQueue::keys(const core::JobColumns& jobs, TimeUs now, Jobs job_indices, std::span<std::int64_t> out) {
  refused_.clear();
  index_ = now / rules_.lease;
  boundary_ = index_ != kept_index_;
  read(jobs, now, job_indices);
  find_candidates(jobs, now, job_indices);
  plan(jobs, now, job_indices);
  admit(jobs, now);
  const auto from = [&](std::int32_t job) { return accepted(job) ? runs(job).front().from : kNever; };
  hold_back(jobs, now, job_indices, lines_, n_promises_, from, refused_);
  for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = key(jobs, now, job_indices[i]);
}

// All change at the next boundary. It matters to a job that waits for its lease, and where others run.
void LeaseQueue::next_change(const core::JobColumns& jobs, TimeUs now, Jobs job_indices, std::span<TimeUs> out) {
  const TimeUs boundary = core::saturating_mul(index_ + 1, rules_.lease);
  const bool any = std::any_of(job_indices.begin(), job_indices.end(), [&](std::int32_t job) { return jobs.running[job] != 0; });
  for (std::size_t i = 0; i < job_indices.size(); ++i) {
    const std::int32_t job = job_indices[i];
    out[i] = kNever;
    if (jobs.running[job] != 0) continue;
    if (any) out[i] = boundary;
    if (accepted(job) && runs(job).front().from > now) out[i] = std::min(out[i], runs(job).front().from);
  }
}

}  // namespace berth::policy
