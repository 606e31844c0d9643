#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "host/sim/counted_job.hpp"

namespace berth::sim {

/// The waiting jobs of a simulation by counts, and which of them the next decision has to look at.
///
/// Jobs of one pool and GPU count wait in a line: where the first finds no room, no other does. Lines of jobs that can be in each other's
/// way are a group: those of a pool, or a single one where the head of the line holds everybody up. After a decision everybody who waits
/// has found no room, and finds none until somebody of the group gives GPUs back or sinks in the order, or unless it is first of its line
/// only now.
class WaitingLines {
 public:
  struct Line {
    std::int32_t group = 0;
    std::int32_t pool = 0, gpus = 0;  // of all its jobs; where there is one line only, of none
    bool fresh = false;               // has a first job that has not been tried
    std::priority_queue<JobPlace, std::vector<JobPlace>, std::greater<>> jobs;
  };
  /// The first job of a line, in its turn.
  struct Turn {
    JobPlace first;
    std::int32_t line;
    bool operator>(const Turn& other) const { return other.first < first; }
  };

  WaitingLines(std::int32_t pools, bool one_group) : one_group_(one_group), groups_(one_group ? 1 : at(pools)) {}

  /// For all jobs of this pool and GPU count.
  std::int32_t line_of(std::int32_t pool, std::int32_t gpus);
  void push(std::int32_t line, const JobPlace& place);
  /// What the jobs of a pool found no room for may be there now.
  void look_again(std::int32_t pool);

  /// Groups where a decision may change something, since they were asked for last.
  const std::vector<std::int32_t>& due();
  /// Their turns, now: those of first jobs for which `may_fit(pool, gpus, place)` does not rule out that they find room. It must not be
  /// more hopeful later, but after `look_behind`.
  template <class MayFit>
  void begin_turns(std::int32_t group, const MayFit& may_fit) {
    for (const std::int32_t line : begin(group)) add_turn(line, may_fit);
  }
  bool has_turn() const { return !turns_.empty(); }
  const JobPlace& turn() const { return turns_.front().first; }
  /// It has found room: the next one of its line has a turn.
  template <class MayFit>
  void started(const MayFit& may_fit) {
    const std::int32_t line = turns_.front().line;
    blocked();
    lines_[at(line)].jobs.pop();
    add_turn(line, may_fit);
  }
  /// It has not: no other of its line has a turn.
  void blocked();
  /// Everybody behind this place has a turn: GPUs are free that were not.
  // Lines before it have been tried, or would still find nothing: who gave way stands behind this place, so that what those could have
  // had, free or from others, is no more than it was.
  template <class MayFit>
  void look_behind(const JobPlace& place, const MayFit& may_fit) {
    turns_.clear();
    for (const std::int32_t line : groups_[at(group_)].lines) {
      if (!lines_[at(line)].jobs.empty() && place < lines_[at(line)].jobs.top()) add_turn(line, may_fit);
    }
  }

  /// Takes somebody out of line, -1: nobody is left.
  std::int32_t take_any();

 private:
  struct Group {
    std::vector<std::int32_t> lines, fresh;
    bool all = false, due = false;
  };
  void make_due(std::int32_t group);
  const std::vector<std::int32_t>& begin(std::int32_t group);
  template <class MayFit>
  void add_turn(std::int32_t l, const MayFit& may_fit) {
    const Line& line = lines_[at(l)];
    if (line.jobs.empty() || (!one_group_ && !may_fit(line.pool, line.gpus, line.jobs.top()))) return;
    turns_.push_back({line.jobs.top(), l});
    std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
  }

  bool one_group_;
  std::vector<Group> groups_;
  std::vector<Line> lines_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> line_at_;
  std::vector<std::int32_t> due_, last_due_;
  std::vector<Turn> turns_;          // a heap, the smallest in front
  std::int32_t group_ = 0;           // whose turns these are
  std::vector<std::int32_t> begun_;  // lines of the decision
};

}  // namespace berth::sim
