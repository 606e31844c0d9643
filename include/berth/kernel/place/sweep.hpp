#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/place/timeline.hpp"

/// The search for the first start of one option: docs/placement.md section 7, "Conservative backfill".
namespace berth::kernel {

/// Goes through the points at which a reservation may start, in time order. Those that counts or quotas rule out are
/// passed over: each point is looked at once, however many windows it is in. One thread uses it.
struct Sweep {
  Timeline& timeline;
  const PassState& now;
  const DemandRow& demand;
  std::int32_t job;
  TimeUs run;
  bool counts = false;            // too few GPUs prove that the demand does not fit
  bool capped = false;            // some queue of the job has a quota
  std::int32_t point = kNone;     // the candidate
  std::int32_t seen = kNone;      // the last point that was looked at
  std::int32_t too_few = kNone;   // the last of them without enough GPUs
  std::int32_t no_quota = kNone;  // the last of them without quota
  bool proved = true;             // candidates so far failed for want of a place
  std::int32_t first_unproved = kNone;

  BERTH_HD TimelineMemo* memo() const { return timeline.s.memo + std::int64_t{2} * (&demand - timeline.p.demands); }
  BERTH_HD std::int32_t next(std::int32_t i) const { return timeline.s.points[i].next; }
  BERTH_HD bool reaches(std::int32_t bad) const { return bad != kNone && timeline.s.points[bad].at >= timeline.s.points[point].at; }

  BERTH_HD void begin() {
    const ProblemView& p = timeline.p;
    counts = demand.exact != 0;
    point = 0;
    for (std::int32_t k = 0; counts && k < 2; ++k) {
      const TimelineMemo& known = memo()[k];
      if (known.round != timeline.round || run < known.run || point == kNone) continue;
      if (known.point == kNone || timeline.s.points[known.point].at > timeline.s.points[point].at) point = known.point;
    }
    if (point == kNone) return;
    for (std::int32_t q = p.job_queue[job]; q >= 0; q = p.queue_parent[q]) {
      const std::int64_t row = std::int64_t{q} * (p.n_types + 1);
      capped = capped || p.queue_cap[row + demand.gpu_type] != kNoLimit || p.queue_cap[row + p.n_types] != kNoLimit;
      for (std::int32_t t = 0; t <= p.n_types; ++t) timeline.s.queue_then[row + t] = now.queue_used[row + t];
    }
    seen = capped ? 0 : point;
    look();
  }

  /// Looks at the point `seen`.
  BERTH_HD void look() {
    const ProblemView& p = timeline.p;
    if (counts && now.type_free[demand.gpu_type] + timeline.gpus(seen, demand.gpu_type) < demand.gpus) too_few = seen;
    if (!capped) return;
    PassState then{};
    then.queue_used = timeline.s.queue_then;
    for (std::int32_t c = timeline.s.points[seen].charge; c != kNone; c = timeline.s.charges[c].next) {
      const QueueCharge& charge = timeline.s.charges[c];
      charge_queue(p, then, charge.job, charge.type, charge.quota);
    }
    if (!passes_quota(p, then, job, demand.gpu_type, demand.quota)) no_quota = seen;
  }

  /// The next candidate before `before` that may fit, from `point` on. The window is moved there. @returns kNone: there is none
  BERTH_HD std::int32_t find(TimeUs before) {
    for (; point != kNone; point = next(point)) {
      const TimelinePoint& at = timeline.s.points[point];
      if (at.at >= before) break;
      if (at.gives == 0) continue;
      const TimeUs end = timeline.window_end(point, run);
      while (next(seen) != kNone && timeline.s.points[next(seen)].at < end) {
        seen = next(seen);
        look();
      }
      if (reaches(too_few)) {
        point = too_few;
        continue;
      }
      if (reaches(no_quota)) {
        give_up_proof();
        point = no_quota;
        continue;
      }
      timeline.move(now, point, end, seen);
      return point;
    }
    return kNone;
  }

  BERTH_HD void give_up_proof() {
    if (proved) first_unproved = point;
    proved = false;
  }

  /// Remembers for jobs of the same demand what was proved. `point` is where the search stopped.
  BERTH_HD void remember() {
    if (!counts) return;
    give_up_proof();
    const TimelineMemo known{run, first_unproved, timeline.round};
    TimelineMemo* of = memo();
    if (of[0].round != timeline.round || run <= of[0].run) of[0] = known;
    of[1] = known;
  }
};

}  // namespace berth::kernel
