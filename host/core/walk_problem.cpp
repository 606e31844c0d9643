#include "host/core/walk_problem.hpp"

#include <utility>

#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void WalkProblem::consolidate(const StateImpl& s) {
  const kernel::ProblemView& p = s.problem();
  consolidated_.assign(p.options, p.options + p.option_begin[p.n_jobs]);
  for (kernel::OptionRow& o : consolidated_) {
    const std::int32_t type = s.demands.rows()[at(o.demand)].gpu_type;
    o.demand = s.demands.consolidated(o.demand, s.type_size[at(type)].gpus_per_node);
  }
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

void WalkProblem::build(const StateImpl& s, Placement placement, std::span<const kernel::TakenRow> taken) {
  if (placement == Placement::kConsolidate) consolidate(s);
  const bool failures = find_failures(s, taken);
  view_ = failures ? before_.view() : s.problem();
  if (placement == Placement::kConsolidate) view_.options = consolidated_.data();
}

}  // namespace berth::core
