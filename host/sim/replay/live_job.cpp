#include "host/sim/replay/live_job.hpp"

#include <algorithm>
#include <utility>

#include "host/core/base/wide.hpp"
#include "host/sim/base/stated_shapes.hpp"

namespace berth::sim {
void LiveJob::set_work(const TraceForm& form) {
  const bool of_shapes = form.profile == nullptr && !traced->shapes.empty();
  timed = !of_shapes && (form.profile == nullptr || traced->work == 0);
  work = left = of_shapes ? work_of_run_time(*traced) : timed ? traced->run_us : traced->work;
}

void LiveJob::hold(std::int64_t of_gpus, std::int64_t at_rate, TimeUs now, TimeUs cost, Loss pays) {
  pays_for = pays;
  gpus = of_gpus;
  rate = at_rate;
  held_from = now;
  working_from = core::saturating_add(now, cost);
  running = true;
  stalled = slowed = false;
  pays_to_quotas = std::exchange(owes_to_quotas, false);
  legs.clear();
  ++run;
}

LiveJob::Work LiveJob::work_until(TimeUs now) const {
  if (!running || stalled || now <= working_from) return {0, 0, 0};
  const Costs& costs = overheads->costs;
  const TimeUs gone = now - working_from;
  if (costs.checkpoint_every_us == 0) return {gone, 0, 0};
  const TimeUs period = costs.checkpoint_every_us + costs.checkpoint_save_us;
  const TimeUs periods = gone / period, rest = gone % period;
  const TimeUs working = std::min(rest, costs.checkpoint_every_us);
  const TimeUs saved = periods * costs.checkpoint_every_us;
  return {saved + working, saved, periods * costs.checkpoint_save_us + (rest - working)};
}

std::int64_t LiveJob::left_after(TimeUs worked) const {
  const auto leg = std::find_if(legs.rbegin(), legs.rend(), [&](const core::WorkLeg& one) { return one.worked <= worked; });
  return core::left_after(leg == legs.rend() ? first_leg() : *leg, worked);
}

void LiveJob::begin_phase(std::int64_t from_left, std::int64_t to_rate) {
  legs.push_back(core::next_leg(legs.empty() ? first_leg() : legs.back(), from_left, to_rate));
}

void LiveJob::change_rate(TimeUs now, std::int64_t to_rate) {
  begin_phase(left_at(now), to_rate);
  ++rate_changes;
  // A failure returns it to what it has saved. Before now no other instant is asked for.
  const TimeUs saved = work_until(now).saved;
  const auto after = std::find_if(legs.begin(), legs.end() - 1, [&](const core::WorkLeg& one) { return one.worked > saved; });
  const auto of_saved = legs.erase(after, legs.end() - 1);
  if (of_saved - legs.begin() > 1) legs.erase(legs.begin(), of_saved - 1);
}

std::int64_t LiveJob::left_at(TimeUs now) const { return left_after(work_until(now).worked); }

void LiveJob::lose(Loss to, TimeUs time) {
  without_work += time;
  lose_gpu_time(to, static_cast<__int128>(time) * gpus);
}

void LiveJob::pay(__int128 gpu_us) {
  lose_gpu_time(pays_for, gpu_us);
  if (pays_to_quotas) lost_to_quotas += gpu_us;
}

void LiveJob::lose_all() {
  __int128 worked = outcome.gpu_us;
  for (const __int128 lost : outcome.lost_gpu_us) worked -= lost;
  lose_gpu_time(Loss::kLostWork, worked);
}

void LiveJob::release(TimeUs now) {
  const TimeUs held = now - held_from;
  const Work done = work_until(now);
  outcome.held_us += held;
  if (stalled) {
    lose(Loss::kStalled, held);
  } else {
    const TimeUs paid = std::min(now, working_from) - held_from;
    outcome.overhead_us += paid;
    without_work += paid;
    pay(static_cast<__int128>(paid) * gpus);
    lose(Loss::kCheckpoint, done.paused);
  }
  outcome.gpu_us += static_cast<__int128>(held) * gpus;
  left = left_after(done.worked);
  legs.clear();
  running = false;
  stalled = false;
  ++run;
}

void LiveJob::release(TimeUs now, const Executed& executed) {
  const TimeUs held = now - held_from;
  outcome.held_us += held;
  outcome.gpu_us += executed.paid_gpu_us + executed.had_gpu_us;
  if (stalled) {
    without_work += held;
    lose_gpu_time(Loss::kStalled, executed.had_gpu_us);
  } else {
    const TimeUs paid = std::min(now, working_from) - held_from;
    outcome.overhead_us += paid;
    without_work += paid + executed.saving_us;
    pay(executed.paid_gpu_us);
    lose_gpu_time(Loss::kCheckpoint, executed.saving_gpu_us);
    lose_gpu_time(Loss::kIdle, executed.had_gpu_us - executed.saving_gpu_us - executed.busy_gpu_us);
  }
  left -= executed.done;
  running = false;
  stalled = false;
  ++run;
}

void LiveJob::stall(TimeUs now, TimeUs notice, const Executed& executed) {
  const std::int64_t still = left - (saves_in(notice) ? executed.done : executed.saved);
  release(now, executed);
  if (!saves_in(notice)) lose_gpu_time(Loss::kLostWork, executed.unsaved_gpu_us);
  ++outcome.failures;
  left = still;
  hold(gpus, rate, now, 0, Loss::kStalled);
  stalled = true;
}

void LiveJob::stall(TimeUs now, TimeUs notice) {
  if (stalled) return;
  const Work done = work_until(now);
  const TimeUs saved = saves_in(notice) ? done.worked : done.saved;
  const std::int64_t still = left_after(saved);
  release(now);
  lose(Loss::kLostWork, done.worked - saved);
  ++outcome.failures;
  left = still;
  hold(gpus, rate, now, 0, Loss::kStalled);
  stalled = true;
}

TimeUs LiveJob::reaches_at(std::int64_t still) const {
  const TimeUs needs = std::max<TimeUs>(1, core::reaches(legs.empty() ? first_leg() : legs.back(), still));
  const Costs& costs = overheads->costs;
  const TimeUs saves = costs.checkpoint_every_us == 0 ? 0 : (needs - 1) / costs.checkpoint_every_us;
  return core::saturating_add(working_from, core::saturating_add(needs, core::saturating_mul(saves, costs.checkpoint_save_us)));
}

bool LiveJob::works_unevenly(TimeUs now) const {
  const Costs& costs = overheads->costs;
  return running && (stalled || slowed || now < working_from || (costs.checkpoint_every_us > 0 && costs.checkpoint_save_us > 0));
}

void expect_rate_to_stay(Job& reported, const LiveJob& job, std::int64_t left) {
  const TimeUs needs = core::reaches({0, left, job.asked_rates[job.phase], 0}, 0);
  reported.estimate.run_us = std::min(core::saturating_add(reported.progress.run_us, std::max<TimeUs>(1, needs)), kMaxTimeUs);
}

}  // namespace berth::sim
