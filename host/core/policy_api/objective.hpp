#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "berth/kernel/price/objective.hpp"
#include "host/core/policy_api/flow_time.hpp"
#include "host/core/policy_api/search_settings.hpp"

namespace berth {
class StateImpl;
}

/// Values of options in the current state: the terms of the sum of `price` and `bound`.
namespace berth::core {

/// An entry of the list of objectives.
struct ObjectiveInfo {
  std::string_view name;
  std::string_view rule;  // what its sum counts
  std::string_view source;
  kernel::Objective objective;
};

/// By name.
std::span<const ObjectiveInfo> objectives();

std::string_view objective_name(kernel::Objective objective);

/// Settings of a choice.
struct ChoiceSettings {
  kernel::Objective objective = kernel::Objective::kGoodput;
  kernel::Power power = kernel::Power::kMinusOne;
  TimeUs horizon = 0;          // time for which a choice is expected to stand: the cost of a change is spread over it
  std::int64_t gap_ppm = 100;  // good enough
  std::int32_t most_evaluations = 200;
  kernel::PlanTermSet terms = 1U << static_cast<std::int32_t>(kernel::PlanTerm::kRestart);
  bool sia_shapes = false;  // only options that Sia would consider (host/core/policy_api/sia_shapes.hpp)
  SearchSettings search;    // over whole plans, after the choice
};

/// One option that may be chosen.
struct ChoiceOption {
  std::int32_t job;
  std::int32_t option;  // index in the job's options
  std::int32_t type;
  std::int32_t gpus;
  bool current;  // the job runs in it
  bool operator==(const ChoiceOption&) const = default;
};

/// The options to compute values for.
struct OptionsToValue {
  std::span<const ChoiceOption> options;     // options of one job are adjacent
  const std::int32_t* all_begin;             // [jobs + 1] of a job's options, including those without a value here
  std::span<const std::uint8_t> impossible;  // [all options] 1: the job can never run in it
  std::span<const std::uint8_t> lost;        // [jobs of the state] 1: its GPUs have failed, so that it waits
};

/// Computes values. Memory is kept between calls. So are the speeds and costs of a job's shapes until the job changes,
/// and their values under objectives that do not depend on time. All calls must be on the same state.
class ShapeValues {
 public:
  /// The value of each option.
  void set(const StateImpl& state, const ChoiceSettings& settings, const OptionsToValue& asked, std::vector<std::int64_t>& values);
  /// [options] of the last call: the terms of the values.
  std::span<const kernel::ShapeTerms> shapes() const { return last_.shapes; }
  /// How much lower the value of an option of the last call is with other terms than with its own. At most its whole
  /// value: running is never worse than waiting.
  std::int64_t loss(std::size_t option, const kernel::ShapeTerms& instead) const;

 private:
  /// What values depend on besides the state, where they are kept.
  struct Rules {
    kernel::Objective objective{};
    kernel::Power power{};
    TimeUs horizon = 0;
    kernel::PlanTermSet terms = 0;
    bool sia_shapes = false;
    bool operator==(const Rules&) const = default;
  };
  /// Position of a job's options in an earlier call, and the terms of their values.
  struct Before {
    std::uint64_t call = 0, version = 0;
    std::size_t first = 0, last = 0;
    std::int64_t reference = 0;
    bool restarted = false;
  };

  /// The options of one call, and what is kept of their values.
  struct ValuedOptions {
    std::vector<ChoiceOption> options;
    std::vector<kernel::ShapeTerms> shapes;
    std::vector<std::int64_t> unshifted;  // values without the common shift
  };

  ValuedOptions begin_call(const ChoiceSettings& settings, std::size_t jobs, std::span<const ChoiceOption> options);
  bool copy_from_before(const ValuedOptions& previous, const Before& before, std::span<const ChoiceOption> options, std::size_t first);
  void add_up(const StateImpl& state, const ChoiceSettings& settings, std::span<const ChoiceOption> options,
              std::vector<std::int64_t>& values);
  void rank_jobs(std::span<const ChoiceOption> options);
  std::int64_t least_speed(const StateImpl& state, const ChoiceSettings& settings, const OptionsToValue& of_job, std::int64_t reference);

  const kernel::JobTerms& job_of(std::size_t option) const { return jobs_[static_cast<std::size_t>(job_of_[option])]; }

  kernel::ObjectiveTerms terms_{};
  ValuedOptions last_;                  // of the last call
  std::vector<kernel::JobTerms> jobs_;  // of those that have options
  std::vector<std::int32_t> job_of_;    // [options] index in jobs_
  std::vector<std::int64_t> type_gpus_;
  // Of `flow_time`.
  std::vector<std::int32_t> job_priority_;
  PriorityFactors priorities_;
  std::vector<RankedJob> ranked_jobs_;
  FlowRanks ranks_;
  // Of the previous call.
  Rules rules_;
  std::uint64_t call_ = 0;
  std::vector<Before> before_;  // [jobs of the state]
  ValuedOptions spare_;         // memory for the next call
  // Of one job, including those that do not fit now.
  std::vector<ChoiceOption> all_;
  std::vector<std::uint8_t> considered_;  // by Sia
};

}  // namespace berth::core
