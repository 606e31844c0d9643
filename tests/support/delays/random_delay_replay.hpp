#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "berth/kernel/delay_replay/columns.hpp"
#include "host/backend/backend.hpp"

/// Jobs, clusters and timers of random sizes, for tests of the operation `delay_replay`.
namespace berth::test {

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct DelayReplayBuffers {
  explicit DelayReplayBuffers(std::int32_t n_jobs);
  kernel::DelayReplayResult view();

  kernel::DelayReplayTotals totals{};
  std::vector<std::int64_t> start, end, held, paid;
  std::vector<std::int32_t> starts, preemptions, moves;
};
bool operator==(const DelayReplayBuffers& a, const DelayReplayBuffers& b);
void PrintTo(const DelayReplayBuffers& result, std::ostream* out);

struct RandomDelayReplaySpec {
  std::int32_t jobs = 40;
  std::int32_t nodes = 8;    // at most
  std::int32_t replays = 3;  // of the same jobs
};

/// Jobs on a cluster, and several replays of them.
class DelayReplayCase {
 public:
  DelayReplayCase(std::uint64_t seed, const RandomDelayReplaySpec& spec);

  kernel::DelayReplayView view() const;
  std::int32_t replays() const { return static_cast<std::int32_t>(replays_.size()); }
  kernel::DelayReplayRequest request(std::int32_t i) const;

 private:
  struct One {
    std::int64_t lease, most_decisions;
    bool common;
    std::vector<std::int64_t> timers;
  };
  std::int32_t node_gpus_ = 0, n_levels_ = 0, n_classes_ = 3;
  std::vector<std::int64_t> submit_, work_, ideal_rate_, start_cost_, resume_cost_, move_cost_, rate_begin_, rate_, rung_gpus_;
  std::vector<std::int32_t> gpus_, timer_class_, inner_begin_, level_begin_, node_domain_, child_first_, child_last_, rung_level_;
  std::vector<std::uint64_t> gpu_mask_, inner_mask_;
  std::vector<One> replays_;
};

/// All replays of a case on a backend.
std::vector<DelayReplayBuffers> delay_replay(core::PlacementBackend& backend, const DelayReplayCase& one);

}  // namespace berth::test
