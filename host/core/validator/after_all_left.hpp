#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"
#include "host/core/validator/quota_recount.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// What is free after a plan, and without all jobs that may be displaced for those that their queues are entitled to.
class AfterAllLeft {
 public:
  /// The state must outlive it. O(jobs + nodes).
  AfterAllLeft(const StateImpl& state, const Plan& plan, const QuotaRecount& recount);
  /// The same, as if one job had not started, and displaced jobs stayed that are within a guarantee where the oldest jobs count first.
  AfterAllLeft(const StateImpl& state, const Plan& plan, const QuotaRecount& recount, std::int32_t without);

  /// Where `true`, it may also have none. O(nodes * options).
  bool has_room(std::int32_t job) const;

 private:
  bool stays(const Decision& decision) const;
  bool has_quota(std::int32_t job, const kernel::DemandRow& demand) const;
  std::int64_t to_parent(std::size_t cell, std::int64_t used) const;
  std::size_t cell(std::int32_t queue, std::int32_t column) const;
  void charge(std::int32_t job, std::int32_t type, std::int64_t quota);
  /// @param sign  1: leaves; -1: is back
  void release(std::int32_t job, std::int64_t sign);
  void take(const Plan& plan, const Decision& decision);

  const StateImpl& s_;
  const kernel::ProblemView& p_;
  std::vector<std::int64_t> used_;  // as StateImpl::queue_used
  std::vector<std::uint64_t> free_;
  std::vector<std::int64_t> cpu_, memory_;
};

}  // namespace berth::core
