#pragma once

#include <cstdint>

#include "berth/kernel/base/never_stop.hpp"
#include "berth/kernel/place/backfill.hpp"
#include "berth/kernel/place/flat_steps.hpp"
#include "berth/kernel/place/preemption.hpp"
#include "berth/kernel/place/releases.hpp"
#include "berth/kernel/place/tree.hpp"
#include "berth/kernel/place/workspace.hpp"

/// The scheduling pass: docs/placement.md sections 6 and 7.
namespace berth::kernel {

template <class Group>
struct PlacePass {
  Pass<Group> w;  // `w.s` is the current state
  const PlaceRequest& request;
  const PlaceWorkspace& ws;
  const PlaceResult& result;
  Timeline timeline;           // conservative
  PassState later{};           // the state at the start of the reservation, which later jobs must not disturb
  bool reserved = false;       // a reservation exists
  TimeUs reserve_at = kNever;  // easy: its start
  bool reserve_done = false;
  bool has_timeline = false;   // the timeline is up to date
  bool blocked = false;        // strict: an earlier job failed
  bool plain = false;          // no resource is overcommitted: a victim that need not leave gets back exactly what it held
  bool displacing = false;     // the current job is tried with jobs released that it would displace
  bool queue_charged = false;  // by the current job, which displaced others: their release needed the up-to-date usage
  std::int32_t round = 1;      // see PlaceWorkspace::known
  std::int32_t limit = 0;      // positions from here on are not tried

  BERTH_HD bool lead() const { return w.group.rank() == 0; }
  BERTH_HD const OptionRow& option_of(std::int32_t job, std::int32_t o) const { return w.p.options[w.p.option_begin[job] + o]; }
  BERTH_HD std::int32_t options_of(std::int32_t job) const { return w.p.option_end[job] - w.p.option_begin[job]; }
  BERTH_HD bool may_displace(std::int32_t job, std::int32_t o) const {
    return request.may_displace == nullptr || request.may_displace[w.p.option_begin[job] + o] != 0;
  }
  BERTH_HD TimeUs run_of(std::int32_t job, std::int32_t o) const { return request.option_run[w.p.option_begin[job] + o]; }
  BERTH_HD static TimeUs end_of(TimeUs start, TimeUs run) { return run == kNever || run > kNever - 1 - start ? kNever : start + run; }
  BERTH_HD bool quota_ok(const PassState& s, std::int32_t job, std::int32_t o) const {
    const DemandRow& d = w.p.demands[option_of(job, o).demand];
    return passes_quota(w.p, s, job, d.gpu_type, d.quota);
  }
  /// Whether option o passes quota: now, and beside a reservation in which it has not ended.
  BERTH_HD bool quota_open(std::int32_t job, std::int32_t o) const {
    return quota_ok(w.s, job, o) && (!outlasts(job, o) || quota_ok(later, job, o));
  }

  /// Demands known not to fit: those whose row in the column equals `mark`. Without a column nothing is remembered.
  struct Known {
    std::int32_t* column;
    std::int32_t mark;
  };

  /// Places option o in the state w.s from `start` on. A demand known not to fit is not tried again.
  BERTH_HD BERTH_NOINLINE bool place(std::int32_t job, std::int32_t o, TimeUs start, Known known) {
    const std::int32_t d = option_of(job, o).demand;
    const DemandRow& demand = w.p.demands[d];
    const bool memo = known.column != nullptr && demand.exact != 0 && w.p.has_until == 0;
    if (memo && known.column[d] == known.mark) return false;
    const bool enough = demand.exact == 0 || w.s.type_free[demand.gpu_type] >= demand.gpus;
    if (enough && place_demand(w, demand, end_of(start, run_of(job, o)))) return true;
    if (memo) {
      w.group.sync();
      if (lead()) known.column[d] = known.mark;
      w.group.sync();
    }
    return false;
  }

  BERTH_HD const GroupRow* groups_of(std::int32_t job, std::int32_t o) const {
    return w.p.groups + w.p.demands[option_of(job, o).demand].group_begin;
  }

  BERTH_HD void undo(std::int32_t job, std::int32_t o, std::int32_t from) {
    const GroupRow* rows = groups_of(job, o);
    if (beside() && lead()) {
      for (std::int32_t e = w.n_entries - 1; e >= from; --e) {
        const PlacedRow& entry = w.entries[e];
        const GroupRow& row = rows[entry.group];
        give_mask(w.p, later, entry.node, entry.mask, ~ws.reserved[entry.node], row.share_ppm, row.gpu_memory, entry.members * row.cpu,
                  entry.members * row.memory);
      }
    }
    undo_entries(w, rows, from);
  }

