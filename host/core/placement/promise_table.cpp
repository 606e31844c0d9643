#include "host/core/placement/promise_table.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/quota/quota_order.hpp"

namespace berth::core {
namespace {

constexpr TimeUs kRoundingMargin = 1'000;

/// The smallest rate of the job on N GPUs of a type, wherever they are; 0: not known. Between points of a table that differ by place, a
/// rate depends on which points are there: only a point of this count and of any place shows it.
std::int64_t least_rate(const Job& job, std::int64_t gpus, std::int64_t rate) {
  if (job.profile.kind == ProfileKind::kOpaque) return rate;
  if (job.profile.kind != ProfileKind::kTable) return 0;
  bool by_place = false, anywhere = false;
  for (const RatePoint& point : job.profile.points) {
    by_place = by_place || !point.span.empty();
    if (point.gpus != gpus || point.rate <= 0) continue;
    anywhere = anywhere || point.span.empty();
    rate = std::min(rate, point.rate);
  }
  return !by_place || anywhere || gpus == 1 ? rate : 0;
}

/// Whole ones, and those of which it has a share.
std::int64_t gpus_and_shares(const StateImpl& s, std::int32_t job) {
  std::int64_t gpus = 0;
  for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) gpus += std::popcount(row.mask);
  return gpus;
}

}  // namespace

// Only nodes that stay count, and none where nodes are reserved. Shares that anything may stand next to leave no whole GPUs that could be
// counted.
void PromiseTable::count_gpus(const StateImpl& s, const kernel::ProblemView& p) {
  type_gpus_.assign(to_index(p.n_types), 0);
  counts_.assign(s.nodes.size(), 0);
  if (!s.reservations.empty() || (s.node.sharing_nodes > 0 && sharing_ppm_ == 0)) return;
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    const Node& node = s.nodes[n];
    const bool stays = node.state == NodeState::kReady && node.available_from_us <= s.now && node.available_until_us == kNever;
    if (!stays || s.node.type[n] < 0) continue;
    std::uint64_t gpus = s.node.usable[n];
    for (const Gpu& gpu : node.gpu_list) {
      if (gpu.state != GpuState::kOk) gpus &= ~(std::uint64_t{1} << gpu.index);
    }
    counts_[n] = 1;
    type_gpus_[to_index(s.node.type[n])] += std::popcount(gpus);
  }
}

// Where jobs share by predicted interference, one with shares asks for whole GPUs.
std::int32_t PromiseTable::demand_of(const StateImpl& s, std::int32_t demand) const {
  return sharing_ppm_ == 0 ? demand : s.demands.whole(demand, s.filters.sharing(s.demands.rows()[to_index(demand)].filter));
}

// Any whole GPUs of its type will do: no member needs several on one node, no place is required, and no node is excluded.
bool PromiseTable::takes_any(const StateImpl& s, const kernel::ProblemView& p, std::int32_t demand) {
  if (any_.size() < s.demands.rows().size()) any_.resize(s.demands.rows().size(), -1);
  std::int8_t& known = any_[to_index(demand)];
  if (known >= 0) return known == 1;
  known = 0;
  const kernel::DemandRow& row = p.demands[demand];
  if (row.exact == 0 || row.group_end != row.group_begin + 1 || row.gpu_type < 0) return false;
  const kernel::GroupRow& group = p.groups[row.group_begin];
  const bool plain = group.share_ppm == kWholeGpu && group.gpus == 1 && group.segment_size == 0 && group.spread_most == 0 &&
                     group.members > 0 && group.require_level == kernel::kNone && group.cpu == 0 && group.memory == 0;
  if (!plain) return false;
  const std::uint64_t* const allowed = p.filter_words + to_index(row.filter) * to_index(p.n_words);
  for (std::size_t n = 0; n < counts_.size(); ++n) {
    if (counts_[n] == 0 || s.node.type[n] != row.gpu_type) continue;
    if (((allowed[n / 64] >> (n % 64)) & 1) == 0) return false;
  }
  known = 1;
  return true;
}

// The rate of a job with shares, where other jobs on its GPUs slow it down as much as they may; 0: not known. An estimate of run time
// does not say how far a job is that was slowed down.
std::int64_t PromiseTable::slowest_rate(const StateImpl& s, std::int32_t job, std::int64_t rate) {
  if (s.jobs[to_index(job)].job->progress.work_total <= 0) return 0;
  if (s.job.running[to_index(job)] == 0) return slowed_rate(rate, sharing_ppm_);
  const KeptFraction kept = sharers_.kept(s, job);
  return kept.known && kept.ppm >= sharing_ppm_ ? slowed_rate(rate, sharing_ppm_) : 0;
}

// The most GPUs that a job may take, and the longest that it may run, in whatever shape it starts.
void PromiseTable::bound_stay(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job) {
  const std::size_t at = to_index(job);
  TimeUs longest = 0;
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    gpus_[at] = std::max<std::int64_t>(gpus_[at], p.demands[demand_of(s, p.options[o].demand)].gpus);
    std::int64_t rate = s.jobs[at].option_rate[to_index(o - p.option_begin[job])];
    if (sharing_ppm_ > 0 && s.demands.takes_shares(p.options[o].demand)) rate = slowest_rate(s, job, rate);
    const bool one_place = s.jobs[at].job->profile.kind == ProfileKind::kOpaque;
    longest = std::max(longest, rate > 0 && one_place ? s.run_at(job, rate) : kNever);
  }
  need_[at] = longest;
}

