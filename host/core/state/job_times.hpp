#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// Instants of jobs, the earliest first. The instant of a job that has changed since is dropped when it is met, and with
/// all others like it before they are the most.
class JobTimes {
 public:
  void clear() { rows_.clear(); }
  std::size_t size() const { return rows_.size(); }
  /// Of a job as it is now. kNever: none.
  void add(const StateImpl& s, TimeUs at, std::int32_t job) {
    if (at == kNever) return;
    if (rows_.size() >= most_) drop_changed(s);
    rows_.push_back({at, job, s.jobs[to_index(job)].version});
    std::push_heap(rows_.begin(), rows_.end());
  }
  /// Removes the jobs of instants until `now`, and appends them.
  void take_until(const StateImpl& s, TimeUs now, std::vector<std::int32_t>& jobs) {
    while (!rows_.empty() && rows_.front().at <= now) {
      if (is_current(s, rows_.front())) jobs.push_back(rows_.front().job);
      pop();
    }
  }
  /// The earliest instant, where `later(job)` is that of a job now: at least the one that was added. It looks no further
  /// than needed. Jobs for which `skip(job)` holds do not count.
  template <class Later, class Skip>
  TimeUs first(const StateImpl& s, TimeUs now, const Later& later, const Skip& skip) {
    aside_.clear();
    TimeUs found = kNever;
    while (!rows_.empty()) {
      const Row row = rows_.front();
      if (!is_current(s, row)) {
        pop();
        continue;
      }
      if (skip(row.job)) {
        aside_.push_back(row);
        pop();
        continue;
      }
      const TimeUs at = later(row.job);
      if (at <= now || at == row.at) {
        found = at;
        break;
      }
      pop();
      add(s, at, row.job);
    }
    for (const Row& row : aside_) add(s, row.at, row.job);
    return found;
  }

 private:
  struct Row {
    TimeUs at;
    std::int32_t job;
    std::uint64_t version;
    bool operator<(const Row& other) const { return other.at < at; }  // the earliest comes out of a heap first
  };
  static bool is_current(const StateImpl& s, const Row& row) {
    return to_index(row.job) < s.jobs.size() && s.jobs[to_index(row.job)].version == row.version;
  }
  void pop() {
    std::pop_heap(rows_.begin(), rows_.end());
    rows_.pop_back();
  }
  void drop_changed(const StateImpl& s) {
    std::erase_if(rows_, [&](const Row& row) { return !is_current(s, row); });
    std::make_heap(rows_.begin(), rows_.end());
    most_ = std::max(kLeast, 2 * rows_.size());
  }

  static constexpr std::size_t kLeast = 64;
  std::vector<Row> rows_, aside_;
  std::size_t most_ = kLeast;
};

}  // namespace berth::core
