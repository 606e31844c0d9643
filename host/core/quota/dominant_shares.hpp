#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/core/quota/queue_shares.hpp"

namespace berth::core {

/// What dominant resource fairness divides: GPUs in millionths, milli-cores, bytes of host memory.
constexpr std::size_t kShared = 3;
using SharedAmounts = std::array<std::int64_t, kShared>;

/// One taker of a division by dominant shares.
struct DominantRequest {
  std::int64_t most = 0;    ///< the dominant share of all that it asks for, at most kWholeShare
  std::int64_t weight = 0;  ///< 0: it gets no more than `first`
  std::int64_t first = 0;   ///< what it gets before the rest is divided
  SharedAmounts part{};     ///< of each resource, what a share takes of it, in parts of kWholeFraction
  std::int64_t gets = 0;    ///< out
};

constexpr std::int64_t kWholeShare = 1'000'000'000'000'000;  // of the cluster
constexpr std::int64_t kWholeFraction = 1'000'000'000'000;

/// Divides resources among takers. First each gets `first`, in their order. Then the shares of all rise, in proportion to their weights,
/// until a taker has all that it asks for, or a resource that it takes is used up. Takers are divisible. Where GPUs are used up, those
/// whose dominant resource they are have whole ones, and what is left goes to the greatest remainders, one each.
/// Progressive filling of A. Ghodsi and others, Dominant Resource Fairness, NSDI 2011, section 4.
/// @param amounts  of each resource, in parts of kWholeShare
/// @param gpus     of the cluster, in millionths; 0: no GPU is kept whole
/// O(n log n)
void divide_dominant(const SharedAmounts& amounts, std::int64_t gpus, std::span<DominantRequest> takers);

/// The fair dominant share of each queue (docs/quotas.md, "Dominant shares"): the largest of its parts of the GPUs, the cores and the host
/// memory of the nodes that work. Cores and memory count where all of these state them.
///
/// As QueueShares, a queue hands what it has down to its children. It asks for what these would get if they had the cluster for
/// themselves, so that none of them gets less because another asks for more. They divide as much of each resource as the queue got.
class DominantShares {
 public:
  /// @param of_gpus  of the same state and demand: limits and guarantees
  /// @param asked    [queues] what the jobs of each queue itself ask for
  /// O(nodes + queues * log queues)
  void set(const StateImpl& state, const QueueShares& of_gpus, std::span<const SharedAmounts> asked);
  /// Of the jobs of the queue itself, in billionths of the cluster.
  std::int64_t fair(std::int32_t queue) const { return fair_[static_cast<std::size_t>(queue)]; }
  /// The same with queues below it.
  std::int64_t fair_with_children(std::int32_t queue) const;
  /// Whether cores or memory count.
  bool counts_more_than_gpus() const { return cluster_[1] > 0 || cluster_[2] > 0; }
  /// The dominant share of these amounts, in billionths.
  std::int64_t of(const SharedAmounts& amounts) const;

 private:
  DominantRequest request(const SharedAmounts& asked) const;
  DominantRequest join(std::span<const DominantRequest> takers) const;
  void count_cluster(const StateImpl& state);
  void sum_up(const StateImpl& state, const QueueShares& of_gpus, std::span<const SharedAmounts> asked);
  void list_takers(const QueueShares& of_gpus, std::int32_t from);
  void hand_down(const QueueShares& of_gpus, std::int32_t from);

  SharedAmounts cluster_{};                      // 0: does not count
  std::vector<DominantRequest> own_, requests_;  // [queues] of its own jobs; with children
  std::vector<std::int64_t> fair_;
  std::vector<DominantRequest> takers_;
  std::vector<std::int32_t> roots_;
};

}  // namespace berth::core
