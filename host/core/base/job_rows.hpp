#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace berth::core {

/// Rows of all jobs in the layout of kernel::ProblemView. The rows of a job stand together; jobs stand in any order, with
/// unused rows between them. A change of one job moves no rows of others: amortised O(rows of the job).
template <class Row>
class JobRows {
 public:
  /// Jobs that are new have no rows; those beyond the new count lose theirs.
  void resize(std::size_t jobs) {
    for (std::size_t job = jobs; job < begin_.size(); ++job) forget(job);
    begin_.resize(jobs, 0);
    end_.resize(jobs, 0);
  }

  /// Room for so many rows in all.
  void reserve(std::size_t rows) { rows_.reserve(rows); }

  /// Replaces the rows of a job.
  void set(std::size_t job, std::span<const Row> rows) {
    if (size_of(job) != rows.size()) {
      forget(job);
      begin_[job] = place_for(rows.size());
      end_[job] = begin_[job] + static_cast<std::int32_t>(rows.size());
      live_ += rows.size();
    }
    std::copy(rows.begin(), rows.end(), rows_.begin() + begin_[job]);
  }

  /// Calls `change` with each row that a job has. O(jobs + rows)
  template <class Change>
  void edit(const Change& change) {
    for (std::size_t job = 0; job < begin_.size(); ++job) {
      for (std::int32_t row = begin_[job]; row < end_[job]; ++row) change(rows_[static_cast<std::size_t>(row)]);
    }
  }

  /// Puts the jobs in order, without unused rows, where more than half of the rows are unused. Returns whether it did.
  bool compact() {
    if (rows_.size() <= 2 * live_ + kFewRows) return false;
    std::vector<Row> next;
    next.reserve(live_ + live_ / 4);
    for (std::size_t job = 0; job < begin_.size(); ++job) {
      const std::span<const Row> rows = of(static_cast<std::int32_t>(job));
      begin_[job] = static_cast<std::int32_t>(next.size());
      next.insert(next.end(), rows.begin(), rows.end());
      end_[job] = static_cast<std::int32_t>(next.size());
    }
    rows_.swap(next);
    unused_.clear();
    return true;
  }

  void clear() {
    begin_.clear();
    end_.clear();
    rows_.clear();
    unused_.clear();
    live_ = 0;
  }

  const std::vector<std::int32_t>& begin() const { return begin_; }  // [jobs]
  const std::vector<std::int32_t>& end() const { return end_; }      // [jobs]
  const std::vector<Row>& rows() const { return rows_; }             // used or not
  std::size_t live() const { return live_; }                         // rows that jobs have
  std::span<const Row> of(std::int32_t job) const {
    const auto s = static_cast<std::size_t>(job);
    return std::span(rows_).subspan(static_cast<std::size_t>(begin_[s]), size_of(s));
  }

 private:
  static constexpr std::size_t kFewRows = 1024;  // unused ones that are never worth a compaction

  std::size_t size_of(std::size_t job) const { return static_cast<std::size_t>(end_[job] - begin_[job]); }

  void forget(std::size_t job) {
    const std::size_t n = size_of(job);
    if (n == 0) return;
    unused_[n].push_back(begin_[job]);
    end_[job] = begin_[job];
    live_ -= n;
  }

  // Few sizes occur, and mostly the same again.
  std::int32_t place_for(std::size_t n) {
    if (n == 0) return 0;
    if (const auto found = unused_.find(n); found != unused_.end() && !found->second.empty()) {
      const std::int32_t begin = found->second.back();
      found->second.pop_back();
      return begin;
    }
    const std::size_t begin = rows_.size();
    rows_.resize(begin + n);
    return static_cast<std::int32_t>(begin);
  }

  std::vector<std::int32_t> begin_, end_;  // [jobs of the state]
  std::vector<Row> rows_;
  std::map<std::size_t, std::vector<std::int32_t>> unused_;  // by number of rows: where they begin
  std::size_t live_ = 0;
};

}  // namespace berth::core
