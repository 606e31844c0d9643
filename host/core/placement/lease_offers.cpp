#include "host/core/placement/lease_offers.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

// After this number of passes no job that moves is tried again, and jobs that offered their GPUs go where the pass placed them.
constexpr int kMostPasses = 8;

// What the job has left to do takes less at the new rate by more than the cost. Where that is not known, what has run long is expected
// to run as long again.
bool saves(const StateImpl& s, std::int32_t job, std::int64_t rate, TimeUs cost) {
  const std::int64_t now = s.job.rate[to_index(job)];
  if (now <= 0 || rate <= now) return false;
  TimeUs here = s.remaining(job), there = s.run_at(job, rate);
  if (here == kNever || there == kNever) {
    here = s.run_now(job);
    there = mul_div(here, now, rate);
  }
  return here - there > cost;
}

}  // namespace

bool LeaseOffers::may_leave(const StateImpl& s, const PassProblem& problem, const TriedOptions& tried, std::int32_t job) const {
  if (s.job.running[to_index(job)] == 0 || problem.lost()[to_index(job)] != 0 || problem.repaired()[to_index(job)] >= 0) return false;
  if (s.job.victim_from[to_index(job)] > s.now) return false;
  if (lowered_.is_below(s.job.queue[to_index(job)], problem.view().held_type[job])) return false;  // the limit would not give them back
  if (lease_end_ == LeaseEnd::kMove) return true;
  // It could have all of its GPUs back, in a shape in which it is tried.
  const kernel::ProblemView& p = problem.view();
  const auto is_its = [&](std::int32_t option) {
    return p.options[option].shape == s.job.shape[to_index(job)] && (tried.left_out() == nullptr || tried.left_out()[option] == 0);
  };
  std::int32_t option = p.option_begin[job];
  while (option < p.option_end[job] && !is_its(option)) ++option;
  if (option == p.option_end[job]) return false;
  const std::uint64_t* allowed = p.filter_words + std::int64_t{p.demands[p.options[option].demand].filter} * p.n_words;
  return std::all_of(p.held + p.held_begin[job], p.held + p.held_end[job], [&](const kernel::HeldRow& row) {
    const bool lasts = p.has_until == 0 || p.node_until[row.node] == kNever;
    return lasts && (row.mask & ~p.node_open[row.node]) == 0 && (allowed[row.node / 64] >> (row.node % 64) & 1) != 0;
  });
}

// At the rate of its tightest place.
bool LeaseOffers::may_gain(const StateImpl& s, std::int32_t job) const {
  const JobRecord& record = s.jobs[to_index(job)];
  const TimeUs cost = std::min(migrate_cost(record.job->costs), resize_cost(record.job->costs));
  return std::any_of(record.option_rate.begin(), record.option_rate.end(), [&](std::int64_t rate) { return saves(s, job, rate, cost); });
}

bool LeaseOffers::begin(const StateImpl& s, const DelayRule& rule, std::span<const std::int32_t> ended, const TriedOptions& tried,
                        PassProblem& problem) {
  clear();
  lease_end_ = rule.lease_end;
  if (lease_end_ == LeaseEnd::kKeep) return false;
  lowered_.read(s.problem());
  for (const std::int32_t job : ended) {
    if (!may_leave(s, problem, tried, job)) continue;
    if (lease_end_ == LeaseEnd::kMove && !(may_gain(s, job) && problem.tighten(s, job))) continue;
    jobs_.push_back(job);
  }
  if (jobs_.empty()) return false;
  left_.assign(s.jobs.size(), 0);
  gone_ = problem.lost();
  for (const std::int32_t job : jobs_) left_[to_index(job)] = gone_[to_index(job)] = 1;
  problem.give_up(s, jobs_);
  return true;
}

void LeaseOffers::undo(const StateImpl& s, PassProblem& problem) {
  for (const std::int32_t job : jobs_) {
    if (lease_end_ == LeaseEnd::kMove) problem.loosen(job);
  }
  problem.give_up(s, {});
  clear();
}

// Whether a job that starts or moves takes one of the GPUs that the job held.
bool LeaseOffers::are_taken(const StateImpl& s, const kernel::PlaceResult& placed, std::int32_t job) {
  if (!taken_known_) {
    taken_.assign(to_index(s.problem().n_nodes), 0);
    for (std::int32_t i = 0; i < placed_jobs_; ++i) {
      if (placed.outcome[i] != kernel::Outcome::kPlaced && placed.outcome[i] != kernel::Outcome::kMoved) continue;
      for (std::int32_t e = placed.entry_begin[i]; e < placed.entry_end[i]; ++e)
        taken_[to_index(placed.entries[e].node)] |= placed.entries[e].mask;
    }
    taken_known_ = true;
  }
  const std::span<const PlanEntry> held = s.held_entries(job);
  return std::any_of(held.begin(), held.end(), [&](const PlanEntry& one) { return (taken_[to_index(one.node)] & one.gpus) != 0; });
}

bool LeaseOffers::gains(const StateImpl& s, PassProblem& problem, const kernel::PlaceResult& placed, std::int32_t i, std::int32_t job) {
  const kernel::Outcome outcome = placed.outcome[i];
  const bool is_placed = outcome == kernel::Outcome::kPlaced;
  if (lease_end_ == LeaseEnd::kOffer && !is_placed) {
    if (passes_ >= kMostPasses) return passes_ > kMostPasses;  // all of them keep their GPUs, then none
    const bool reached = outcome != kernel::Outcome::kBudget && outcome != kernel::Outcome::kBehind;
    return reached && ((outcome != kernel::Outcome::kQuota && problem.timers().waits(job)) || are_taken(s, placed, job));
  }
  if (!is_placed) return false;
  const kernel::ProblemView& p = problem.view();
  const std::span<const kernel::PlacedRow> rows(placed.entries + placed.entry_begin[i], placed.entries + placed.entry_end[i]);
  const kernel::OptionRow& option = p.options[p.option_begin[job] + placed.option[i]];
  const bool same_shape = option.shape == s.job.shape[to_index(job)];
  if (lease_end_ == LeaseEnd::kOffer) {
    const bool as_before = same_shape && same_gpus(rows, s.held_entries(job));
    return as_before || passes_ > kMostPasses || !same_shape || problem.timers().is_tighter(s, job, rows);
  }
  if (passes_ > kMostPasses) return false;
  const Job& description = *s.jobs[to_index(job)].job;
  entries_.clear();
  append_placed(s, p.demands[option.demand], description.shapes[to_index(option.shape)], rows, entries_);
  const TimeUs cost = same_shape ? migrate_cost(description.costs) : resize_cost(description.costs);
  return saves(s, job, placed_rate(s, description, option.shape, entries_), cost);
}

bool LeaseOffers::settle(const StateImpl& s, PassProblem& problem, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed) {
  if (jobs_.empty()) return false;
  ++passes_;
  placed_jobs_ = request.n;
  taken_known_ = false;
  bool some = false;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (left_[to_index(job)] == 0 || gains(s, problem, placed, i, job)) continue;
    left_[to_index(job)] = gone_[to_index(job)] = 0;
    if (lease_end_ == LeaseEnd::kMove) problem.loosen(job);
    some = true;
  }
  if (!some) return false;
  std::erase_if(jobs_, [&](std::int32_t job) { return left_[to_index(job)] == 0; });
  problem.give_up(s, jobs_);
  return true;
}

}  // namespace berth::core
