#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/units.hpp"
#include "host/core/kept/waiting_classes.hpp"

namespace berth::core {

/// The current keys of a policy.
class KeySource {
 public:
  virtual ~KeySource() = default;
  virtual std::int64_t key_of(std::int32_t job) = 0;
};

/// Running jobs in the order of a policy, read from its end: victims first. They stand in parts, each for itself.
///
/// Keys of running jobs may fall at any time. Where one rises, the job is removed and added again. So a job is stored by
/// an earlier key, which is at least its current one. Only jobs that are read are asked for their key again.
class VictimOrder {
 public:
  void clear() {
    parts_.clear();
    place_of_.clear();
    part_of_.clear();
    size_ = 0;
  }
  /// Jobs are removed and added in rounds: `remove` and `add`, each at most once for a job, then `end_changes`.
  /// A job that is added again is removed first. The order is read between rounds.
  void add(const OrderPlace& place, std::size_t part);
  /// Nothing where the job is not there.
  void remove(std::int32_t job);
  /// Removes a job that is there, and adds it at another level.
  void set_level(std::int32_t job, std::int32_t level) {
    OrderPlace place = stored(job);
    remove(job);
    place.level = level;
    add(place, part_of_[static_cast<std::size_t>(job)]);
  }
  /// O(jobs between the first and the last change in each part, and changes * log jobs).
  void end_changes();

  /// Of all parts.
  std::size_t size() const { return size_; }
  std::size_t parts() const { return parts_.size(); }
  bool has(std::int32_t job) const {
    return static_cast<std::size_t>(job) < place_of_.size() && place_of_[static_cast<std::size_t>(job)].job >= 0;
  }
  /// A part by its stored keys.
  std::span<const OrderPlace> stored_in(std::size_t part) const { return parts_[part].order; }
  /// Where it is stored, at its current place or behind it. The job is there.
  const OrderPlace& stored(std::int32_t job) const { return place_of_[static_cast<std::size_t>(job)]; }
  /// To be called when time or keys have changed, before `at_end`.
  void begin();
  /// The job at `from_end` (0: the last) of a part, by its current key; null: it has no more. The jobs behind it must have
  /// been read before.
  const OrderPlace* at_end(std::size_t part, std::size_t from_end, KeySource& keys) {
    Part& of = parts_[part];
    if (from_end >= of.order.size()) return nullptr;
    while (of.exact <= from_end) settle(of, keys);
    return &of.order[of.order.size() - 1 - from_end];
  }

 private:
  // Where many keys fell, one sort is faster than moving the jobs one by one.
  static constexpr std::size_t kMovesPerJob = 8;

  struct Part {
    std::vector<OrderPlace> order;
    std::vector<OrderPlace> gone, fresh;  // of this round
    std::size_t exact = 0;                // the last N jobs have their current keys
    std::size_t moves_left = 0;
  };
  /// Jobs of an order that move by that many places.
  struct Run {
    std::ptrdiff_t from, to, by;
  };
  void end_changes(Part& part);
  void settle(Part& part, KeySource& keys);
  void settle_all(Part& part, KeySource& keys);

  std::vector<Part> parts_;
  std::vector<OrderPlace> place_of_;    // [jobs of the state] as stored; job -1: not there
  std::vector<std::uint32_t> part_of_;  // the same
  std::size_t size_ = 0;
  std::vector<Run> runs_;           // of one part
  std::vector<std::ptrdiff_t> to_;  // the same: where those that came stand
};

/// Reads some parts of an order together, from their end.
class VictimReader {
 public:
  /// No part, yet.
  void begin(VictimOrder& order, KeySource& keys) {
    order_ = &order;
    keys_ = &keys;
    ends_.clear();
    next_ = nullptr;
  }
  void add(std::size_t part) {
    if (part >= order_->parts()) return;
    for (const End& end : ends_) {
      if (end.part == part) return;
    }
    ends_.push_back({part, 0});
    next_ = nullptr;
  }
  /// The next victim; null: there is none.
  const OrderPlace* next() {
    if (next_ != nullptr) return next_;
    for (End& end : ends_) {
      const OrderPlace* one = order_->at_end(end.part, end.read, *keys_);
      if (one == nullptr || (next_ != nullptr && *one < *next_)) continue;
      next_ = one;
      of_ = &end;
    }
    return next_;
  }
  /// After `next`, which was not null.
  void take() {
    ++of_->read;
    next_ = nullptr;
  }

 private:
  struct End {
    std::size_t part, read;
  };
  VictimOrder* order_ = nullptr;
  KeySource* keys_ = nullptr;
  std::vector<End> ends_;
  End* of_ = nullptr;
  const OrderPlace* next_ = nullptr;
};

}  // namespace berth::core
