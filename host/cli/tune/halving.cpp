#include "host/cli/tune/halving.hpp"

#include <algorithm>

namespace berth::cli {

std::vector<std::int64_t> rung_days(std::int64_t days) {
  constexpr std::size_t kMostRungs = 3;
  std::vector<std::int64_t> rungs{days};
  while (rungs.size() < kMostRungs && rungs.front() / kThird >= 1) rungs.insert(rungs.begin(), rungs.front() / kThird);
  return rungs;
}

std::int64_t kept_of(std::int64_t count) { return count == 0 ? 0 : std::max<std::int64_t>(1, count / kThird); }

std::int64_t configurations_for(std::int64_t runs, std::int64_t other, std::size_t rungs) {
  const auto needs = [&](std::int64_t count) {
    std::int64_t all = other;
    for (std::size_t rung = 0; rung < rungs; ++rung, count = kept_of(count)) all += count;
    return all;
  };
  std::int64_t count = 0;
  for (std::int64_t step = std::max<std::int64_t>(runs, 1); step > 0; step /= 2) {
    while (count + step <= runs && needs(count + step) <= runs) count += step;
  }
  return count;
}

std::vector<std::size_t> best_of(const std::vector<std::optional<std::int64_t>>& values, std::int64_t keep) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return *values[a] < *values[b]; });
  if (static_cast<std::int64_t>(order.size()) > keep) order.resize(static_cast<std::size_t>(keep));
  return order;
}

}  // namespace berth::cli
