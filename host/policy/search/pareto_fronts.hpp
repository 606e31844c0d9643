#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

/// Smaller is better for both.
struct TwoObjectives {
  double first, second;
};

/// Selection of survivors by two objectives: NSGA-II (Deb et al. 2002).
/// By rank: the number of non-dominated fronts to remove before the individual is in such a front.
/// The last front that survives in part is ordered by crowding distance, largest first. Ties: the lower index. Keeps its memory.
class ParetoFronts {
 public:
  /// Indices of the best `most` individuals, or of all, best first. Valid until the next call.
  std::span<const std::int32_t> survivors(std::span<const TwoObjectives> all, std::int32_t most);

 private:
  void set_ranks(std::span<const TwoObjectives> all);
  void set_crowding(std::span<const TwoObjectives> all);

  std::vector<std::int32_t> order_;  // by first, then second objective
  std::vector<std::int32_t> rank_;   // [individuals]
  std::vector<std::int32_t> last_;   // [fronts] the last individual put into each
  std::vector<double> crowding_;     // [individuals]
  std::vector<std::int32_t> front_, best_;
};

}  // namespace berth::policy
