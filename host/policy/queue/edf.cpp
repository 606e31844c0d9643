// edf: earliest deadline first.
//
// Key         deadline (microseconds); none: INT64_MAX, so that such jobs come last, by submit.
// Changes     never; a step of a deadline that has passed gives way to the next one with the event that tells the time.
// Source      the classic rule (Liu and Layland 1973), baseline of deadline schedulers such as GENIE (DATE 2019) and Chronus
//             (SoCC'21). No admission control: a job that must miss its deadline keeps its position.
// Parameters  the common ones.

#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

struct EdfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return jobs.deadline[job]; }
};

}  // namespace

core::PolicyEntry edf_policy() {
  return {.info = {.name = "edf", .rule = "deadline, then submit", .source = "Liu and Layland 1973; baseline of deadline schedulers"},
          .discipline = kernel::Discipline::kEasy,
          .make = make_queue_policy<FixedKey<EdfKey>>};
}

}  // namespace berth::policy
