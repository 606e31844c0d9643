#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/core/shape_policy.hpp"
#include "host/core/wide.hpp"
#include "host/policy/shape_steps.hpp"

namespace berth::bench {

/// Greedy filling by SRUF, smallest remaining utilisation first: the fill of ONES (docs/ones.md, section 5) alone, of an empty schedule,
/// without population, limits or draws.
///
/// Turn    jobs by the GPU-time that is left to them in their smallest shape (that of ShapeSteps::smallest, while all GPUs are free),
///         least first; then by rank.
/// Begin   in turn everybody gets his smallest shape that fits.
/// Fill    in turn everybody gets his largest shape of that GPU type that fits; of equals the quickest, then the first.
///
/// Ours is what ONES leaves to its other parts: run times are those of the state, a job may grow at once to any of its shapes, and who
/// runs has no advantage but that he stays on his GPU type.
class SrufFill final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override;

 private:
  policy::ShapeSteps steps_;
  std::vector<std::pair<core::Wide, std::int32_t>> turns_;  // GPU-time left, job
};

}  // namespace berth::bench
