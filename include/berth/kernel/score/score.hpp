#pragma once

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/score/columns.hpp"
#include "berth/kernel/score/table.hpp"

/// The definition of a candidate (docs/placement.md sections 1 and 9) over a ScoreTableView, and the k best of a demand.
namespace berth::kernel {

/// True when nodes of the kind pass the demand's filter and stay available long enough.
BERTH_HD inline bool kind_is_open(const KindView& kinds, const ScoreDemand& demand, std::int32_t kind) {
  const std::uint64_t word = kinds.filter[static_cast<std::int64_t>(demand.filter) * kinds.n_words + (kind >> 6)];
  // An unknown end is kNever. It fits only nodes without an end, whose `until` is kNever too.
  return (word >> (kind & 63) & 1u) != 0 && (kinds.until == nullptr || demand.ends <= kinds.until[kind]);
}

BERTH_HD inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Members of the row that fit on one open node of the kind.
BERTH_HD inline std::int64_t kind_capacity(const KindView& kinds, const ScoreGroup& row, std::int32_t kind) {
  std::int64_t cap = 0;
  if (row.share_ppm == kWholeGpu) {
    cap = kinds.free[kind] / row.gpus;
  } else {
    for (std::int32_t i = kinds.room_begin[kind]; i < kinds.room_begin[kind + 1]; ++i) {
      std::int64_t holds = kinds.room_ppm[i] / row.share_ppm;
      if (row.gpu_memory != 0 && kinds.room_memory[i] != kNoLimit) holds = least(holds, kinds.room_memory[i] / row.gpu_memory);
      if (holds > 0) cap += holds;
    }
  }
  if (row.cpu != 0 && kinds.cpu[kind] != kNoLimit) cap = least(cap, kinds.cpu[kind] / row.cpu);
  if (row.memory != 0 && kinds.memory[kind] != kNoLimit) cap = least(cap, kinds.memory[kind] / row.memory);
  return cap > 0 ? cap : 0;
}

/// How the capacities of a part's cells are combined.
enum class CellRule { kSum, kSegment, kSpread };

template <CellRule kRule>
BERTH_HD inline std::int64_t place_capacity(const ScoreTableView& table, const ScoreDemand& demand, const ScoreGroup& row,
                                            std::int32_t place, std::int32_t part) {
  const PlaceView& places = table.places;
  const std::int32_t* cells = places.cell_begin + static_cast<std::int64_t>(part) * (places.n + 1) + place;
  std::int64_t total = 0;
  for (std::int32_t cell = cells[0]; cell < cells[1]; ++cell) {
    std::int64_t holds = 0;
    for (std::int32_t i = places.item_begin[cell]; i < places.item_begin[cell + 1]; ++i) {
      const CellItem item = places.items[i];
      if (kind_is_open(table.kinds, demand, item.kind)) holds += item.count * kind_capacity(table.kinds, row, item.kind);
    }
    if (kRule == CellRule::kSegment) holds -= holds % row.segment_size;
    if (kRule == CellRule::kSpread) holds = least(holds, row.spread_most);
    total += holds;
  }
  return total;
}

/// True when the place, above level 0, holds the members of the row on its own.
BERTH_HD inline bool row_fits(const ScoreTableView& table, const ScoreDemand& demand, const ScoreGroup& row, std::int32_t place) {
  if (row.segment_size == 0 && row.spread_most == 0) {
    return place_capacity<CellRule::kSum>(table, demand, row, place, 0) >= row.members;
  }
  if (row.segment_size != 0 && place_capacity<CellRule::kSegment>(table, demand, row, place, row.segment_part) < row.members) return false;
  return row.spread_most == 0 || place_capacity<CellRule::kSpread>(table, demand, row, place, row.spread_part) >= row.members;
}

/// True when one node of the kind holds the members of the row on its own: segments and spreads see a single domain.
BERTH_HD inline bool row_fits_node(const ScoreTableView& table, const ScoreGroup& row, std::int32_t kind) {
  std::int64_t cap = kind_capacity(table.kinds, row, kind);
  const std::int64_t spread = row.spread_most != 0 ? least(cap, row.spread_most) : cap;
  if (row.segment_size != 0) cap -= cap % row.segment_size;
  return least(cap, spread) >= row.members;
}

/// The same test for a table of demands by threshold: -1, or the free GPUs of the node.
BERTH_HD inline std::int64_t usable_by_threshold(const ScoreTableView& table, const ScoreDemand& demand, std::int32_t kind) {
  const KindView& kinds = table.kinds;
  if (kinds.free[kind] < demand.least_free || !kind_is_open(kinds, demand, kind)) return -1;
  if (kinds.cpu != nullptr && kinds.cpu[kind] < demand.least_cpu) return -1;
  if (kinds.memory != nullptr && kinds.memory[kind] < demand.least_memory) return -1;
  return kinds.free[kind];
}

/// Whole free GPUs of the place that the demand may use, or -1 when the place is not a candidate.
template <bool kThreshold>
BERTH_HD inline std::int64_t usable_gpus(const ScoreTableView& table, const ScoreDemand& demand, std::int32_t place) {
  if (kThreshold) return usable_by_threshold(table, demand, place);
  const KindView& kinds = table.kinds;
  std::int64_t raw = 0;
  if (table.places.n_parts == 0) {
    if (demand.by_threshold != 0) return usable_by_threshold(table, demand, place);
    if (!kind_is_open(kinds, demand, place)) return -1;  // every demand has members
    raw = kinds.free[place];
    if (raw < demand.gpus) return -1;
    for (std::int32_t r = demand.row_begin; r < demand.row_end; ++r) {
      if (!row_fits_node(table, table.rows[r], place)) return -1;
    }
    return raw;
  }
  const std::int32_t* cells = table.places.cell_begin + place;
  for (std::int32_t i = table.places.item_begin[cells[0]]; i < table.places.item_begin[cells[1]]; ++i) {
    const CellItem item = table.places.items[i];
    if (kind_is_open(kinds, demand, item.kind)) raw += static_cast<std::int64_t>(item.count) * kinds.free[item.kind];
  }
  if (raw < demand.gpus) return -1;
  for (std::int32_t r = demand.row_begin; r < demand.row_end; ++r) {
    if (!row_fits(table, demand, table.rows[r], place)) return -1;
  }
  return raw;
}

BERTH_HD inline std::int64_t place_score(const ScoreTableView& table, const ScoreDemand& demand, std::int32_t place,
                                         std::int64_t leftover) {
  const std::int64_t cost = table.places.cost == nullptr ? 0 : table.places.cost[place];
  if (table.saturates == 0) return demand.base + table.leftover_weight * leftover + cost;
  const __int128 exact = static_cast<__int128>(table.leftover_weight) * leftover + cost + demand.base;
  return exact > table.limit ? table.limit : exact < -table.limit ? -table.limit : static_cast<std::int64_t>(exact);
}

/// The smallest keys that one thread has seen, ascending, for short lists.
/// Every index is a constant after unrolling, so that the list stays in registers.
template <int kMost>
class ShortList {
 public:
  BERTH_HD ShortList() {
    for (int i = 0; i < kMost; ++i) keys_[i] = kNoKey;
  }
  BERTH_HD void offer(Key key, std::int32_t) {
    if (!(key < keys_[kMost - 1])) return;
    keys_[kMost - 1] = key;
    for (int i = kMost - 1; i > 0; --i) {
      if (!(keys_[i] < keys_[i - 1])) return;
      const Key larger = keys_[i - 1];
      keys_[i - 1] = keys_[i];
      keys_[i] = larger;
    }
  }
  BERTH_HD Key head() const { return keys_[0]; }
  BERTH_HD void pop() {
    for (int i = 0; i + 1 < kMost; ++i) keys_[i] = keys_[i + 1];
    keys_[kMost - 1] = kNoKey;
  }

