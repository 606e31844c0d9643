#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/units.hpp"

namespace berth::sim {

/// Which GPUs of a pool are free, over time (docs/placement.md, section 7, "Conservative").
///
/// Time is divided into spans. Each has the GPUs that are free in it as a row of bits, and the last one never ends.
class GpuTimeline {
 public:
  using Gpus = std::span<const std::uint64_t>;  // a set of GPUs: bit i of the row is GPU i of the pool

  explicit GpuTimeline(std::int64_t gpus) : words_(static_cast<std::size_t>((gpus + 63) / 64)) {}

  /// Number of words of a set of GPUs.
  std::size_t words() const { return words_; }

  /// These are free from now on.
  void begin(TimeUs now, Gpus free);
  /// These are free from an instant on, too, that is not before the last one. Nothing is reserved yet.
  void release(TimeUs at, Gpus gpus);
  /// Time has passed.
  void advance(TimeUs now);

  /// The first instant, at least `from`, from which as many GPUs are free for a run time; kNever: there is none.
  /// @param run   kNever: not known, they are never given back.
  /// @param free  [words] Out: all that are free for that time.
  TimeUs find(std::int64_t gpus, TimeUs run, TimeUs from, std::span<std::uint64_t> free);
  /// Whether these are free for a run time.
  bool is_free(TimeUs from, TimeUs run, Gpus gpus) const;
  /// Takes them for that time. They are free in it.
  void reserve(TimeUs from, TimeUs run, Gpus gpus);
  /// GPUs that are free until an instant.
  struct Room {
    std::int64_t gpus;
    TimeUs until;  // kNever: for ever
  };
  /// How many GPUs are free from now until when, in ascending order of time. The last number is for ever, and may be 0.
  void room(TimeUs now, std::vector<Room>& steps) const;

 private:
  std::size_t spans() const { return from_.size(); }
  Gpus row(std::size_t span) const { return {rows_.data() + row_of_[span] * words_, words_}; }
  std::span<std::uint64_t> row(std::size_t span) { return {rows_.data() + row_of_[span] * words_, words_}; }
  std::size_t new_row(std::size_t of);
  /// No start in [from, until) is possible with as many GPUs and as long a run, or more.
  struct Known {
    std::int64_t gpus;
    TimeUs run, from, until;
  };
  TimeUs known_until(std::int64_t gpus, TimeUs run, TimeUs from) const;
  void remember(const Known& one);
  TimeUs search(std::int64_t gpus, TimeUs run, TimeUs from, std::span<std::uint64_t> free);
  std::size_t span_at(TimeUs at) const;
  std::size_t cut(TimeUs at);

  std::size_t words_;
  std::size_t first_ = 0;            // spans before it are past
  std::vector<TimeUs> from_;         // [spans]
  std::vector<std::int64_t> many_;   // [spans] number of free GPUs
  std::vector<std::size_t> row_of_;  // [spans] a row of `rows_`, so that rows stay where they are
  std::vector<std::uint64_t> rows_;  // [rows][words]
  std::vector<std::size_t> unused_;  // rows
  std::vector<Known> known_;         // of each GPU count the one of the shortest run, and the last one
  std::vector<std::uint64_t> back_;  // [words] scratch
};

}  // namespace berth::sim