  /// EASY: what starts now goes beside a reservation.
  BERTH_HD bool beside() const { return reserved && request.discipline == Discipline::kEasy; }
  /// Whether the job has ended before the reservation begins: it may use what that takes.
  BERTH_HD bool ends_in_time(std::int32_t job, std::int32_t o) const {
    const TimeUs end = end_of(request.now, run_of(job, o));
    return end != kNever && end <= reserve_at;
  }
  /// Whether it is placed beside a reservation, and still runs when that begins.
  BERTH_HD bool outlasts(std::int32_t job, std::int32_t o) const { return beside() && !ends_in_time(job, o); }
  /// Of `known` and `infeasible`: the half that holds for an option.
  BERTH_HD std::int32_t half_of(std::int32_t job, std::int32_t o) const { return outlasts(job, o) ? w.p.n_demands : 0; }

  /// Places option o beside a reservation, in both states.
  BERTH_HD bool place_beside(std::int32_t job, std::int32_t o, Known known) {
    const bool in_time = ends_in_time(job, o);
    const std::int32_t from = w.n_entries;
    const PassState now = w.s;
    if (!in_time) w.s = later;
    const bool placed = place(job, o, request.now, known);
    w.s = now;
    if (!placed) return false;
    PassState& other = in_time ? later : w.s;
    const GroupRow* rows = groups_of(job, o);
    w.group.sync();
    if (lead()) {
      for (std::int32_t e = from; e < w.n_entries; ++e) {
        const PlacedRow& entry = w.entries[e];
        const GroupRow& row = rows[entry.group];
        take_mask(w.p, other, entry.node, entry.mask, row.share_ppm, row.gpu_memory, entry.members * row.cpu, entry.members * row.memory);
      }
    }
    w.group.sync();
    return true;
  }

  /// The first option that passes quota and fits now; kNone. It stays charged, except for the usage of queues.
  BERTH_HD std::int32_t fit(std::int32_t job, TimeUs start, Known known) {
    const std::int32_t n = options_of(job);
    for (std::int32_t o = 0; o < n; ++o) {
      if (displacing && !may_displace(job, o)) continue;
      if (!quota_open(job, o)) continue;
      const Known half{known.column == nullptr ? nullptr : known.column + half_of(job, o), known.mark};
      if (beside() ? place_beside(job, o, half) : place(job, o, start, half)) return o;
    }
    return kNone;
  }

  /// The smallest number of releases after which the job fits, by doubling, then bisection (section 6.5).
  /// On success the job's entries are placed, `list` is at that number, and the option is returned. On failure nothing changes.
  template <class List>
  BERTH_HD BERTH_NOINLINE std::int32_t fit_after(List& list, std::int32_t job, std::int32_t& count, Known infeasible) {
    const std::int32_t from = w.n_entries;
    const auto move = [&](std::int32_t to) {
      w.group.sync();
      if (lead()) ws.count[0] = list.change(w.s, count, to);
      w.group.sync();
      count = ws.count[0];
    };
    count = 0;
    std::int32_t failed = 0;
    std::int32_t option = kNone;
    for (std::int32_t p = 1;; p *= 2) {
      move(p);
      // A job that does not fit after all releases never fits.
      const bool ended = count < p;
      if (ended && count == failed && infeasible.column == nullptr) break;
      option = fit(job, list.start(count), ended ? infeasible : Known{});
      if (option != kNone) break;
      failed = count;
      if (ended) break;
    }
    if (option == kNone) {
      move(0);
      return kNone;
    }
    std::int32_t fits = count;
    bool placed = true;
    while (fits - failed > 1) {
      const std::int32_t middle = (failed + fits) / 2;
      if (placed) undo(job, option, from);
      move(middle);
      const std::int32_t o = fit(job, list.start(count), {});
      placed = o != kNone;
      if (placed) {
        option = o;
        fits = middle;
      } else {
        failed = middle;
      }
    }
    if (!placed) {
      move(fits);
      option = fit(job, list.start(count), {});
    }
    return option;
  }

  BERTH_HD void remove_victim(std::int32_t i) {
    const std::int32_t before = ws.before[i];
    const std::int32_t after = ws.after[i];
    if (before >= 0) ws.after[before] = after;
    ws.before[after] = before;
  }

