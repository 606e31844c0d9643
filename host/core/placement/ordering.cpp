#include "host/core/placement/ordering.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::core {
namespace {

// Below this many rows a comparison sort is faster than counting bytes.
constexpr std::size_t kRadixFrom = 512;
// A row that belongs before more than this many kept rows is out of place itself; otherwise those rows are.
constexpr std::size_t kLookBack = 4;
constexpr int kKeyBytes = 8, kBytes = 12;  // digits, least significant first: 4 of the rank, then 8 of the key

std::uint64_t biased(std::int64_t key) { return static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63); }

template <class Row>
std::size_t digit(const Row& row, int byte) {
  constexpr int rank_bytes = kBytes - kKeyBytes;
  return byte < rank_bytes ? (row.rank >> (8 * byte)) & 0xFFU : (row.key >> (8 * (byte - rank_bytes))) & 0xFFU;
}

}  // namespace

void JobOrder::sort(std::span<const std::int32_t> jobs, std::span<const std::int64_t> keys, std::span<const std::int32_t> ranks) {
  if (mark_.size() < keys.size()) mark_.resize(keys.size(), 0);
  const auto row_of = [&](std::int32_t job) {
    const auto at = static_cast<std::size_t>(job);
    return Row{biased(keys[at]), static_cast<std::uint32_t>(ranks[at]), job};
  };
  for (const std::int32_t job : jobs) mark_[static_cast<std::size_t>(job)] = 1;
  kept_.clear();
  rows_.clear();
  for (const std::int32_t job : order_) {
    std::uint8_t& mark = mark_[static_cast<std::size_t>(job)];
    if (mark == 0) continue;
    mark = 0;
    keep_or_take_out(row_of(job));
  }
  for (const std::int32_t job : jobs) {
    std::uint8_t& mark = mark_[static_cast<std::size_t>(job)];
    if (mark != 0) rows_.push_back(row_of(job));
    mark = 0;
  }
  sort_rows();
  merge();
}

void JobOrder::keep_or_take_out(const Row& row) {
  std::size_t above = 0;
  while (above <= kLookBack && above < kept_.size() && before(row, kept_[kept_.size() - 1 - above])) ++above;
  if (above > kLookBack) {
    rows_.push_back(row);
    return;
  }
  for (; above > 0; --above) {
    rows_.push_back(kept_.back());
    kept_.pop_back();
  }
  kept_.push_back(row);
}

void JobOrder::sort_rows() {
  if (rows_.size() < kRadixFrom) {
    std::sort(rows_.begin(), rows_.end(), before);
    return;
  }
  // Bytes that all rows share do not affect the order. Nor do ranks that ascend already, as when all jobs come in rank
  // order.
  std::uint64_t keys = 0;
  std::uint32_t ranks = 0;
  bool by_rank = true;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    keys |= rows_[i].key ^ rows_[0].key;
    ranks |= rows_[i].rank ^ rows_[0].rank;
    by_rank = by_rank && rows_[i - 1].rank < rows_[i].rank;
  }
  const Row differ{keys, by_rank ? 0 : ranks, 0};
  spare_.resize(rows_.size());
  for (int byte = 0; byte < kBytes; ++byte) {
    if (digit(differ, byte) == 0) continue;
    std::array<std::uint32_t, 256> starts{};
    for (const Row& row : rows_) ++starts[digit(row, byte)];
    std::uint32_t start = 0;
    for (std::uint32_t& bucket : starts) {
      const std::uint32_t size = bucket;
      bucket = start;
      start += size;
    }
    for (const Row& row : rows_) spare_[starts[digit(row, byte)]++] = row;
    rows_.swap(spare_);
  }
}

void JobOrder::merge() {
  order_.clear();
  std::size_t i = 0;
  for (const Row& kept : kept_) {
    while (i < rows_.size() && before(rows_[i], kept)) order_.push_back(rows_[i++].job);
    order_.push_back(kept.job);
  }
  while (i < rows_.size()) order_.push_back(rows_[i++].job);
}

}  // namespace berth::core
