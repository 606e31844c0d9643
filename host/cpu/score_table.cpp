#include "host/cpu/score_table.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

/// Limits, demands, and the mapping from places back to candidates. Kinds are built in score_kinds.cpp, places in score_places.cpp.
namespace berth::cpu {
namespace {

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  const __int128 exact = static_cast<__int128>(a) * b;
  return exact > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(exact);
}

__int128 magnitude(std::int64_t v) { return v < 0 ? -static_cast<__int128>(v) : v; }

}  // namespace

void ScoreTable::build(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, Collapse collapse) {
  problem_ = problem;
  request_ = request;
  collapse_ = collapse;
  limit_ = kScoreCeiling / request.n;
  untils_.clear();
  if (problem.has_until != 0) {
    for (std::int32_t node = 0; node < problem.n_nodes; ++node) {
      if (problem.node_until[node] != kNever) untils_.push_back(problem.node_until[node]);
    }
    std::sort(untils_.begin(), untils_.end());
    untils_.erase(std::unique(untils_.begin(), untils_.end()), untils_.end());
  }
  build_demands();
  build_kinds();
  if (request.level == 0) {
    build_node_places();
  } else {
    build_domain_places();
  }
}

/// Decides whether some score may need the limit. If none does, a job's GPU-time can be added after the places are ranked.
/// Then jobs that differ only in GPU-time share one demand.
void ScoreTable::set_limits() {
  __int128 gpus = 0, cost = 0, time = 0;
  for (std::int32_t node = 0; node < problem_.n_nodes; ++node) gpus += __builtin_popcountll(problem_.node_free[node]);
  if (request_.domain_cost != nullptr) {
    const kernel::TopologyView& topology = problem_.topology[request_.topology];
    const std::int32_t n =
        request_.level == 0 ? problem_.n_nodes : topology.level_begin[request_.level + 1] - topology.level_begin[request_.level];
    for (std::int32_t i = 0; i < n; ++i) cost = std::max(cost, magnitude(request_.domain_cost[i]));
  }
  for (const OptionRequest& option : option_requests_) time = std::max<__int128>(time, option.gpu_time_ms);
  saturates_ = magnitude(request_.leftover_weight) * gpus + cost + time > limit_;
}

void ScoreTable::build_demands() {
  demands_.assign(static_cast<std::size_t>(problem_.n_demands), DemandInfo{});
  filter_row_.assign(static_cast<std::size_t>(problem_.n_filters), kernel::kNone);
  filters_.clear();
  demands_used_.clear();
  rows_.clear();
  parts_.clear();
  scored_.clear();
  scored_demand_.clear();
  option_requests_.clear();
  job_options_.assign(1, 0);
  uses_cpu_ = uses_memory_ = uses_shares_ = false;
  all_thresholds_ = true;

  for (std::int32_t i = 0; i < request_.n; ++i) {
    const std::int32_t job = request_.jobs[i];
    for (std::int32_t o = problem_.option_begin[job]; o < problem_.option_end[job]; ++o) {
      const std::int32_t demand = problem_.options[o].demand;
      if (demands_[static_cast<std::size_t>(demand)].row_begin < 0) compile_demand(demand);
      const TimeUs run = request_.option_run[o];
      const std::int64_t time = run == kNever ? 0 : saturated_product(problem_.demands[demand].gpus, run / 1000);
      option_requests_.push_back(OptionRequest{kernel::kNone, std::min(time, limit_)});
    }
    job_options_.push_back(static_cast<std::int32_t>(option_requests_.size()));
  }
  set_limits();

  index_.reset(collapse_ == Collapse::kOn ? option_requests_.size() : 0);
  std::size_t at = 0;
  for (std::int32_t i = 0; i < request_.n; ++i) {
    const std::int32_t job = request_.jobs[i];
    for (std::int32_t o = problem_.option_begin[job]; o < problem_.option_end[job]; ++o, ++at) {
      const std::int32_t demand = problem_.options[o].demand;
      const TimeUs run = request_.option_run[o];
      // A run time that overflows the clock ends after every node has left.
      const TimeUs ends = run == kNever ? kNever : run > kNever - 1 - request_.now ? kNever - 1 : request_.now + run;
      const std::int64_t base = saturates_ ? option_requests_[at].gpu_time_ms : 0;
      const auto leaves = [&](TimeUs t) { return std::lower_bound(untils_.begin(), untils_.end(), t) - untils_.begin(); };
      std::int32_t scored = static_cast<std::int32_t>(scored_.size());
      if (collapse_ == Collapse::kOn) {
        const auto rank = leaves(ends);
        const std::uint64_t hash =
            mix(mix(static_cast<std::uint64_t>(demand), static_cast<std::uint64_t>(rank)), static_cast<std::uint64_t>(base));
        scored = index_.find_or_add(hash, [&](std::int32_t other) {
          const kernel::ScoreDemand& known = scored_[static_cast<std::size_t>(other)];
          return scored_demand_[static_cast<std::size_t>(other)] == demand && known.base == base && leaves(known.ends) == rank;
        });
      }
      option_requests_[at].scored = scored;
      if (scored < static_cast<std::int32_t>(scored_.size())) continue;
      const DemandInfo& info = demands_[static_cast<std::size_t>(demand)];
      scored_.push_back(kernel::ScoreDemand{info.row_begin, info.row_end, info.filter, info.by_threshold, problem_.demands[demand].gpus,
                                            info.least_free, info.least_cpu, info.least_memory, ends, base});
      scored_demand_.push_back(demand);
    }
  }
}