  /// Charges an option where it was tested. One thread.
  BERTH_HD void charge_where_tested(std::int32_t job, std::int32_t o) {
    const DemandRow& d = w.p.demands[option_of(job, o).demand];
    charge_queue(w.p, w.s, job, d.gpu_type, d.quota);
    if (outlasts(job, o)) charge_queue(w.p, later, job, d.gpu_type, d.quota);
  }
  BERTH_HD void charge_option(std::int32_t job, std::int32_t o) {
    w.group.sync();
    if (lead()) charge_where_tested(job, o);
    w.group.sync();
  }

  /// Steps 3 to 5 for a job that holds nothing.
  /// @returns the option placed, or kNone; `any_quota`: some option passed quota at step 4.
  BERTH_HD std::int32_t start(std::int32_t i, std::int32_t job, bool& any_quota) {
    const std::int32_t n = options_of(job);
    any_quota = false;
    for (std::int32_t o = 0; o < n; ++o) {
      if (!quota_open(job, o)) continue;
      any_quota = true;
      if (known_infeasible(job, o)) continue;
      // Free GPUs only decrease until a job is displaced, so a failure holds until then.
      const Known known{ws.known + half_of(job, o), round};
      if (beside() ? place_beside(job, o, known) : place(job, o, request.now, known)) return o;
    }
    return request.preemptive != 0 ? start_by_displacing(i, job) : kNone;
  }

  /// Preemptive scheduling passes: whether the demand failed before with all victims released.
  BERTH_HD bool known_infeasible(std::int32_t job, std::int32_t o) const {
    if (request.preemptive == 0 || !may_remember()) return false;
    const std::int32_t d = option_of(job, o).demand;
    return w.p.demands[d].exact != 0 && (ws.infeasible[d] != 0 || ws.infeasible[half_of(job, o) + d] != 0);
  }
  /// Free GPUs and later victims only decrease together, unless classes or end times make them differ between jobs.
  BERTH_HD bool may_remember() const { return w.p.has_until == 0 && request.class_rule == 0; }

  BERTH_HD BERTH_NOINLINE std::int32_t start_by_displacing(std::int32_t i, std::int32_t job) {
    if (ws.before[request.n] <= i) return kNone;  // no less important job is left
    const std::int32_t n = options_of(job);
    bool hope = false;
    bool all = !plain;  // leaving some out would change the result of doubling where "does not fit" is not monotone
    bool by_quota = false;
    for (std::int32_t o = 0; o < n; ++o) {
      if (!may_displace(job, o)) continue;
      const DemandRow& d = w.p.demands[option_of(job, o).demand];
      all = all || d.exact == 0;
      by_quota = by_quota || !quota_open(job, o);
      if (hope) continue;
      const bool gpus = d.exact == 0 || (!known_infeasible(job, o) && w.s.type_free[d.gpu_type] + ws.later_gpus[d.gpu_type] >= d.gpus);
      hope = gpus && quota_in_reach(w.s, job, o) && (!outlasts(job, o) || quota_in_reach(later, job, o));
    }
    if (!hope) return kNone;
    const Beside kept{ws.reserved, ws.returned};
    VictimList victims{w.p,       request, ws.before, ws.victim_node, ws.displaced, ws.latest,
                       ws.listed, i,       all,       by_quota,       request.n,    beside() ? &later : nullptr,
                       kept};
    std::int32_t count = 0;
    displacing = true;
    const std::int32_t option = fit_after(victims, job, count, {may_remember() ? ws.infeasible : nullptr, 1});
    displacing = false;
    if (option == kNone) return kNone;
    // From the most important victim on: a victim whose GPUs are not needed keeps them.
    w.group.sync();
    if (lead()) {
      charge_where_tested(job, option);
      const Displacer other{w.p.job_queue[job], w.p.demands[option_of(job, option).demand].gpu_type};
      for (std::int32_t k = count - 1; k >= 0; --k) {
        const std::int32_t v = ws.listed[k];
        const std::int32_t victim = request.order[v];
        const bool open = !beside() || ws.returned[victim] != 0 || has_quota_again(w.p, later, victim, other);
        if (open && hold_again(w.p, w.s, victim, other)) {
          if (beside()) hold_beside(w.p, later, kept, victim);
          continue;
        }
        ws.displaced[v] = 1;
        ws.gone[victim] = 1;
        result.displaced_by[v] = i;
        count_victim(w.p, request, ws, v, -1);
        remove_victim(v);
      }
    }
    w.group.sync();
    ++round;
    queue_charged = true;
    return option;
  }

