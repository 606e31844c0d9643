// qssf: quasi shortest service first.
//
// Key         estimate x GPUs (GPU-microseconds, saturated), computed when the job is first seen with an estimate and never again.
//             Not known: INT64_MAX, asked again at the next decision.
// Changes     never.
// Keeps       column `qssf_key`: one row per job in the state, INT64_MAX while not known.
// Source      Helios (SC'21), QSSF: P = GPUs x (lambda x rolling estimate + (1 - lambda) x learned estimate), computed once per
//             job, queue walked in that order and stopped at the first job that does not fit. The estimate is the
//             state's; who made it stands in its `source`.
// Parameters  the common ones.

#include "host/core/wide.hpp"
#include "host/policy/fixed_key.hpp"
#include "host/policy/job_column.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

class Qssf final : public core::QueuePolicy {
 public:
  void keys(const core::JobColumns& jobs, TimeUs, std::span<const std::int32_t> slots, std::span<std::int64_t> out) override {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int32_t slot = slots[i];
      const std::string& id = *jobs.id[slot];
      // -1 is no key: those are never negative.
      const std::int64_t kept = column_.get(id, -1);
      out[i] = kept;
      if (kept != -1 && kept != kNever) continue;
      out[i] = jobs.estimate[slot] == kNever ? kNever : core::saturating_mul(jobs.estimate[slot], jobs.gpus[slot]);
      if (out[i] != kept) column_.set(id, out[i]);
    }
  }
  void next_change(const core::JobColumns&, TimeUs, std::span<const std::int32_t> slots, std::span<TimeUs> out) override {
    std::fill_n(out.begin(), slots.size(), kNever);
  }
  void load(const PolicyState& state) override { column_.load(state); }
  void store(PolicyState& state) const override { column_.store(state); }
  void retain(PolicyState& state, const core::LiveJobs& live) const override { column_.retain(state, live); }

 private:
  JobColumn column_{"qssf_key"};
};

}  // namespace

core::PolicyEntry qssf_policy() {
  return {{"qssf", "estimated run time x GPUs, fixed at arrival", "Helios (SC'21), QSSF", "hol", false, with_common("hol")},
          kernel::Discipline::kHol,
          false,
          false,
          [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<Qssf>(); }};
}

}  // namespace berth::policy
