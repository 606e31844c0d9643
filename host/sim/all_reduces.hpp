#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/units.hpp"
#include "host/core/at.hpp"

namespace berth::sim {

/// What an all-reduce takes over the network cards of several nodes (arXiv 2002.10105): alone latency + bytes x `byte_fs`; with k of them
/// on its busiest node each byte takes k x `byte_fs` + (k - 1) x `contention_fs`. The defaults are what its authors' simulator has for
/// 10 GbE; [0, 10^12] each, `byte_fs` at least 1.
struct NetworkCost {
  TimeUs latency_us = 0;
  std::int64_t byte_fs = 856'000;        ///< femtoseconds
  std::int64_t contention_fs = 235'000;  ///< femtoseconds

  /// Femtoseconds for each byte where `k` share a card.
  std::int64_t byte_fs_of(std::int64_t k) const { return k * byte_fs + (k - 1) * contention_fs; }
  /// Of one that is alone, rounded up to a microsecond.
  TimeUs alone_us(std::int64_t bytes) const;
};

/// When an all-reduce that is ready may begin, by how many are under way on its busiest node.
enum class Admission : std::uint8_t {
  kAny,      ///< at once
  kOne,      ///< only where none is: SRSF(1)
  kTwo,      ///< where at most one is: SRSF(2)
  kAdaDual,  ///< where none is, or one, of which at least 2 (b + eta) / b times its bytes are left: AdaDUAL
};

/// The all-reduces that are under way. Each goes on at the rate of the busiest node that it touches.
class AllReduces {
 public:
  AllReduces(const NetworkCost& cost, std::int32_t nodes) : cost_(cost), on_(at(nodes)) {}

  struct Row {
    std::int64_t bytes = 0;    ///< left, at `since`
    TimeUs latency = 0;        ///< of it, left at `since`
    TimeUs since = 0;          ///< when its rate last changed
    std::int64_t sharing = 1;  ///< on its busiest node, itself too
    std::span<const std::int32_t> nodes;
    bool active = false;
    std::uint64_t run = 0;  ///< counts changes: a finish that was foretold before is void
  };

  /// @param nodes  Without repetition; outlives the all-reduce.
  /// @param begun  At or before now, of one that has been alone since.
  void begin(std::int32_t id, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs begun, TimeUs now);
  /// It has finished, or is given up.
  void end(std::int32_t id, TimeUs now);
  bool admits(Admission rule, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs now) const;

  const Row& row(std::int32_t id) const { return rows_[at(id)]; }
  bool active(std::int32_t id) const { return at(id) < rows_.size() && rows_[at(id)].active; }
  TimeUs finish_us(std::int32_t id) const;
  /// Those whose finish has changed since this was last emptied.
  std::vector<std::int32_t>& changed() { return changed_; }

 private:
  std::int64_t left_at(const Row& row, TimeUs now) const;
  void settle(Row& row, TimeUs now) const;
  void recount(std::span<const std::int32_t> nodes, TimeUs now);

  NetworkCost cost_;
  std::vector<Row> rows_;                      // [ids]
  std::vector<std::vector<std::int32_t>> on_;  // [nodes] ids
  std::vector<std::int32_t> changed_;
};

}  // namespace berth::sim
