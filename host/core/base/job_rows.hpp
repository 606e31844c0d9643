#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// Rows of all jobs one after another, in the layout of kernel::ProblemView. An update moves the rows of unchanged jobs
/// in runs.
template <class Row>
class JobRows {
 public:
  /// `changed`: indices of jobs whose rows may differ, ascending, without repeats; jobs from the old count on differ
  /// anyway.
  /// `rows_of(job)`: the current rows of a job.
  template <class RowsOf>
  void update(std::span<const std::int32_t> changed, std::size_t jobs, const RowsOf& rows_of) {
    const std::size_t known = std::min(begin_.size() - 1, jobs);
    next_begin_.clear();
    next_.clear();
    const auto keep = [&](std::size_t from, std::size_t to) {
      const auto first = begin_[from];
      const auto shift = static_cast<std::int32_t>(next_.size()) - first;
      for (std::size_t s = from; s < to; ++s) next_begin_.push_back(begin_[s] + shift);
      next_.insert(next_.end(), rows_.begin() + first, rows_.begin() + begin_[to]);
    };
    const auto renew = [&](std::size_t job) {
      next_begin_.push_back(static_cast<std::int32_t>(next_.size()));
      const auto& rows = rows_of(job);
      next_.insert(next_.end(), rows.begin(), rows.end());
    };
    std::size_t done = 0;
    for (const std::int32_t c : changed) {
      const auto job = static_cast<std::size_t>(c);
      if (job >= known) break;
      keep(done, job);
      renew(job);
      done = job + 1;
    }
    keep(done, known);
    for (std::size_t job = known; job < jobs; ++job) renew(job);
    next_begin_.push_back(static_cast<std::int32_t>(next_.size()));
    begin_.swap(next_begin_);
    rows_.swap(next_);
  }
  void clear() {
    begin_.assign(1, 0);
    rows_.clear();
  }

  const std::vector<std::int32_t>& begin() const { return begin_; }
  const std::vector<Row>& rows() const { return rows_; }
  std::span<const Row> of(std::int32_t job) const {
    const auto s = static_cast<std::size_t>(job);
    return std::span(rows_).subspan(static_cast<std::size_t>(begin_[s]), static_cast<std::size_t>(begin_[s + 1] - begin_[s]));
  }

 private:
  std::vector<std::int32_t> begin_{0}, next_begin_;  // [jobs of the state + 1]
  std::vector<Row> rows_, next_;
};

}  // namespace berth::core
