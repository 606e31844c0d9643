#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/base/name_source.hpp"

namespace berth::report {

enum class DifferenceKind : std::uint8_t { kRunsOnlyInFirst, kRunsOnlyInSecond, kOtherShape, kOtherPlace, kOtherAction };

/// A difference between two plans' decisions about one job.
struct Difference {
  DifferenceKind kind = DifferenceKind::kOtherAction;
  std::int32_t job = -1;     ///< index of the job
  std::int32_t first = -1;   ///< index in the first plan's decisions
  std::int32_t second = -1;  ///< index in the second plan's decisions
  bool operator==(const Difference&) const = default;
};

/// Two plans of one state, for example by two policies. Pointers to the plans must stay valid.
struct Comparison {
  const Plan* first = nullptr;
  const Plan* second = nullptr;
  std::int64_t same = 0;                ///< jobs with equal decisions
  std::vector<Difference> differences;  ///< by kind, then in the order of the first plan (job rank)
};

/// Where both plans let a job run, a different shape counts before a different place; the order of a gang's entries
/// does not matter.
/// @throws InvalidArgument when the plans are not about the same jobs in the same order.
Comparison compare_plans(const Plan& first, const Plan& second);

/// Totals next to each other, then each kind of difference with its jobs, at most `most` per kind (0: all).
std::string to_text(const core::NameSource& names, const Comparison& comparison, std::size_t most = 20);

/// {"first":{"policy",...totals},"second":{...},"same","differences":[{"kind","job","first":{"action","shape","gpus","where"},"second":{...}}]}
std::string to_json(const core::NameSource& names, const Comparison& comparison);

}  // namespace berth::report
