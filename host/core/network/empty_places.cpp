#include "host/core/network/empty_places.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::kNone;

constexpr auto kOfSwitches = static_cast<std::int32_t>(TopologyKind::kSwitch);
constexpr std::int32_t kMostTries = 4096;  // domains for one demand

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

}  // namespace

void EmptyPlaces::begin(const StateImpl& s) {
  problem_ = &s.problem();
  total_.begin(*problem_, s.total_supply(), false);
}

// Whole GPUs. What the only root requires is a level of the switch topology.
bool EmptyPlaces::may_wait() const {
  std::int64_t members = 0;
  for (const kernel::GroupRow& row : rows_) {
    if (row.share_ppm != kWholeGpu) return false;
    members += row.members;
  }
  const bool elsewhere = one_root_ && rows_[0].require_level != kNone && rows_[0].require_topology != kOfSwitches;
  return members > 1 && !elsewhere;
}

// Trees have many equal groups.
void EmptyPlaces::find_kinds() {
  kinds_.clear();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const kernel::GroupRow& row = rows_[r];
    const auto alike = [&](std::int32_t other) {
      const kernel::GroupRow& known = rows_[to_index(other)];
      return known.gpus == row.gpus && known.cpu == row.cpu && known.memory == row.memory;
    };
    if (row.members > 0 && std::none_of(kinds_.begin(), kinds_.end(), alike)) kinds_.push_back(static_cast<std::int32_t>(r));
  }
}

// Every domain of the level is in a named one of the level that the root requires.
bool EmptyPlaces::keeps_required(std::int32_t level) const {
  if (!one_root_ || rows_[0].require_level == kNone) return true;
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
    if (room_[to_index(n)] == 0 || !named(level, place(kOfSwitches, level, n))) continue;
    if (!named(rows_[0].require_level, place(kOfSwitches, rows_[0].require_level, n))) return false;
  }
  return true;
}

std::int32_t EmptyPlaces::place(std::int32_t topology, std::int32_t level, std::int32_t node) const {
  return level == 0 ? node : problem_->topology[topology].node_domain[std::int64_t{level} * problem_->n_nodes + node];
}

bool EmptyPlaces::named(std::int32_t level, std::int32_t domain) const { return level == 0 || problem_->domains.named[domain] != 0; }

// Those with most room first.
EmptyPlaces::Nodes EmptyPlaces::nodes_in(std::int32_t level, std::int32_t domain) const {
  if (level == 0) return Nodes(1, domain);
  const std::int32_t* const order = problem_->topology[kOfSwitches].order;
  Nodes nodes(order + problem_->domains.first[domain], order + problem_->domains.last[domain]);
  std::erase_if(nodes, [&](std::int32_t n) { return room_[to_index(n)] == 0; });
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) { return room_[to_index(a)] > room_[to_index(b)]; });
  return nodes;
}

// Named domains of a level and their room, the roomiest first. None where no domain has enough for all.
std::vector<std::pair<std::int64_t, std::int32_t>> EmptyPlaces::by_room(std::int32_t level) const {
  const kernel::TopologyView& topology = problem_->topology[kOfSwitches];
  const std::int32_t begin = level == 0 ? 0 : topology.level_begin[level];
  const std::int32_t end = level == 0 ? problem_->n_nodes : topology.level_begin[level + 1];
  std::vector<std::pair<std::int64_t, std::int32_t>> domains;
  for (std::int32_t d = begin; d < end; ++d) domains.emplace_back(0, d);
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) domains[to_index(place(kOfSwitches, level, n) - begin)].first += room_[to_index(n)];
  std::erase_if(domains, [&](const auto& one) { return one.first == 0 || !named(level, one.second); });
  if (std::none_of(domains.begin(), domains.end(), [&](const auto& one) { return one.first >= demand_.gpus; })) return {};
  std::stable_sort(domains.begin(), domains.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return domains;
}

void EmptyPlaces::clear() { undo(0); }

void EmptyPlaces::undo(std::size_t takes) {
  for (; takes_.size() > takes; takes_.pop_back()) {
    const Take& t = takes_.back();
    const kernel::GroupRow& row = rows_[to_index(t.row)];
    Capacity::Row& left = left_[to_index(t.node)];
    left.gpus += t.members * row.gpus;
    if (left.cpu != kernel::kNoLimit) left.cpu += t.members * row.cpu;
    if (left.memory != kernel::kNoLimit) left.memory += t.members * row.memory;
    if (row.spread_most > 0) spread_[{t.row, place(row.spread_topology, row.spread_level, t.node)}] -= t.members;
  }
}

std::int64_t EmptyPlaces::capacity(std::int32_t r, std::int32_t node) const {
  const kernel::GroupRow& row = rows_[to_index(r)];
  std::int64_t members = total_.members(left_[to_index(node)], row, Stage::kMemory, kNever);
  if (row.spread_most > 0) {
    const auto held = spread_.find({r, place(row.spread_topology, row.spread_level, node)});
    members = std::min(members, row.spread_most - (held == spread_.end() ? 0 : held->second));
  }
  return members;
}

