#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/kernel/plan_terms.hpp"
#include "berth/plan.hpp"
#include "host/core/link_load.hpp"
#include "host/core/objective.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// A line of the list of terms.
struct PlanTermInfo {
  std::string_view name;
  std::string_view rule;  // what it takes into account
  std::string_view source;
  kernel::PlanTerm term;
};

/// In the order of kernel::PlanTerm.
std::span<const PlanTermInfo> plan_terms();

/// Whether a term is counted where the plan lies, not in the values of shapes.
bool is_of_places(kernel::PlanTerm term);

/// A plan, and whose shapes it is made of.
struct PlacedChoice {
  std::span<const ChoiceOption> options;  // of the choice
  std::span<const std::int64_t> value;    // of the options
  const ShapeValues& values;
  const Plan& plan;
  std::span<const std::int32_t> row;  // [decisions] the option in which the job runs, -1: not one of the choice
};

/// What the places of a plan take from what its shapes are worth. Memory is kept between plans.
class PlanTerms {
 public:
  void set(const StateImpl& state, kernel::PlanTermSet terms, const PlacedChoice& placed);
  /// By that term, >= 0; 0 where it is off or is counted in the values of shapes.
  std::int64_t loss(kernel::PlanTerm term) const { return loss_[static_cast<std::size_t>(term)]; }
  /// [types][kMaxGpusPerNode + 1] what is lost by a node with so many idle GPUs.
  std::span<const std::int64_t> fragments(const StateImpl& state, std::span<const ChoiceOption> options,
                                          std::span<const std::int64_t> value);

 private:
  void add(kernel::PlanTerm term, std::int64_t loss);
  void add_of_jobs(const StateImpl& state, kernel::PlanTermSet terms, const PlacedChoice& placed);
  void add_fragmentation(const StateImpl& state, const PlacedChoice& placed);

  std::array<std::int64_t, kernel::kPlanTerms> loss_{};
  LinkLoad links_;
  std::vector<std::int64_t> larger_ppm_;           // [types][kMaxGpusPerNode + 1] of the jobs: need more than so many GPUs of a node
  std::vector<std::int64_t> fragment_;             // [types][kMaxGpusPerNode + 1]
  std::vector<std::int64_t> jobs_, gpus_, worth_;  // [types] that have an option of it; that they ask for; of one of these
  std::vector<std::int32_t> seen_;                 // [types] the last such job
  std::vector<std::uint64_t> used_;                // [nodes]
};

}  // namespace berth::core
