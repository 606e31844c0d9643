#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/sim/counts/counted_job.hpp"
#include "host/sim/counts/run_tree.hpp"

namespace berth::sim {

/// The waiting jobs under disciplines `easy` and `conservative`. Those of one pool and GPU count are in a line, by place and with their run
/// times.
class BackfillLines {
 public:
  /// Which jobs of a pool fit: those behind a place with at most `free` GPUs that run for `longest` at most, or have at most `beside` GPUs.
  struct Room {
    JobPlace behind;
    std::int64_t free;
    TimeUs longest;       // kNever: any
    std::int64_t beside;  // at most `free`
  };

  explicit BackfillLines(std::int32_t pools) : pools_(to_index(pools)) {}

  bool is_empty() const { return jobs_ == 0; }
  bool is_empty(std::int32_t pool) const { return pools_[to_index(pool)].jobs == 0; }
  void push(const CountedJob& job, const JobPlace& place, TimeUs run);
  void erase(const CountedJob& job, const JobPlace& place);
  /// kNoJob: none waits.
  JobPlace first() const;
  /// The first job that fits; kNoJob: none.
  JobPlace first(std::int32_t pool, const Room& room) const;
  /// The first job behind a place that runs for no longer than jobs of its GPU count may; kNoJob: none.
  /// @param longest  Called with GPU counts, ascending. @returns how long those jobs may run, 0: none of them may, nor those with more.
  template <class Longest>
  JobPlace first_behind(std::int32_t pool, const JobPlace& place, const Longest& longest) const {
    JobPlace first = kNoJob;
    for (const Line& line : pools_[to_index(pool)].lines) {
      const TimeUs most = longest(line.gpus);
      if (most <= 0) break;
      first = earlier(first, line.jobs.first_behind(place, most));
    }
    return first;
  }
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any();

 private:
  struct Line {
    std::int32_t gpus;  // of all its jobs
    JobPlace first;     // of `jobs`
    RunTree jobs;
  };
  struct Pool {
    std::vector<Line> lines;  // by GPU count
    std::int64_t jobs = 0;
    JobPlace first = kNoJob;
  };
  static const JobPlace& earlier(const JobPlace& a, const JobPlace& b) {
    if (a.job < 0 || b.job < 0) return a.job < 0 ? b : a;
    return b < a ? b : a;
  }
  static Line& line_of(Pool& pool, std::int32_t gpus);

  std::vector<Pool> pools_;
  std::int64_t jobs_ = 0;
};

}  // namespace berth::sim
