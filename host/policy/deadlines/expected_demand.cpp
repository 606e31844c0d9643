#include "host/policy/deadlines/expected_demand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {
namespace {

constexpr std::string_view kDemandFrom = "seen_from_us";
constexpr std::string_view kDemandPrefix = "seen_gpu_us_";  // then the type and the bin
constexpr std::int32_t kMostDemandTypes = 4096;

}  // namespace

std::size_t ExpectedDemand::bin_of(std::int64_t gpu_us, std::int64_t value) {
  const auto cost = static_cast<std::uint64_t>(std::max<std::int64_t>(1, gpu_us / value));
  return static_cast<std::size_t>(std::bit_width(cost)) - 1;
}

// Scalars of other names, and such that no decision wrote, are left alone.
void ExpectedDemand::load(const PolicyState& state) {
  types_.clear();
  const auto from = state.scalars.find(std::string(kDemandFrom));
  from_ = from == state.scalars.end() ? kNever : from->second;
  for (auto row = state.scalars.lower_bound(std::string(kDemandPrefix)); row != state.scalars.end(); ++row) {
    const std::string_view name = row->first;
    if (name.substr(0, kDemandPrefix.size()) != kDemandPrefix) break;
    const std::string_view rest = name.substr(kDemandPrefix.size());
    const std::size_t dash = rest.find('_');
    if (dash == std::string_view::npos) continue;
    const auto type = core::parse_whole(rest.substr(0, dash), kMostDemandTypes), bin = core::parse_whole(rest.substr(dash + 1), kBins - 1);
    if (!type || !bin || row->second < 0) continue;
    if (std::ssize(types_) <= *type) types_.resize(to_index(static_cast<std::int32_t>(*type)) + 1);
    types_[static_cast<std::size_t>(*type)].gpu_us[static_cast<std::size_t>(*bin)] = row->second;
  }
}

void ExpectedDemand::store(PolicyState& state) const {
  if (from_ == kNever) return;
  state.scalars[std::string(kDemandFrom)] = from_;
  for (std::size_t type = 0; type < types_.size(); ++type) {
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      if (types_[type].gpu_us[bin] > 0) state.scalars[fmt::format("{}{}_{}", kDemandPrefix, type, bin)] = types_[type].gpu_us[bin];
    }
  }
}

void ExpectedDemand::add(std::int32_t type, std::int64_t gpu_us, std::int64_t value, TimeUs submit) {
  if (type >= kMostDemandTypes) return;
  if (types_.size() <= to_index(type)) types_.resize(to_index(type) + 1);
  Bins& bins = types_[to_index(type)];
  std::int64_t& bin = bins.gpu_us[bin_of(gpu_us, value)];
  bin = core::saturating_add(bin, gpu_us);
  bins.summed = false;
  from_ = std::min(from_, submit);
}

std::int64_t ExpectedDemand::busy_micro(std::int32_t type, std::int64_t gpu_us, std::int64_t value, TimeUs now, TimeUs least) {
  if (types_.size() <= to_index(type) || from_ == kNever) return 0;
  Bins& bins = types_[to_index(type)];
  if (!bins.summed) {
    std::int64_t sum = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      sum = core::saturating_add(sum, bins.gpu_us[bin]);
      bins.up_to[bin] = sum;
    }
    bins.summed = true;
  }
  const TimeUs span = std::max<TimeUs>({1, least, from_ >= now ? 0 : now - std::max(from_, now - kMaxTimeUs)});
  return core::mul_div(bins.up_to[bin_of(gpu_us, value)], 1'000'000, span);
}

}  // namespace berth::policy
