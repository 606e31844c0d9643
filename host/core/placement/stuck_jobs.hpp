#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Maximum number of passes of a decision that are made again with such a job first.
constexpr std::size_t kMostStuckJobs = 4;

/// A pass in which the job at `from` came before others of its standing.
struct PassWithFirst {
  std::int32_t from = -1;
  std::span<const std::int32_t> to;  ///< [positions] in this pass, by those of the pass before
  kernel::PlaceResult result;        ///< by the positions of this pass
};

/// Jobs that their queues are entitled to and that hold nothing after a pass of a policy that displaces jobs. The pass may be made again
/// with one of them first (docs/quotas.md, "What happens"). Memory is kept between decisions.
class StuckJobs {
 public:
  /// Positions of such jobs, in order. Only those for which as many GPUs of a type are free, or held by jobs behind them that may be
  /// displaced, as they ask for: others find no place, wherever the jobs before them move to. Jobs that ask for shares of GPUs alone are
  /// none. Under `strict` it is the first job that waits at the most. O(positions + GPUs that jobs hold), with classes of preemption 32
  /// times the positions at the most.
  /// @returns kMostStuckJobs at the most; valid until the next call
  std::span<const std::int32_t> find(const kernel::ProblemView& problem, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                                     const kernel::PlaceResult& result);

  /// The order of another pass, in which the job at `from` comes before others of its standing: all but those that may not be displaced for
  /// it and need as much in one place. @param order  of the pass before; `other` gets the new one
  /// @returns [positions] the position of each job in it; valid until the next call
  std::span<const std::int32_t> put_first(const kernel::ProblemView& problem, const QuotaOrder& quotas, std::span<const std::int32_t> order,
                                          std::int32_t from, std::vector<std::int32_t>& other);

  /// Writes the result of a pass with a job first by the positions of the pass before; entries stay where they are. A job before it that
  /// another one displaced there is displaced by that one here, if it starts or moves.
  void order_as_before(const QuotaOrder& quotas, const kernel::PlaceRequest& request, const kernel::PlaceResult& before,
                       const PassWithFirst& with);

 private:
  std::vector<std::int32_t> stuck_, to_, from_, ints_;
  std::vector<std::int64_t> reach_, own_;  // [types]
  std::vector<kernel::Outcome> outcomes_;
  std::vector<TimeUs> times_;
};

/// Whether the job at `from` starts within its claim, and jobs before it give up nothing for that: they have as many GPUs of the same type
/// as in the pass before. So have those behind it of its standing that it may not displace.
/// @param request  of the pass before, with its classes
bool first_starts(const StateImpl& state, const kernel::ProblemView& problem, const QuotaOrder& quotas, const kernel::PlaceRequest& request,
                  const kernel::PlaceResult& before, const PassWithFirst& with);

}  // namespace berth::core
