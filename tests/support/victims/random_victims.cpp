#include "tests/support/victims/random_victims.hpp"

#include <algorithm>
#include <bit>
#include <ostream>
#include <string>

#include "host/reference/victims/victims.hpp"
#include "tests/support/random.hpp"

namespace berth::test {
namespace {

using kernel::kNoLimit;
using kernel::kNone;

constexpr std::int64_t kVictimsGiB = std::int64_t{1} << 30;
constexpr TimeUs kVictimsNow = 1000 * kSecond;

std::uint64_t all_gpus(std::int32_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

std::vector<NodeSpec> victim_nodes(Random& random, const RandomVictimsSpec& spec) {
  const std::int32_t usual = random.within(1, spec.max_gpus), racks = random.within(1, 1 + spec.nodes / 3);
  const bool alike = random.percent(50), limited = spec.limits && random.percent(60), ends = spec.limits && random.percent(40);
  std::vector<NodeSpec> nodes(static_cast<std::size_t>(spec.nodes));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    NodeSpec& node = nodes[i];
    const std::int64_t rack = static_cast<std::int64_t>(i) * racks / spec.nodes;
    node.path[kSwitchTopology] = "p" + std::to_string(rack / 2) + "/r" + std::string(rack < 10 ? "0" : "") + std::to_string(rack);
    node.path[kNvlinkTopology] = random.percent(15) ? "" : "d" + std::to_string(random.below(3));
    node.path[kPowerTopology] =
        "b" + std::to_string(random.below(2)) + "/" + (random.percent(20) ? "" : "c" + std::to_string(random.below(3)));
    node.gpus = alike || random.percent(60) ? usual : random.within(0, spec.max_gpus);
    node.type = random.percent(80) ? 0 : 1;
    if (spec.scarce || (limited && random.percent(80))) node.cpu = std::int64_t{node.gpus} * random.of<std::int32_t>({1000, 2000});
    if (limited && random.percent(50)) node.memory = std::int64_t{node.gpus} * random.of<std::int32_t>({8, 16}) * kVictimsGiB;
    if (ends && random.percent(30)) node.until = kVictimsNow + random.within(0, 4) * kSecond;
    if (spec.limits && random.percent(20)) node.busy = random.mask(node.gpus, 30);
    node.closed = spec.limits && random.percent(8);
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const NodeSpec& a, const NodeSpec& b) { return a.path[kSwitchTopology] < b.path[kSwitchTopology]; });
  return nodes;
}

/// What is left while jobs are created.
struct NodeLeft {
  std::uint64_t free;
  std::int64_t cpu, memory;
};

/// A job on one node or several, `small`: with few GPUs; where it finds none it holds nothing. Some hold two rows of one node.
void hold_some(Random& random, const RandomVictimsSpec& spec, int job, bool small, const std::vector<NodeSpec>& nodes,
               std::vector<NodeLeft>& left, ProblemBuilder& builder) {
  const std::int32_t parts = random.percent(spec.gang_percent) ? random.within(2, spec.gang_nodes) : 1;
  const std::int32_t gpus = small ? random.within(1, 2) : random.of<std::int32_t>({1, 1, 2, 3, 4, 8});
  for (std::int32_t part = 0; part < parts; ++part) {
    const auto at = static_cast<std::size_t>(random.below(spec.nodes));
    HeldSpec held;
    held.node = static_cast<std::int32_t>(at);
    for (std::int32_t bit = 0; bit < 64 && std::popcount(held.mask) < gpus; ++bit) {
      held.mask |= left[at].free & std::uint64_t{1} << bit;
    }
    if (held.mask == 0) continue;
    left[at].free &= ~held.mask;
    // Cores of a node may be overdrawn.
    if (nodes[at].cpu != kNoLimit && random.percent(80)) held.cpu = std::min<std::int64_t>(left[at].cpu + 500, 1000 * random.below(5));
    if (nodes[at].memory != kNoLimit && random.percent(80)) held.memory = std::max<std::int64_t>(0, left[at].memory) / random.within(1, 4);
    held.cpu = std::max<std::int64_t>(0, held.cpu);
    left[at].cpu -= nodes[at].cpu != kNoLimit ? held.cpu : 0;
    left[at].memory -= nodes[at].memory != kNoLimit ? held.memory : 0;
    builder.hold(job, held);
  }
}

int victim_demand(Random& random, const RandomVictimsSpec& spec, ProblemBuilder& builder) {
  GroupSpec group;
  group.members = random.percent(40) ? 1 : random.within(1, random.percent(50) ? 1 + spec.nodes / 3 : 2 + spec.nodes);
  group.gpus = random.of<std::int32_t>({1, 1, 2, 2, 3, 4, spec.max_gpus});
  if (spec.limits && random.percent(60)) group.cpu = group.gpus * random.of<std::int32_t>({500, 1000, 2500, 4000});
  if (spec.scarce) group.cpu = group.gpus * random.of<std::int32_t>({1000, 1500, 2500});
  if (spec.limits && random.percent(30)) group.memory = group.gpus * random.of<std::int32_t>({3, 8, 20}) * kVictimsGiB;
  DemandSpec demand{{group}, random.percent(85) ? 0 : 1, {}};
  for (std::int32_t n = 0; spec.limits && random.percent(20) && n < spec.nodes; ++n) demand.nodes.push_back(n);
  return builder.demand(demand);
}

/// A list of candidates: some of the running jobs, in any order.
void add_list(Random& random, const std::vector<std::int32_t>& running, VictimsCase& one) {
  std::vector<std::int32_t> jobs = running;
  random.shuffle(jobs);
  if (random.percent(20)) jobs.resize(static_cast<std::size_t>(random.below(static_cast<std::int32_t>(jobs.size()) + 1)));
  const std::int32_t priorities = random.of<std::int32_t>({1, 1, 2, 4, 1000});
  const std::int64_t costs = random.of<std::int64_t>({1, 3, 10, 1000});
  const std::int32_t kind = random.below(20);
  for (const std::int32_t job : jobs) {
    std::int32_t priority = random.below(priorities) - priorities / 2;
    std::int64_t cost = static_cast<std::int64_t>(random.bits() % static_cast<std::uint64_t>(costs));
    if (kind == 0) cost = INT64_MAX - random.below(2);
    if (kind == 1) priority = random.of<std::int32_t>({INT32_MIN, INT32_MAX, 0, -1});
    one.add_candidate(job, priority, cost);
  }
}

void ask_one(Random& random, VictimsCase& one, const std::vector<std::int32_t>& lists) {
  const auto list = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(lists.size()) - 1));
  std::int32_t begin = lists[list], end = lists[list + 1];
  if (random.percent(25)) end = random.within(begin, end);
  if (random.percent(15)) begin = random.within(begin, end);
  std::int32_t topology = random.below(5), domain = kNone;
  if (random.percent(25) && one.problem.n_nodes() > 0) {
    topology = kNone;
    domain = random.below(one.problem.n_nodes());
  } else if (random.percent(75)) {
    const TopologyColumns& columns = one.problem.topology[static_cast<std::size_t>(topology)];
    const std::int32_t first = columns.level_begin[1], last = columns.level_begin[static_cast<std::size_t>(columns.levels)];
    domain = first == last ? kNone : random.within(first, last - 1);
  }
  const TimeUs ends = random.percent(30) ? kNever : kVictimsNow + random.within(0, 3) * kSecond;
  one.ask(random.below(static_cast<std::int32_t>(one.problem.demands.size())), topology, domain, begin, end, ends);
}

