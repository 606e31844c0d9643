#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/kernel/price/columns.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_view.hpp"

namespace berth {}

namespace berth::core {

/// The integer program that a policy's upper bound is for (docs/prices.md section 1), with names, so that other solvers
/// can solve it.
struct ShapeProgram {
  std::string policy, objective;
  std::vector<std::int64_t> capacity;      // [types]
  std::vector<std::int32_t> option_begin;  // [jobs + 1]
  std::vector<std::int32_t> type, gpus;    // [options]
  std::vector<std::int64_t> value;         // [options]
  std::vector<std::string> type_id;        // [types]
  std::vector<std::string> job_id;         // [jobs]
  std::vector<std::string> shape_id;       // [options]

  kernel::PriceView view() const;
};

/// @throws InvalidArgument, with the policies that have a bound, for one that orders jobs.
void require_bound(const std::string& policy);
/// @throws InvalidArgument also for a policy with another program, with what it has instead.
void require_program(const std::string& policy);

/// @throws InvalidArgument as require_program, and for parameters that the policy does not have.
ShapeProgram shape_program(const StateView& state, const std::string& policy, const Params& params);

}  // namespace berth::core
