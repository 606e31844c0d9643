#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/base/wide.hpp"

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
  /// O(n).
  /// @param services  [n] ascending, GPU-microseconds, >= 0.
  /// @returns false, and changes nothing, where they are those of the last time.
  bool build(std::span<const std::int64_t> services, std::int64_t delta_gpu_us);

  /// floor(rank * 2^62) at `attained` >= 0. O(log n).
  std::int64_t rank(std::int64_t attained) const;
  /// The smallest service above `attained` with a rank below `bound`, kNever: none. `attained` itself has another rank.
  /// O(n log n) for the first call after `build`, O(log n) for the others.
  std::int64_t falls_below(std::int64_t attained, std::int64_t bound);
  /// The same up to `last`; kNever: none there. O(log n + steps up to `last`).
  std::int64_t falls_below(std::int64_t attained, std::int64_t bound, std::int64_t last) const;

 private:
  /// A position in the steps: those of services on, and those of services minus delta.
  struct Walk {
    std::size_t above, far;  // first service > a, first service > a + delta
  };
  std::int64_t rank_at(std::int64_t step, const Walk& walk) const;
  Walk walk_from(std::int64_t attained) const;
  std::int64_t next_step(const Walk& walk) const;
  void pass(Walk& walk, std::int64_t step) const;
  void build_steps();

  std::int64_t delta_ = 1;
  std::vector<std::int64_t> services_;
  std::vector<core::Wide> sums_{0};  // [n + 1] of the first services
  bool has_steps_ = false;
  std::vector<std::int64_t> from_;   // ascending; the first is 0
  std::vector<std::int64_t> least_;  // a tree of minima: of node i those of 2 i and 2 i + 1; a leaf is the rank of [from_[i], from_[i + 1])
};

}  // namespace berth::policy
