#pragma once

#include <cstdint>
#include <functional>
#include <vector>

/// Chronus' integer program: which leases jobs get. The policy `chronus` packs greedily; comparisons set a solver.
namespace berth::policy {

/// A step of a deadline.
struct LeaseOption {
  std::int64_t available = 0;  ///< leases before it, from the first on
  std::int64_t value = 1;      ///< of completing by then
};

struct LeaseJob {
  std::int64_t gpus = 0;
  std::int64_t needed = 0;           ///< leases
  std::vector<LeaseOption> options;  ///< ascending, values fall; at least one
  bool accepted = false;             ///< it has to get its leases
};

struct LeaseQuestion {
  std::vector<std::int64_t> free;  ///< GPUs in each lease
  bool spares_first = false;       ///< other jobs could use the first lease
  std::vector<LeaseJob> jobs;
};

/// Lease indices of each job, ascending; none: it gets no lease.
using LeaseAnswer = std::vector<std::vector<std::int32_t>>;
/// @returns false where it found no answer: the greedy packing decides
using LeasePlanner = std::function<bool(const LeaseQuestion&, LeaseAnswer&)>;

/// Plans the leases of each later `chronus` of this process. Not for concurrent decisions. Empty: none.
void set_lease_planner(LeasePlanner solver);

}  // namespace berth::policy
