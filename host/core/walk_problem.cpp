#include "host/core/walk_problem.hpp"

#include <bit>
#include <utility>

#include "host/core/at.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {

void WalkProblem::cut(const StateImpl& s, const WalkRules& rules) {
  const kernel::ProblemView& p = s.problem();
  cut_.assign(p.options, p.options + p.option_begin[p.n_jobs]);
  for (kernel::OptionRow& o : cut_) {
    if (rules.placement != Placement::kConsolidate) break;
    const std::int32_t type = s.demands.rows()[at(o.demand)].gpu_type;
    o.demand = s.demands.consolidated(o.demand, s.type_size[at(type)].gpus_per_node);
  }
  if (rules.consolidation) consolidator_.apply(s, *rules.consolidation, cut_);
}

bool WalkProblem::find_failures(const StateImpl& s, std::span<const kernel::TakenRow> taken) {
  lost_.assign(s.jobs.size(), 0);
  mended_.assign(s.jobs.size(), -1);
  mends_.clear();
  bool any = false;
  if (!s.any_lost_gpus()) return false;
  for (const std::int32_t slot : s.job_order) {
    if (s.job.running[at(slot)] == 0 || !s.lost_gpus(slot)) continue;
    if (!any) {
      before_.begin(s.problem());
      for (const kernel::TakenRow& row : taken) {
        before_.free()[at(row.node)] &= ~row.mask;
        before_.spare()[at(row.node)] &= ~row.mask;
      }
    }
    any = true;
    std::vector<PlanEntry> gang;
    if (mender_.mend(s, slot, before_, gang)) {
      mended_[at(slot)] = static_cast<std::int32_t>(mends_.size());
      mends_.push_back(std::move(gang));
    } else {
      lost_[at(slot)] = 1;
      before_.release(slot);
    }
  }
  return any;
}

void WalkProblem::follow_demands(const StateImpl& s) {
  const kernel::ProblemView& p = s.problem();
  view_.n_demands = p.n_demands;
  view_.demands = p.demands;
  view_.groups = p.groups;
}

// What a mended job gives back when it ends is what it holds then.
void WalkProblem::hold_mended(const StateImpl& s) {
  const kernel::ProblemView& p = s.problem();
  held_begin_.assign(1, 0);
  held_.clear();
  for (std::int32_t slot = 0; slot < p.n_jobs; ++slot) {
    if (mended_[at(slot)] < 0) {
      held_.insert(held_.end(), p.held + p.held_begin[slot], p.held + p.held_begin[slot + 1]);
    } else {
      const Constraints& each = s.jobs[at(slot)].job->constraints;
      for (const PlanEntry& e : mends_[at(mended_[at(slot)])]) {
        const std::int64_t gpus = std::popcount(e.gpus);
        held_.push_back(
            {e.node, e.share_ppm, e.gpus, each.cpu_milli_per_gpu * gpus, each.memory_bytes_per_gpu * gpus, each.gpu_memory_bytes});
      }
    }
    held_begin_.push_back(static_cast<std::int32_t>(held_.size()));
  }
  view_.held_begin = held_begin_.data();
  view_.held = held_.data();
}

void WalkProblem::build(const StateImpl& s, const WalkRules& rules, std::span<const kernel::TakenRow> taken) {
  const bool cuts = rules.placement == Placement::kConsolidate || rules.consolidation;
  if (cuts) cut(s, rules);
  const bool failures = find_failures(s, taken);
  view_ = failures ? before_.view() : s.problem();
  if (!mends_.empty()) hold_mended(s);
  if (cuts) view_.options = cut_.data();
}

}  // namespace berth::core
