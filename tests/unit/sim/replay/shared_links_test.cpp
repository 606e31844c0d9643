// Jobs that slow each other down on links: --fidelity shared_links.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "host/sim/simulation.hpp"
#include "tests/unit/core/network/network_support.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::shared_links_test {
namespace {

// Steps of 1 s on a node, of 2 s on two nodes (and microseconds until the first byte).
TraceJob stepping(const std::string& id, std::int64_t submit_s, std::int64_t steps, std::int32_t gpus) {
  TraceJob one = job(id, submit_s, steps, gpus);
  one.profile = "steps";
  one.work = steps * 1'000'000;
  return one;
}

std::map<std::string, double> ends(std::vector<TraceJob> jobs, const Snapshot& cluster, bool shared, const SimulationSettings& from = {}) {
  Trace trace = trace_of(std::move(jobs));
  trace.profiles = {{"steps", test::second_steps()}};
  SimulationSettings settings = from;
  if (settings.request.policy.empty()) settings.request.policy = "fifo";
  settings.links = shared ? LinkModel::kShared : LinkModel::kNone;
  std::map<std::string, double> at;
  simulate(trace, cluster, settings, [&](const JobOutcome& one) { at[one.traced->id] = static_cast<double>(one.end_us) / kSecond; });
  return at;
}

// In order of GPUs: `a` takes node n0 and half of n1, `b` the other half and n2. They share the NICs of n1.
SimulationSettings in_order() {
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"packing", "count"}};
  return settings;
}

// See shared_steps_test: a step takes 2 s alone, and 1 s more than this where two gangs share a link.
const double kGolden = (1 + std::sqrt(5.0)) / 2;

TEST(SimulatedSharedLinks, AJobAloneRunsAtItsRate) {
  const Snapshot cluster = test::two_node_racks(1);
  const auto alone = ends({stepping("a", 0, 100, 8)}, cluster, true, in_order());
  EXPECT_NEAR(alone.at("a"), 200, 0.1);
  EXPECT_EQ(alone, ends({stepping("a", 0, 100, 8)}, cluster, false, in_order()));
}

TEST(SimulatedSharedLinks, TwoGangsOnANodeSlowEachOtherDownUntilOneEnds) {
  const auto shared = ends({stepping("a", 0, 100, 6), stepping("b", 0, 300, 6)}, test::two_node_racks(2), true, in_order());
  EXPECT_NEAR(shared.at("a"), 100 * (1 + kGolden), 0.1);
  EXPECT_NEAR(shared.at("b"), 100 * (1 + kGolden) + 200 * 2, 0.2);
}

TEST(SimulatedSharedLinks, AGangThatComesLaterSlowsTheOtherFromThenOn) {
  const auto shared = ends({stepping("a", 0, 100, 6), stepping("b", 100, 10, 6)}, test::two_node_racks(2), true, in_order());
  EXPECT_NEAR(shared.at("b"), 100 + 10 * (1 + kGolden), 0.1);
  EXPECT_NEAR(shared.at("a"), 200 + 10 * (1 + kGolden) - 20, 0.2);  // 10 steps took longer than 20 s
}

TEST(SimulatedSharedLinks, LinksWithoutABandwidthSlowNoJob) {
  Snapshot cluster = test::two_node_racks(2);
  for (Node& node : cluster.nodes) node.nic_bytes_per_s = 0;
  for (Domain& domain : cluster.domains) domain.uplink_bytes_per_s = 0;
  const std::vector<TraceJob> jobs{stepping("a", 0, 100, 6), stepping("b", 0, 300, 6)};
  EXPECT_EQ(ends(jobs, cluster, true, in_order()), ends(jobs, cluster, false, in_order()));
}

// Node n0 fails at 100 s and never returns. Of the GPUs that are left `a` needs more than there are beside `b`: it waits.
TEST(SimulatedSharedLinks, AGangThatLostItsNodeSendsNoMore) {
  SimulationSettings settings = in_order();
  ClusterEvent event;
  event.what = ClusterEvent::What::kFail;
  event.at_us = 100 * kSecond;
  event.node = "n0";
  settings.events.events = {event};
  const auto shared =
      ends({stepping("a", 0, 1'000, 6), stepping("b", 0, 300, 6), stepping("c", 0, 5'000, 4)}, test::two_node_racks(2), true, settings);
  const double until = 100 / (1 + kGolden);  // steps of `b` by then
  EXPECT_NEAR(shared.at("b"), 100 + (300 - until) * 2, 0.5);
}

// The second half of the steps takes half as long to compute.
TEST(SimulatedSharedLinks, APhaseHasItsOwnSteps) {
  TraceJob phased = stepping("a", 0, 100, 6);
  phased.phases = {{50'000'000, "half", 0}};
  Trace trace = trace_of({phased, stepping("b", 0, 1'000, 6)});
  Profile half = test::second_steps();
  half.closed_form.step[0].beta_ns = 500'000'000;
  trace.profiles = {{"half", half}, {"steps", test::second_steps()}};
  SimulationSettings settings = in_order();
  settings.links = LinkModel::kShared;
  std::map<std::string, double> at;
  simulate(trace, test::two_node_racks(2), settings,
           [&](const JobOutcome& one) { at[one.traced->id] = static_cast<double>(one.end_us) / kSecond; });
  // x: how long `a` sends, y: `b`. x = 1 + y / (1 + y), y = 1 + x / (0.5 + x).
  double x = 1, y = 1;
  for (int i = 0; i < 200; ++i) {
    const double next = 1 + y / (1 + y);
    y = 1 + x / (0.5 + x);
    x = next;
  }
  EXPECT_NEAR(at.at("a"), 50 * (1 + kGolden) + 50 * (0.5 + x), 0.2);
}

// The second half of the steps sends nothing, though `b` still does.
TEST(SimulatedSharedLinks, APhaseWithoutTrafficRunsAtItsRate) {
  TraceJob phased = stepping("a", 0, 100, 6);
  phased.phases = {{50'000'000, "quiet", 0}};
  Trace trace = trace_of({phased, stepping("b", 0, 1'000, 6)});
  Profile quiet = test::second_steps();
  quiet.gradient_bytes = 0;
  trace.profiles = {{"quiet", quiet}, {"steps", test::second_steps()}};
  SimulationSettings settings = in_order();
  settings.links = LinkModel::kShared;
  std::map<std::string, double> at;
  simulate(trace, test::two_node_racks(2), settings,
           [&](const JobOutcome& one) { at[one.traced->id] = static_cast<double>(one.end_us) / kSecond; });
  EXPECT_NEAR(at.at("a"), 50 * (1 + kGolden) + 50, 0.2);
}

}  // namespace
}  // namespace berth::sim::shared_links_test
