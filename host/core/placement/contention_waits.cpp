#include "host/core/placement/contention_waits.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr char kColumn[] = "contention.waiting_since_us";
constexpr auto kBySwitchLevels = static_cast<std::int32_t>(TopologyKind::kSwitch);

}  // namespace

TimeUs ContentionWaits::most_wait(const StateImpl& s, std::int32_t job, std::int64_t loss_ppm) const {
  // What has run long is expected to run as long again.
  TimeUs left = s.remaining(job);
  if (left == kNever) left = s.run_now(job);
  return mul_div(left, loss_ppm, 1'000'000);
}

void ContentionWaits::narrow(const StateImpl& s, const PolicyState* kept, std::span<kernel::OptionRow> options) {
  crossings_.begin(s);
  const kernel::ProblemView& p = s.problem();
  since_.assign(s.jobs.size(), kNever);
  most_.assign(s.jobs.size(), -1);
  levels_.assign(s.jobs.size(), 0);
  if (kept != nullptr) {
    const auto column = kept->columns.find(kColumn);
    if (column != kept->columns.end()) {
      for (const std::int32_t job : s.job_order) {
        if (s.job.running[to_index(job)] != 0) continue;
        const auto row = column->second.find(*s.job.id[to_index(job)]);
        if (row != column->second.end()) since_[to_index(job)] = std::clamp<TimeUs>(row->second, 0, s.now);
      }
    }
  }
  for (const std::int32_t job : s.job_order) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const Crossing& crossing = crossings_.of(s, job, o - p.option_begin[job]);
      if (crossing.level < 0) continue;
      const TimeUs most = most_wait(s, job, crossing.loss_ppm);
      const TimeUs waited = since_[to_index(job)] == kNever ? 0 : s.now - since_[to_index(job)];
      if (waited >= most) continue;
      most_[to_index(job)] = most_[to_index(job)] < 0 ? most : std::min(most_[to_index(job)], most);
      levels_[to_index(job)] |= 1U << crossing.level;
      options[to_index(o)].demand = s.demands.within(p.options[o].demand, kBySwitchLevels, crossing.level);
    }
  }
}

void ContentionWaits::count_held(const kernel::ProblemView& p, std::int32_t job, std::int64_t sign, std::vector<std::int64_t>& gpus) {
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const std::int32_t type = p.node_type[p.held[h].node];
    if (type >= 0) gpus[to_index(type)] += sign * std::popcount(p.held[h].mask);
  }
}

// Free GPUs, without those that keep running, and those of running jobs that jobs of each class may displace.
void ContentionWaits::count_free(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                                 const kernel::PlaceResult& placed) {
  free_.assign(to_index(p.n_types), 0);
  victims_.clear();
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    if (p.node_type[n] >= 0) free_[to_index(p.node_type[n])] += std::popcount(p.node_open[n]);
  }
  stays_.assign(s.jobs.size(), 1);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (placed.outcome[i] != kernel::Outcome::kKept) stays_[to_index(job)] = 0;
    if (is_victim(request, placed, i)) count_held(p, job, 1, victims_of(p, request, job));
  }
  for (const std::int32_t job : s.job_order) {
    if (stays_[to_index(job)] != 0) count_held(p, job, -1, free_);
  }
}

bool ContentionWaits::is_victim(const kernel::PlaceRequest& request, const kernel::PlaceResult& placed, std::int32_t i) {
  return request.preemptive != 0 && placed.outcome[i] == kernel::Outcome::kKept && request.victim_ok[i] != 0;
}

std::vector<std::int64_t>& ContentionWaits::victims_of(const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                                                       std::int32_t job) {
  std::vector<std::int64_t>& gpus = victims_[request.class_rule != 0 ? request.preemption_class[job] : INT32_MIN];
  gpus.resize(to_index(p.n_types), 0);
  return gpus;
}

bool ContentionWaits::could_start(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::int32_t job) const {
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const kernel::DemandRow& d = p.demands[p.options[o].demand];
    std::int64_t gpus = free_[to_index(d.gpu_type)];
    for (const auto& [its_class, held] : victims_) {
      if (request.class_rule != 0 && its_class >= request.preemption_class[job]) break;
      gpus += held[to_index(d.gpu_type)];
    }
    if (gpus >= d.gpus) return true;
  }
  return false;
}

void ContentionWaits::look(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                           const kernel::PlaceResult& placed) {
  until_ = kNever;
  count_free(s, p, request, placed);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    const kernel::Outcome outcome = placed.outcome[i];
    if (is_victim(request, placed, i)) count_held(p, job, -1, victims_of(p, request, job));  // not of those behind it
    if (outcome == kernel::Outcome::kPlaced || outcome == kernel::Outcome::kMoved) {
      const kernel::DemandRow& d = p.demands[p.options[p.option_begin[job] + placed.option[i]].demand];
      free_[to_index(d.gpu_type)] -= d.gpus;
    } else if (most_[to_index(job)] >= 0 && s.job.running[to_index(job)] == 0) {
      TimeUs& since = since_[to_index(job)];
      if (since == kNever && could_start(p, request, job)) since = s.now;
      if (since != kNever) until_ = std::min(until_, saturating_add(since, most_[to_index(job)]));
    }
  }
}

// Whether the level that a job waits for is the cause: no domain has the GPUs, or a tree's groups find no place together in one.
bool ContentionWaits::lacks_domain(const Decision& d) const {
  const Reason& r = d.reason;
  const bool of_domain = r.code == ReasonCode::kTopologyRequired || (r.code == ReasonCode::kFragmented && r.members == 0);
  return of_domain && r.topology == kBySwitchLevels && r.level >= 0 && (levels_[to_index(d.job)] >> r.level & 1) != 0;
}

void ContentionWaits::say_until(Plan& plan) const {
  for (Decision& d : plan.decisions) {
    const std::size_t job = to_index(d.job);
    if (d.action != Action::kWait || most_[job] < 0 || since_[job] == kNever || !lacks_domain(d)) continue;
    d.reason.until_us = saturating_add(since_[job], most_[job]);
  }
}

void ContentionWaits::store(const StateImpl& s, PolicyState& kept) const {
  std::map<std::string, std::int64_t> column;
  for (const std::int32_t job : s.job_order) {
    if (since_[to_index(job)] != kNever && s.job.running[to_index(job)] == 0) column[*s.job.id[to_index(job)]] = since_[to_index(job)];
  }
  if (column.empty()) {
    kept.columns.erase(kColumn);
  } else {
    kept.columns[kColumn] = std::move(column);
  }
}

}  // namespace berth::core
