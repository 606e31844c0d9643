#include "host/policy/shapes/allox_matching.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {

const AlloxWork& AlloxMatching::of(std::int32_t job, std::int32_t type) const {
  return work_[to_index(job) * to_index(types_) + to_index(type)];
}

// Time until this number of GPUs of the type is free.
TimeUs AlloxMatching::free_after(std::int32_t type, std::int64_t gpus) const {
  for (const AlloxRelease& one : released_[to_index(type)]) {
    gpus -= one.gpus;
    if (gpus <= 0) return one.after;
  }
  return kMaxTimeUs;
}

// At least the time until its own GPUs are free, which may be more than those of a machine.
TimeUs AlloxMatching::begins(std::int32_t job, const Position& position) const {
  return std::max(position.free, room_[to_index(job) * to_index(types_) + to_index(position.type)]);
}

// A multiple of the GPU-time divided by the machine's GPUs.
TimeUs AlloxMatching::blocks(const AlloxWork& one, std::int32_t type, std::int64_t times) const {
  return core::saturate(core::Wide{one.run} * one.gpus * times / size_[to_index(type)]);
}

// Machines become free in order, so no queue is longer than that of an earlier machine.
// The first job of the longer one would start no later there, and would delay no more jobs.
// A machine with u - 1 machines before it has at most jobs / u positions.
void AlloxMatching::list_positions() {
  size_.assign(to_index(types_), 1);
  positions_.clear();
  for (std::int32_t t = 0; t < types_; ++t) {
    std::int64_t capacity = 0, asked = 0, jobs = 0;
    for (const AlloxRelease& one : released_[to_index(t)]) capacity += one.gpus;
    for (std::int32_t j = 0; j < jobs_; ++j) {
      asked += of(j, t).gpus;
      jobs += of(j, t).gpus > 0 ? 1 : 0;
    }
    if (jobs == 0) continue;
    size_[to_index(t)] = asked / jobs;
    for (std::int64_t machine = 1; machine <= std::min(jobs, capacity / size_[to_index(t)]); ++machine) {
      const TimeUs free = free_after(t, machine * size_[to_index(t)]);
      for (std::int64_t behind = 0; behind < jobs / machine; ++behind) positions_.push_back({t, machine, behind, free});
    }
  }
}

std::span<const AlloxPlace> AlloxMatching::match(std::span<std::vector<AlloxRelease>> released, std::span<const AlloxWork> work) {
  released_ = released;
  work_ = work;
  types_ = static_cast<std::int32_t>(released.size());
  jobs_ = static_cast<std::int32_t>(work.size() / std::max<std::size_t>(1, released.size()));
  for (std::vector<AlloxRelease>& type : released_)
    std::sort(type.begin(), type.end(), [](const AlloxRelease& a, const AlloxRelease& b) { return a.after < b.after; });
  list_positions();
  room_.clear();
  for (std::int32_t j = 0; j < jobs_; ++j) {
    for (std::int32_t t = 0; t < types_; ++t) room_.push_back(free_after(t, of(j, t).gpus));
  }
  cost_.clear();
  for (std::int32_t j = 0; j < jobs_; ++j) {
    for (const Position& position : positions_) {
      const AlloxWork& one = of(j, position.type);
      const TimeUs all =
          core::saturating_add(core::saturating_add(begins(j, position), one.run), blocks(one, position.type, position.behind));
      cost_.push_back(one.gpus == 0 ? Assignment::kNoEdge : std::min(all, Assignment::kMostCost));
    }
  }
  const std::span<const std::int32_t> position_of = assignment_.solve(jobs_, static_cast<std::int32_t>(positions_.size()), cost_);
  job_in_.assign(positions_.size(), -1);
  total_ = 0;
  for (std::int32_t j = 0; j < jobs_; ++j) {
    job_in_[to_index(position_of[to_index(j)])] = j;
    total_ += cost_[to_index(j) * positions_.size() + to_index(position_of[to_index(j)])];
  }
  places_.assign(to_index(jobs_), {});
  TimeUs machine_from = 0;
  for (std::size_t i = positions_.size(); i-- > 0;) {
    const Position& position = positions_[i];
    const bool first =
        i + 1 == positions_.size() || positions_[i + 1].type != position.type || positions_[i + 1].machine != position.machine;
    if (first) machine_from = 0;
    if (job_in_[i] < 0) continue;
    const TimeUs start = std::max(machine_from, begins(job_in_[i], position));
    places_[to_index(job_in_[i])] = {position.type, start};
    machine_from = core::saturating_add(start, blocks(of(job_in_[i], position.type), position.type, 1));
  }
  return places_;
}

}  // namespace berth::policy