  /// False where the job's queues would have no room after all later victims left. What is charged falls by what they use at the most.
  BERTH_HD bool quota_in_reach(const PassState& s, std::int32_t job, std::int32_t o) const {
    const DemandRow& d = w.p.demands[option_of(job, o).demand];
    for (std::int32_t column = 0; column < 2; ++column) {
      std::int64_t more = d.quota;
      for (std::int32_t q = w.p.job_queue[job]; q >= 0; q = w.p.queue_parent[q]) {
        const std::int64_t at = std::int64_t{q} * (w.p.n_types + 1) + (column == 0 ? d.gpu_type : w.p.n_types);
        const std::int64_t least = s.queue_used[at] - ws.later_queue[at];
        if (w.p.queue_cap[at] != kNoLimit && least + more > w.p.queue_cap[at]) return false;
        if (w.p.queue_kept != nullptr) more = passed_on(least, w.p.queue_kept[at], more);
      }
    }
    return true;
  }

  /// Section 7: the first blocked job gets the earliest place that running jobs leave for it.
  BERTH_HD bool reserve(std::int32_t i, std::int32_t job) {
    w.group.sync();
    if (lead()) ws.n_events[0] = collect_events(w.p, request, result, ws, i);
    w.group.sync();
    EventList events{w.p, request, result, ws.events, ws.n_events[0]};
    const std::int32_t from = w.n_entries;
    std::int32_t count = 0;
    const std::int32_t option = fit_after(events, job, count, {});
    if (option == kNone) return false;
    reserve_at = events.start(count);
    if (lead()) {
      result.reserve_at[i] = reserve_at;
      result.option[i] = option;
      result.entry_begin[i] = from;
      result.entry_end[i] = w.n_entries;
      // Capacity of the nodes at that instant, after the reservation.
      for (std::int32_t e = from; e < w.n_entries; ++e) {
        ws.cpu_left[w.entries[e].node] = w.s.cpu[w.entries[e].node];
        ws.memory_left[w.entries[e].node] = w.s.memory[w.entries[e].node];
      }
    }
    w.group.sync();
    // Back to the current state; the entries stay in the result but are not charged.
    const std::int32_t end = w.n_entries;
    undo(job, option, from);
    w.n_entries = end;
    if (lead()) events.change(w.s, count, 0);
    w.group.sync();
    for (std::int32_t n = w.group.rank(); n < w.p.n_nodes; n += w.group.size()) ws.reserved[n] = 0;
    for (std::int32_t j = w.group.rank(); j < w.p.n_jobs; j += w.group.size()) ws.returned[j] = 0;
    copy_state(w.group, w.p, w.s, later);
    if (lead()) {
      for (std::int32_t e = 0; e < count; ++e) {
        const std::int32_t ended = events.give_quota(later, ws.events[e]);
        if (ended >= 0) ws.returned[ended] = 1;
      }
      const DemandRow& d = w.p.demands[option_of(job, option).demand];
      charge_queue(w.p, later, job, d.gpu_type, d.quota);
      for (std::int32_t e = from; e < end; ++e) {
        const PlacedRow& entry = w.entries[e];
        const std::int32_t node = entry.node;
        if (later.cpu[node] > ws.cpu_left[node]) later.cpu[node] = ws.cpu_left[node];
        if (later.memory[node] > ws.memory_left[node]) later.memory[node] = ws.memory_left[node];
        for (std::uint64_t left = entry.mask; left != 0; left &= left - 1) {
          later.used_ppm[w.p.gpu_begin[node] + lowest(left)] = kWholeGpu;
        }
        set_free(w.p, later, node, later.free[node] & ~entry.mask);
        ws.reserved[node] |= entry.mask;
      }
    }
    w.group.sync();
    return true;
  }

  BERTH_HD void finish(std::int32_t i, Outcome outcome, std::int32_t option, std::int32_t from) {
    if (lead()) {
      result.outcome[i] = outcome;
      result.option[i] = option;
      result.entry_begin[i] = option == kNone ? 0 : from;
      result.entry_end[i] = option == kNone ? 0 : w.n_entries;
    }
  }