/// Most questions get a demand of their own that fits once jobs leave.
void ask_what_fits(Random& random, VictimsCase& one) {
  Problem& p = one.problem;
  VictimsCase all = one;
  for (kernel::GroupRow& group : all.problem.groups) group.members = INT32_MAX;
  VictimsBuffers most(one);
  reference::victims(all.problem.view(), all.request(), most.view());
  for (std::size_t q = 0; q < one.demand.size(); ++q) {
    const auto members = static_cast<std::int32_t>(most.members[q]);
    if (members == 0 || random.percent(25)) continue;
    kernel::DemandRow demand = p.demands[static_cast<std::size_t>(one.demand[q])];
    kernel::GroupRow group = p.groups[static_cast<std::size_t>(demand.group_begin)];
    group.members = random.percent(30) ? random.within(1, members) : random.within((members + 1) / 2, members);
    group.subtree_gpus = demand.gpus = std::int64_t{group.members} * group.gpus;
    demand.group_begin = static_cast<std::int32_t>(p.groups.size());
    demand.group_end = demand.group_begin + 1;
    one.demand[q] = static_cast<std::int32_t>(p.demands.size());
    p.groups.push_back(group);
    p.demands.push_back(demand);
  }
}

}  // namespace

void VictimsCase::add_candidate(std::int32_t job, std::int32_t priority, std::int64_t cost) {
  candidate_job.push_back(job);
  candidate_priority.push_back(priority);
  candidate_cost.push_back(cost);
}

