#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/sim/counted_job.hpp"
#include "host/sim/waiting_line.hpp"

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
    std::int32_t group = 0, gpus = 0;  // of all its jobs; where there is one line only, 0
    bool fresh = false;                // has a first job that has not been tried
    JobPlace first = kNobody;          // of `jobs`, at hand: decisions go over all lines
    WaitingLine jobs;
    void look() { first = jobs.empty() ? kNobody : jobs.first(); }
  };
  /// What the jobs of a group may find, as far as is known without a look at each that runs.
  struct Room {
    std::int64_t free;  // GPUs
    JobPlace last;      // of those that may have to give way; kNobody: there are none
    bool may_do(std::int32_t gpus, const JobPlace& place) const { return (gpus <= free) | (place < last); }
  };

  WaitingLines(std::int32_t pools, bool one_group)
      : one_group_(one_group), groups_(one_group ? 1 : at(pools)), line_at_(groups_.size()), turns_(1) {}

  /// For all jobs of this pool and GPU count.
  std::int32_t line_of(std::int32_t pool, std::int32_t gpus);
  void push(std::int32_t line, const JobPlace& place);
  /// Nobody waits in whose way a job of this pool could be.
  bool nobody(std::int32_t pool) const { return groups_[at(one_group_ ? 0 : pool)].lines.empty(); }
  /// Jobs of this pool behind this place may find room that they did not find: somebody there is gone, or sank in the order.
  void look_behind_again(std::int32_t pool, const JobPlace& place);

  /// Groups where a decision may change something, since they were asked for last.
  const std::vector<std::int32_t>& due();
  /// Their turns, now: those of first jobs for which room may do. It must not do for more of them later, but after `look_behind`.
  void begin_turns(std::int32_t group, const Room& room);
  /// Whose turn is next; null: nobody's. Until any of the following.
  const JobPlace* turn();
  /// It has found room: the next one of its line has a turn.
  void started(const Room& room);
  /// It has not: no other of its line has a turn, nor has any behind it that asks for as many GPUs or more.
  void blocked();
  /// Somebody at this place has given way: those behind it have a turn. What those before it could have, free or from others, is no more
  /// than it was.
  void look_behind(const JobPlace& place, const Room& room);

  /// Takes somebody out of line, -1: nobody is left.
  std::int32_t take_any();

 private:
  struct Group {
    std::vector<std::int32_t> lines;  // where somebody waits, in no order
    std::vector<std::int32_t> fresh;
    bool due = false, again = false;
    JobPlace again_behind{};
  };
  /// The first job of a line.
  struct Turn {
    JobPlace first;
    std::int32_t line, gpus;
  };
  std::int32_t add_line(std::int32_t pool, std::int32_t gpus);
  void make_due(std::int32_t group);
  void add_turn(std::int32_t line, const Room& room, bool wanted);
  template <class Stays>
  void keep_turns(const Stays& stays);

  bool one_group_;
  std::vector<Group> groups_;
  std::vector<Line> lines_;
  std::vector<std::vector<std::int32_t>> line_at_;  // [pools][GPUs], 0: none yet, else its number and 1
  std::vector<std::int32_t> due_, last_due_;
  std::vector<Turn> turns_;  // [lines + 1] of which `n_turns_` count, in no order
  std::size_t n_turns_ = 0, next_ = 0;
  std::int32_t group_ = 0;  // whose turns these are
};

}  // namespace berth::sim