  BERTH_HD void step(std::int32_t i) {
    const std::int32_t job = request.order[i];
    const bool running = request.running[i] != 0;
    const bool displaced = ws.displaced[i] != 0;
    const std::int32_t from = w.n_entries;
    if (running && !displaced) {
      finish(i, Outcome::kKept, kNone, from);
      if (request.preemptive == 0 || request.victim_ok[i] == 0) return;
      w.group.sync();  // other threads may still read `later_gpus` for the job before
      if (lead()) {
        count_victim(w.p, request, ws, i, -1);
        remove_victim(i);
      }
      w.group.sync();
      return;
    }
    if (i >= limit) return finish(i, displaced ? Outcome::kPreempted : Outcome::kBudget, kNone, from);
    if (blocked) return finish(i, displaced ? Outcome::kPreempted : Outcome::kBehind, kNone, from);
    w.ran_out = false;
    if (request.discipline == Discipline::kConservative) return step_conservative(*this, i, job, displaced);
    bool any_quota = false;
    const std::int32_t option = start(i, job, any_quota);
    conclude(i, job, displaced, from, option, any_quota);
  }

  /// Step 6, and the result of a job that starts.
  BERTH_HD BERTH_NOINLINE void conclude(std::int32_t i, std::int32_t job, bool displaced, std::int32_t from, std::int32_t option,
                                        bool any_quota) {
    const Outcome failure = displaced ? Outcome::kPreempted : w.ran_out ? Outcome::kGaveUp : Outcome::kWaits;
    if (option != kNone) {
      if (!queue_charged) charge_option(job, option);
      queue_charged = false;
      finish(i, displaced ? Outcome::kMoved : Outcome::kPlaced, option, from);
      w.group.sync();
    } else if (request.discipline == Discipline::kEasy && !reserve_done && any_quota) {
      reserve_done = true;
      reserved = reserve(i, job);
      if (reserved) {
        if (lead()) result.outcome[i] = Outcome::kReserved;
        w.group.sync();
      } else {
        finish(i, failure, kNone, from);
      }
    } else {
      const bool quota = !any_quota && options_of(job) > 0 && !displaced;
      finish(i, quota ? Outcome::kQuota : failure, kNone, from);
      blocked = request.discipline == Discipline::kStrict;
    }
  }
};

/// Runs one scheduling pass. All threads of the group call it; `result` is complete after the last sync.
template <class Group, class StopToken>
BERTH_HD void place(Group& group, const ProblemView& problem, const PlaceRequest& request, const TakenRow* taken, std::int32_t n_taken,
                    const PlaceWorkspace& ws, const PlaceResult& result, StopToken& stop_token) {
  PassState now = ws.now;
  init_workspace(group, problem, request, taken, n_taken, ws);
  PlacePass<Group> run{{group, problem, now, ws.scratch, result.entries, 0, false, request.max_tries, request.packing,
                        counted_level_of(problem, group.rank(), group.size())},
                       request,
                       ws,
                       result,
                       {problem, request, ws.timeline, ws.later}};
  run.later = ws.later;
  run.limit = request.limit;
  run.plain = request.preemptive != 0 && nothing_overdrawn(group, problem);
  for (std::int32_t i = group.rank(); i < request.n; i += group.size()) {
    result.displaced_by[i] = kNone;
    result.reserve_at[i] = kNever;
  }
  const std::int64_t memos = request.discipline == Discipline::kConservative ? std::int64_t{problem.n_filters} * kTimelineMemos : 0;
  for (std::int64_t k = group.rank(); k < memos; k += group.size()) ws.timeline.memo[k].round = 0;
  group.sync();
  const bool flat = has_flat_steps(problem, request);
  const bool remembers = request.preemptive != 0 && run.may_remember();
  FlatSteps<PlacePass<Group>> steps{run,
                                    problem,
                                    now,
                                    queue_columns(problem, now),
                                    request.order,
                                    request.running,
                                    problem.option_begin,
                                    problem.option_end,
                                    problem.options,
                                    problem.job_queue,
                                    ws.flat,
                                    ws.known,
                                    remembers ? ws.infeasible : nullptr,
                                    result,
                                    run.w.counted_level,
                                    request.preemptive != 0};
  const std::int32_t n = request.n;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i < run.limit && stop_token.stop(i)) run.limit = i;
    if (flat && i < run.limit && !run.blocked && !run.reserved && steps.step(i)) continue;
    run.step(i);
  }
  group.sync();
  if (group.rank() == 0) *result.n_entries = run.w.n_entries;
  group.sync();
}

template <class Group>
BERTH_HD void place(Group& group, const ProblemView& problem, const PlaceRequest& request, const TakenRow* taken, std::int32_t n_taken,
                    const PlaceWorkspace& ws, const PlaceResult& result) {
  NeverStop stop_token;
  place(group, problem, request, taken, n_taken, ws, result, stop_token);
}

}  // namespace berth::kernel
