#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/kernel/base/plan_terms.hpp"
#include "berth/plan.hpp"
#include "host/core/choice/link_load.hpp"
#include "host/core/policy_api/objective.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// An entry of the list of terms.
struct PlanTermInfo {
  std::string_view name;
  std::string_view rule;  // what it takes into account
  std::string_view source;
  kernel::PlanTerm term;
};

/// In the order of kernel::PlanTerm.
std::span<const PlanTermInfo> plan_terms();

/// Whether a term depends on the places of a plan, not on the values of options.
bool is_of_places(kernel::PlanTerm term);

/// A plan, and the options that it is made of.
struct PlacedChoice {
  std::span<const ChoiceOption> options;  // of the choice
  std::span<const std::int64_t> value;    // of the options
  const ShapeValues& values;
  const Plan& plan;
  std::span<const std::int32_t> option;  // [decisions] the option in which the job runs, -1: not part of the choice
};

/// What the places of a plan subtract from the values of its options. Memory is kept between plans.
class PlanTerms {
 public:
  void set(const StateImpl& state, kernel::PlanTermSet terms, const PlacedChoice& placed);
  /// Loss by that term, >= 0; 0 where it is off or is part of the values of options.
  std::int64_t loss(kernel::PlanTerm term) const { return loss_[static_cast<std::size_t>(term)]; }
  /// [types][kMaxGpusPerNode + 1] loss by a node with N idle GPUs.
  std::span<const std::int64_t> fragments(const StateImpl& state, std::span<const ChoiceOption> options,
                                          std::span<const std::int64_t> value);

 private:
  void add(kernel::PlanTerm term, std::int64_t loss);
  void add_of_jobs(const StateImpl& state, kernel::PlanTermSet terms, const PlacedChoice& placed);
  void add_fragmentation(const StateImpl& state, const PlacedChoice& placed);

  std::array<std::int64_t, kernel::kPlanTerms> loss_{};
  LinkLoad links_;
  std::vector<std::int64_t> larger_ppm_;           // [types][kMaxGpusPerNode + 1] fraction of the jobs that need more than N GPUs of a node
  std::vector<std::int64_t> fragment_;             // [types][kMaxGpusPerNode + 1]
  std::vector<std::int64_t> jobs_, gpus_, value_;  // [types] jobs with an option of the type; GPUs that they request; values of these
  std::vector<std::int32_t> seen_;                 // [types] the last such job
  std::vector<std::uint64_t> used_;                // [nodes]
};

}  // namespace berth::core
