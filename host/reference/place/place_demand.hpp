#pragma once

#include <vector>

#include "host/reference/place/capacity.hpp"

/// Sections 2 and 5 of docs/placement.md.
namespace berth::reference {

/// Limits of one trial, and its report.
struct Tries {
  kernel::Packing packing;
  std::int32_t max_tries;
  bool ran_out = false;  // some group ran out of tries
};

/// Places all groups of the demand. On success the state is charged (except quota) and `entries` holds the rows.
/// Otherwise both are unchanged.
bool place_demand(const Trial& ask, State& s, Tries& tries, std::vector<kernel::PlacedRow>& entries);

}  // namespace berth::reference
