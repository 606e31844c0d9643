#include "host/policy/queue/gittins_table.hpp"

#include <algorithm>
#include <bit>

#include "berth/units.hpp"

namespace berth::policy {
namespace {

std::size_t not_above(std::span<const std::int64_t> services, std::int64_t bound) {
  return static_cast<std::size_t>(std::upper_bound(services.begin(), services.end(), bound) - services.begin());
}

}  // namespace

bool GittinsTable::build(std::span<const std::int64_t> services, std::int64_t delta_gpu_us) {
  const auto differ = std::mismatch(services_.begin(), services_.end(), services.begin(), services.end()).first;
  const auto same = static_cast<std::size_t>(differ - services_.begin());
  if (delta_ == delta_gpu_us && same == services.size() && same == services_.size()) return false;
  delta_ = delta_gpu_us;
  services_.resize(same);
  services_.insert(services_.end(), services.begin() + static_cast<std::ptrdiff_t>(same), services.end());
  sums_.resize(services.size() + 1);
  for (std::size_t i = same; i < services.size(); ++i) sums_[i + 1] = sums_[i] + services[i];
  has_steps_ = false;
  return true;
}

/// The exact rank at a step.
std::int64_t GittinsTable::rank_at(std::int64_t step, const Walk& walk) const {
  const auto near = static_cast<std::int64_t>(walk.far - walk.above);
  if (near == 0) return 0;
  const core::Wide expected = sums_[walk.far] - sums_[walk.above] - core::Wide{near} * step +
                              core::Wide{delta_} * static_cast<std::int64_t>(services_.size() - walk.far);
  return core::saturate((core::Wide{near} << 62) / expected);
}

GittinsTable::Walk GittinsTable::walk_from(std::int64_t attained) const {
  return {not_above(services_, attained), not_above(services_, core::saturating_add(attained, delta_))};
}

std::int64_t GittinsTable::rank(std::int64_t attained) const {
  const Walk here = walk_from(attained);
  // The last step: 0, a service, or a service minus delta.
  std::int64_t step = here.above > 0 ? services_[here.above - 1] : 0;
  if (here.far > 0) step = std::max(step, services_[here.far - 1] - delta_);
  return rank_at(step, here);
}

/// kNever: there is none.
std::int64_t GittinsTable::next_step(const Walk& walk) const {
  const std::int64_t at = walk.above < services_.size() ? services_[walk.above] : kNever;
  return walk.far < services_.size() ? std::min(at, services_[walk.far] - delta_) : at;
}

void GittinsTable::pass(Walk& walk, std::int64_t step) const {
  const std::int64_t horizon = core::saturating_add(step, delta_);
  while (walk.above < services_.size() && services_[walk.above] <= step) ++walk.above;
  while (walk.far < services_.size() && services_[walk.far] <= horizon) ++walk.far;
}

std::int64_t GittinsTable::falls_below(std::int64_t attained, std::int64_t bound, std::int64_t last) const {
  Walk walk = walk_from(attained);
  std::int64_t before = rank(attained);
  while (walk.above < services_.size()) {
    const std::int64_t step = next_step(walk);
    if (step > last) return kNever;
    pass(walk, step);
    const std::int64_t here = rank_at(step, walk);
    if (here != before && here < bound) return step;
    before = here;
  }
  return kNever;
}

void GittinsTable::build_steps() {
  from_.assign(1, 0);
  Walk walk = walk_from(0);
  std::vector<std::int64_t> ranks{rank_at(0, walk)};
  while (walk.above < services_.size()) {
    const std::int64_t step = next_step(walk);
    pass(walk, step);
    const std::int64_t here = rank_at(step, walk);
    if (here == ranks.back()) continue;
    from_.push_back(step);
    ranks.push_back(here);
  }
  const std::size_t leaves = std::bit_ceil(ranks.size());
  least_.assign(2 * leaves, INT64_MAX);
  std::copy(ranks.begin(), ranks.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves));
  for (std::size_t i = leaves; i-- > 1;) least_[i] = std::min(least_[2 * i], least_[2 * i + 1]);
  has_steps_ = true;
}

std::int64_t GittinsTable::falls_below(std::int64_t attained, std::int64_t bound) {
  if (!has_steps_) build_steps();
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
