#include "host/core/placement/pass_problem.hpp"

#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

void PassProblem::cut(const StateImpl& s, const PassRules& rules, const PolicyState* kept) {
  const kernel::ProblemView& p = s.problem();
  cut_.assign(p.options, p.options + p.n_options);
  for (std::int32_t job = 0; job < p.n_jobs && rules.packing == Packing::kConsolidate; ++job) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      std::int32_t& demand = cut_[to_index(o)].demand;
      const std::int32_t type = s.demands.rows()[to_index(demand)].gpu_type;
      demand = s.demands.consolidated(demand, s.type_size[to_index(type)].gpus_per_node);
    }
  }
  if (rules.packing == Packing::kContention) waits_.narrow(s, kept, cut_);
  if (rules.consolidation) consolidator_.apply(s, *rules.consolidation, cut_);
  if (DelayTimers::apply_to(s, rules)) timers_.narrow(s, rules.delays, kept, cut_);
}

void follow_demands(const StateImpl& s, kernel::ProblemView& view) {
  const kernel::ProblemView& p = s.problem();
  view.n_demands = p.n_demands;
  view.demands = p.demands;
  view.groups = p.groups;
}

void PassProblem::widen_shares(const StateImpl& s) {
  if (view_.options != cut_.data()) cut_.assign(view_.options, view_.options + view_.n_options);
  for (std::int32_t job = 0; job < view_.n_jobs; ++job) {
    for (std::int32_t o = view_.option_begin[job]; o < view_.option_end[job]; ++o) {
      std::int32_t& demand = cut_[to_index(o)].demand;
      demand = s.demands.whole(demand, s.filters.sharing(s.demands.rows()[to_index(demand)].filter));
    }
  }
  view_.options = cut_.data();
  core::follow_demands(s, view_);
}

// A repaired job releases at its end what it holds then.
void PassProblem::hold_repaired(const StateImpl& s) {
  const kernel::ProblemView& p = s.problem();
  const std::vector<std::int32_t>& repaired = failures_.repaired();
  held_begin_.assign(1, 0);
  held_.clear();
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    if (repaired[to_index(job)] < 0) {
      held_.insert(held_.end(), p.held + p.held_begin[job], p.held + p.held_end[job]);
    } else {
      const Constraints& each = s.jobs[to_index(job)].job->constraints;
      for (const PlanEntry& e : failures_.repairs()[to_index(repaired[to_index(job)])]) {
        const std::int64_t gpus = std::popcount(e.gpus);
        held_.push_back(
            {e.node, e.share_ppm, e.gpus, each.cpu_milli_per_gpu * gpus, each.memory_bytes_per_gpu * gpus, each.gpu_memory_bytes});
      }
    }
    held_begin_.push_back(static_cast<std::int32_t>(held_.size()));
  }
  kernel::set_held(view_, held_begin_.data(), held_.data());
}

void PassProblem::give_up(const StateImpl& s, std::span<const std::int32_t> jobs) {
  if (!given_up_) stays_ = view_;
  given_up_ = !jobs.empty();
  view_ = stays_;
  if (given_up_) {
    after_.begin(stays_);
    for (const std::int32_t job : jobs) after_.release(job);
    view_ = after_.view();
  }
  core::follow_demands(s, view_);
}

void PassProblem::build(const StateView& view, const PassRules& rules, std::span<const kernel::TakenRow> taken, const PolicyState* kept) {
  const StateImpl& s = impl_of(view);
  cuts_ = rules.packing == Packing::kConsolidate || rules.packing == Packing::kContention || rules.consolidation ||
          DelayTimers::apply_to(s, rules);
  if (cuts_) cut(s, rules, kept);
  find_failures_and_view(view, taken);
  if (rules.sharing_ppm > 0) widen_shares(s);
}

void PassProblem::begin(const StateView& view, const PassRules& rules, const PolicyState& kept) {
  const StateImpl& s = impl_of(view);
  const kernel::ProblemView& p = s.problem();
  cut_.assign(p.options, p.options + p.n_options);
  timers_.begin(s, rules.delays, &kept, cut_);
  cuts_ = true;
  find_failures_and_view(view);
}

void PassProblem::narrow(const StateImpl& s, std::span<const std::int32_t> jobs) {
  timers_.narrow(s, jobs, cut_);
  core::follow_demands(s, view_);
}

void PassProblem::find_failures_and_view(const StateView& view, std::span<const kernel::TakenRow> taken) {
  const StateImpl& s = impl_of(view);
  given_up_ = false;
  failures_.find(s, taken);
  view_ = failures_.problem();
  if (!failures_.repairs().empty()) hold_repaired(s);
  if (cuts_) view_.options = cut_.data();
}

}  // namespace berth::core
