// Gangs that send what their groups state, each as if it were alone on the links: --fidelity tiers.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/sim/counts/count_simulation.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/core/network/network_support.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::tiers_test {
namespace {

constexpr std::int64_t kTenGB = 10'000'000'000;

// Steps of 1 s of computing. Members of one GPU.
TraceJob communicating(const std::string& id, std::int64_t submit_s, std::int64_t steps, std::int32_t gpus, Communication states) {
  TraceJob one = job(id, submit_s, steps, gpus);
  one.profile = "steps";
  one.work = steps * 1'000'000;
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = gpus;
  group.communication = {std::move(states)};
  one.shapes.resize(1);
  one.shapes[0].id = "s";
  one.shapes[0].gpus = gpus;
  one.shapes[0].groups = {group};
  return one;
}

Communication all_to_all() { return {CommKind::kEp, "", kTenGB}; }

using Row = std::tuple<std::string, TimeUs, TimeUs, TimeUs, double>;

struct SimulatedRun {
  std::vector<Row> rows;  // id, start, end, time with GPUs, GPU-time
  std::int64_t decisions = 0;
  double end(const std::string& id) const {
    for (const Row& row : rows) {
      if (std::get<0>(row) == id) return static_cast<double>(std::get<2>(row)) / kSecond;
    }
    return -1;
  }
  bool operator==(const SimulatedRun&) const = default;
};

SimulatedRun run_with(LinkModel links, std::vector<TraceJob> jobs, const Snapshot& cluster, SimulationSettings settings = {}) {
  Trace trace = trace_of(std::move(jobs));
  Profile profile = test::second_steps();
  profile.gradient_bytes = 0;
  trace.profiles = {{"steps", profile}};
  settings.request.policy = "fifo";
  settings.request.params = {{"packing", "count"}};
  settings.links = links;
  SimulatedRun run;
  run.decisions = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
                    run.rows.emplace_back(one.traced->id, one.start_us, one.end_us, one.held_us, static_cast<double>(one.gpu_us));
                  }).decisions;
  return run;
}

Snapshot nodes_of(const Snapshot& from, const std::vector<std::size_t>& nodes) {
  Snapshot s = from;
  s.nodes.clear();
  for (const std::size_t node : nodes) s.nodes.push_back(from.nodes[node]);
  return s;
}

}  // namespace

// 20 GB leave a node: 2 s in a rack. From pod to pod they take 4 s.
TEST(SimulatedTiers, ThePlaceMattersWithoutOthers) {
  const Snapshot all = test::two_node_racks(4);
  const std::vector<TraceJob> jobs{communicating("a", 0, 100, 8, all_to_all())};
  const std::vector<std::pair<std::vector<std::size_t>, double>> step_on{{{0, 1}, 3}, {{0, 2}, 3}, {{0, 4}, 5}};
  for (const auto& [nodes, step_s] : step_on) {
    EXPECT_NEAR(run_with(LinkModel::kTiers, jobs, nodes_of(all, nodes)).end("a"), 100 * step_s, 0.01);
    EXPECT_NEAR(run_with(LinkModel::kNone, jobs, nodes_of(all, nodes)).end("a"), 100, 0.01);
  }
}

// 1 s each way to the other rack. An all-to-all of two nodes takes one hop.
TEST(SimulatedTiers, LatencyIsPartOfAStep) {
  Snapshot s = nodes_of(test::two_node_racks(2), {0, 2});
  for (Domain& domain : s.domains) domain.latency_us = domain.level == "rack" ? 1'000'000 : 0;
  EXPECT_NEAR(run_with(LinkModel::kTiers, {communicating("a", 0, 100, 8, all_to_all())}, s).end("a"), 100 * 4, 0.01);
}

