#pragma once

#include <vector>

#include "host/reference/capacity.hpp"

/// Sections 2 and 5 of docs/placement.md.
namespace berth::reference {

/// Limits of one trial, and what it reports.
struct Tries {
  kernel::Packing packing;
  std::int32_t max_tries;
  bool ran_out = false;  // some group's tries ran out
};

/// Places all groups of the demand. On success the state is charged (quota apart) and `entries` holds the rows; else both are as before.
bool place_demand(const Ask& ask, State& s, Tries& tries, std::vector<kernel::PlacedRow>& entries);

}  // namespace berth::reference
