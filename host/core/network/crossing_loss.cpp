#include "host/core/network/crossing_loss.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLeastLoss = 1000;  // such as that of a longer way alone
constexpr auto kBySwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

// One group of whole GPUs without rules about its spread, and no other requirement than a level of the switch topology.
bool plain(const kernel::DemandRow& demand, const kernel::GroupRow& row) {
  return demand.group_end - demand.group_begin == 1 && row.share_ppm == kWholeGpu && row.segment_size == 0 && row.spread_most == 0 &&
         row.members > 1 && (row.require_level < 0 || row.require_topology == kBySwitch);
}

}  // namespace

void CrossingLoss::begin(const StateImpl& s) {
  problem_ = &s.problem();
  // The lower half counts demands; known ones stay valid.
  const std::uint64_t structure = s.structure_version() >> 32;
  if (served_.lock() != s.identity || structure != structure_) {
    places_.clear();
    known_.clear();
    links_ = std::make_unique<NetworkLinks>(s);
    traffic_ = std::make_unique<Traffic>(s, *links_);
    served_ = s.identity;
    structure_ = structure;
    gpus_behind_.assign(to_index(links_->size()), 0);
    held_by_.assign(to_index(links_->size()), 0);
    for (std::int32_t node = 0; node < problem_->n_nodes; ++node) {
      const std::int64_t gpus = problem_->gpu_begin[node + 1] - problem_->gpu_begin[node];
      gpus_behind_[to_index(links_->of_node(node))] += gpus;
      for (std::int32_t level = 1; level < s.topologies.levels(kBySwitch); ++level) {
        gpus_behind_[to_index(links_->of_domain(s.topologies.domain_of(kBySwitch, level, node)))] += gpus;
      }
    }
  }
  known_.resize(s.jobs.size());
  places_.resize(s.demands.rows().size());
  total_.begin(*problem_, s.total_supply(), false);
}

// Fills the nodes of a domain, which has room, those with most room first.
void CrossingLoss::fill(std::int32_t level, std::int32_t domain, std::int64_t members, std::vector<PlanEntry>& out) const {
  std::vector<std::int32_t> nodes;
  if (level == 0) {
    nodes.assign(1, domain);
  } else {
    const std::int32_t* const order = problem_->topology[kBySwitch].order;
    nodes.assign(order + problem_->domains.first[domain], order + problem_->domains.last[domain]);
    std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) { return room_[to_index(a)] > room_[to_index(b)]; });
  }
  for (const std::int32_t node : nodes) {
    const std::int64_t take = std::min(members, room_[to_index(node)]);
    if (take == 0) break;
    PlanEntry entry;
    entry.node = node;
    entry.members = static_cast<std::int32_t>(take);
    entry.gpus = kernel::lowest_bits(~std::uint64_t{0}, static_cast<std::int32_t>(take * row_.gpus));
    out.push_back(entry);
    members -= take;
  }
}

