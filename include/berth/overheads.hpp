#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/job.hpp"
#include "berth/units.hpp"

namespace berth {

/// Time that changes cost the jobs of one model in a simulation.
struct ModelOverheads {
  TimeUs start_us = 0;  ///< at the first start: the job has its GPUs but does no work yet
  Costs costs;
  bool operator==(const ModelOverheads&) const = default;
};

/// A `berth.overheads.v1` document: costs by model, for a simulation.
struct Overheads {
  std::string name;
  ModelOverheads general;                                      ///< of models that are not listed
  std::vector<std::pair<std::string, ModelOverheads>> models;  ///< by name
  Extensions x;
  bool operator==(const Overheads&) const = default;

  const ModelOverheads& of(std::string_view model) const {
    for (const auto& [known, costs] : models) {
      if (known == model) return costs;
    }
    return general;
  }
};

}  // namespace berth