// All need the whole cluster, so they run one after the other.
TEST(SimulatedTiers, AGangAloneRunsAsOnSharedLinks) {
  std::vector<TraceJob> jobs;
  for (const CommAlgorithm algorithm : {CommAlgorithm::kRing, CommAlgorithm::kTree, CommAlgorithm::kInNetwork, CommAlgorithm::kSharded}) {
    const auto n = static_cast<std::int64_t>(jobs.size());
    jobs.push_back(communicating("r" + std::to_string(n), 7 * n, 10 + n, 32, {CommKind::kDp, "", 7'777'777'777 + n, algorithm}));
  }
  for (const CommKind kind : {CommKind::kPp, CommKind::kEp, CommKind::kKv}) {
    const auto n = static_cast<std::int64_t>(jobs.size());
    jobs.push_back(communicating("k" + std::to_string(n), 11 * n, 20 + n, 32, {kind, "", 333'333'333}));
  }
  const Snapshot cluster = test::two_node_racks(4);
  const SimulatedRun apart = run_with(LinkModel::kTiers, jobs, cluster);
  EXPECT_EQ(apart.rows.size(), jobs.size());
  EXPECT_EQ(apart, run_with(LinkModel::kShared, jobs, cluster));
  EXPECT_NE(apart, run_with(LinkModel::kNone, jobs, cluster));
}

// `a` takes node n0 and half of n1, `b` the other half and n2. Each sends 4 * 2 * 10 / 6 GB from a node: m = 4/3 s. Among others
// S = m (1 + d) and d = S / (1 + S).
TEST(SimulatedTiers, TwoGangsOnALinkAreSlowerOnSharedLinks) {
  const std::vector<TraceJob> jobs{communicating("a", 0, 100, 6, all_to_all()), communicating("b", 0, 100, 6, all_to_all())};
  const Snapshot cluster = test::two_node_racks(2);
  const SimulatedRun apart = run_with(LinkModel::kTiers, jobs, cluster);
  const SimulatedRun shared = run_with(LinkModel::kShared, jobs, cluster);
  const double sends = (5.0 / 3 + std::sqrt(25.0 / 9 + 16.0 / 3)) / 2;
  for (const char* id : {"a", "b"}) {
    EXPECT_NEAR(apart.end(id), 100 * (1 + 4.0 / 3), 0.01);
    EXPECT_NEAR(shared.end(id), 100 * (1 + sends), 0.01);
  }
}

// Node n1 fails after 150 s, and what was done is lost. On n0 and n2 of the same rack steps take as long as before.
TEST(SimulatedTiers, AGangThatMovesKeepsItsSpeed) {
  Snapshot cluster = test::two_node_racks(1);
  cluster.nodes.push_back(cluster.nodes[1]);
  cluster.nodes[2].id = "n2";
  SimulationSettings settings;
  ClusterEvent event;
  event.what = ClusterEvent::What::kFail;
  event.at_us = 150 * kSecond;
  event.node = "n1";
  settings.events.events = {event};
  for (const LinkModel links : {LinkModel::kTiers, LinkModel::kShared}) {
    EXPECT_NEAR(run_with(links, {communicating("a", 0, 100, 8, all_to_all())}, cluster, settings).end("a"), 150 + 300, 0.01);
  }
}

TEST(SimulatedTiers, LinksWithoutABandwidthSlowNoJob) {
  Snapshot cluster = test::two_node_racks(2);
  for (Node& node : cluster.nodes) node.nic_bytes_per_s = 0;
  for (Domain& domain : cluster.domains) domain.uplink_bytes_per_s = 0;
  const std::vector<TraceJob> jobs{communicating("a", 0, 100, 6, all_to_all())};
  EXPECT_EQ(run_with(LinkModel::kTiers, jobs, cluster), run_with(LinkModel::kNone, jobs, cluster));
}

TEST(SimulatedTiers, CountsDoNotKnowThem) {
  const Trace trace = trace_of({job("a", 0, 100, 4)});
  for (const LinkModel links : {LinkModel::kNone, LinkModel::kTiers, LinkModel::kShared}) {
    SimulationSettings settings;
    settings.request.policy = "fifo";
    settings.links = links;
    JobsOf jobs(trace);
    const auto totals =
        simulate_counts({trace.profiles, facts_of(trace), jobs}, test::two_node_racks(1), settings, [](const JobOutcome&) {});
    EXPECT_EQ(totals.has_value(), links == LinkModel::kNone);
  }
}

TEST(SimulatedTiers, HaveAName) {
  SimulationSettings settings;
  EXPECT_STREQ(fidelity_name(settings), "rate");
  settings.links = LinkModel::kTiers;
  EXPECT_STREQ(fidelity_name(settings), "tiers");
  settings.links = LinkModel::kShared;
  EXPECT_STREQ(fidelity_name(settings), "shared_links");
}

}  // namespace berth::sim::tiers_test
