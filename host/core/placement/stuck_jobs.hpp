#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// With so many jobs first a pass is made again at most.
constexpr std::size_t kMostStuckJobs = 4;

/// After a pass of a policy that displaces jobs: positions of jobs that their queues are entitled to and that hold nothing, in order. Only
/// those for which as many GPUs of a type are free, or held by jobs behind them that may be displaced, as they ask for: others find no
/// place, wherever the jobs before them move to. O(positions * types + GPUs that jobs hold).
/// @param most  how many at most
std::vector<std::int32_t> stuck_jobs(const kernel::ProblemView& problem, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                                     const kernel::PlaceResult& result, std::size_t most);

/// The order of another pass, in which the job at `from` comes before others of its standing: all but those that may not be displaced for
/// it and need as much in one place. @param order  of the pass before; `other` gets the new one, and `to` the position of each job in it
void put_stuck_first(const kernel::ProblemView& problem, const QuotaOrder& quotas, std::span<const std::int32_t> order, std::int32_t from,
                     std::vector<std::int32_t>& other, std::vector<std::int32_t>& to);

/// A pass in which the job at `from` came before others of its standing.
struct PassWithFirst {
  std::int32_t from = -1;
  std::span<const std::int32_t> to;  ///< [positions] in this pass, by those of the pass before
  kernel::PlaceResult result;        ///< by the positions of this pass
};

/// Whether that job starts within its claim, and jobs before it give up nothing for that: they have as many GPUs of the same type as in the
/// pass before. So have those behind it of its standing that it may not displace.
/// @param request  of the pass before, with its classes
bool first_starts(const StateImpl& state, const kernel::ProblemView& problem, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                  const kernel::PlaceResult& before, const PassWithFirst& with);

/// Writes the result by the positions of the pass before. A job that another displaced there is displaced by that one.
void order_as_before(const kernel::PlaceRequest& request, const kernel::PlaceResult& before, const PassWithFirst& with);

}  // namespace berth::core
