#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "berth/kernel/replay/columns.hpp"
#include "host/backend/backend.hpp"

/// Traces and replays of random sizes, for tests of the operation `replay`.
namespace berth::test {

/// Owns the output columns. They start with invalid values, so that a column that a backend does not write is noticed.
struct ReplayBuffers {
  explicit ReplayBuffers(std::int32_t n_jobs);
  kernel::ReplayResult view();

  kernel::ReplayTotals totals{};
  std::vector<std::int64_t> start, end, held, restarting, moving;
  std::vector<std::int32_t> starts, preemptions, moves;
};
bool operator==(const ReplayBuffers& a, const ReplayBuffers& b);
void PrintTo(const ReplayBuffers& result, std::ostream* out);

struct RandomReplaySpec {
  std::int32_t jobs = 40;
  std::int32_t gpus = 40;    // at most, of a pool
  std::int32_t replays = 3;  // of the same trace
};

/// A trace, and several replays of it.
class ReplayCase {
 public:
  ReplayCase(std::uint64_t seed, const RandomReplaySpec& spec);

  kernel::ReplayView view() const;
  std::int32_t replays() const { return static_cast<std::int32_t>(replays_.size()); }
  kernel::ReplayRequest request(std::int32_t i) const;

 private:
  struct One {
    kernel::ReplayKey kind;
    bool strict, knows_work, own_runs;
    std::vector<std::int64_t> run, estimate, key, capacity, thresholds;
    std::vector<std::int32_t> job_at, position;
  };
  void sort_jobs(One& one) const;

  std::vector<std::int64_t> submit_, run_, start_cost_, restart_cost_, move_cost_;
  std::vector<std::int32_t> line_, line_pool_, line_gpus_, line_begin_, pool_line_;
  std::vector<One> replays_;
};

/// All replays of a case on a backend.
std::vector<ReplayBuffers> replay(core::PlacementBackend& backend, const ReplayCase& one);

}  // namespace berth::test