 private:
  Key keys_[kMost];
};

/// The same for long lists: kept in memory, with the key to beat cached. Few keys enter the list.
template <int kMost>
class LongList {
 public:
  /// @param most  Maximum number of keys; the same in every call.
  BERTH_HD void offer(Key key, std::int32_t most) {
    if (!(key < worst_)) return;
    std::int32_t at = n_ < most ? n_++ : most - 1;
    for (; at > 0 && key < keys_[at - 1]; --at) keys_[at] = keys_[at - 1];
    keys_[at] = key;
    if (n_ == most) worst_ = keys_[most - 1];
  }
  BERTH_HD Key head() const {
    if (taken_ < n_) return keys_[taken_];
    return kNoKey;  // by value: device code has no address of it
  }
  BERTH_HD void pop() { ++taken_; }

 private:
  Key keys_[kMost];
  Key worst_ = kNoKey;
  std::int32_t n_ = 0;
  std::int32_t taken_ = 0;
};

/// Group body: the k best places of one demand, by (score, place).
///
/// @param best  [k] Out; the threads write it together; readable after the next barrier.
/// kMost >= k bounds the keys of a thread; kThreshold is used when all demands are `by_threshold`.
template <int kMost, bool kThreshold, class Group>
BERTH_HD void best_places(Group& group, const ScoreTableView& table, std::int32_t index, BestPlace* best) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;  // makes signed scores compare as unsigned words
  const ScoreDemand demand = table.demands[index];
  std::conditional_t<(kMost <= 4), ShortList<kMost>, LongList<kMost>> mine;
  for (std::int32_t place = group.rank(); place < table.places.n; place += group.size()) {
    const std::int64_t raw = usable_gpus<kThreshold>(table, demand, place);
    if (raw < 0) continue;
    const std::int64_t score = place_score(table, demand, place, raw - demand.gpus);
    mine.offer(Key{static_cast<std::uint64_t>(score) ^ kSign, static_cast<std::uint64_t>(place)}, table.k);
  }
  for (std::int32_t i = 0; i < table.k; ++i) {
    const Key head = mine.head();
    const Key least_key = group.min(head);
    if (least_key == kNoKey) {  // the same in all threads
      for (std::int32_t rest = i + group.rank(); rest < table.k; rest += group.size()) best[rest] = BestPlace{0, 0, kNone, 0};
      return;
    }
    if (!(least_key == head)) continue;
    mine.pop();  // places differ, so only one thread has this head
    const auto place = static_cast<std::int32_t>(least_key.lo);
    assert(0 <= place && place < table.places.n);
    best[i] =
        BestPlace{static_cast<std::int64_t>(least_key.hi ^ kSign), usable_gpus<kThreshold>(table, demand, place) - demand.gpus, place, 0};
  }
}

/// Calls fn.run<kMost, kThreshold>() for the cheapest variant of best_places that serves the table.
template <class Fn>
void with_score_variant(const ScoreTableView& table, const Fn& fn) {
  if (table.by_threshold != 0) {
    table.k == 1 ? fn.template run<1, true>() : table.k <= 4 ? fn.template run<4, true>() : fn.template run<kMaxBest, true>();
  } else {
    table.k == 1 ? fn.template run<1, false>() : table.k <= 4 ? fn.template run<4, false>() : fn.template run<kMaxBest, false>();
  }
}

}  // namespace berth::kernel