void EmptyPlaces::take(std::int32_t r, std::int32_t node, std::int64_t members) {
  const kernel::GroupRow& row = rows_[to_index(r)];
  Capacity::Row& left = left_[to_index(node)];
  left.gpus -= static_cast<std::int32_t>(members) * row.gpus;
  if (left.cpu != kernel::kNoLimit) left.cpu -= members * row.cpu;
  if (left.memory != kernel::kNoLimit) left.memory -= members * row.memory;
  if (row.spread_most > 0) spread_[{r, place(row.spread_topology, row.spread_level, node)}] += members;
  takes_.push_back({r, node, static_cast<std::int32_t>(members)});
}

// Members of one row in the nodes of a set, in their order.
bool EmptyPlaces::fill(std::int32_t row, const Nodes& set, std::int64_t members) {
  if (rows_[to_index(row)].segment_size > 0) return fill_segments(row, set, members);
  for (std::size_t i = 0; i < set.size() && members > 0; ++i) {
    const std::int64_t here = std::min(members, capacity(row, set[i]));
    if (here > 0) take(row, set[i], here);
    members -= std::max<std::int64_t>(here, 0);
  }
  return members == 0;
}

// Domains with room for most segments come first.
bool EmptyPlaces::fill_segments(std::int32_t r, const Nodes& set, std::int64_t members) {
  const kernel::GroupRow& row = rows_[to_index(r)];
  const auto domain = [&](std::int32_t node) { return place(row.segment_topology, row.segment_level, node); };
  std::map<std::int32_t, std::int64_t> holds;
  for (const std::int32_t node : set) holds[domain(node)] += std::max<std::int64_t>(0, capacity(r, node));
  while (members > 0) {
    auto most = holds.begin();
    for (auto at = holds.begin(); at != holds.end(); ++at) {
      if (at->second / row.segment_size > most->second / row.segment_size) most = at;
    }
    if (most == holds.end() || most->second < row.segment_size) return false;
    std::int64_t here = std::min(members, most->second / row.segment_size * row.segment_size);
    members -= here;
    for (std::size_t i = 0; i < set.size() && here > 0; ++i) {
      if (domain(set[i]) != most->first) continue;
      const std::int64_t taken = std::min(here, capacity(r, set[i]));
      if (taken > 0) take(r, set[i], taken);
      here -= std::max<std::int64_t>(taken, 0);
    }
    if (here > 0) return false;
    holds.erase(most);
  }
  return true;
}

// A row and its descendants. A level that the only root requires is that of the set, or one above it.
bool EmptyPlaces::put(std::int32_t r, const Nodes& set) {
  const kernel::GroupRow& row = rows_[to_index(r)];
  if (row.require_level == kNone || (r == 0 && one_root_)) return put_inside(r, set);
  std::vector<std::int32_t> tried;
  for (const std::int32_t first : set) {
    const std::int32_t domain = place(row.require_topology, row.require_level, first);
    if (!named(row.require_level, domain) || std::find(tried.begin(), tried.end(), domain) != tried.end()) continue;
    tried.push_back(domain);
    Nodes inside;
    std::int64_t gpus = 0;
    for (const std::int32_t node : set) {
      if (place(row.require_topology, row.require_level, node) != domain) continue;
      inside.push_back(node);
      gpus += left_[to_index(node)].gpus;
    }
    if (gpus < row.subtree_gpus) continue;
    if (--tries_ < 0) return false;
    const std::size_t before = takes_.size();
    if (put_inside(r, inside)) return true;
    undo(before);
  }
  return false;
}

bool EmptyPlaces::put_inside(std::int32_t r, const Nodes& set) {
  const kernel::GroupRow& row = rows_[to_index(r)];
  if (!fill(r, set, row.members)) return false;
  for (std::int32_t child = r + 1; child < row.subtree_end; child = rows_[to_index(child)].subtree_end) {
    if (!put(child, set)) return false;
  }
  return true;
}

bool EmptyPlaces::put_whole(const Nodes& set) {
  clear();
  const auto n = static_cast<std::int32_t>(rows_.size());
  for (std::int32_t root = 0; root < n; root = rows_[to_index(root)].subtree_end) {
    if (!put(root, set)) return false;
  }
  return true;
}

bool EmptyPlaces::put_halves(const Nodes& first, const Nodes& second) {
  clear();
  const auto n = static_cast<std::int32_t>(rows_.size());
  std::int64_t gpus_first = (demand_.gpus + 1) / 2;
  for (std::int32_t root = 0; root < n; root = rows_[to_index(root)].subtree_end) {
    if (!split(root, first, second, gpus_first)) return false;
  }
  return true;
}