const CrossingLoss::Places& CrossingLoss::places_of(const StateImpl& s, std::int32_t demand) {
  Places& places = places_[to_index(demand)];
  if (places.known) return places;
  places.known = true;
  const kernel::DemandRow& d = s.demands.rows()[to_index(demand)];
  row_ = s.demands.groups()[to_index(d.group_begin)];
  if (!plain(d, row_)) return places;
  const std::uint64_t* const lasting = s.filters.lasting() + std::int64_t{d.filter} * problem_->n_words;
  room_.assign(to_index(problem_->n_nodes), 0);
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
    if ((lasting[n / 64] >> (n % 64) & 1) != 0) room_[to_index(n)] = total_.members(total_.row(n), row_, Stage::kMemory, kNever);
  }
  const kernel::TopologyView& topology = problem_->topology[kBySwitch];
  const std::int32_t top = row_.require_level >= 0 ? row_.require_level : topology.levels - 1;
  for (std::int32_t level = 0; level < top; ++level) {
    const std::int32_t begin = level == 0 ? 0 : topology.level_begin[level];
    const std::int32_t end = level == 0 ? problem_->n_nodes : topology.level_begin[level + 1];
    std::vector<std::int64_t> room(to_index(end - begin), 0);
    for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
      room[to_index(level == 0 ? n : topology.node_domain[std::int64_t{level} * problem_->n_nodes + n] - begin)] += room_[to_index(n)];
    }
    const auto at = std::max_element(room.begin(), room.end());
    if (*at < row_.members) continue;
    const auto roomiest = static_cast<std::int32_t>(at - room.begin());
    // The roomiest of the others, a sibling where there is one.
    const auto parent = [&](std::int32_t i) {
      return level == 0 ? topology.node_domain[problem_->n_nodes + i] : problem_->domains.parent[begin + i];
    };
    std::int32_t other = -1;
    const auto better = [&](std::int32_t a, std::int32_t b) {
      const bool near_a = parent(a) == parent(roomiest);
      const bool near_b = parent(b) == parent(roomiest);
      return near_a != near_b ? near_a : room[to_index(a)] > room[to_index(b)];
    };
    for (std::int32_t i = 0; i < end - begin; ++i) {
      if (i != roomiest && room[to_index(i)] >= row_.members / 2 && (other < 0 || better(i, other))) other = i;
    }
    if (other < 0) return places;
    places.level = level;
    fill(level, begin + roomiest, row_.members, places.tight);
    fill(level, begin + roomiest, row_.members - row_.members / 2, places.wide);
    fill(level, begin + other, row_.members / 2, places.wide);
    for (auto* entries : {&places.tight, &places.wide}) {
      std::sort(entries->begin(), entries->end(), [](const PlanEntry& a, const PlanEntry& b) { return a.node < b.node; });
      std::int32_t member = 0;
      for (PlanEntry& entry : *entries) {
        entry.member = member;
        member += entry.members;
      }
    }
    return places;
  }
  return places;
}

// Nanoseconds of a step where all GPUs behind each link send as those of the gang do; 0: not known.
std::int64_t CrossingLoss::step_in(const StateImpl& s, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const GangStep step = gang_step(s, job, shape, entries);
  if (step.ns == 0) return 0;
  const auto each_link = [&](const auto& use) {
    for (const PlanEntry& entry : entries) {
      use(links_->of_node(entry.node), std::popcount(entry.gpus));
      for (std::int32_t level = 1; level < s.topologies.levels(kBySwitch); ++level) {
        use(links_->of_domain(s.topologies.domain_of(kBySwitch, level, entry.node)), std::popcount(entry.gpus));
      }
    }
  };
  each_link([&](std::int32_t link, std::int64_t gpus) { held_by_[to_index(link)] += gpus; });
  std::int64_t alone = 0, sharing = 0;
  for (const LinkBytes& row : traffic_->of(job, job.shapes[to_index(shape)], entries)) {
    const std::int64_t needs = mul_div(row.bytes, 1'000'000'000, links_->bytes_per_s(row.link));
    alone = std::max(alone, needs);
    sharing = std::max(sharing, mul_div(needs, gpus_behind_[to_index(row.link)], held_by_[to_index(row.link)]));
  }
  each_link([&](std::int32_t link, std::int64_t) { held_by_[to_index(link)] = 0; });
  const std::int64_t latency = traffic_->latency_ns();
  const std::int64_t included = step.included_ns == SharedSteps::kAlone ? saturating_add(alone, latency) : step.included_ns;
  const std::int64_t base = step.ns - mul_div(included, step.exposed_ppm, kWhole);
  return std::max<std::int64_t>(1, saturating_add(base, mul_div(saturating_add(sharing, latency), step.exposed_ppm, kWhole)));
}

const Crossing& CrossingLoss::of(const StateImpl& s, std::int32_t job, std::int32_t option) {
  if (links_->none()) return none_;
  const JobRecord& record = s.jobs[to_index(job)];
  Known& known = known_[to_index(job)];
  if (known.version == record.version) return known.options[to_index(option)];
  known.version = record.version;
  known.options.assign(record.options.size(), none_);
  for (std::size_t o = 0; o < record.options.size(); ++o) {
    const Places& places = places_of(s, record.options[o].demand);
    if (places.level < 0) continue;
    const std::int64_t tight = step_in(s, *record.job, record.options[o].shape, places.tight);
    const std::int64_t wide = step_in(s, *record.job, record.options[o].shape, places.wide);
    const std::int64_t loss = tight > 0 && wide > tight ? mul_div(wide - tight, kWhole, tight) : 0;
    if (loss >= kLeastLoss) known.options[o] = {places.level, loss};
  }
  return known.options[to_index(option)];
}

}  // namespace berth::core
