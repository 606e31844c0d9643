#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
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
  static constexpr JobPlace kNobody{INT64_MIN, -1, -1};  // stands before everybody
  struct Line {
    std::int32_t group = 0;
    std::int32_t pool = 0, gpus = 0;  // of all its jobs; where there is one line only, of none
    bool fresh = false;               // has a first job that has not been tried
    JobPlace first = kNobody;         // of `jobs`, at hand: decisions go over all lines
    WaitingLine jobs;
    void look() { first = jobs.empty() ? kNobody : jobs.first(); }
  };
  /// The first job of a line, in its turn.
  struct Turn {
    JobPlace first;
    std::int32_t line, gpus;
    bool operator>(const Turn& other) const { return other.first < first; }
  };

  WaitingLines(std::int32_t pools, bool one_group) : one_group_(one_group), groups_(one_group ? 1 : at(pools)) {}

  /// For all jobs of this pool and GPU count.
  std::int32_t line_of(std::int32_t pool, std::int32_t gpus);
  void push(std::int32_t line, const JobPlace& place);
  /// Jobs of this pool behind this place may find room that they did not find: somebody there is gone, or sank in the order.
  void look_behind_again(std::int32_t pool, const JobPlace& place);

  /// Groups where a decision may change something, since they were asked for last.
  const std::vector<std::int32_t>& due();
  /// Their turns, now: those of first jobs for which `may_fit(pool, gpus, place)` does not rule out that they find room. It must not be
  /// more hopeful later, but after `look_behind`.
  template <class MayFit>
  void begin_turns(std::int32_t group, const MayFit& may_fit) {
    Group& of = begin(group);
    for (const std::int32_t line : of.again ? of.lines : of.fresh) {
      if (one_group_ || lines_[at(line)].fresh || stands_behind(line, of.again_behind)) add_turn(line, may_fit);
    }
    end(of);
  }
  bool has_turn() const { return !turns_.empty(); }
  const JobPlace& turn() const { return turns_.front().first; }
  /// It has found room: the next one of its line has a turn.
  template <class MayFit>
  void started(const MayFit& may_fit) {
    const std::int32_t line = turns_.front().line;
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>());
    turns_.pop_back();
    lines_[at(line)].jobs.pop();
    lines_[at(line)].look();
    if (lines_[at(line)].jobs.empty()) {
      std::erase(groups_[at(group_)].lines, line);
    } else {
      add_turn(line, may_fit);
    }
  }
  /// It has not: no other of its line has a turn, nor has any behind it that asks for as many GPUs or more.
  void blocked();
  /// Somebody at this place has given way: those behind it have a turn. What those before it could have, free or from others, is no more
  /// than it was.
  template <class MayFit>
  void look_behind(const JobPlace& place, const MayFit& may_fit) {
    remove_turns([&](const Turn& turn) { return place < turn.first; });
    for (const std::int32_t line : groups_[at(group_)].lines) {
      if (stands_behind(line, place)) add_turn(line, may_fit);
    }
  }

  /// Takes somebody out of line, -1: nobody is left.
  std::int32_t take_any();

 private:
  struct Group {
    std::vector<std::int32_t> lines;  // where somebody waits, in no order
    std::vector<std::int32_t> fresh;
    bool due = false, again = false;
    JobPlace again_behind{};
  };
  void make_due(std::int32_t group);
  Group& begin(std::int32_t group);
  void end(Group& of);
  bool stands_behind(std::int32_t line, const JobPlace& place) const { return place < lines_[at(line)].first; }
  template <class Which>
  void remove_turns(const Which& which) {
    turns_.erase(std::remove_if(turns_.begin(), turns_.end(), which), turns_.end());
    std::make_heap(turns_.begin(), turns_.end(), std::greater<>());
  }
  template <class MayFit>
  void add_turn(std::int32_t l, const MayFit& may_fit) {
    const Line& line = lines_[at(l)];
    if (!one_group_ && !may_fit(line.pool, line.gpus, line.first)) return;
    turns_.push_back({line.first, l, line.gpus});
    std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
  }

  bool one_group_;
  std::vector<Group> groups_;
  std::vector<Line> lines_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> line_at_;
  std::vector<std::int32_t> due_, last_due_;
  std::vector<Turn> turns_;  // a heap, the smallest in front
  std::int32_t group_ = 0;   // whose turns these are
};

}  // namespace berth::sim
