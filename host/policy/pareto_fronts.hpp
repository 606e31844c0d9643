#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::policy {

/// The smaller the better, both.
struct TwoObjectives {
  double first, second;
};

/// Who survives, of individuals with two objectives: NSGA-II (Deb et al. 2002). By rank, that is how many fronts of individuals that
/// nobody beats must go before one is in such a front; the last front that survives in part by crowding distance, the loneliest first;
/// ties: the lower index. Memory is kept.
class ParetoFronts {
 public:
  /// Indices of so many, or of all, the best first; valid until the next call.
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
