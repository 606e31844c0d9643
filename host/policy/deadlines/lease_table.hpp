#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/base/job_column.hpp"
#include "host/policy/deadlines/capacity_line.hpp"

namespace berth::policy {

/// How many leases a time takes, of which instants that are no multiples are in the next one.
inline std::int64_t leases_up(TimeUs time, TimeUs lease) { return core::saturating_add(time, lease - 1) / lease; }
inline TimeUs lease_floor(TimeUs at, TimeUs lease) { return at / lease * lease; }
inline TimeUs lease_ceil(TimeUs at, TimeUs lease) { return leases_up(at, lease) * lease; }

/// Adjacent leases of one job.
struct LeaseRun {
  TimeUs from, to;
  bool operator==(const LeaseRun&) const = default;
};

/// What a job is to get. Each run of leases begins with being displaced and resumed.
struct LeaseNeed {
  std::int64_t gpus;
  TimeUs work, cost;
  TimeUs deadline;
  bool whole;  // in one run
};

/// The latest leases before the deadline that are free and enough; none begins before `from`. @returns whether there are
bool latest_leases(const CapacityLine& line, TimeUs lease, TimeUs from, const LeaseNeed& need, std::vector<LeaseRun>& out);
/// The earliest deadline by which leases from `from` on would be enough; kNever: none.
TimeUs earliest_lease_end(const CapacityLine& line, TimeUs lease, TimeUs from, const LeaseNeed& need);

/// Leases of jobs in a PolicyState: columns `lease_from_us_N` and `lease_to_us_N`, where N counts the runs of leases.
class LeaseTable {
 public:
  static constexpr std::size_t kMostRuns = 64;

  void load(const PolicyState& state);
  void store(PolicyState& state) const;
  void retain(PolicyState& state, const core::LiveJobs& live) const;

  void read(const std::string& id, std::vector<LeaseRun>& out) const;
  void set(const std::string& id, const std::vector<LeaseRun>& runs);

 private:
  struct Columns {
    JobColumn from, to;
  };
  void grow(std::size_t runs);

  const PolicyState* state_ = nullptr;
  std::vector<Columns> columns_;
  std::size_t used_ = 0;  // columns that have rows
};

}  // namespace berth::policy
