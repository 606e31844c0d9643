// gandiva: round robin with time slices of one quantum.
//
// Rounds      time is divided at the multiples of `quantum_s`. All time slices end with their round, so that GPUs for a large job
//             become free at once.
// Key         first the jobs that got their GPUs in this round, which no job displaces. Then the others by the round in which they
//             began to wait; a running job counts as if it began with this round. So at the start of a round waiting jobs displace
//             running ones. A displaced or new job is behind all others until the next round. Among running jobs, those with GPUs
//             for fewer rounds come first; the rest is by job rank.
// Places      a job that was measured to be slower across nodes (or racks) waits for GPUs of one node (rack): consolidated=measured.
//             Its next time slice takes them from other jobs.
// Changes     of running jobs, when the round ends. Waiting jobs keep their keys.
// Fairness    no job waits forever: those before it get their time slice, then come behind it. A new job has no claim to time slices
//             from before it arrived, unlike under least attained service.
// Source      Gandiva (OSDI'18): GPUs with excess demand are time-sliced in rounds of about a minute by suspending and resuming;
//             new jobs wait for no other job's end. Our reconstruction: common rounds, the order within them, gangs over several
//             nodes, and waiting for a place instead of migrating there. Missing: packing two jobs on a GPU, nodes reserved for one job
//             size, migration to tighter places, and jobs that grow and shrink.
// Parameters  quantum_s, consolidated, and the common ones.

#include <algorithm>

#include "host/core/policy_api/policy.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {

namespace {

// Keys of one round are in a span of this size. Rounds of at least one second fit as often as time has them.
constexpr std::int64_t kRoundSpan = std::int64_t{1} << 20;
constexpr std::int64_t kInItsTimeSlice = -1;
static_assert(kMaxTimeUs / kSecond < INT64_MAX / kRoundSpan);

class Gandiva final : public core::QueuePolicy {
 public:
  explicit Gandiva(TimeUs quantum) : quantum_(quantum) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) override {
    const std::int64_t round = now / quantum_;
    for (std::size_t i = 0; i < job_indices.size(); ++i) {
      const std::int32_t job = job_indices[i];
      if (jobs.running[job] == 0) {
        const TimeUs since = jobs.waiting_since[job] == kNever ? jobs.submit[job] : jobs.waiting_since[job];
        out[i] = since / quantum_ * kRoundSpan + kRoundSpan - 1;
        continue;
      }
      // An instant that is unknown or in the future comes from the caller: such a time slice began long ago.
      const TimeUs assigned = jobs.assigned[job];
      const std::int64_t rounds = assigned > now ? kRoundSpan : round - assigned / quantum_;
      out[i] = rounds == 0 ? kInItsTimeSlice : round * kRoundSpan + std::min(rounds, kRoundSpan - 2);
    }
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<TimeUs> out) override {
    const TimeUs end = (now / quantum_ + 1) * quantum_;
    for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = jobs.running[job_indices[i]] != 0 ? end : kNever;
  }

  bool rests_while_waiting() const override { return true; }
  TimeUs time_slice() const override { return quantum_; }
  bool reads_cluster() const override { return true; }

 private:
  TimeUs quantum_;
};

std::unique_ptr<core::QueuePolicy> make_gandiva(const core::Params& params) {
  return std::make_unique<Gandiva>(Settings(core::find_policy("gandiva").info, params).millionths("quantum_s", kSecond, kMaxTimeUs));
}

std::optional<core::Consolidation> gandiva_consolidation(const core::Params& params) {
  return measured_consolidation(Settings(core::find_policy("gandiva").info, params));
}

}  // namespace

core::PolicyEntry gandiva_policy() {
  return {.info = {.name = "gandiva",
                   .rule = "time slices, round robin",
                   .source = "Gandiva (OSDI'18), its time slicing; rounds and order ours",
                   .params = {{"quantum_s", "60", "seconds of a time slice; slices end at its multiples"}, consolidated_parameter()}},
          .preemptive = true,
          .make = make_gandiva,
          .consolidation = gandiva_consolidation};
}

}  // namespace berth::policy
