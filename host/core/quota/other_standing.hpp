#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// A running job that may be displaced.
struct DisplaceableJob {
  std::int32_t job = -1;
  bool borrows = false;  ///< as jobs are counted now
};

/// Jobs that together make room for a job in one domain, if they are counted last among those of their queues and so borrow.
struct OtherStanding {
  std::vector<std::int32_t> jobs;
  std::int64_t gpus = 0;  ///< of those that do not borrow now, in millionths
};

/// Looks for jobs to count last, so that a job fits: in each domain that it may use, node by node, the fewest GPUs of jobs that do not
/// borrow now. From each queue it takes no more of them than jobs of that queue borrow elsewhere. What it finds may be too little, as nodes
/// are judged by their GPUs alone.
/// @param demand   row of the problem: a flat gang of whole GPUs
/// @param running  those first that leave first
/// @param most     how many to return at most: first the ones with the least `gpus`
/// O(nodes log nodes + GPUs that running jobs hold).
std::vector<OtherStanding> other_standings(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t demand,
                                           std::span<const DisplaceableJob> running, std::size_t most);

/// GPUs of running jobs within guarantees, and within guarantees or fair shares: [queues * 2], in millionths.
/// @param standing  [jobs] QuotaStanding
std::vector<std::int64_t> amounts_within(const StateImpl& state, std::span<const std::int32_t> running,
                                         std::span<const std::uint8_t> standing);
/// Whether no queue has less in `now`.
bool none_has_less(std::span<const std::int64_t> now, std::span<const std::int64_t> before);

}  // namespace berth::core
