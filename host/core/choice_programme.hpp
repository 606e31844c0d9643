#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/kernel/choice.hpp"
#include "host/core/policy.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// The integer programme that a policy's bound is one of (docs/prices.md section 1), with names, so that others can solve it.
struct ChoiceProgramme {
  std::string policy, objective;
  std::vector<std::int64_t> capacity;      // [types]
  std::vector<std::int32_t> option_begin;  // [jobs + 1]
  std::vector<std::int32_t> type, gpus;    // [options]
  std::vector<std::int64_t> value;         // [options]
  std::vector<std::string> type_id;        // [types]
  std::vector<std::string> job_id;         // [jobs]
  std::vector<std::string> shape_id;       // [options]

  kernel::ChoiceView view() const;
};

/// @throws InvalidArgument, with the policies that have a bound, for one that orders jobs.
void require_bound(const std::string& policy);
/// @throws InvalidArgument also for a policy whose own programme is another, with what it has instead.
void require_programme(const std::string& policy);

/// @throws InvalidArgument as require_programme, and for parameters that the policy does not have.
ChoiceProgramme choice_programme(const StateImpl& state, const std::string& policy, const Params& params);

}  // namespace berth::core
