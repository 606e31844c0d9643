#pragma once

#include <cstdint>

#include "berth/kernel/place/flat.hpp"
#include "berth/kernel/place/releases.hpp"
#include "berth/kernel/place/workspace.hpp"

/// Steps of the scheduling pass for jobs that fit on one node: docs/placement.md section 6, "Most jobs fit on one node".
namespace berth::kernel {

/// The steps of jobs that wait, while no reservation stands. Does those of jobs that start on one node in a flat demand, and of jobs that
/// do not start as their demands are known not to fit. `Run` is PlacePass of place.hpp. Columns have copies here, to stay in registers.
template <class Run>
struct FlatSteps {
  Run& run;
  const ProblemView& p;
  const PassState& s;  // run.w.s while no reservation stands
  QueueColumns queues;
  const std::int32_t* order;
  const std::uint8_t* running;
  const std::int32_t* option_begin;
  const std::int32_t* option_end;
  const OptionRow* options;
  const std::int32_t* job_queue;
  const FlatDemand* flat;
  std::int32_t* known;
  const std::int32_t* infeasible;  // null: demands are not known to be infeasible
  PlaceResult result;
  const std::int32_t* counted_level;
  bool preemptive;

  /// Does the step of position i. @returns false when it changed nothing but `known`: another step has to do it
  BERTH_HD bool step(std::int32_t i) {
    if (running[i] != 0) return false;
    const std::int32_t job = order[i];
    const std::int32_t first = option_begin[job];
    const std::int32_t n = option_end[job] - first;
    const std::int32_t queue = job_queue[job];
    for (std::int32_t o = 0; o < n; ++o) {
      const std::int32_t d = options[first + o].demand;
      if (known[d] == run.round || (infeasible != nullptr && infeasible[d] != 0)) continue;
      const FlatDemand demand = flat[d];
      if (!queues_have_room(queues, queue, demand.type, demand.quota)) continue;
      if (demand.filter == kNone) return false;
      const bool enough = s.type_free[demand.type] >= demand.gpus;
      const std::uint32_t node = enough ? tightest_node(run.w.group, p, s, demand) : kNoNodeFound;
      if (node != kNoNodeFound) {
        start(i, o, queue, demand, static_cast<std::int32_t>(node));
        return true;
      }
      if (enough && demand.members > 1) return false;  // several nodes may hold them
      run.w.group.sync();
      if (run.lead()) known[d] = run.round;
      run.w.group.sync();
    }
    bool any_quota = false;
    for (std::int32_t o = 0; o < n && !any_quota; ++o) any_quota = run.quota_ok(s, job, o);
    run.w.ran_out = false;
    const std::int32_t from = run.w.n_entries;
    const std::int32_t option = preemptive ? run.start_by_displacing(i, job) : kNone;
    run.conclude(i, job, false, from, option, any_quota);
    return true;
  }

 private:
  /// All threads have met since they last read the state.
  BERTH_HD void start(std::int32_t i, std::int32_t o, std::int32_t queue, const FlatDemand& demand, std::int32_t node) {
    const std::int32_t at = run.w.n_entries;
    const PlacedRow placed{node, 0, 0, demand.members, 0, kWholeGpu, 0};
    take_whole(run.w.group, p, s, counted_level, {demand.type, demand.gpus, demand.cpu, demand.memory}, placed, result.entries[at]);
    if (run.lead()) {
      charge_queues(queues, queue, demand.type, demand.quota);
      result.outcome[i] = Outcome::kPlaced;
      result.option[i] = o;
      result.entry_begin[i] = at;
      result.entry_end[i] = at + 1;
    }
    run.w.n_entries = at + 1;
    run.w.group.sync();
  }
};

}  // namespace berth::kernel
