#include "host/core/choice/tight_places.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/profile.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitchLinks = static_cast<std::int32_t>(TopologyKind::kSwitch);
constexpr std::int32_t kNvlinkLinks = static_cast<std::int32_t>(TopologyKind::kNvlink);

// One gang of whole GPUs, free to be anywhere: no other demand is narrowed.
bool is_free_gang(const StateImpl& s, const kernel::DemandRow& row) {
  const kernel::GroupRow& gang = s.demands.groups()[to_index(row.group_begin)];
  return row.group_end - row.group_begin == 1 && gang.share_ppm == kWholeGpu && gang.segment_size == 0 && gang.spread_most == 0 &&
         gang.require_level == kernel::kNone;
}

}  // namespace

void TightPlaces::begin(const StateImpl& s) {
  const std::uint64_t structure = s.structure_version() >> 32;  // the lower half counts demands; known ones stay valid
  if (served_.lock() != s.identity || structure != structure_) {
    served_.reset();
    jobs_.clear();
    locality_.set(s);
    served_ = s.identity;
    structure_ = structure;
  }
  jobs_.resize(s.jobs.size());
}

TightPlaces::Option TightPlaces::find(const StateImpl& s, std::int32_t job, std::int32_t option) const {
  const JobRecord& record = s.jobs[to_index(job)];
  const std::int32_t demand = record.options[to_index(option)].demand;
  const kernel::DemandRow& row = s.demands.rows()[to_index(demand)];
  const std::int64_t tightest = record.option_rate[to_index(option)];
  Option found{demand, tightest};
  if (row.gpus < 2 || tightest <= 0 || !is_free_gang(s, row)) return found;
  const ChoiceOption asked{job, option, row.gpu_type, s.demands.gpus_named(demand), false};
  const std::int32_t widest = locality_.classes() - 1;
  std::int32_t tight = widest;
  for (; tight > Locality::kOneNode; --tight) {
    if (tight == Locality::kOneNvlinkDomain && !locality_.has_nvlink_domains()) continue;
    const std::int64_t rate = locality_.rate(s, asked, tight);
    if (rate >= tightest) break;
    found.rate_beyond = rate;
  }
  if (tight == widest) return found;
  const bool nvlink = tight == Locality::kOneNvlinkDomain;
  found.demand = s.demands.within(demand, nvlink ? kNvlinkLinks : kSwitchLinks, nvlink ? 1 : std::max(0, tight - 1));
  return found;
}

const TightPlaces::Option& TightPlaces::of(const StateImpl& s, std::int32_t job, std::int32_t option) {
  OfJob& known = jobs_[to_index(job)];
  const JobRecord& record = s.jobs[to_index(job)];
  if (known.version != record.version) {
    known.version = 0;
    known.options.clear();
    const bool by_place = depends_on_place(*record.job);
    for (std::size_t o = 0; o < record.options.size(); ++o) {
      known.options.push_back(by_place ? find(s, job, static_cast<std::int32_t>(o))
                                       : Option{record.options[o].demand, record.option_rate[o]});
    }
    known.version = record.version;
  }
  return known.options[to_index(option)];
}

}  // namespace berth::core
