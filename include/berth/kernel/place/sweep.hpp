#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/place/timeline.hpp"

/// The search for the first start of one option: docs/placement.md section 7, "Conservative backfill".
namespace berth::kernel {

/// Whether what holds all members of b has room for those of a: both are exact and have the same filter.
BERTH_HD inline bool needs_no_more(const ProblemView& p, const DemandRow& a, const DemandRow& b) {
  if (&a == &b) return true;
  const GroupRow& x = p.groups[a.group_begin];
  const GroupRow& y = p.groups[b.group_begin];
  if (x.share_ppm != y.share_ppm || x.gpu_memory > y.gpu_memory) return false;
  const bool segments = x.segment_size > 0, inside = x.require_level != kNone, apart = x.spread_most > 0;
  if (segments && (x.segment_size != y.segment_size || x.segment_topology != y.segment_topology || x.segment_level != y.segment_level))
    return false;
  if (inside && (x.require_topology != y.require_topology || x.require_level != y.require_level)) return false;
  if (apart && (x.spread_most != y.spread_most || x.spread_topology != y.spread_topology || x.spread_level != y.spread_level)) return false;
  if ((segments || inside || apart) && x.gpus != y.gpus) return false;
  const std::int32_t members = y.gpus / x.gpus;  // of a, in the place of one of b
  if (members == 0 || x.members > std::int64_t{y.members} * members) return false;
  return x.cpu <= y.cpu / members && x.memory <= y.memory / members;
}

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

  BERTH_HD TimelineMemo* memos() const { return timeline.s.memo + std::int64_t{demand.filter} * kTimelineMemos; }
  BERTH_HD TimeUs instant_of(std::int32_t i) const { return i == kNone ? kNever : timeline.s.points[i].at; }
  /// Whether what is known of one demand and run holds for another.
  BERTH_HD bool covers(std::int32_t known, TimeUs of_run, std::int32_t other, TimeUs other_run) const {
    return of_run <= other_run && needs_no_more(timeline.p, timeline.p.demands[known], timeline.p.demands[other]);
  }
  BERTH_HD std::int32_t next(std::int32_t i) const { return timeline.s.points[i].next; }
  BERTH_HD bool reaches(std::int32_t bad) const { return bad != kNone && timeline.s.points[bad].at >= timeline.s.points[point].at; }

  BERTH_HD BERTH_NOINLINE void begin() {
    const ProblemView& p = timeline.p;
    counts = demand.exact != 0;
    point = 0;
    const auto mine = static_cast<std::int32_t>(&demand - p.demands);
    for (std::int32_t k = 0; counts && k < kTimelineMemos; ++k) {
      const TimelineMemo& known = memos()[k];
      if (known.round != timeline.round || instant_of(known.point) <= instant_of(point)) continue;
      if (covers(known.demand, known.run, mine, run)) point = known.point;
    }
    if (point == kNone) return;
    for (std::int32_t q = p.job_queue[job]; q >= 0; q = p.queue_parent[q]) {
      const std::int64_t row = std::int64_t{q} * (p.n_types + 1);
      capped = capped || p.queue_cap[row + demand.gpu_type] != kNoLimit || p.queue_cap[row + p.n_types] != kNoLimit;
      for (std::int32_t t = 0; t <= p.n_types; ++t) timeline.s.queue_then[row + t] = now.queue_used[row + t];
    }
    // What the charge of a job below some other queue passes on depends on what that is charged.
    const std::int64_t cells = capped && p.queue_kept != nullptr ? std::int64_t{p.n_queues} * (p.n_types + 1) : 0;
    for (std::int64_t i = 0; i < cells; ++i) timeline.s.queue_then[i] = now.queue_used[i];
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
  BERTH_HD BERTH_NOINLINE std::int32_t find(TimeUs before) {
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

  /// Remembers what was proved, unless that is known. `point` is where the search stopped. Where there is no room, it
  /// takes the place of what reaches least far.
  BERTH_HD BERTH_NOINLINE void remember() {
    if (!counts) return;
    give_up_proof();
    if (first_unproved == 0) return;
    const auto mine = static_cast<std::int32_t>(&demand - timeline.p.demands);
    const TimeUs reached = instant_of(first_unproved);
    TimelineMemo* place = nullptr;
    TimeUs least = reached;
    for (std::int32_t k = 0; k < kTimelineMemos; ++k) {
      TimelineMemo& known = memos()[k];
      if (known.round == timeline.round) {
        const TimeUs of = instant_of(known.point);
        if (of >= reached && covers(known.demand, known.run, mine, run)) return;
        if (of <= reached && covers(mine, run, known.demand, known.run)) known.round = 0;
        if (known.round != 0 && of >= least) continue;
        least = known.round == 0 ? -1 : of;
        place = &known;
      } else if (least >= 0) {
        least = -1;
        place = &known;
      }
    }
    if (place != nullptr) *place = {run, mine, first_unproved, timeline.round, 0};
  }
};

}  // namespace berth::kernel
