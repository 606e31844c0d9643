#include "host/reference/victims/victims.hpp"

#include <algorithm>
#include <bitset>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "berth/kernel/base/wide.hpp"
#include "host/reference/victims/cheapest.hpp"

namespace berth::reference {
namespace {

using kernel::kNoLimit;
using kernel::kNone;
using kernel::ProblemView;
using kernel::Wide;

constexpr std::int64_t kMostCount = std::int64_t{1} << 56;

std::int64_t counted(std::int64_t v) { return std::clamp<std::int64_t>(v, 0, kMostCount); }
std::int64_t bits(std::uint64_t mask) { return static_cast<std::int64_t>(std::bitset<64>(mask).count()); }

/// A node of the domain that the job may use.
struct VictimNode {
  std::int32_t rank;
  std::vector<Freed> held;  // by the candidates, in order of preference
};

using Leaving = std::vector<bool>;  // by candidate

class VictimSearch {
 public:
  VictimSearch(const ProblemView& p, const kernel::VictimsRequest& request, std::int32_t q)
      : p_(p), begin_(request.candidate_begin[q]), n_(request.candidate_end[q] - begin_), request_(request) {
    const kernel::DemandRow& demand = p.demands[request.demand[q]];
    row_ = p.groups[demand.group_begin];
    for (const std::int32_t rank : domain(q)) {
      if ((p.filter_words[std::int64_t{demand.filter} * p.n_words + rank / 64] >> (rank % 64) & 1) == 0) continue;
      if (p.node_until[rank] != kNever && (request.ends[q] == kNever || request.ends[q] > p.node_until[rank])) continue;
      nodes_.push_back({rank, held_on(rank)});
    }
  }

  void run(std::int32_t q, const kernel::VictimsResult& result) {
    const auto write = [&](kernel::VictimsOutcome outcome, std::int32_t priority, std::int64_t cost, std::int32_t count,
                           std::int64_t members) {
      result.outcome[q] = outcome;
      result.priority[q] = priority;
      result.cost[q] = cost;
      result.count[q] = count;
      result.members[q] = members;
    };
    const Leaving none(static_cast<std::size_t>(n_), false), all(static_cast<std::size_t>(n_), true);
    if (members(none) >= row_.members) return write(kernel::VictimsOutcome::kFits, 0, 0, 0, members(none));
    if (members(all) < row_.members) return write(kernel::VictimsOutcome::kNoRoom, 0, 0, 0, members(all));

    const std::int32_t priority = least_priority();
    Leaving chosen = none;
    while (members(chosen) < row_.members) add_cheapest(chosen, up_to(priority));
    give_back(chosen);

    std::int32_t count = 0;
    Wide cost = 0;
    for (std::int32_t c = 0; c < n_; ++c) {
      result.chosen[request_.chosen_begin[q] + c] = chosen[static_cast<std::size_t>(c)] ? 1 : 0;
      if (!chosen[static_cast<std::size_t>(c)]) continue;
      ++count;
      cost += cost_of(c);
    }
    const Wide limit = std::numeric_limits<std::int64_t>::max();
    write(kernel::VictimsOutcome::kChosen, count > 0 ? priority : 0, static_cast<std::int64_t>(std::min(cost, limit)), count, members(all));
  }

 private:
  std::vector<std::int32_t> domain(std::int32_t q) const {
    const std::int32_t topology = request_.topology[q], domain = request_.domain[q];
    if (topology == kNone) return {domain};
    std::vector<std::int32_t> nodes;
    if (domain == kNone) {
      nodes.resize(static_cast<std::size_t>(p_.n_nodes));
      std::iota(nodes.begin(), nodes.end(), 0);
    } else {
      for (std::int32_t i = p_.domains.first[domain]; i < p_.domains.last[domain]; ++i) nodes.push_back(p_.topology[topology].order[i]);
      std::sort(nodes.begin(), nodes.end());
    }
    return nodes;
  }

  std::vector<Freed> held_on(std::int32_t rank) const {
    std::vector<Freed> held;
    for (std::int32_t c = 0; c < n_; ++c) {
      const std::int32_t job = request_.candidate_job[begin_ + c];
      bool any = false;
      Freed freed{c, cost_of(c), 0, 0, 0};
      for (std::int32_t h = p_.held_begin[job]; h < p_.held_end[job]; ++h) {
        const kernel::HeldRow& row = p_.held[h];
        if (row.node != rank) continue;
        any = true;
        freed.gpus += bits(row.mask & p_.node_open[rank] & ~p_.node_free[rank]);
        freed.cpu += counted(row.cpu);
        freed.memory += counted(row.memory);
      }
      if (any) held.push_back(freed);
    }
    return held;
  }

  std::int32_t priority_of(std::int32_t c) const { return request_.candidate_priority[begin_ + c]; }
  std::int64_t cost_of(std::int32_t c) const { return counted(request_.candidate_cost[begin_ + c]); }

  std::int64_t members_on(const VictimNode& node, const Leaving& leaving) const {
    Wide gpus = bits(p_.node_free[node.rank]), cpu = p_.node_cpu[node.rank], memory = p_.node_memory[node.rank];
    for (const Freed& one : node.held) {
      if (!leaving[static_cast<std::size_t>(one.candidate)]) continue;
      gpus += one.gpus;
      cpu += one.cpu;
      memory += one.memory;
    }
    Wide cap = gpus / row_.gpus;
    if (row_.cpu > 0 && p_.node_cpu[node.rank] != kNoLimit) cap = std::min(cap, cpu < 0 ? 0 : cpu / row_.cpu);
    if (row_.memory > 0 && p_.node_memory[node.rank] != kNoLimit) cap = std::min(cap, memory < 0 ? 0 : memory / row_.memory);
    return static_cast<std::int64_t>(cap);
  }

