// What a walk left in its columns, as the columns of an outcome: the same actions that PlanBuilder gives a plan.

#include <bit>

#include "host/core/at.hpp"
#include "host/core/plan_rows.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/what_if.hpp"

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
  const Walk& walk = walks_[at(i)];
  const Problem& problem = problems_[at(walk.problem)];
  const kernel::ProblemView& p = problem.walk.view();
  const kernel::PlaceRequest& request = inputs_[at(walk.input)].request;
  position_.assign(s.jobs.size(), -1);
  for (std::int32_t n = 0; n < request.n; ++n) position_[at(request.order[n])] = n;

  out.job = s.job_order;
  out.action.clear();
  out.shape.clear();
  out.entry_begin.assign(1, 0);
  out.entries.clear();
  out.totals = {};
  out.reserve_at_us = kNever;
  for (const std::int32_t slot : s.job_order) {
    const std::int32_t at_position = position_[at(slot)];
    const std::int32_t mended = problem.walk.mended()[at(slot)];
    const bool running = s.job.running[at(slot)] != 0;
    Outcome outcome = running && problem.walk.lost()[at(slot)] == 0 ? Outcome::kKept : Outcome::kWaits;
    if (at_position >= 0) outcome = walk.result.outcome[at(at_position)];
    std::int32_t shape = running ? s.job.shape[at(slot)] : -1;
    Action action = Action::kWait;
    if (mended >= 0) {
      action = Action::kReplace;
      const std::vector<PlanEntry>& gang = problem.walk.mends()[at(mended)];
      out.entries.insert(out.entries.end(), gang.begin(), gang.end());
    } else if (problem.declined[at(slot)] != 0) {
      action = Action::kDecline;
    } else if (at_position >= 0 && walk.result.option[at(at_position)] != kernel::kNone) {
      const kernel::OptionRow& option = p.options[p.option_begin[slot] + walk.result.option[at(at_position)]];
      action = action_of(outcome, running, option.shape == shape);
      shape = option.shape;
      if (action != Action::kPreempt) {
        const kernel::PlacedRow* entries = walk.result.entries.data();
        append_placed(s, p.demands[option.demand], s.jobs[at(slot)].job->shapes[at(shape)],
                      {entries + walk.result.entry_begin[at(at_position)], entries + walk.result.entry_end[at(at_position)]}, out.entries);
      }
      if (action == Action::kReserve) out.reserve_at_us = walk.result.reserve_at;
    } else {
      action = action_of(outcome, running, true);
      if (action == Action::kKeep) out.entries.insert(out.entries.end(), s.jobs[at(slot)].entries.begin(), s.jobs[at(slot)].entries.end());
    }
    if (action == Action::kPreempt) shape = -1;
    out.action.push_back(action);
    out.shape.push_back(shape);
    count(out.totals, action);
    for (std::size_t e = at(out.entry_begin.back()); e < out.entries.size() && action != Action::kReserve; ++e) {
      if (out.entries[e].share_ppm == kWholeGpu) out.totals.gpus_used += std::popcount(out.entries[e].gpus);
    }
    out.entry_begin.push_back(static_cast<std::int32_t>(out.entries.size()));
  }
  for (const std::uint64_t usable : s.node.usable) out.totals.gpus += std::popcount(usable);
}

}  // namespace berth::core
