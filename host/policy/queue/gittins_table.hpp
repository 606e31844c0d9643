#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

/// The 2D-Gittins rank as a step function of attained service.
///
///     rank(a) = P(S - a <= delta | S > a) / E[min(S - a, delta) | S > a],   0 when no S > a
///             = |{i: a < S_i <= a + delta}| / sum over S_i > a of min(S_i - a, delta)
///
/// S are the services of finished jobs (Tiresias, NSDI'19), in whole GPU-microseconds. So a rank is in [0, 1]; it is stored as
/// floor(rank * 2^62). The rank is computed at 0 and at every a where the count changes (S_i and S_i - delta).
/// It holds until the next such a: between two of them the exact rank only increases slowly with its denominator.
class GittinsTable {
 public:
  /// @param services  [n] ascending, GPU-microseconds, >= 0.
  void build(std::span<const std::int64_t> services, std::int64_t delta_gpu_us);

  /// floor(rank * 2^62) at `attained` >= 0.
  std::int64_t rank(std::int64_t attained) const;
  /// The smallest service above `attained` with a rank below `bound`; kNever: none. O(log n).
  std::int64_t falls_below(std::int64_t attained, std::int64_t bound) const;

 private:
  std::vector<std::int64_t> from_;   // ascending; the first is 0
  std::vector<std::int64_t> rank_;   // of [from_[i], from_[i + 1]); neighbours differ
  std::vector<std::int64_t> least_;  // a tree of minima: of node i those of 2 i and 2 i + 1; the leaves are rank_
};

}  // namespace berth::policy
