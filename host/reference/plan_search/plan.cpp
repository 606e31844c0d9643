#include "host/reference/plan_search/plan.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "host/reference/place/place_demand.hpp"

namespace berth::reference {
namespace {

using kernel::kNoLimit;
using kernel::kNone;
using kernel::PlanSearchView;

const kernel::DemandRow& demand_of_option(const PlanSearchView& view, std::int32_t option) {
  return view.problem.demands[view.demand[option]];
}

// A run that ends beyond the range of time has an unknown end.
TimeUs run_of_option(const PlanSearchView& view, std::int32_t option) {
  const TimeUs run = view.run[option];
  const bool overflows = view.now > 0 && run > std::numeric_limits<TimeUs>::max() - view.now;
  return overflows ? kNever : run;
}

// Unlike a victim of a scheduling pass, a job that goes home finds all its GPUs free: none is closed to other jobs.
bool fits_at_home(const State& s, const Piece& piece) {
  const auto node = static_cast<std::size_t>(piece.node);
  if ((piece.mask & ~s.free[node]) != 0) return false;
  if (piece.cpu > 0 && s.cpu[node] != kNoLimit && s.cpu[node] < piece.cpu) return false;
  return piece.memory <= 0 || s.memory[node] == kNoLimit || s.memory[node] >= piece.memory;
}

}  // namespace

SearchedPlan::SearchedPlan(const PlanSearchView& view)
    : view_(&view), state_(view.problem), holdings_(static_cast<std::size_t>(view.n_jobs)) {
  for (std::int32_t job = 0; job < view.n_jobs; ++job) correct_open(job);
}

std::int64_t SearchedPlan::score() const {
  std::int64_t sum = 0;
  for (std::int32_t job = 0; job < view_->n_jobs; ++job) sum += plan_search_value(*view_, job, held_by(job));
  for (std::int32_t node = 0; node < view_->problem.n_nodes; ++node) sum -= plan_search_loss(*view_, state_, node);
  return sum;
}

PlanSearchHolding SearchedPlan::give_up(std::int32_t job) {
  PlanSearchHolding had = std::exchange(holdings_[static_cast<std::size_t>(job)], {});
  if (had.option == kNone) return had;
  for (const Piece& piece : plan_search_pieces(*view_, job, had)) give(view_->problem, state_, piece);
  const kernel::DemandRow& demand = demand_of_option(*view_, had.option);
  charge_quota(view_->problem, state_, view_->problem.job_queue[view_->problem_job[job]], demand.gpu_type, -demand.quota);
  correct_open(job);
  return had;
}

void SearchedPlan::get(std::int32_t job, PlanSearchHolding holding) {
  if (holding.option == kNone) return;
  for (const Piece& piece : plan_search_pieces(*view_, job, holding)) take(view_->problem, state_, piece);
  const kernel::DemandRow& demand = demand_of_option(*view_, holding.option);
  charge_quota(view_->problem, state_, view_->problem.job_queue[view_->problem_job[job]], demand.gpu_type, demand.quota);
  holdings_[static_cast<std::size_t>(job)] = std::move(holding);
  correct_open(job);
}

void SearchedPlan::correct_open(std::int32_t job) {
  const bool open = option_of(job) != view_->preferred[job] || is_away(job);
  const auto entry = std::find(open_.begin(), open_.end(), job);
  if (open && entry == open_.end()) {
    open_.push_back(job);
  } else if (!open && entry != open_.end()) {
    *entry = open_.back();
    open_.pop_back();
  }
}

bool SearchedPlan::may_have(std::int32_t job, std::int32_t option) const {
  const kernel::ProblemView& p = view_->problem;
  const kernel::DemandRow& demand = demand_of_option(*view_, option);
  std::int64_t free = 0;
  for (std::int32_t node = 0; node < p.n_nodes; ++node) {
    if (p.node_type[node] == demand.gpu_type) free += std::popcount(state_.free[static_cast<std::size_t>(node)]);
  }
  return free >= demand.gpus && quota_passes(p, state_, p.job_queue[view_->problem_job[job]], demand.gpu_type, demand.quota);
}

bool SearchedPlan::go_home(std::int32_t job) {
  if (view_->current[job] == kNone || !may_have(job, view_->current[job])) return false;
  PlanSearchHolding home = plan_search_home(*view_, job);
  State trial = state_;  // two held options may be on the same node
  for (const Piece& piece : plan_search_pieces(*view_, job, home)) {
    if (!fits_at_home(trial, piece)) return false;
    take(view_->problem, trial, piece);
  }
  get(job, std::move(home));
  return true;
}

bool SearchedPlan::place(std::int32_t job, std::int32_t option) {
  if (!may_have(job, option)) return false;
  if (option == view_->current[job] && go_home(job)) return true;
  const Trial ask{&view_->problem, &demand_of_option(*view_, option), run_of_option(*view_, option), view_->now};
  Tries tries{view_->packing, view_->max_tries};
  State trial = state_;
  PlanSearchHolding placed{option, false, {}};
  if (!place_demand(ask, trial, tries, placed.entries)) return false;
  get(job, std::move(placed));
  return true;
}

bool SearchedPlan::is_away(std::int32_t job) const {
  return has_something(job) && value_of(job) < view_->placed_value[std::ptrdiff_t{option_of(job)} * view_->n_classes];
}

bool SearchedPlan::place_ranked(std::int32_t job, std::int32_t except) {
  for (std::int32_t r = view_->rank_begin[job]; r < view_->rank_begin[job + 1]; ++r) {
    if (view_->ranked[r] != except && place(job, view_->ranked[r])) return true;
  }
  return false;
}

bool SearchedPlan::place_above(std::int32_t job, std::int32_t option, std::int64_t than) {
  if (!place(job, option)) return false;
  if (value_of(job) > than) return true;
  give_up(job);
  return false;
}

// One more job may increase the loss by idle GPUs beyond its own value.
bool SearchedPlan::place_for_more(std::int32_t job, std::int32_t option) {
  const std::int64_t before = score();
  if (!place(job, option)) return false;
  if (score() >= before) return true;
  give_up(job);
  return false;
}

void SearchedPlan::fill() {
  for (std::int32_t i = 0; i < view_->n_jobs; ++i) {
    const std::int32_t job = view_->fill_order[i];
    if (has_something(job)) continue;
    for (std::int32_t r = view_->rank_begin[job]; r < view_->rank_begin[job + 1]; ++r) {
      if (place_for_more(job, view_->ranked[r])) break;
    }
  }
}

}  // namespace berth::reference
