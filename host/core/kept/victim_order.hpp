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

/// Running jobs in the order of a policy, read from its end: victims first.
///
/// Keys of running jobs may fall at any time. Where one rises, the job is removed and added again. So a job is stored by
/// an earlier key, which is at least its current one. Only jobs that are read are asked for their key again.
class VictimOrder {
 public:
  void clear() {
    order_.clear();
    place_of_.clear();
    gone_.clear();
    fresh_.clear();
    exact_ = 0;
  }
  /// Jobs are removed and added in rounds: `remove` and `add`, each at most once for a job, then `end_changes`.
  /// A job that is added again is removed first. The order is read between rounds.
  void add(const OrderPlace& place);
  /// Nothing where the job is not there.
  void remove(std::int32_t job);
  /// O(jobs behind the first change), however many change.
  void end_changes();

  std::size_t size() const { return order_.size(); }
  bool has(std::int32_t job) const {
    return static_cast<std::size_t>(job) < place_of_.size() && place_of_[static_cast<std::size_t>(job)].job >= 0;
  }
  /// All of them by their stored keys.
  std::span<const OrderPlace> stored() const { return order_; }
  /// Where it is stored, at its current place or behind it. The job is there.
  const OrderPlace& stored(std::int32_t job) const { return place_of_[static_cast<std::size_t>(job)]; }
  /// To be called when time or keys have changed, before `at_end`.
  void begin() {
    exact_ = 0;
    moves_left_ = kMovesPerJob * order_.size();
  }
  /// The job at `from_end` (0: the last), by its current key. The jobs behind it must have been read before.
  const OrderPlace& at_end(std::size_t from_end, KeySource& keys) {
    while (exact_ <= from_end) settle(order_.size() - 1 - exact_, keys);
    return order_[order_.size() - 1 - from_end];
  }

 private:
  // Where many keys fell, one sort is faster than moving the jobs one by one.
  static constexpr std::size_t kMovesPerJob = 8;

  void settle(std::size_t at, KeySource& keys);
  void settle_all(KeySource& keys);

  std::vector<OrderPlace> order_;
  std::vector<OrderPlace> place_of_;      // [jobs of the state] as stored; job -1: not there
  std::vector<OrderPlace> gone_, fresh_;  // of this round
  std::size_t exact_ = 0;                 // the last N jobs have their current keys
  std::size_t moves_left_ = 0;
};

}  // namespace berth::core
