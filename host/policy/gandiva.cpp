// gandiva: jobs take turns of one quantum each.
//
// Rounds      time is cut at the multiples of `quantum_s`. A turn ends where a round does, so that all turns end together and GPUs for a
//             large job come free at once.
// Key         first who got its GPUs in this round: nobody takes them. Then the others by the round in which they began to wait, a running
//             job as if it had begun with this round. So at the begin of a round those that wait displace those that ran, and whoever is
//             displaced, or arrives, stands behind everybody until the next. Of running jobs those come first that have had their GPUs for
//             fewer rounds; the rest is by job rank.
// Changes     of running jobs, when the round ends. Waiting jobs keep their keys.
// Fairness    no job waits for ever: those before it have their turn, then stand behind it. A newcomer has no claim to the turns that the
//             others had before it came, as it would have if the least service came first.
// Source      Gandiva (OSDI'18): GPUs that are asked for by more jobs than they can hold are time-sliced in rounds of about a minute, by
//             suspending and resuming; newcomers wait for no other job's end. Common rounds, the order within them and gangs over several
//             nodes are our reconstruction. Not here: packing of two jobs on a GPU, nodes kept for one size of job, migration to tighter
//             places, and jobs that grow and shrink.
// Parameters  quantum_s, and the common ones.

#include <algorithm>

#include "host/core/policy.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {

core::PolicyEntry gandiva_policy();

namespace {

// Keys of one round lie in a span of this size; rounds of a second at least fit as often as there is time.
constexpr std::int64_t kRoundSpan = std::int64_t{1} << 20;
constexpr std::int64_t kInItsTurn = -1;
static_assert(kMaxTimeUs / kSecond < INT64_MAX / kRoundSpan);

class Gandiva final : public core::QueuePolicy {
 public:
  explicit Gandiva(TimeUs quantum) : quantum_(quantum) {}

  void keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<std::int64_t> out) override {
    const std::int64_t round = now / quantum_;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::int32_t slot = slots[i];
      if (jobs.running[slot] == 0) {
        const TimeUs since = jobs.waiting_since[slot] == kNever ? jobs.submit[slot] : jobs.waiting_since[slot];
        out[i] = since / quantum_ * kRoundSpan + kRoundSpan - 1;
        continue;
      }
      // What is not known, or lies ahead, is in the hands of whoever asks: such a turn began long ago.
      const TimeUs assigned = jobs.assigned[slot];
      const std::int64_t rounds = assigned > now ? kRoundSpan : round - assigned / quantum_;
      out[i] = rounds == 0 ? kInItsTurn : round * kRoundSpan + std::min(rounds, kRoundSpan - 2);
    }
  }

  void next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> slots, std::span<TimeUs> out) override {
    const TimeUs end = (now / quantum_ + 1) * quantum_;
    for (std::size_t i = 0; i < slots.size(); ++i) out[i] = jobs.running[slots[i]] != 0 ? end : kNever;
  }

  bool rests_while_waiting() const override { return true; }
  TimeUs turn() const override { return quantum_; }
  bool reads_cluster() const override { return true; }

 private:
  TimeUs quantum_;
};

std::unique_ptr<core::QueuePolicy> make_gandiva(const core::Params& params) {
  return std::make_unique<Gandiva>(Settings(gandiva_policy().info, params).millionths("quantum_s", kSecond, kMaxTimeUs));
}

}  // namespace

core::PolicyEntry gandiva_policy() {
  return {{"gandiva", "jobs take turns, round robin", "Gandiva (OSDI'18), its time slicing; rounds and order ours", "skip", true,
           with_common("skip", {{"quantum_s", "60", "seconds of a turn; turns end at its multiples"}})},
          kernel::Discipline::kSkip,
          true,
          false,
          make_gandiva};
}

}  // namespace berth::policy
