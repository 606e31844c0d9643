// edf: earliest deadline first.
//
// Key         deadline (microseconds); none: INT64_MAX, so such jobs come last, by submit.
// Changes     never.
// Source      the classic rule (Liu and Layland 1973), baseline of deadline schedulers such as GENIE (DATE 2019) and Chronus
//             (SoCC'21). No admission control: a job that must miss its deadline keeps its turn.
// Parameters  the common ones.

#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

struct EdfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return jobs.deadline[slot]; }
};

}  // namespace

core::PolicyEntry edf_policy() {
  return {{"edf", "deadline, then submit", "Liu and Layland 1973; baseline of deadline schedulers", "easy", false, with_common("easy")},
          kernel::Discipline::kEasy,
          false,
          false,
          [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<FixedKey<EdfKey>>(); }};
}

}  // namespace berth::policy
