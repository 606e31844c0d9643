#include "host/policy/assignment.hpp"

#include <utility>

#include "berth/error.hpp"
#include "host/core/at.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kNoPath = INT64_MAX;

}  // namespace

void Assignment::look_from(std::int32_t row, std::int64_t length) {
  const std::int64_t* const edges = cost_.data() + std::int64_t{row} * columns_;
  for (std::int32_t c = 0; c < columns_; ++c) {
    if (reached_[at(c)] != 0 || edges[c] == kNoEdge) continue;
    const std::int64_t through = length + edges[c] - of_row_[at(row)] - of_column_[at(c)];
    if (through >= length_[at(c)]) continue;
    length_[at(c)] = through;
    before_[at(c)] = row;
  }
}

std::int32_t Assignment::nearest() const {
  std::int32_t best = -1;
  for (std::int32_t c = 0; c < columns_; ++c) {
    if (reached_[at(c)] == 0 && length_[at(c)] != kNoPath && (best < 0 || length_[at(c)] < length_[at(best)])) best = c;
  }
  if (best < 0) throw InternalError("a row cannot be assigned to any column");
  return best;
}

std::span<const std::int32_t> Assignment::solve(std::int32_t rows, std::int32_t columns, std::span<const std::int64_t> cost) {
  columns_ = columns;
  cost_ = cost;
  column_of_.assign(at(rows), -1);
  row_of_.assign(at(columns), -1);
  of_row_.assign(at(rows), 0);
  of_column_.assign(at(columns), 0);
  for (std::int32_t added = 0; added < rows; ++added) {
    length_.assign(at(columns), kNoPath);
    before_.assign(at(columns), -1);
    reached_.assign(at(columns), 0);
    std::int32_t row = added, last = -1;
    std::int64_t length = 0;
    while (row >= 0) {
      look_from(row, length);
      last = nearest();
      reached_[at(last)] = 1;
      length = length_[at(last)];
      row = row_of_[at(last)];
    }
    of_row_[at(added)] += length;
    for (std::int32_t c = 0; c < columns; ++c) {
      if (reached_[at(c)] == 0 || row_of_[at(c)] < 0) continue;
      of_row_[at(row_of_[at(c)])] += length - length_[at(c)];
      of_column_[at(c)] -= length - length_[at(c)];
    }
    while (last >= 0) {
      row = before_[at(last)];
      row_of_[at(last)] = row;
      last = std::exchange(column_of_[at(row)], last);
    }
  }
  return column_of_;
}

}  // namespace berth::policy
