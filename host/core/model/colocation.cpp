#include "host/core/model/colocation.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::core {
// A job without a model is not in any table.
std::int64_t Colocation::stated(const Kind& a, const Kind& b) {
  if (b.model.empty()) return kNotKnown;
  const auto found = std::find_if(a.table.begin(), a.table.end(), [&](const auto& one) { return one.first == b.model; });
  return found == a.table.end() ? kNotKnown : found->second;
}

std::int32_t Colocation::kind_of(const Profile& profile) {
  const auto same = [&](const Kind& kind) { return kind.model == profile.model && kind.table == profile.colocation; };
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), same);
  const auto number = static_cast<std::int32_t>(found - kinds_.begin());
  if (found != kinds_.end()) return number;
  kinds_.push_back({profile.model, profile.colocation});
  const Kind& fresh = kinds_.back();
  kept_.emplace_back();
  for (std::size_t other = 0; other + 1 < kinds_.size(); ++other) {
    kept_[other].push_back(stated(kinds_[other], fresh));
    kept_.back().push_back(stated(fresh, kinds_[other]));
  }
  kept_.back().push_back(stated(fresh, fresh));
  return number;
}

KeptFraction kept_on_gpu(const Colocation& colocation, std::int32_t own, std::span<const std::int32_t> others) {
  std::vector<std::int64_t> parts;
  parts.reserve(others.size());
  KeptFraction kept;
  for (const std::int32_t other : others) {
    const std::int64_t part = colocation.kept(own, other);
    kept.known = kept.known && part != Colocation::kNotKnown;
    if (part != Colocation::kNotKnown) parts.push_back(part);
  }
  std::sort(parts.begin(), parts.end());
  for (const std::int64_t part : parts) kept.ppm = kept.ppm * part / kFullRate;
  return kept;
}

std::int64_t slowed_rate(std::int64_t rate, std::int64_t kept_ppm) { return mul_div(rate, kept_ppm, kFullRate); }

}  // namespace berth::core
