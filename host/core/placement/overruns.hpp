#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Corrects outcomes after placement: the pass predicts the end of a job at its tightest placement, and the actual one
/// may take longer. Jobs that would outstay their nodes then wait. A reservation of what another job still has when it
/// begins is dropped, be it GPUs or a part of a queue's limit. No other job moves up.
class Overruns {
 public:
  void withdraw(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                const kernel::PlaceResult& result);
  /// Jobs that the last call withdrew, and that had displaced others.
  std::span<const std::int32_t> displacers() const { return displacers_; }
  /// Whether a job would end later than a node that it would begin on at `start`. @param option  of the job
  bool outstays(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job, std::int32_t option,
                std::span<const kernel::PlacedRow> rows, TimeUs start);

 private:
  /// One entry of a reserved job.
  struct ReservedEntry {
    std::int32_t node;
    TimeUs start;
    std::int32_t position;
    std::uint64_t mask;
  };

  TimeUs finish(const StateImpl& state, const kernel::ProblemView& problem, std::int32_t job, std::int32_t option,
                std::span<const kernel::PlacedRow> rows, TimeUs start);
  static bool returns(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                      const kernel::PlaceResult& result, std::int32_t i);
  void find_reserved(const StateImpl& state, const kernel::PlaceRequest& request, const kernel::PlaceResult& result);
  /// Drops reservations that begin between the predicted end of the job at position i and its actual one.
  void drop_delayed(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                    const kernel::PlaceResult& result, std::int32_t i, TimeUs start);

  /// Drops reservations for which queues have no room when they begin.
  void drop_over_limits(const StateImpl& state, const kernel::ProblemView& problem, const kernel::PlaceRequest& request,
                        const kernel::PlaceResult& result);

  /// What queues get back when a job ends.
  struct QuotaBack {
    TimeUs at;
    std::int32_t job, type;
    std::int64_t quota;
    bool operator>(const QuotaBack& o) const { return at > o.at; }
  };

  std::vector<std::int32_t> displacers_;
  bool queues_late_ = false;           // a job of some queue ends later than the pass predicted
  std::vector<std::int64_t> charged_;  // [queues * (types + 1)] as ProblemView::queue_used, at an instant
  std::vector<QuotaBack> ends_;        // a heap, the first end on top
  std::vector<std::uint8_t> gone_;     // [jobs] displaced
  std::vector<PlanEntry> entries_;
  std::vector<ReservedEntry> reserved_;                  // by (node, start, position)
  std::vector<std::pair<TimeUs, std::int32_t>> starts_;  // of jobs that start now or later, with their positions
};

}  // namespace berth::core