void PromiseTable::read_steps(const Deadline& deadline, TimeUs now, std::size_t job) {
  step_begin_[job] = static_cast<std::int32_t>(steps_.size());
  if (deadline.at_us != kNever && deadline.at_us > now) steps_.push_back({deadline.at_us, std::max<std::int64_t>(1, deadline.value)});
  for (const DeadlineStep& step : deadline.later) {
    if (step.at_us > now) steps_.push_back(step);
  }
  step_end_[job] = static_cast<std::int32_t>(steps_.size());
}

void PromiseTable::read_job(const StateImpl& s, const kernel::ProblemView& p, const kernel::ProblemView& tried, std::int32_t job,
                            const Failures& failures) {
  const std::size_t at = to_index(job);
  const Job& described = *s.jobs[at].job;
  read_steps(described.deadline, s.now, at);
  hard_[at] = described.deadline.hard ? 1 : 0;
  held_type_[at] = s.job.held_type[at];
  type_[at] = -1;
  gpus_[at] = 0;
  need_[at] = kNever;
  cost_[at] = std::min<TimeUs>(kMaxTimeUs, migrate_cost(described.costs));
  const Preemption& rule = described.preemption;
  const bool runs = s.job.running[at] != 0;
  const std::vector<kernel::HeldRow>& held = s.jobs[at].held;
  const bool shares_now =
      runs && sharing_ppm_ > 0 && std::any_of(held.begin(), held.end(), [](const auto& row) { return row.share_ppm < kWholeGpu; });
  const bool repaired = runs && failures.repaired()[at] >= 0;
  const std::int64_t rate_now = repaired ? failures.rate(s, job) : s.job.rate[at];
  const TimeUs left_now = repaired ? s.run_at(job, rate_now) : s.remaining(job);
  if (runs) {
    longest_[at] = shares_now ? s.run_at(job, slowest_rate(s, job, rate_now)) : left_now;
    stays_[at] = s.job.victim_from[at] == kNever ? kNever : std::max<TimeUs>(0, s.job.victim_from[at] - s.now);
  } else if (!rule.preemptible) {
    stays_[at] = kNever;
  } else {
    stays_[at] = std::max<TimeUs>({0, rule.minimum_run_us - described.progress.run_us, rule.guaranteed_until_us - s.now});
  }
  if (!runs && stays_[at] > 0) bound_stay(s, p, job);
  const std::int32_t begin = tried.option_begin[job], end = tried.option_end[job];
  // Each time that it is displaced it waits for a level once more.
  if (s.jobs[at].longest_wait) return;
  if (begin == end || (limits_ && s.job.queue[at] >= 0)) return;
  const kernel::DemandRow& first = p.demands[demand_of(s, tried.options[begin].demand)];
  for (std::int32_t o = begin; o < end; ++o) {
    const std::int32_t row = demand_of(s, tried.options[o].demand);
    if (p.demands[row].gpu_type != first.gpu_type || p.demands[row].gpus != first.gpus || !takes_any(s, p, row)) return;
  }
  // A job that runs otherwise than it is tried may need other GPUs when it is displaced.
  if (runs && (s.job.held_type[at] != first.gpu_type || gpus_and_shares(s, job) != first.gpus)) return;
  std::int64_t rate = INT64_MAX;
  bool shares = false;
  const auto may_run_at = [&](std::int64_t alone, bool on_shares) {
    alone = least_rate(described, first.gpus, alone);
    shares = shares || on_shares;
    rate = std::min(rate, on_shares ? slowest_rate(s, job, alone) : alone);
  };
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const std::int32_t demand = p.options[o].demand;
    const kernel::DemandRow& own = p.demands[demand_of(s, demand)];
    if (own.gpu_type == first.gpu_type && own.gpus == first.gpus)
      may_run_at(s.jobs[at].option_rate[to_index(o - p.option_begin[job])], sharing_ppm_ > 0 && s.demands.takes_shares(demand));
  }
  if (runs) may_run_at(rate_now, shares_now);
  if (rate <= 0) return;
  const TimeUs left = runs && rate == rate_now ? left_now : s.run_at(job, rate);
  if (left > kMaxTimeUs) return;  // not known, too
  type_[at] = first.gpu_type;
  gpus_[at] = first.gpus;
  // Work is rounded to whole microseconds each time that progress is reported, unless the rate says how much it does in one.
  need_[at] = left + cost_[at] + (rate % kSecond == 0 && !shares ? 0 : kRoundingMargin);
}

void PromiseTable::read(const StateImpl& s, const kernel::ProblemView& p, const TriedOptions& tried, std::span<const std::int32_t> jobs,
                        const PassRules& rules, const Failures& failures) {
  sharing_ppm_ = rules.sharing_ppm;
  if (sharing_ppm_ > 0) {
    sharers_.begin(s);
    sharers_.add_running(s);
  }
  count_gpus(s, p);
  // Where jobs wait for better places, GPUs that are free are not enough.
  if (rules.packing == Packing::kConsolidate || rules.packing == Packing::kContention || rules.consolidation || rules.delays) {
    std::fill(type_gpus_.begin(), type_gpus_.end(), 0);
  }
  any_.clear();  // which nodes count may differ
  limits_ = QuotaOrder::applies(s, rules.quotas) ||
            std::any_of(s.queue_cap.begin(), s.queue_cap.end(), [](std::int64_t cap) { return cap != kernel::kNoLimit; });
  const std::size_t n = s.jobs.size();
  const auto resize = [n](auto&... columns) { (columns.resize(n), ...); };
  resize(step_begin_, step_end_, gpus_, need_, cost_, stays_, longest_, type_, held_type_, hard_);
  steps_.clear();
  const kernel::ProblemView view = tried.view(p);
  for (const std::int32_t job : jobs) read_job(s, p, view, job, failures);
}

}  // namespace berth::core