void VictimsCase::ask(std::int32_t of_demand, std::int32_t of_topology, std::int32_t of_domain, std::int32_t begin, std::int32_t end,
                      TimeUs ends_at) {
  demand.push_back(of_demand);
  topology.push_back(of_topology);
  domain.push_back(of_domain);
  ends.push_back(ends_at);
  candidate_begin.push_back(begin);
  candidate_end.push_back(end);
  chosen_begin.push_back(n_chosen);
  n_chosen += end - begin;
}

void VictimsCase::ask_all(std::int32_t of_demand) { ask(of_demand, 0, kNone, 0, static_cast<std::int32_t>(candidate_job.size())); }

kernel::VictimsRequest VictimsCase::request() const {
  return {questions(),
          static_cast<std::int32_t>(candidate_job.size()),
          n_chosen,
          demand.data(),
          topology.data(),
          domain.data(),
          ends.data(),
          candidate_begin.data(),
          candidate_end.data(),
          chosen_begin.data(),
          candidate_job.data(),
          candidate_priority.data(),
          candidate_cost.data()};
}

VictimsCase random_victims(std::uint64_t seed, const RandomVictimsSpec& spec) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 23);
  ProblemBuilder builder;
  builder.type(0);
  builder.type(0);
  const std::vector<NodeSpec> nodes = victim_nodes(random, spec);
  std::vector<NodeLeft> left;
  for (const NodeSpec& node : nodes) {
    builder.node(node);
    left.push_back({all_gpus(node.gpus) & ~node.busy, node.cpu, node.memory});
  }
  std::vector<int> demands;
  for (int d = 0; d < 5; ++d) demands.push_back(victim_demand(random, spec, builder));
  std::vector<std::int32_t> running;
  const bool small = random.percent(50);
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    running.push_back(builder.job({demands[0]}));
    if (spec.nodes > 0) hold_some(random, spec, running.back(), small, nodes, left, builder);
  }
  VictimsCase one;
  one.problem = builder.build();
  if (spec.limits && random.percent(30)) {  // GPUs that do not become free when the jobs that hold them leave
    for (std::uint64_t& open : one.problem.node_open) open &= ~random.mask(64, 10);
  }
  std::vector<std::int32_t> lists{0};
  for (int l = 0; l < 3; ++l) {
    add_list(random, running, one);
    lists.push_back(static_cast<std::int32_t>(one.candidate_job.size()));
  }
  for (std::int32_t q = 0; q < spec.questions; ++q) ask_one(random, one, lists);
  ask_what_fits(random, one);
  one.n_chosen += random.below(3);  // rows of no question
  return one;
}

VictimsBuffers::VictimsBuffers(const VictimsCase& one)
    : outcome(one.demand.size(), static_cast<kernel::VictimsOutcome>(-7)),
      priority(one.demand.size(), -7),
      count(one.demand.size(), -7),
      cost(one.demand.size(), -7),
      members(one.demand.size(), -7),
      chosen(static_cast<std::size_t>(one.n_chosen), 7) {}

kernel::VictimsResult VictimsBuffers::view() {
  return {outcome.data(), priority.data(), cost.data(), count.data(), members.data(), chosen.data()};
}

std::vector<std::int32_t> VictimsBuffers::chosen_of(const VictimsCase& one, std::int32_t question) const {
  const auto q = static_cast<std::size_t>(question);
  std::vector<std::int32_t> candidates;
  for (std::int32_t c = 0; c < one.candidate_end[q] - one.candidate_begin[q]; ++c) {
    if (chosen[static_cast<std::size_t>(one.chosen_begin[q] + c)] != 0) candidates.push_back(c);
  }
  return candidates;
}

bool operator==(const VictimsBuffers& a, const VictimsBuffers& b) {
  return a.outcome == b.outcome && a.priority == b.priority && a.count == b.count && a.cost == b.cost && a.members == b.members &&
         a.chosen == b.chosen;
}

void PrintTo(const VictimsBuffers& result, std::ostream* out) {
  for (std::size_t q = 0; q < result.outcome.size(); ++q) {
    *out << "\n  question " << q << ": outcome " << static_cast<std::int32_t>(result.outcome[q]) << ", priority " << result.priority[q]
         << ", " << result.count[q] << " of cost " << result.cost[q] << ", members " << result.members[q];
  }
  *out << "\n  chosen";
  for (const std::uint8_t leaves : result.chosen) *out << ' ' << static_cast<int>(leaves);
}

VictimsBuffers victims(core::PlacementBackend& backend, const VictimsCase& one) {
  VictimsBuffers result(one);
  backend.victims(one.problem.view(), one.request(), result.view());
  return result;
}

}  // namespace berth::test
