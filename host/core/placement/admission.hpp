#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/state/state_view.hpp"

/// Admission by counts (docs/placement.md, section 11): the jobs that could run if places did not matter. No other job runs, even where
/// an admitted job finds no place and leaves GPUs idle.
namespace berth::core {

class CountedAdmission {
 public:
  /// Moves the admitted jobs to the front; both parts keep their order. Of the running jobs only those that are not admitted stay
  /// victims.
  /// @param taken  GPUs that the pass does not have.
  /// @param running, victim_ok  [positions], as the pass is given them; moved along with the jobs.
  /// @returns the number of admitted jobs.
  std::int32_t admit(const StateImpl& state, const kernel::ProblemView& problem, std::span<const kernel::TakenRow> taken,
                     std::vector<std::int32_t>& order, std::vector<std::uint8_t>& running, std::vector<std::uint8_t>& victim_ok);
  /// After a pass that tried these `admitted` jobs only: the others leave, or wait.
  static void settle(const kernel::PlaceRequest& request, std::int32_t admitted, const kernel::PlaceResult& result);

 private:
  std::vector<std::int64_t> left_;   // [types] millionths of a GPU
  std::vector<std::uint8_t> fixed_;  // by job index; 1: runs, and not in the order or no victim
  struct Behind {
    std::int32_t job;
    std::uint8_t running;
  };
  std::vector<Behind> behind_;
};

}  // namespace berth::core
