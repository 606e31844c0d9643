#include "host/core/choice/locality.hpp"

#include <algorithm>
#include <array>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/span.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitchTopology = static_cast<std::int32_t>(TopologyKind::kSwitch);

}  // namespace

void Locality::set(const StateImpl& s) {
  levels_.assign(to_index(s.topologies.levels(kSwitchTopology)), {});
  nvlink_domains_ = s.topologies.levels(static_cast<std::int32_t>(TopologyKind::kNvlink)) > 2;
  std::array<TimeUs, kMaxLevels> latency{};
  std::array<std::int64_t, kMaxLevels> uplink{};  // 0: not limited
  for (std::int32_t d = 0; d < s.topologies.size(); ++d) {
    const Domain* const domain = s.topologies.description(d);
    if (domain == nullptr || s.topologies.topology_of(d) != kSwitchTopology) continue;
    const std::size_t level = to_index(s.topologies.level_of(d));
    const std::int64_t bytes_per_s = domain->uplink_bytes_per_s;
    if (bytes_per_s > 0 && (uplink[level] == 0 || bytes_per_s < uplink[level])) uplink[level] = bytes_per_s;
    latency[level] = std::max(latency[level], domain->latency_us);
  }
  for (std::size_t level = 2; level < levels_.size(); ++level) {
    const Level& below = levels_[level - 1];
    const std::int64_t crossed = uplink[level - 1];
    const bool tighter = crossed > 0 && (below.uplink_bytes_per_s == 0 || crossed < below.uplink_bytes_per_s);
    levels_[level] = {tighter ? crossed : below.uplink_bytes_per_s, below.latency_ns + latency[level - 1] * 1000};
  }
}

std::int64_t Locality::rate(const StateImpl& s, const ChoiceOption& option, std::int32_t locality) const {
  const JobRecord& record = s.jobs[to_index(option.job)];
  SpanInfo span = tightest_span(s, option.type, option.gpus);
  span.nodes = std::max(2, span.nodes);
  span.level = std::max(1, locality - 1);
  span.level_name = s.topologies.level_name(kSwitchTopology, span.level);
  span.one_nvlink_domain = locality == kOneNvlinkDomain;
  span.uplink_bytes_per_s = levels_[to_index(span.level)].uplink_bytes_per_s;
  span.latency_ns = levels_[to_index(span.level)].latency_ns;
  span.gpus = option.gpus;
  const Job& job = *record.job;
  return profile_rate(job, job.shapes[to_index(record.options[to_index(option.option)].shape)], span);
}

std::int64_t Locality::speed(const StateImpl& s, const ChoiceOption& option, std::int32_t locality, std::int64_t tightest) const {
  const std::int64_t counted_on = s.jobs[to_index(option.job)].option_rate[to_index(option.option)];
  if (counted_on <= 0 || locality == kOneNode) return tightest;
  const std::int64_t rate = this->rate(s, option, locality);
  return rate >= counted_on ? tightest : mul_div(tightest, rate, counted_on);
}

}  // namespace berth::core
