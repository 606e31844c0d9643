#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "berth/job.hpp"

namespace berth::sim {

/// A group whose members are all wanted.
inline Group make_group(std::string name, std::string parent, std::string role, std::int32_t members, std::int32_t gpus) {
  Group group;
  group.name = std::move(name);
  group.parent = std::move(parent);
  group.role = std::move(role);
  group.members_min = group.members_want = group.members_max = members;
  group.gpus_per_member = gpus;
  return group;
}

}  // namespace berth::sim
