#include "host/policy/queue/gittins_table.hpp"

#include <algorithm>
#include <bit>

#include "berth/units.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {

void GittinsTable::build(std::span<const std::int64_t> services, std::int64_t delta_gpu_us) {
  std::vector<std::int64_t> steps{0};
  for (const std::int64_t s : services) {
    steps.push_back(s);
    if (s > delta_gpu_us) steps.push_back(s - delta_gpu_us);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());

  from_.clear();
  rank_.clear();
  const std::size_t n = services.size();
  std::size_t above = 0, far = 0;  // first service > a, first service > a + delta
  core::Wide near_sum = 0;         // of services in [above, far)
  for (const std::int64_t a : steps) {
    const std::int64_t horizon = core::saturating_add(a, delta_gpu_us);
    for (; far < n && services[far] <= horizon; ++far) near_sum += services[far];
    for (; above < n && services[above] <= a; ++above) near_sum -= services[above];
    const auto near = static_cast<std::int64_t>(far - above);
    const core::Wide expected = near_sum - core::Wide{near} * a + core::Wide{delta_gpu_us} * static_cast<std::int64_t>(n - far);
    const std::int64_t rank = near == 0 ? 0 : core::saturate((core::Wide{near} << 62) / expected);
    if (!rank_.empty() && rank_.back() == rank) continue;
    from_.push_back(a);
    rank_.push_back(rank);
  }
  const std::size_t leaves = std::bit_ceil(rank_.size());
  least_.assign(2 * leaves, INT64_MAX);
  std::copy(rank_.begin(), rank_.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves));
  for (std::size_t i = leaves; i-- > 1;) least_[i] = std::min(least_[2 * i], least_[2 * i + 1]);
}

std::int64_t GittinsTable::rank(std::int64_t attained) const {
  const auto after = std::upper_bound(from_.begin(), from_.end(), attained);
  return after == from_.begin() ? 0 : rank_[static_cast<std::size_t>(after - from_.begin()) - 1];
}

std::int64_t GittinsTable::falls_below(std::int64_t attained, std::int64_t bound) const {
  const auto after = std::upper_bound(from_.begin(), from_.end(), attained);
  if (after == from_.end()) return kNever;
  const std::size_t leaves = least_.size() / 2;
  // Upwards past all subtrees without such a rank, then down to the first leaf that has one.
  std::size_t i = leaves + static_cast<std::size_t>(after - from_.begin());
  while (least_[i] >= bound) {
    while (i % 2 == 1) i /= 2;
    if (i == 0) return kNever;
    ++i;
  }
  while (i < leaves) i = least_[2 * i] < bound ? 2 * i : 2 * i + 1;
  return from_[i - leaves];
}

}  // namespace berth::policy
