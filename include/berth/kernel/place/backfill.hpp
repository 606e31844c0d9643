#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/place/sweep.hpp"
#include "berth/kernel/place/workspace.hpp"

/// Conservative backfill: docs/placement.md section 7. `Run` is PlacePass of place.hpp.
namespace berth::kernel {

/// Where a job starts: an option at a point of the timeline; at the first point it starts now.
struct JobStart {
  std::int32_t option = kNone, point = kNone;
};

/// Calls `act` with the window as the state that placement reads and charges.
template <class Run, class Act>
BERTH_HD auto in_window(Run& run, const Act& act) {
  const PassState now = run.w.s;
  run.w.s = run.timeline.window;
  const auto answer = act();
  run.w.s = now;
  return answer;
}

/// Places option o at the first candidate before `before` where it fits. @returns kNone: there is none
template <class Run>
BERTH_HD BERTH_NOINLINE std::int32_t first_fit(Run& run, std::int32_t job, std::int32_t o, TimeUs before, bool past_now) {
  const TimelineSpace& space = run.timeline.s;
  const DemandRow& demand = run.w.p.demands[run.option_of(job, o).demand];
  Sweep sweep{run.timeline, run.w.s, demand, job, run.run_of(job, o)};
  if (run.lead()) sweep.begin();
  // What failed now is not tried again. Where counts prove, it is looked at: it may have failed for a quota alone.
  if (run.lead() && past_now && sweep.point == 0 && !sweep.counts) sweep.point = space.points[0].next;
  for (;;) {
    run.w.group.sync();
    if (run.lead()) space.answer[0] = sweep.find(before);
    run.w.group.sync();
    const std::int32_t point = space.answer[0];
    if (point != kNone) {
      const TimeUs start = run.timeline.start_of(point);
      if (!in_window(run, [&] { return run.place(job, o, start, {nullptr, 0}); })) {
        if (run.lead()) sweep.point = space.points[point].next;
        continue;
      }
    }
    if (run.lead()) sweep.remember();
    return point;
  }
}

/// The first start of a job, and at it the first option. Its entries are placed in the window.
template <class Run>
BERTH_HD JobStart first_start(Run& run, std::int32_t job) {
  const std::int32_t n = run.options_of(job);
  const std::int32_t from = run.w.n_entries;
  for (std::int32_t o = 0; o < n && run.reserved; ++o) {
    if (first_fit(run, job, o, run.request.now, false) != kNone) return {o, 0};
  }
  JobStart best{};
  bool placed = false;
  for (std::int32_t o = 0; o < n; ++o) {
    if (placed) in_window(run, [&] { return run.undo(job, best.option, from), true; });
    placed = false;
    const TimeUs before = best.option == kNone ? kNever : run.timeline.start_of(best.point);
    const std::int32_t point = first_fit(run, job, o, before, true);
    if (point == kNone) continue;
    best = {o, point};
    placed = true;
  }
  if (best.option == kNone || placed) return best;
  // A later option was tried in other windows.
  run.w.group.sync();
  if (run.lead()) {
    const TimeUs end = run.timeline.window_end(best.point, run.run_of(job, best.option));
    const TimelinePoint* points = run.timeline.s.points;
    std::int32_t last = best.point;
    while (points[last].next != kNone && points[points[last].next].at < end) last = points[last].next;
    run.timeline.move(run.w.s, best.point, end, last);
  }
  run.w.group.sync();
  placed = in_window(run, [&] { return run.place(job, best.option, run.timeline.start_of(best.point), {nullptr, 0}); });
  assert(placed);
  return best;
}

template <class Run>
BERTH_HD void build_timeline(Run& run, std::int32_t i) {
  run.w.group.sync();
  if (run.lead()) run.timeline.build(run.result, run.ws.events, collect_events(run.w.p, run.request, run.result, run.ws, i));
  run.w.group.sync();
  copy_state(run.w.group, run.w.p, run.w.s, run.timeline.window);
  run.has_timeline = true;
}

/// Charges the entries of a job that was placed in the window to the state now. One thread.
template <class Run>
BERTH_HD void charge_now(Run& run, const DemandRow& demand, std::int32_t from) {
  for (std::int32_t e = from; e < run.w.n_entries; ++e) {
    const PlacedRow& entry = run.w.entries[e];
    const GroupRow& row = run.w.p.groups[demand.group_begin + entry.group];
    take_mask(run.w.p, run.w.s, entry.node, entry.mask, row.share_ppm, row.gpu_memory, entry.members * row.cpu, entry.members * row.memory);
  }
}

/// A job that holds nothing starts now, is reserved or waits.
///
/// A job costs its candidates, each with one placement and the nodes that change between two windows. Candidates are
/// passed over by counts of GPUs and by quotas: O(points) for all of them together. Those that failed for a
/// demand that needs no more, and a run that is not longer, are not looked at again. Memory: O(jobs + releases + entries).
template <class Run>
BERTH_HD void step_conservative(Run& run, std::int32_t i, std::int32_t job, bool displaced) {
  const std::int32_t from = run.w.n_entries;
  bool any_quota = false;
  std::int32_t option = kNone;
  if (run.reserved) {
    for (std::int32_t o = 0; o < run.options_of(job) && !any_quota; ++o) any_quota = run.quota_ok(run.w.s, job, o);
  } else {
    option = run.start(i, job, any_quota);
    if (run.queue_charged) run.has_timeline = false;  // displaced jobs release nothing later
  }
  JobStart start{option, 0};
  if (option == kNone) {
    if (!run.has_timeline) build_timeline(run, i);
    start = first_start(run, job);
  }
  if (start.option == kNone) {
    const bool quota = !any_quota && run.options_of(job) > 0 && !displaced;
    const Outcome failure = displaced ? Outcome::kPreempted : run.w.ran_out ? Outcome::kGaveUp : Outcome::kWaits;
    return run.finish(i, quota ? Outcome::kQuota : failure, kNone, from);
  }
  const DemandRow& demand = run.w.p.demands[run.option_of(job, start.option).demand];
  run.w.group.sync();
  if (run.lead()) {
    if (start.point == 0 && option == kNone) charge_now(run, demand, from);
    if (start.point == 0 && !run.queue_charged) charge_queue(run.w.p, run.w.s, job, demand.gpu_type, demand.quota);
    if (run.has_timeline) {
      run.timeline.add(run.w.s, job, demand, run.run_of(job, start.option), run.w.entries + from, run.w.n_entries - from, start.point);
    }
    if (start.point != 0) run.result.reserve_at[i] = run.timeline.start_of(start.point);
  }
  run.queue_charged = false;
  run.reserved = run.reserved || start.point != 0;
  run.finish(i, start.point != 0 ? Outcome::kReserved : displaced ? Outcome::kMoved : Outcome::kPlaced, start.option, from);
  run.w.group.sync();
}

}  // namespace berth::kernel
