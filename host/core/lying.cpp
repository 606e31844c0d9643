#include "host/core/lying.hpp"

#include <algorithm>

#include "host/core/at.hpp"
#include "host/core/profile.hpp"
#include "host/core/span.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/wide.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitchFacet = static_cast<std::int32_t>(Facet::kSwitch);
constexpr std::int32_t kOneNode = 0, kOneNvlinkDomain = 1;

void cross(const StateImpl& s, std::int32_t level, SpanInfo& span) {
  TimeUs latency = 0;
  for (std::int32_t d = 0; d < s.topology.size(); ++d) {
    const Domain* const domain = s.topology.description(d);
    if (domain == nullptr || s.topology.facet_of(d) != kSwitchFacet || s.topology.level_of(d) != level) continue;
    const std::int64_t uplink = domain->uplink_bytes_per_s;
    if (uplink > 0 && (span.uplink_bytes_per_s == 0 || uplink < span.uplink_bytes_per_s)) span.uplink_bytes_per_s = uplink;
    latency = std::max(latency, domain->latency_us);
  }
  span.latency_ns += latency * 1000;
}

}  // namespace

std::int32_t lying_classes(const StateImpl& s) { return s.topology.levels(kSwitchFacet) + 1; }

std::int64_t speed_lying(const StateImpl& s, const ChoiceOption& option, std::int32_t lying, std::int64_t tightest) {
  const JobRecord& record = s.jobs[at(option.slot)];
  const std::int64_t counted_on = record.option_rate[at(option.option)];
  SpanInfo span = tightest_span(s, option.type, option.gpus);
  if (counted_on <= 0 || lying == kOneNode) return tightest;
  span.nodes = std::max(2, span.nodes);
  span.level = std::max(1, lying - 1);
  span.level_name = s.topology.level_name(kSwitchFacet, span.level);
  span.one_nvlink_domain = lying == kOneNvlinkDomain;
  for (std::int32_t level = 1; level < span.level; ++level) cross(s, level, span);
  span.gpus = option.gpus;
  const Job& job = *record.job;
  const std::int64_t rate = profile_rate(job, job.shapes[at(record.options[at(option.option)].shape)], span);
  return rate >= counted_on ? tightest : mul_div(tightest, rate, counted_on);
}

}  // namespace berth::core
