#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/sweep/sweep_run.hpp"

namespace berth::cli {

/// `--shard I/N`: the I-th of N parts of a sweep, from 0 on.
struct SweepShard {
  std::int64_t index = 0, count = 1;
};
/// @throws InvalidArgument naming the text.
SweepShard parse_shard(const std::string& text);

/// Which runs are done, and which are to be made.
///
/// The cells of a block get the same seeds. With `until` a block gets more of them until all of its cells are narrow enough. How many
/// depends on the results alone, not on the order in which they come.
class SweepState {
 public:
  /// @param stored  figures of the runs that the store has, by key
  SweepState(const SweepPlan& plan, const std::map<std::string, results::SweepFigures>& stored, const SweepShard& shard);

  std::optional<SweepTask> next();
  /// The run was not made.
  void put_back(const SweepTask& task) { tasks_.push_front(task); }
  void stored(const SweepTask& task, const results::SweepFigures& figures);
  void failed(const SweepTask& task, const std::string& problem);

  bool has_tasks() const { return !tasks_.empty(); }
  std::int64_t known() const { return known_; }      ///< runs that are done or to be made, as far as is known
  std::int64_t done() const { return done_; }        ///< of them, stored or failed
  std::int64_t resumed() const { return resumed_; }  ///< of them, stored before
  std::int64_t failures() const { return failures_; }
  const std::map<std::string, std::int64_t>& problems() const { return problems_; }  ///< runs by what went wrong

  /// Figures of a cell, by seed; those that are missing are left out.
  const std::map<std::int64_t, results::SweepFigures>& figures(std::size_t cell) const { return figures_[cell]; }
  /// Blocks that reached the most seeds and are not narrow enough.
  std::int64_t wide_blocks() const { return wide_blocks_; }
  /// The tasks, without taking them.
  const std::deque<SweepTask>& tasks() const { return tasks_; }

 private:
  struct Block {
    std::int64_t seeds = 0;    // that its cells get so far
    std::int64_t missing = 0;  // runs
    bool failed = false;
  };

  std::int64_t seed(std::int64_t index) const;
  void add_seeds(std::size_t block, std::int64_t until);
  void extend(std::size_t block);

  const SweepPlan& plan_;
  std::map<std::string, results::SweepFigures> stored_;
  SweepShard shard_;
  std::vector<Block> blocks_;
  std::vector<std::map<std::int64_t, results::SweepFigures>> figures_;
  std::deque<SweepTask> tasks_;
  std::map<std::string, std::int64_t> problems_;
  std::int64_t known_ = 0, done_ = 0, resumed_ = 0, failures_ = 0, wide_blocks_ = 0, position_ = 0;
};

}  // namespace berth::cli
