#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/shape_policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::bench {

/// The integer optimum of the choice (docs/prices.md, section 1) by GLPK, as far as it tells choices apart (1e-7): who runs in which shape
/// within the GPUs of each type. Places are no part of it, so that no plan of a separable sum is worth more, and perhaps none as much.
struct SolvedChoice {
  bool ended = false;
  double seconds = 0;
  std::int64_t value = 0;
  std::vector<std::int32_t> options;  // that are taken: rows of the choice, ascending
};

/// Whether this benchmark was built with GLPK.
bool has_solver();
/// @param by  plan of a policy that has a bound: the choice with its objective and terms
/// @param most_s  for the relaxation, and again for the whole numbers
SolvedChoice solve_choice(const StateImpl& state, const Plan& by, double most_s);

/// Gives what was solved: its plan is what the walk makes of it.
class AsSolved final : public core::ShapePolicy {
 public:
  explicit AsSolved(const SolvedChoice& solved) : solved_(solved) {}
  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override;

 private:
  const SolvedChoice& solved_;
};

}  // namespace berth::bench
