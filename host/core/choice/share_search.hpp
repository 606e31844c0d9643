#pragma once

#include <cstdint>
#include <vector>

#include "host/core/base/shares.hpp"
#include "host/core/choice/cost_hull.hpp"
#include "host/core/choice/restricted_master_lp.hpp"

namespace berth::core {

/// Finds the best shares. Memory is kept between problems.
class ShareSearch {
 public:
  /// @param gap  stop when bound <= level * (1 + gap).
  /// @param most_rounds  >= 1
  const Shares& solve(const ShareProblem& problem, double gap, std::int32_t most_rounds);

 private:
  void try_prices(const ShareProblem& problem);
  void mix_shares(const ShareProblem& problem);

  CostHull ways_;
  RestrictedMasterLp mix_;
  Shares best_;
  std::vector<double> price_, used_;         // [types]
  std::vector<double> tried_, tried_level_;  // [rounds][types], [rounds]
};

}  // namespace berth::core
