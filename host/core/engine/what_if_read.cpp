// Converts the columns of a pass into those of an outcome, with the actions that PlanBuilder gives a plan.

#include <bit>
#include <span>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/engine/what_if.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

Action action_of(Outcome outcome, bool running, bool same_shape) {
  switch (outcome) {
    case Outcome::kKept:
      return Action::kKeep;
    case Outcome::kPlaced:
    case Outcome::kMoved:
      return !running ? Action::kStart : same_shape ? Action::kMigrate : Action::kResize;
    case Outcome::kReserved:
      return running ? Action::kPreempt : Action::kReserve;
    default:
      return running ? Action::kPreempt : Action::kWait;
  }
}

}  // namespace

void WhatIf::read(const StateImpl& s, std::int32_t i, ScenarioOutcome& out) {
  const Pass& pass = passes_[to_index(i)];
  const Problem& problem = problems_[to_index(pass.problem)];
  const kernel::ProblemView& p = problem.pass.view();
  const kernel::PlaceRequest& request = inputs_[to_index(pass.input)].request;
  position_.assign(s.jobs.size(), -1);
  for (std::int32_t n = 0; n < request.n; ++n) position_[to_index(request.order[n])] = n;

  out.job = s.job_order;
  out.action.clear();
  out.shape.clear();
  out.entry_begin.assign(1, 0);
  out.entries.clear();
  out.totals = {};
  out.reserve_at_us.clear();
  for (const std::int32_t job : s.job_order) {
    const std::int32_t at_position = position_[to_index(job)];
    const std::int32_t repaired = problem.pass.repaired()[to_index(job)];
    const bool running = s.job.running[to_index(job)] != 0;
    Outcome outcome = running && problem.pass.lost()[to_index(job)] == 0 ? Outcome::kKept : Outcome::kWaits;
    if (at_position >= 0) outcome = pass.result.outcome[to_index(at_position)];
    std::int32_t shape = running ? s.job.shape[to_index(job)] : -1;
    Action action = Action::kWait;
    TimeUs reserve_at = kNever;
    if (repaired >= 0) {
      action = Action::kReplace;
      const std::vector<PlanEntry>& gang = problem.pass.repairs()[to_index(repaired)];
      out.entries.insert(out.entries.end(), gang.begin(), gang.end());
    } else if (problem.rejected[to_index(job)] != 0) {
      action = Action::kReject;
    } else if (at_position >= 0 && pass.result.option[to_index(at_position)] != kernel::kNone) {
      const kernel::OptionRow& option = p.options[p.option_begin[job] + pass.result.option[to_index(at_position)]];
      action = action_of(outcome, running, option.shape == shape);
      shape = option.shape;
      const kernel::PlacedRow* entries = pass.result.entries.data();
      const std::span<const kernel::PlacedRow> rows{entries + pass.result.entry_begin[to_index(at_position)],
                                                    entries + pass.result.entry_end[to_index(at_position)]};
      // It was displaced, and found the same GPUs again.
      const bool returns = action == Action::kMigrate && problem.pass.lost()[to_index(job)] == 0 && same_gpus(rows, s.held_entries(job));
      if (returns) action = Action::kKeep;
      if (action != Action::kPreempt) {
        append_placed(s, p.demands[option.demand], s.jobs[to_index(job)].job->shapes[to_index(shape)], rows, out.entries);
      }
      if (action == Action::kReserve) reserve_at = pass.result.reserve_at[to_index(at_position)];
    } else {
      action = action_of(outcome, running, true);
      if (action == Action::kKeep)
        out.entries.insert(out.entries.end(), s.jobs[to_index(job)].entries.begin(), s.jobs[to_index(job)].entries.end());
    }
    if (action == Action::kPreempt) shape = -1;
    out.action.push_back(action);
    out.shape.push_back(shape);
    out.reserve_at_us.push_back(reserve_at);
    count(out.totals, action);
    for (std::size_t e = to_index(out.entry_begin.back()); e < out.entries.size() && action != Action::kReserve; ++e) {
      if (out.entries[e].share_ppm == kWholeGpu) out.totals.gpus_used += std::popcount(out.entries[e].gpus);
    }
    out.entry_begin.push_back(static_cast<std::int32_t>(out.entries.size()));
  }
  for (const std::uint64_t usable : s.node.usable) out.totals.gpus += std::popcount(usable);
}

}  // namespace berth::core
