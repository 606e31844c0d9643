#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "berth/units.hpp"

namespace berth::sim {

/// Time of an all-reduce over the network cards of several nodes (arXiv 2002.10105): alone, latency + bytes x `byte_fs`.
/// With k all-reduces on its busiest node each byte takes k x `byte_fs` + (k - 1) x `contention_fs`.
/// The defaults are those of the authors' simulator for 10 GbE. Range [0, 10^12] each; `byte_fs` at least 1.
struct NetworkCost {
  TimeUs latency_us = 0;
  std::int64_t byte_fs = 856'000;        ///< femtoseconds
  std::int64_t contention_fs = 235'000;  ///< femtoseconds

  /// Femtoseconds per byte where `k` all-reduces share a card.
  std::int64_t byte_fs_of(std::int64_t k) const { return k * byte_fs + (k - 1) * contention_fs; }
  /// Time of an all-reduce alone, rounded up to a microsecond.
  TimeUs alone_us(std::int64_t bytes) const;
};

/// Costs of kinds of networks. That of 1 GbE is our fit to measurements of all-reduces side by side (docs/contention.md): there
/// sharing costs no more than its share.
struct FabricCost {
  std::string_view name;
  NetworkCost cost;
};
inline constexpr FabricCost kFabricCosts[] = {{"10gbe", {}}, {"1gbe", {32'310, 9'548'000, 0}}};

/// When a ready all-reduce may start, by the number of active ones on its busiest node.
enum class Admission : std::uint8_t {
  kAny,      ///< at once
  kOne,      ///< only where none is active: SRSF(1)
  kTwo,      ///< where at most one is active: SRSF(2)
  kAdaDual,  ///< where none is active, or one with at least 2 (b + eta) / b times its bytes left: AdaDUAL
};

/// The active all-reduces. Each runs at the rate of the busiest node that it uses.
class AllReduces {
 public:
  AllReduces(const NetworkCost& cost, std::int32_t nodes) : cost_(cost), on_(to_index(nodes)) {}

  struct Row {
    std::int64_t bytes = 0;    ///< left, at `since`
    TimeUs latency = 0;        ///< latency left at `since`
    TimeUs since = 0;          ///< when its rate last changed
    std::int64_t sharing = 1;  ///< number of all-reduces on its busiest node, itself included
    std::span<const std::int32_t> nodes;
    bool active = false;
    std::uint64_t run = 0;  ///< counts changes: an earlier prediction of the finish is void
  };

  /// @param nodes  Without repetition; must outlive the all-reduce.
  /// @param begun  At or before now; the all-reduce has been alone since.
  void begin(std::int32_t id, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs begun, TimeUs now);
  /// The all-reduce finished or was cancelled.
  void end(std::int32_t id, TimeUs now);
  bool admits(Admission rule, std::int64_t bytes, std::span<const std::int32_t> nodes, TimeUs now) const;

  const Row& row(std::int32_t id) const { return rows_[to_index(id)]; }
  bool active(std::int32_t id) const { return to_index(id) < rows_.size() && rows_[to_index(id)].active; }
  TimeUs finish_us(std::int32_t id) const;
  /// Those whose finish has changed since this list was last cleared.
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
