#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/policy_api/shape_policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::bench {

/// The integer optimum of the choice (docs/prices.md, section 1) by GLPK, to its tolerance (1e-7): which jobs run in
/// which option within the GPUs of each type. Places are ignored, so no plan of a separable sum has a higher value, and
/// maybe none reaches it.
struct SolvedChoice {
  bool ended = false;
  double seconds = 0;
  std::int64_t value = 0;
  std::vector<std::int32_t> options;  // chosen options: rows of the choice, ascending
};

/// Whether this benchmark was built with GLPK.
bool has_solver();
/// @param by  plan of a policy with a bound: the choice uses its objective and terms
/// @param most_s  for the relaxation, and again for the integer program
SolvedChoice solve_choice(const StateImpl& state, const Plan& by, double most_s);

/// Returns the solved choice, so that the scheduling pass makes its plan.
class AsSolved final : public core::ShapePolicy {
 public:
  explicit AsSolved(const SolvedChoice& solved) : solved_(solved) {}
  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override;

 private:
  const SolvedChoice& solved_;
};

}  // namespace berth::bench