void ScoreTable::compile_demand(std::int32_t demand) {
  const kernel::DemandRow& row = problem_.demands[demand];
  DemandInfo& info = demands_[static_cast<std::size_t>(demand)];
  demands_used_.push_back(demand);
  info.row_begin = static_cast<std::int32_t>(rows_.size());
  info.by_threshold = request_.level == 0 ? 1 : 0;
  info.least_free = row.gpus;
  info.least_cpu = info.least_memory = INT64_MIN;  // a divisor of 0 means no demand
  for (std::int32_t g = row.group_begin; g < row.group_end; ++g) {
    const kernel::GroupRow& group = problem_.groups[g];
    if (group.members == 0) continue;
    kernel::ScoreGroup scored{group.members,      group.gpus, group.share_ppm,   group.cpu, group.memory, group.gpu_memory,
                              group.segment_size, 0,          group.spread_most, 0};
    if (request_.level != 0) {
      if (group.segment_size != 0) scored.segment_part = part_of(group.segment_topology, group.segment_level);
      if (group.spread_most != 0) scored.spread_part = part_of(group.spread_topology, group.spread_level);
    }
    rows_.push_back(scored);
    uses_cpu_ |= group.cpu != 0;
    uses_memory_ |= group.memory != 0;
    if (group.share_ppm != kWholeGpu) {
      uses_shares_ = true;
      info.by_threshold = 0;
      continue;
    }
    // On one node members come in whole segments, and a spread sees only one domain.
    const std::int64_t s = std::max(group.segment_size, 1);
    const std::int64_t members = (group.members + s - 1) / s * s;
    info.least_free = std::max(info.least_free, members * group.gpus);
    if (group.spread_most != 0 && group.spread_most < group.members) info.least_free = INT64_MAX;
    if (group.cpu != 0) info.least_cpu = std::max(info.least_cpu, saturated_product(members, group.cpu));
    if (group.memory != 0) info.least_memory = std::max(info.least_memory, saturated_product(members, group.memory));
  }
  info.row_end = static_cast<std::int32_t>(rows_.size());
  if (info.by_threshold == 0) all_thresholds_ = false;
  std::int32_t& filter = filter_row_[static_cast<std::size_t>(row.filter)];
  if (filter == kernel::kNone) {
    filter = static_cast<std::int32_t>(filters_.size());
    filters_.push_back(row.filter);
  }
  info.filter = filter;
}

/// The part that splits places by the domains of (topology, level).
std::int32_t ScoreTable::part_of(std::int32_t topology, std::int32_t level) {
  const auto key = std::make_pair(topology, level);
  const auto found = std::find(parts_.begin(), parts_.end(), key);
  if (found != parts_.end()) return static_cast<std::int32_t>(found - parts_.begin()) + 1;
  parts_.push_back(key);
  return static_cast<std::int32_t>(parts_.size());
}

