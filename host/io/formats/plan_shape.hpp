#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "berth/job.hpp"
#include "berth/plan.hpp"

namespace berth::io {

/// Number of members that the GPUs of an entry form in its shape; files omit it.
inline std::int32_t members_of(const Shape* shape, const PlanEntry& entry) {
  std::int32_t gpus_per_member = 1;
  const auto group = static_cast<std::size_t>(entry.group);
  if (shape != nullptr && group < shape->groups.size() && shape->groups[group].gpus_per_member > 0) {
    gpus_per_member = shape->groups[group].gpus_per_member;
  }
  return std::popcount(entry.gpus) / gpus_per_member;
}

}  // namespace berth::io
