#include "host/core/ordering.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::core {
namespace {

constexpr std::uint8_t kLeaves = 1, kInserted = 2;
// Below this many rows a comparison sort is faster than counting bytes.
constexpr std::size_t kRadixFrom = 512;
constexpr int kKeyBytes = 8, kBytes = 12;  // digits, least significant first: 4 of the rank, then 8 of the key

std::uint64_t biased(std::int64_t key) { return static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63); }

template <class Row>
bool before(const Row& a, const Row& b) {
  return a.key != b.key ? a.key < b.key : a.rank < b.rank;
}

template <class Row>
std::size_t digit(const Row& row, int byte) {
  constexpr int rank_bytes = kBytes - kKeyBytes;
  return byte < rank_bytes ? (row.rank >> (8 * byte)) & 0xFFU : (row.key >> (8 * (byte - rank_bytes))) & 0xFFU;
}

}  // namespace

void JobOrder::update(std::span<const std::int32_t> changed, std::span<const std::int32_t> removed, std::span<const std::int64_t> keys,
                      std::span<const std::int32_t> ranks) {
  if (changed.empty() && removed.empty()) return;
  if (mark_.size() < keys.size()) mark_.resize(keys.size(), 0);
  rows_.clear();
  for (const std::int32_t slot : removed) {
    if (static_cast<std::size_t>(slot) < mark_.size()) mark_[static_cast<std::size_t>(slot)] = kLeaves;
  }
  for (const std::int32_t slot : changed) {
    const auto at = static_cast<std::size_t>(slot);
    if (mark_[at] == kInserted) continue;
    mark_[at] = kInserted;
    rows_.push_back({biased(keys[at]), static_cast<std::uint32_t>(ranks[at]), slot});
  }
  sort_rows();
  merge(keys, ranks);
  for (const std::int32_t slot : removed) {
    if (static_cast<std::size_t>(slot) < mark_.size()) mark_[static_cast<std::size_t>(slot)] = 0;
  }
  for (const std::int32_t slot : changed) mark_[static_cast<std::size_t>(slot)] = 0;
}

void JobOrder::sort_rows() {
  if (rows_.size() < kRadixFrom) {
    std::sort(rows_.begin(), rows_.end(), before<Row>);
    return;
  }
  // Bytes that all rows share order nothing, nor do ranks that ascend already, as they do when all jobs come in rank order.
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

void JobOrder::merge(std::span<const std::int64_t> keys, std::span<const std::int32_t> ranks) {
  next_.clear();
  std::size_t i = 0;
  for (const std::int32_t slot : order_) {
    const auto at = static_cast<std::size_t>(slot);
    if (mark_[at] != 0) continue;
    const Row kept{biased(keys[at]), static_cast<std::uint32_t>(ranks[at]), slot};
    while (i < rows_.size() && before(rows_[i], kept)) next_.push_back(rows_[i++].slot);
    next_.push_back(slot);
  }
  while (i < rows_.size()) next_.push_back(rows_[i++].slot);
  order_.swap(next_);
}

}  // namespace berth::core
