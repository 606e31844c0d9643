#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/sim/counts/counted_job.hpp"
#include "host/sim/counts/waiting_line.hpp"

namespace berth::sim {

/// The waiting jobs of a simulation by counts, and which of them the next decision must look at.
///
/// Jobs of one pool and GPU count wait in a line: when the first does not fit, none does.
/// Lines whose jobs compete are a group: those of a pool, or a single group where the head of the line blocks all jobs.
/// After a decision no waiting job of a group fits. That changes only when a job of the group releases GPUs or moves back in the order,
/// or when a job becomes first of its line.
class WaitingLines {
 public:
  struct Line {
    std::int32_t group = 0, gpus = 0;  // of all its jobs; 0 where there is only one line
    bool fresh = false;                // its first job has not been tried
    JobPlace first = kNoJob;           // first of `jobs`, cached because decisions scan all lines
    WaitingLine jobs;
    void look() { first = jobs.empty() ? kNoJob : jobs.first(); }
  };
  /// Upper bounds on what the jobs of a group may get, without looking at each running job.
  struct Room {
    std::int64_t free;  // free GPUs
    JobPlace last;      // last of the jobs that may be displaced; kNoJob: none
    bool may_do(std::int32_t gpus, const JobPlace& place) const { return (gpus <= free) | (place < last); }
  };

  WaitingLines(std::int32_t pools, bool one_group)
      : one_group_(one_group), groups_(one_group ? 1 : to_index(pools)), line_at_(groups_.size()), heads_(1) {}

  /// The line of jobs with this pool and GPU count.
  std::int32_t line_of(std::int32_t pool, std::int32_t gpus);
  void push(std::int32_t line, const JobPlace& place);
  /// Whether no job waits that could compete with a job of this pool.
  bool is_empty(std::int32_t pool) const { return groups_[to_index(one_group_ ? 0 : pool)].lines.empty(); }
  /// Jobs of this pool behind this place may fit now, because a job there left or moved back in the order.
  void look_behind_again(std::int32_t pool, const JobPlace& place);

  /// Groups in which a decision may change something, since the last call.
  const std::vector<std::int32_t>& due();
  /// Collects the heads of a group: the first jobs of lines for which the room may be enough.
  /// Room must not become enough for more of them later, except after `look_behind`.
  void begin_heads(std::int32_t group, const Room& room);
  /// The next job to try; null: none. Valid until any of the following calls.
  const JobPlace* next_head();
  /// The job started: the next job of its line becomes a head.
  void started(const Room& room);
  /// The job did not fit: its line has no more heads, nor has any line whose head requests at least as many GPUs.
  void blocked();
  /// A job at this place was displaced: jobs behind it become heads. Jobs before it have no more room than before.
  void look_behind(const JobPlace& place, const Room& room);

  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any();

 private:
  struct Group {
    std::vector<std::int32_t> lines;  // lines with waiting jobs, in no order
    std::vector<std::int32_t> fresh;
    bool due = false, again = false;
    JobPlace again_behind{};
  };
  /// The first job of a line.
  struct LineHead {
    JobPlace first;
    std::int32_t line, gpus;
  };
  std::int32_t add_line(std::int32_t pool, std::int32_t gpus);
  void make_due(std::int32_t group);
  void add_head(std::int32_t line, const Room& room, bool wanted);
  template <class Stays>
  void keep_heads(const Stays& stays);

  bool one_group_;
  std::vector<Group> groups_;
  std::vector<Line> lines_;
  std::vector<std::vector<std::int32_t>> line_at_;  // [pools][GPUs], 0: none yet, otherwise its number plus 1
  std::vector<std::int32_t> due_, last_due_;
  std::vector<LineHead> heads_;  // [lines + 1] the first `n_heads_` are valid, in no order
  std::size_t n_heads_ = 0, next_ = 0;
  std::int32_t group_ = 0;  // group of these heads
};

}  // namespace berth::sim
