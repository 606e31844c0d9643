#include "host/core/kept/stuck_reach.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

const StuckReach::OfType& StuckReach::of_type(std::int32_t gpu_type) {
  for (std::size_t i = 0; i < n_types_; ++i) {
    if (types_[i].type == gpu_type) return types_[i];
  }
  if (types_.size() == n_types_) types_.emplace_back();
  OfType& of = types_[n_types_++];
  of.type = gpu_type;
  of.within.clear();
  of.borrowed = pass_->free_after(gpu_type);
  const auto gpus_in = [&](const auto& rows) {
    std::int64_t gpus = 0;
    for (const auto& row : rows) gpus += s_->node.type[to_index(row.node)] == gpu_type ? std::popcount(row.mask) : 0;
    return gpus;
  };
  const auto add = [&](const OrderPlace& place, std::int64_t gpus) {
    if (place.level == 0) {
      of.borrowed += gpus;
    } else if (gpus > 0) {
      of.within.push_back({place, gpus});
    }
  };
  for (const PassChange& change : pass_->changes()) {
    if (change.option < 0) continue;
    add(change.place, gpus_in(pass_->entries().subspan(to_index(change.entry_begin), to_index(change.entry_end - change.entry_begin))));
  }
  for (const std::size_t part : {KeptPass::part_of(gpu_type), KeptPass::kSeveralTypes}) {
    if (part >= running_->parts()) continue;
    for (const OrderPlace& one : running_->stored_in(part)) {
      if (pass_->change_of(one.job) != nullptr) continue;
      // The key of one that borrows does not matter.
      const std::int64_t key = one.level == 0 ? one.key : keys_->key_of(one.job);
      add({key, one.label, one.job, one.level}, gpus_in(s_->jobs[to_index(one.job)].held));
    }
  }
  std::sort(of.within.begin(), of.within.end());
  std::int64_t sum = 0;
  for (auto one = of.within.rbegin(); one != of.within.rend(); ++one) one->with_behind = sum += one->gpus;
  return of;
}

bool StuckReach::has(const OrderPlace& place, std::int32_t gpu_type, std::int64_t gpus) {
  const OfType& of = of_type(gpu_type);
  const auto behind = std::upper_bound(of.within.begin(), of.within.end(), Within{place});
  if (!class_rule_) return of.borrowed + (behind == of.within.end() ? 0 : behind->with_behind) >= gpus;
  const std::vector<std::int32_t>& classes = s_->job.preemption_class;
  std::int64_t reach = of.borrowed;
  for (auto one = behind; one != of.within.end(); ++one) {
    if (classes[to_index(one->place.job)] < classes[to_index(place.job)]) reach += one->gpus;
  }
  return reach >= gpus;
}

}  // namespace berth::core
