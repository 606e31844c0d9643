// qssf: quasi shortest service first.
//
// Key         estimate x GPUs (GPU-microseconds, saturated), computed once, when the job is first seen with an estimate.
//             Not known: INT64_MAX, and computed at a later decision.
// Changes     never.
// Keeps       column `qssf_key`: one row per job in the state, INT64_MAX while not known.
// Source      Helios (SC'21), QSSF: P = GPUs x (lambda x rolling estimate + (1 - lambda) x learned estimate), computed once per
//             job. Its scheduling pass stops at the first job that does not fit. The estimate is that of the state, whose
//             `source` names its origin.
// Parameters  the common ones.

#include "host/core/base/wide.hpp"
#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/job_column.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

class Qssf final : public core::QueuePolicy {
 public:
  void keys(const core::JobColumns& jobs, TimeUs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      const std::string& id = *jobs.id[job];
      // -1 is not a key: keys are never negative.
      const std::int64_t kept = column_.get(id, -1);
      out[i] = kept;
      if (kept != -1 && kept != kNever) continue;
      out[i] = jobs.estimate[job] == kNever ? kNever : core::saturating_mul(jobs.estimate[job], jobs.gpus[job]);
      if (out[i] != kept) column_.set(id, out[i]);
    }
  }
  void next_change(const core::JobColumns&, TimeUs, std::span<const std::int32_t> jobs, std::span<TimeUs> out) override {
    std::fill_n(out.begin(), jobs.size(), kNever);
  }
  void load(const PolicyState& state) override { column_.load(state); }
  void store(PolicyState& state) const override { column_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const override { column_.retain(state, live); }

 private:
  JobColumn column_{"qssf_key"};
};

}  // namespace

core::PolicyEntry qssf_policy() {
  return {.info = {.name = "qssf", .rule = "estimated run time x GPUs, fixed at arrival", .source = "Helios (SC'21), QSSF"},
          .discipline = kernel::Discipline::kStrict,
          .make = make_queue_policy<Qssf>};
}

}  // namespace berth::policy
