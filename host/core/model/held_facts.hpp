#pragma once

#include <cstdint>
#include <vector>

#include "host/core/model/cluster_facts.hpp"

namespace berth::core {

/// Members and GPUs per member as the description of a group states them, flat gangs included.
struct GroupFacts {
  std::int32_t members = 0;   // requested, spares included, whole segments
  std::int32_t smallest = 0;  // the fewest that an elastic gang starts with, whole segments; equal to `members` for a fixed one
  std::int32_t gpus = 1;      // per member
  std::int32_t share_ppm = kWholeGpu;
  std::int32_t wanted = 0;  // without spares, whole segments
};

inline std::int32_t group_count(const Shape& shape) { return shape.groups.empty() ? 1 : static_cast<std::int32_t>(shape.groups.size()); }
GroupFacts group_facts(const Shape& shape, std::int32_t group);
/// Whole GPUs of all groups; shares count 0. `smallest`: with every group's smallest member count.
std::int64_t whole_gpus(const Shape& shape, bool smallest = false);
/// Its quota use, millionths of a GPU, shares included.
std::int64_t quota_of(const Shape& shape, bool smallest = false);
/// True when some group has a smallest count of its own.
bool is_elastic(const Shape& shape);
/// Index of the shape of that id, -1: none.
std::int32_t find_shape(const Job& job, const std::string& id);

/// Appends what a running job's allocation holds, entry by entry. It is the only conversion of described allocations to
/// rows.
void append_held(const ClusterFacts& facts, const Job& job, std::int32_t shape, std::vector<HeldFact>& out);

}  // namespace berth::core