// Rows stand in the first set until it has `gpus_first` more GPUs. What must be in one domain stays together, and so do segments.
bool EmptyPlaces::split(std::int32_t r, const Nodes& first, const Nodes& second, std::int64_t& gpus_first) {
  const kernel::GroupRow& row = rows_[to_index(r)];
  if (row.subtree_gpus <= gpus_first) {
    gpus_first -= row.subtree_gpus;
    return put(r, first);
  }
  if (gpus_first <= 0) return put(r, second);
  if (row.require_level != kNone && !(r == 0 && one_root_)) {
    const bool most_in_first = 2 * gpus_first >= row.subtree_gpus;
    gpus_first = 0;
    return put(r, most_in_first ? first : second);
  }
  const std::int64_t whole = up(gpus_first, row.gpus) / row.gpus;
  const std::int64_t members = std::min<std::int64_t>(row.members, up(whole, std::max(1, row.segment_size)));
  gpus_first -= members * row.gpus;
  if (!fill(r, first, members) || !fill(r, second, row.members - members)) return false;
  for (std::int32_t child = r + 1; child < row.subtree_end; child = rows_[to_index(child)].subtree_end) {
    if (!split(child, first, second, gpus_first)) return false;
  }
  return true;
}

// Members of a group by node; those in segments as they were placed.
std::vector<PlanEntry> EmptyPlaces::entries(const StateImpl& s) const {
  std::vector<Take> takes = takes_;
  std::stable_sort(takes.begin(), takes.end(), [&](const Take& a, const Take& b) {
    if (a.row != b.row) return a.row < b.row;
    return rows_[to_index(a.row)].segment_size == 0 && a.node < b.node;
  });
  std::vector<PlanEntry> result;
  std::map<std::int32_t, std::int32_t> used;  // GPUs of a node
  std::int32_t member = 0;
  for (std::size_t i = 0; i < takes.size(); ++i) {
    const Take& t = takes[i];
    if (i > 0 && takes[i - 1].row != t.row) member = 0;
    const std::int32_t gpus = t.members * rows_[to_index(t.row)].gpus;
    PlanEntry entry;
    entry.node = t.node;
    entry.group = s.demands.shape_group()[to_index(demand_.group_begin + t.row)];
    entry.member = member;
    entry.members = t.members;
    entry.gpus = kernel::lowest_bits(~std::uint64_t{0} << used[t.node], gpus);
    used[t.node] += gpus;
    member += t.members;
    result.push_back(entry);
  }
  return result;
}

TwoPlaces EmptyPlaces::of(const StateImpl& s, std::int32_t demand) {
  TwoPlaces found;
  demand_ = s.demands.rows()[to_index(demand)];
  const auto from = s.demands.groups().begin() + demand_.group_begin;
  rows_.assign(from, from + (demand_.group_end - demand_.group_begin));
  one_root_ = to_index(rows_[0].subtree_end) == rows_.size();
  if (!may_wait()) return found;

  const std::uint64_t* const lasting = s.filters.lasting() + std::int64_t{demand_.filter} * problem_->n_words;
  takes_.clear();
  spread_.clear();
  tries_ = kMostTries;
  find_kinds();
  room_.assign(to_index(problem_->n_nodes), 0);
  left_.resize(to_index(problem_->n_nodes));
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
    left_[to_index(n)] = total_.row(n);
    if ((lasting[n / 64] >> (n % 64) & 1) == 0) continue;
    for (const std::int32_t r : kinds_) {
      const kernel::GroupRow& row = rows_[to_index(r)];
      room_[to_index(n)] = std::max(room_[to_index(n)], total_.members(left_[to_index(n)], row, Stage::kMemory, kNever) * row.gpus);
    }
  }

  const std::int32_t levels = problem_->topology[kOfSwitches].levels;
  const std::int32_t required = one_root_ ? rows_[0].require_level : kNone;
  for (std::int32_t level = 0; level < (required == kNone ? levels - 1 : required); ++level) {
    auto domains = by_room(level);
    std::int32_t roomiest = -1;
    for (std::size_t i = 0; i < domains.size() && roomiest < 0; ++i) {
      if (domains[i].first < demand_.gpus || --tries_ < 0) break;
      if (put_whole(nodes_in(level, domains[i].second))) roomiest = domains[i].second;
    }
    if (roomiest < 0) continue;
    if (!keeps_required(level)) return found;
    found.tight = entries(s);

    // The other half goes to the roomiest of the others, a sibling where there is one.
    const auto above = [&](std::int32_t domain) {
      return level == 0 ? problem_->topology[kOfSwitches].node_domain[problem_->n_nodes + domain] : problem_->domains.parent[domain];
    };
    const auto in_required = [&](std::int32_t domain) {
      if (level > 0) domain = problem_->topology[kOfSwitches].order[problem_->domains.first[domain]];
      return place(kOfSwitches, required, domain);
    };
    std::stable_partition(domains.begin(), domains.end(), [&](const auto& one) { return above(one.second) == above(roomiest); });
    const Nodes first = nodes_in(level, roomiest);
    for (const auto& [room, other] : domains) {
      if (other == roomiest || (required != kNone && in_required(other) != in_required(roomiest))) continue;
      if (--tries_ < 0) break;
      if (!put_halves(first, nodes_in(level, other))) continue;
      found.level = level;
      found.wide = entries(s);
      return found;
    }
    return {};
  }
  return found;
}

}  // namespace berth::core