  std::int64_t members(const Leaving& leaving) const {
    std::int64_t all = 0;
    for (const VictimNode& node : nodes_) all += members_on(node, leaving);
    return all;
  }

  Leaving up_to(std::int32_t priority) const {
    Leaving some;
    for (std::int32_t c = 0; c < n_; ++c) some.push_back(priority_of(c) <= priority);
    return some;
  }

  std::int32_t least_priority() const {
    std::set<std::int32_t> all;
    for (std::int32_t c = 0; c < n_; ++c) all.insert(priority_of(c));
    for (const std::int32_t priority : all) {
      if (members(up_to(priority)) >= row_.members) return priority;
    }
    return 0;  // not reached
  }

  Leaving with(Leaving leaving, const std::vector<Freed>& list, const std::vector<std::size_t>& places) const {
    for (const std::size_t place : places) leaving[static_cast<std::size_t>(list[place].candidate)] = true;
    return leaving;
  }

  /// The cheapest of `list` that let one more member fit on the node.
  std::vector<std::size_t> cheapest(const VictimNode& node, const Leaving& chosen, const std::vector<Freed>& list) const {
    const std::int64_t goal = members_on(node, chosen) + 1;
    const auto raises = [&](const std::vector<std::size_t>& places) { return members_on(node, with(chosen, list, places)) >= goal; };
    std::int64_t free = bits(p_.node_free[node.rank]);
    for (const Freed& one : node.held) free += chosen[static_cast<std::size_t>(one.candidate)] ? one.gpus : 0;
    std::vector<std::size_t> set;
    if (goal * row_.gpus > free) set = cheapest_by_gpus(list, goal * row_.gpus - free).places;
    if (raises(set)) return set;

    std::vector<std::size_t> by_cost(list.size());
    std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
    std::stable_sort(by_cost.begin(), by_cost.end(), [&](std::size_t a, std::size_t b) { return list[a].cost < list[b].cost; });
    for (const std::size_t place : by_cost) {
      if (raises(set)) break;
      if (std::find(set.begin(), set.end(), place) == set.end()) set.push_back(place);
    }
    for (auto place = by_cost.rbegin(); place != by_cost.rend(); ++place) {
      std::vector<std::size_t> without;
      std::copy_if(set.begin(), set.end(), std::back_inserter(without), [&](std::size_t one) { return one != *place; });
      if (raises(without)) set = without;
    }
    return set;
  }

  /// Adds the best set by cost for a member that it makes room for: the cheapest of a node, or one candidate alone.
  void add_cheapest(Leaving& chosen, const Leaving& eligible) const {
    struct Way {
      std::int64_t cost, gain;
      std::size_t count;
      Leaving after;
    };
    std::optional<Way> best;
    const std::int64_t now = members(chosen);
    const auto consider = [&](Way way) {
      way.gain = std::min<std::int64_t>(members(way.after), row_.members) - now;
      if (way.gain == 0) return;
      const auto key = [](const Way& one, const Way& other) { return std::tuple(Wide{one.cost} * other.gain, one.cost, one.count); };
      if (!best || key(way, *best) < key(*best, way)) best = std::move(way);  // of equal ones the first stays
    };
    for (const VictimNode& node : nodes_) {  // by rank
      if (members_on(node, eligible) <= members_on(node, chosen)) continue;
      std::vector<Freed> list;
      for (const Freed& one : node.held) {
        const auto c = static_cast<std::size_t>(one.candidate);
        if (eligible[c] && !chosen[c]) list.push_back(one);
      }
      const std::vector<std::size_t> set = cheapest(node, chosen, list);
      Way way{0, 0, set.size(), with(chosen, list, set)};
      for (const std::size_t place : set) way.cost += list[place].cost;
      consider(std::move(way));
    }
    for (std::int32_t c = 0; c < n_; ++c) {
      if (!eligible[static_cast<std::size_t>(c)] || chosen[static_cast<std::size_t>(c)]) continue;
      Way way{cost_of(c), 0, 1, chosen};
      way.after[static_cast<std::size_t>(c)] = true;
      consider(std::move(way));
    }
    chosen = best->after;
  }

  void give_back(Leaving& chosen) const {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n_));
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return std::tuple(priority_of(a), cost_of(a)) > std::tuple(priority_of(b), cost_of(b));
    });
    for (const std::int32_t c : order) {
      if (!chosen[static_cast<std::size_t>(c)]) continue;
      Leaving without = chosen;
      without[static_cast<std::size_t>(c)] = false;
      if (members(without) >= row_.members) chosen = without;
    }
  }

  const ProblemView& p_;
  std::int32_t begin_, n_;
  const kernel::VictimsRequest& request_;
  kernel::GroupRow row_{};
  std::vector<VictimNode> nodes_;
};

}  // namespace

void victims(const ProblemView& p, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) {
  std::fill_n(result.chosen, request.n_chosen, std::uint8_t{0});
  for (std::int32_t q = 0; q < request.n; ++q) VictimSearch(p, request, q).run(q, result);
}

}  // namespace berth::reference
