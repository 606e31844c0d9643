#include "host/core/engine/edit_answers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/state_names.hpp"

namespace berth {

std::string_view to_string(EditEffect effect) {
  constexpr std::array<std::string_view, kEditEffects> kNames{"starts",    "runs_on", "no_room", "preempted", "moved",       "stays",
                                                              "elsewhere", "sooner",  "later",   "planned",   "not_planned", "rejected",
                                                              "accepted",  "new",     "gone",    "same"};
  return kNames.at(static_cast<std::size_t>(effect));
}

namespace core {
namespace {

bool changes_places(Action action) { return action == Action::kMigrate || action == Action::kResize || action == Action::kReplace; }

std::optional<EditEffect> effect_on_running(const JobAnswer& before, const JobAnswer& after) {
  const bool moved_before = changes_places(before.action), moves = changes_places(after.action);
  const bool same = before.allocation == after.allocation;
  if (before.action == Action::kKeep && (moves || !same)) return EditEffect::kMoved;
  if (moved_before && after.action == Action::kKeep) return EditEffect::kStays;
  if (!same) return EditEffect::kElsewhere;
  return std::nullopt;
}

std::optional<EditEffect> effect_on_waiting(const JobAnswer& before, const JobAnswer& after) {
  const bool rejected_before = before.action == Action::kReject, rejected = after.action == Action::kReject;
  if (rejected_before != rejected) return rejected ? EditEffect::kRejected : EditEffect::kAccepted;
  const bool reserved_before = before.action == Action::kReserve, reserved = after.action == Action::kReserve;
  if (reserved_before != reserved) return reserved ? EditEffect::kPlanned : EditEffect::kNotPlanned;
  if (!reserved || before.start_us == after.start_us) return std::nullopt;
  return after.start_us < before.start_us ? EditEffect::kSooner : EditEffect::kLater;
}

void add_entries(const StateImpl& state, const Plan& plan, const Decision& d, const Shape& shape, Allocation& allocation) {
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[to_index(e)];
    AllocationEntry row;
    if (!shape.groups.empty()) row.group = shape.groups[to_index(entry.group)].name;
    row.member = entry.member;
    row.node = state.nodes[to_index(entry.node)].id;
    row.share_ppm = entry.share_ppm;
    row.time_shared = entry.time_shared;
    for (std::int32_t g = 0; g < kMaxGpusPerNode; ++g) {
      if ((entry.gpus >> g & 1) != 0) row.gpus.push_back(g);
    }
    allocation.entries.push_back(std::move(row));
  }
}

}  // namespace

std::optional<EditEffect> effect_of(const JobAnswer& before, const JobAnswer& after) {
  const bool ran = runs_now(before.action), runs = runs_now(after.action);
  if (ran && runs) return effect_on_running(before, after);
  if (runs) return before.action == Action::kPreempt ? EditEffect::kRunsOn : EditEffect::kStarts;
  if (!ran) return effect_on_waiting(before, after);
  if (before.action != Action::kStart) return EditEffect::kPreempted;
  return after.action == Action::kReject ? EditEffect::kRejected : EditEffect::kNoRoom;
}

std::int64_t gpus_ppm_of(const StateImpl& state, const Plan& plan, const Decision& d) {
  if (!runs_now(d.action)) return 0;
  std::int64_t sum = 0;
  if (d.action == Action::kKeep) {
    for (const PlanEntry& entry : state.jobs[to_index(d.job)].entries) sum += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
    return sum;
  }
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[to_index(e)];
    sum += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
  }
  return sum;
}

JobAnswer answer_of(const StateImpl& state, const Plan& plan, const Decision& d, bool reasons) {
  const Job& job = *state.jobs[to_index(d.job)].job;
  JobAnswer answer;
  answer.action = d.action;
  answer.gpus_ppm = gpus_ppm_of(state, plan, d);
  if (d.action == Action::kStart || d.action == Action::kReserve) {
    answer.start_us = d.start_us;
    answer.finish_us = d.finish_us;
  }
  if (d.action == Action::kKeep) {
    answer.allocation = job.allocation;
  } else if (d.shape >= 0 && d.entry_begin < d.entry_end) {
    const Shape& shape = job.shapes[to_index(d.shape)];
    answer.allocation.shape = shape.id;
    add_entries(state, plan, d, shape, answer.allocation);
  }
  const bool always = d.action == Action::kPreempt || d.action == Action::kReject;
  if ((reasons || always) && d.reason.code != ReasonCode::kNone) {
    const StateNames names(state);
    answer.reason = render_reason(names, d.reason, d.job);
    answer.would_start_if = render_would_start_if(names, d.reason, d.job);
  }
  return answer;
}

void QueueSums::add(const StateImpl& state, std::int32_t queue, std::int64_t gpus_ppm) {
  sum_.resize(std::max(sum_.size(), state.queues.size()));
  for (; queue >= 0; queue = state.queue_parent[to_index(queue)]) sum_[to_index(queue)] += gpus_ppm;
}

}  // namespace core
}  // namespace berth
