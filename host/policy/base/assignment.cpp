#include "host/policy/base/assignment.hpp"

#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kNoPath = INT64_MAX;

}  // namespace

void Assignment::look_from(std::int32_t row, std::int64_t length) {
  const std::int64_t* const edges = cost_.data() + std::int64_t{row} * columns_;
  for (std::int32_t c = 0; c < columns_; ++c) {
    if (reached_[to_index(c)] != 0 || edges[c] == kNoEdge) continue;
    const std::int64_t through = length + edges[c] - of_row_[to_index(row)] - of_column_[to_index(c)];
    if (through >= length_[to_index(c)]) continue;
    length_[to_index(c)] = through;
    before_[to_index(c)] = row;
  }
}

std::int32_t Assignment::nearest() const {
  std::int32_t best = -1;
  for (std::int32_t c = 0; c < columns_; ++c) {
    if (reached_[to_index(c)] == 0 && length_[to_index(c)] != kNoPath && (best < 0 || length_[to_index(c)] < length_[to_index(best)]))
      best = c;
  }
  if (best < 0) throw InternalError("a row cannot be assigned to any column");
  return best;
}

std::span<const std::int32_t> Assignment::solve(std::int32_t rows, std::int32_t columns, std::span<const std::int64_t> cost) {
  columns_ = columns;
  cost_ = cost;
  column_of_.assign(to_index(rows), -1);
  row_of_.assign(to_index(columns), -1);
  of_row_.assign(to_index(rows), 0);
  of_column_.assign(to_index(columns), 0);
  for (std::int32_t added = 0; added < rows; ++added) {
    length_.assign(to_index(columns), kNoPath);
    before_.assign(to_index(columns), -1);
    reached_.assign(to_index(columns), 0);
    std::int32_t row = added, last = -1;
    std::int64_t length = 0;
    while (row >= 0) {
      look_from(row, length);
      last = nearest();
      reached_[to_index(last)] = 1;
      length = length_[to_index(last)];
      row = row_of_[to_index(last)];
    }
    of_row_[to_index(added)] += length;
    for (std::int32_t c = 0; c < columns; ++c) {
      if (reached_[to_index(c)] == 0 || row_of_[to_index(c)] < 0) continue;
      of_row_[to_index(row_of_[to_index(c)])] += length - length_[to_index(c)];
      of_column_[to_index(c)] -= length - length_[to_index(c)];
    }
    while (last >= 0) {
      row = before_[to_index(last)];
      row_of_[to_index(last)] = row;
      last = std::exchange(column_of_[to_index(row)], last);
    }
  }
  return column_of_;
}

}  // namespace berth::policy
