#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/base/shape_steps.hpp"

namespace berth::bench {

/// Greedy filling by SRUF, smallest remaining utilisation first: the fill of ONES (docs/ones.md, section 5) alone, of an
/// empty schedule, without population, limits or draws.
///
/// Order   jobs by their remaining GPU-time in their smallest shape (that of ShapeSteps::smallest, while all GPUs are
///         free), lowest first; then by rank.
/// Begin   each job in order gets its smallest shape that fits.
/// Fill    each job in order gets its largest shape of that GPU type that fits; of equals the fastest, then the first.
///
/// Our own additions are what ONES leaves to its other parts: run times are those of the state, and a job may grow at
/// once to any of its shapes. A running job has no advantage except that it stays on its GPU type.
class SrufFill final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override;

 private:
  policy::ShapeSteps steps_;
  std::vector<std::pair<core::Wide, std::int32_t>> fill_order_;  // GPU-time left, job
};

}  // namespace berth::bench