kernel::ScoreTableView ScoreTable::view() const {
  kernel::ScoreTableView v{};
  const auto n = static_cast<std::int32_t>(kind_node_.size());
  v.kinds = kernel::KindView{n,
                             (n + 63) / 64,
                             static_cast<std::int32_t>(filters_.size()),
                             kind_free_.data(),
                             uses_cpu_ ? kind_cpu_.data() : nullptr,
                             uses_memory_ ? kind_memory_.data() : nullptr,
                             untils_.empty() ? nullptr : kind_until_.data(),
                             kind_filter_.data(),
                             room_begin_.data(),
                             room_ppm_.data(),
                             room_memory_.data()};
  v.places = kernel::PlaceView{static_cast<std::int32_t>(member_begin_.size()) - 1,
                               request_.level == 0 ? 0 : static_cast<std::int32_t>(parts_.size()) + 1,
                               request_.domain_cost == nullptr ? nullptr : place_cost_.data(),
                               cell_begin_.data(),
                               item_begin_.data(),
                               items_.data()};
  v.n_demands = demands();
  v.n_rows = static_cast<std::int32_t>(rows_.size());
  v.k = request_.k;
  v.rows = rows_.data();
  v.demands = scored_.data();
  v.leftover_weight = request_.leftover_weight;
  v.limit = limit_;
  v.by_threshold = all_thresholds_ ? 1 : 0;
  v.saturates = saturates_ ? 1 : 0;
  return v;
}

void ScoreTable::write_best(std::int32_t i, const kernel::BestPlace* best, kernel::CandidateRow* out) const {
  struct Entry {
    kernel::CandidateRow candidate;  // of the entry's next member
    std::int32_t next, last;         // its other members
  };
  const auto before = [](const kernel::CandidateRow& a, const kernel::CandidateRow& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.option != b.option ? a.option < b.option : a.where < b.where;
  };
  // The k best candidates are in the k best entries, ranked by each entry's first member.
  // An entry that is left out has k first members before its own.
  std::array<Entry, kernel::kMaxBest> entries;
  std::int32_t n = 0;
  const std::int32_t begin = job_options_[static_cast<std::size_t>(i)], end = job_options_[static_cast<std::size_t>(i) + 1];
  for (std::int32_t o = begin; o < end; ++o) {
    const OptionRequest& option = option_requests_[static_cast<std::size_t>(o)];
    const std::int64_t add = option.gpu_time_ms - scored_[static_cast<std::size_t>(option.scored)].base;
    const kernel::BestPlace* rows = best + static_cast<std::int64_t>(option.scored) * request_.k;
    for (std::int32_t r = 0; r < request_.k && rows[r].place != kernel::kNone; ++r) {
      const auto place = static_cast<std::size_t>(rows[r].place);
      const std::int32_t first = member_begin_[place];
      const Entry entry{{rows[r].score + add, option.gpu_time_ms, rows[r].leftover, o - begin, members_[static_cast<std::size_t>(first)]},
                        first + 1,
                        member_begin_[place + 1]};
      if (n == request_.k && !before(entry.candidate, entries[static_cast<std::size_t>(n - 1)].candidate)) break;
      if (n < request_.k) ++n;
      std::int32_t at = n - 1;
      for (; at > 0 && before(entry.candidate, entries[static_cast<std::size_t>(at - 1)].candidate); --at) {
        entries[static_cast<std::size_t>(at)] = entries[static_cast<std::size_t>(at - 1)];
      }
      entries[static_cast<std::size_t>(at)] = entry;
    }
  }
  for (std::int32_t r = 0; r < request_.k; ++r) {
    Entry* least = nullptr;
    for (std::int32_t e = 0; e < n; ++e) {
      Entry& entry = entries[static_cast<std::size_t>(e)];
      if (entry.candidate.where != kernel::kNone && (least == nullptr || before(entry.candidate, least->candidate))) least = &entry;
    }
    if (least == nullptr) {
      out[r] = kernel::CandidateRow{0, 0, 0, kernel::kNone, kernel::kNone};
      continue;
    }
    out[r] = least->candidate;
    least->candidate.where = least->next < least->last ? members_[static_cast<std::size_t>(least->next++)] : kernel::kNone;
  }
}

}  // namespace berth::cpu
