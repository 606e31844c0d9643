#include "host/report/shadow.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_names.hpp"
#include "host/report/explain.hpp"

namespace berth::report {
namespace {

std::int64_t parts(const Plan& plan, const Decision& d) {
  std::int64_t ppm = 0;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
    ppm += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
  }
  return ppm;
}

std::int64_t parts(const Allocation& allocation) {
  std::int64_t ppm = 0;
  for (const AllocationEntry& entry : allocation.entries)
    ppm += std::int64_t{entry.share_ppm} * static_cast<std::int64_t>(entry.gpus.size());
  return ppm;
}

// GPU-us of a number of GPUs, in parts per million, over a time.
std::int64_t gpu_time(std::int64_t ppm, TimeUs us) { return core::mul_div(ppm, us, kWholeGpu); }

// Sums saturate at the largest value.
void add_to(std::int64_t& sum, std::int64_t more) { sum = core::saturating_add(sum, more); }

}  // namespace

Shadow::Jobs Shadow::really(const ClusterState& state) {
  Jobs jobs;
  for (std::int32_t job_index = 0; job_index < state.job_index_end(); ++job_index) {
    const Job* job = state.job(job_index);
    if (job == nullptr) continue;
    JobThen& then = jobs[job->id];
    then.running = job->state == JobState::kRunning;
    then.gpu_ppm = parts(job->allocation);
    then.run_us = StateView(state).run_now(job_index);
    if (!then.running) continue;
    then.place = place_text(job->allocation);
    for (const AllocationEntry& entry : job->allocation.entries) {
      for (const std::int32_t gpu : entry.gpus) then.held[entry.node] |= std::uint64_t{1} << gpu;
    }
  }
  return jobs;
}

Shadow::Jobs Shadow::decide(const ClusterState& state) {
  engine_.decide(state, memory_, request_, plan_);
  report_.decide_s += plan_.timing.decide_s;
  report_.longest_decide_s = std::max(report_.longest_decide_s, plan_.timing.decide_s);
  gpus_ = plan_.totals.gpus;
  const core::StateNames names(state);
  const TimeUs now = state.now();
  Jobs jobs = really(state);
  for (const Decision& d : plan_.decisions) {
    const Job& job = *state.job(d.job);
    JobThen& then = jobs[job.id];
    if (runs_now(d.action)) then.planned_ppm = parts(plan_, d);
    if (d.reason.code != ReasonCode::kNone) then.reason = full_reason(names, d);
    if (d.action == Action::kStart && open_.count(job.id) == 0) open_[job.id] = {now, then.planned_ppm, place_text(names, plan_, d)};
    if (d.action == Action::kPreempt && displaced_.count(job.id) == 0) {
      displaced_[job.id] = report_.differences.size();
      report_.differences.push_back({ShadowDifference::Kind::kDisplaced, job.id, then.gpu_ppm, now, kNever, "", then.place, then.reason});
    }
  }
  return jobs;
}

void Shadow::started(const std::string& job, const JobThen& before, const JobThen& after, TimeUs at_us) {
  const auto open = open_.find(job);
  if (open == open_.end()) {
    // The decision could not know GPUs that became free after the recorded state.
    for (const auto& [node, gpus] : after.held) {
      const auto then = held_.find(node);
      if (then == held_.end() || (then->second & gpus) == 0) continue;
      ++report_.unseen;
      return;
    }
    report_.differences.push_back({ShadowDifference::Kind::kLater, job, after.gpu_ppm, kNever, at_us, "", after.place, before.reason});
    return;
  }
  const Open planned = std::move(open->second);
  open_.erase(open);
  if (at_us - planned.since_us > slack_us_) {
    add_to(report_.wait_saved_us, at_us - planned.since_us);
    report_.differences.push_back(
        {ShadowDifference::Kind::kEarlier, job, planned.gpu_ppm, planned.since_us, at_us, planned.place, after.place, ""});
    return;
  }
  ++report_.same_starts;
  if (planned.place != after.place) ++report_.other_nodes;
}

void Shadow::compare(const Jobs& next, TimeUs now_us) {
  const TimeUs before_us = report_.to_us;
  const TimeUs passed = now_us - before_us;
  add_to(report_.gpu_us, gpu_time(gpus_ * kWholeGpu, passed));
  for (const auto& [job, before] : then_) {
    add_to(report_.planned_gpu_us, gpu_time(before.planned_ppm, passed));
    if (before.running) add_to(report_.real_gpu_us, gpu_time(before.gpu_ppm, passed));
    const auto after = next.find(job);
    if (after == next.end()) {
      if (!before.running) ++report_.unseen;
      open_.erase(job);
      displaced_.erase(job);
      continue;
    }
    if (before.running && !after->second.running) displaced_.erase(job);  // also displaced in the recording
    if (before.running || !after->second.running) continue;
    // It ran for a part of the time between the two states.
    const TimeUs ran = std::clamp<TimeUs>(after->second.run_us - before.run_us, 0, passed);
    add_to(report_.real_gpu_us, gpu_time(after->second.gpu_ppm, ran));
    started(job, before, after->second, now_us - ran);
  }
  for (const auto& [job, after] : next) {
    if (after.running && then_.count(job) == 0) ++report_.unseen;
  }
}

void Shadow::add(const ClusterState& state, const std::string& origin_iso) {
  if (report_.states == 0) {
    report_.from_us = state.now();
    report_.origin_iso = origin_iso;
    then_ = decide(state);
  } else {
    if (origin_iso != report_.origin_iso) {
      throw InvalidArgument("the state counts time from '" + origin_iso + "', those before it from '" + report_.origin_iso + "'");
    }
    if (state.now() < report_.to_us) throw InvalidArgument("the state is of an earlier instant than the one before it");
    if (state.now() == report_.to_us) {
      ++report_.same_instant;
      return;
    }
    compare(really(state), state.now());
    then_ = decide(state);
  }
  held_.clear();
  for (const auto& [job, then] : then_) {
    for (const auto& [node, gpus] : then.held) held_[node] |= gpus;
  }
  ++report_.states;
  report_.to_us = state.now();
}

ShadowReport Shadow::finish() {
  for (const auto& [job, planned] : open_) {
    const TimeUs waited = report_.to_us - planned.since_us;
    if (waited <= slack_us_) continue;
    ++report_.still_waiting;
    add_to(report_.wait_saved_us, waited);
    report_.differences.push_back(
        {ShadowDifference::Kind::kEarlier, job, planned.gpu_ppm, planned.since_us, kNever, planned.place, "", ""});
  }
  const auto saved = [this](const ShadowDifference& d) { return std::min(d.really_us, report_.to_us) - d.planned_us; };
  std::sort(report_.differences.begin(), report_.differences.end(), [&](const ShadowDifference& a, const ShadowDifference& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.kind == ShadowDifference::Kind::kEarlier && saved(a) != saved(b)) return saved(a) > saved(b);
    return std::tie(a.planned_us, a.really_us, a.job) < std::tie(b.planned_us, b.really_us, b.job);
  });
  return std::move(report_);
}

}  // namespace berth::report
