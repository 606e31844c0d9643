// Jobs of a trace that state shapes or groups: placed as trees, at the rate of the shape.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/counts/count_simulation.hpp"
#include "host/sim/replay/replay.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/core/network/network_support.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_groups_test {
namespace {

Group group(const std::string& name, std::int32_t members, std::int32_t gpus, const std::string& parent = "") {
  Group one;
  one.name = name;
  one.parent = parent;
  one.members_min = one.members_want = one.members_max = members;
  one.gpus_per_member = gpus;
  return one;
}

Shape shape(const std::string& id, std::vector<Group> groups) {
  Shape one;
  one.id = id;
  one.gpus = 0;
  for (const Group& g : groups) one.gpus += g.members_want * g.gpus_per_member;
  one.groups = std::move(groups);
  return one;
}

TraceJob shaped(const std::string& id, std::int64_t submit_s, std::int64_t run_s, std::vector<Shape> shapes) {
  TraceJob one = job(id, submit_s, run_s, shapes.front().gpus);
  one.shapes = std::move(shapes);
  return one;
}

SimulationSettings named_by(const char* policy) {
  SimulationSettings settings;
  settings.request.policy = policy;
  settings.name_nodes = true;
  return settings;
}

/// "id start-end on nodes;" for each job that ends, "id: reason;" for one that is rejected.
std::string run(std::vector<TraceJob> jobs, const Snapshot& cluster, const SimulationSettings& settings, TraceProfiles profiles = {}) {
  Trace trace = trace_of(std::move(jobs));
  trace.profiles = std::move(profiles);
  std::string rows;
  simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    rows += one.end == JobOutcome::End::kRejected
                ? fmt::format("{}: {};", one.traced->id, one.reason)
                : fmt::format("{} {}-{} on {};", one.traced->id, one.start_us / kSecond, one.end_us / kSecond, one.nodes);
  });
  return rows;
}

constexpr const char* kQueuePolicies[] = {"fifo", "sjf", "srtf", "srsf", "las", "gittins", "priority", "edf", "themis"};

}  // namespace

// Eight GPUs of node n0 are enough for six, but members of three on two nodes each need a node.
TEST(SimulatedGroups, EveryPolicyPlacesAJobAsATree) {
  std::vector<Group> groups{group("job", 0, 1), group("a", 2, 3, "job"), group("b", 1, 4, "job")};
  groups[1].spread = berth::Spread{{TopologyKind::kSwitch, "node"}, 1};
  for (const char* policy : kQueuePolicies) {
    EXPECT_EQ(run({shaped("t", 0, 100, {shape("tree", groups)})}, io::uniform_cluster(3, 8), named_by(policy)), "t 0-100 on n0 n1;")
        << policy;
  }
}

// `a` has a node of each rack. The other two are enough for a flat gang, but in no rack are two free.
TEST(SimulatedGroups, ATreeWaitsForItsDomainWhereAFlatGangWouldRun) {
  const Snapshot cluster = test::two_node_racks(2);  // nodes of 4 GPUs
  std::vector<Group> apart{group("g", 2, 4)}, together{group("g", 2, 4)};
  apart[0].spread = berth::Spread{{TopologyKind::kSwitch, "rack"}, 1};
  together[0].require = LevelRef{TopologyKind::kSwitch, "rack"};
  const TraceJob a = shaped("a", 0, 100, {shape("apart", apart)});
  EXPECT_EQ(run({a, job("t", 1, 10, 8)}, cluster, named_by("fifo")), "t 1-11 on n1 n3;a 0-100 on n0 n2;");
  EXPECT_EQ(run({a, shaped("t", 1, 10, {shape("together", together)})}, cluster, named_by("fifo")), "a 0-100 on n0 n2;t 100-110 on n0 n1;");
}

TEST(SimulatedGroups, WithoutAProfileAShapeRunsAtItsRate) {
  const Snapshot small = io::uniform_cluster(1, 4);
  const std::vector<Shape> shapes{shape("8", {group("g", 2, 4)}), shape("4", {group("g", 1, 4)})};
  SimulationSettings settings = named_by("price");
  EXPECT_EQ(run({shaped("j", 0, 100, shapes)}, small, settings), "j: needs 8 GPUs; the cluster has 4;");
  settings.elastic = true;
  EXPECT_EQ(run({shaped("j", 0, 100, shapes)}, small, settings), "j 0-200 on n0;");  // half of the GPUs, half of the speed
  std::vector<Shape> rated = shapes;
  rated[0].rate = 2'000'000, rated[1].rate = 1'600'000;
  EXPECT_EQ(run({shaped("j", 0, 100, rated)}, small, settings), "j 0-125 on n0;");
}

TEST(SimulatedGroups, WithAProfileAShapeRunsAtTheRateOfItsGpusAndSpan) {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points = {{"", 8, 0, "", 2'000'000}, {"", 4, 0, "", 1'500'000}};
  TraceJob one = shaped("j", 0, 1, {shape("8", {group("g", 2, 4)}), shape("4", {group("g", 1, 4)}), shape("2", {group("g", 1, 2)})});
  one.profile = "p";
  one.work = 300'000'000;
  SimulationSettings settings = named_by("price");
  settings.elastic = true;
  EXPECT_EQ(run({one}, io::uniform_cluster(2, 4), settings, {{"p", profile}}), "j 0-150 on n0 n1;");
  EXPECT_EQ(run({one}, io::uniform_cluster(1, 4), settings, {{"p", profile}}), "j 0-200 on n0;");
  EXPECT_EQ(run({one}, io::uniform_cluster(1, 2), settings, {{"p", profile}}), "j: needs 4 GPUs; the cluster has 2;");  // 2 is not measured
}

TEST(SimulatedGroups, OnlyShapesOfTypesAndLevelsThatTheClusterHasAreTried) {
  std::vector<Shape> shapes{shape("a", {group("g", 1, 4)}), shape("b", {group("g", 1, 4)})};
  shapes[0].gpu_type = "other";
  EXPECT_EQ(run({shaped("j", 0, 100, shapes)}, io::uniform_cluster(1, 4), named_by("fifo")), "j 0-100 on n0;");
  shapes[1].groups[0].prefer = LevelRef{TopologyKind::kNvlink, "nvl"};
  EXPECT_EQ(run({shaped("j", 0, 100, shapes)}, io::uniform_cluster(1, 4), named_by("fifo")), "j: the cluster has no GPUs of type 'other';");
  shapes[0].gpu_type.clear();
  shapes[0].groups[0].spread = berth::Spread{{TopologyKind::kSwitch, "rack"}, 1};
  EXPECT_EQ(run({shaped("j", 0, 100, shapes)}, io::uniform_cluster(1, 4), named_by("fifo")),
            "j: group 'g' names the level 'rack', and the topology 'switch' of the cluster has no such level;");
}

TEST(SimulatedGroups, JobsThatTakeSharesRunOnTheSameGpu) {
  Snapshot cluster = io::uniform_cluster(1, 2);
  Shape half = shape("half", {group("g", 2, 1)});
  half.groups[0].share_ppm = 500'000;
  const std::vector<TraceJob> jobs{shaped("a", 0, 100, {half}), shaped("b", 0, 100, {half})};
  EXPECT_NE(run(jobs, cluster, named_by("fifo")).find("a: "), std::string::npos);  // the node does not take them
  cluster.nodes[0].sharing = true;
  EXPECT_EQ(run(jobs, cluster, named_by("fifo")), "a 0-100 on n0;b 0-100 on n0;");
}

// A flat gang whose tree has the same GPUs ends at the same instant.
TEST(SimulatedGroups, ATreeSharesLinksAsAFlatGangOnTheSameGpus) {
  const TraceProfiles profiles{{"p", test::second_steps()}};
  SimulationSettings settings = named_by("fifo");
  settings.request.params = {{"packing", "count"}};
  settings.links = LinkModel::kShared;
  const auto stepping = [](const std::string& id, bool tree) {
    TraceJob one = tree ? shaped(id, 0, 100, {shape("t", {group("g", 3, 2)})}) : job(id, 0, 100, 6);
    one.profile = "p";
    one.work = 100'000'000;
    return one;
  };
  const std::string flat = run({stepping("a", false), stepping("b", false)}, test::two_node_racks(2), settings, profiles);
  EXPECT_NE(flat.find("a 0-261 on n0 n1;"), std::string::npos) << flat;
  EXPECT_EQ(run({stepping("a", true), stepping("b", true)}, test::two_node_racks(2), settings, profiles), flat);
}

TEST(SimulatedGroups, CountsAndWhatKnowsFlatGangsOnlyRefuseThem) {
  const Snapshot cluster = io::uniform_cluster(2, 8);
  const Trace trace = trace_of({shaped("j", 0, 100, {shape("t", {group("g", 2, 4)})})});
  JobsOf jobs(trace);
  EXPECT_FALSE(simulate_counts({trace.profiles, facts_of(trace), jobs}, cluster, named_by("fifo"), [](const JobOutcome&) {}).has_value());
  EXPECT_THROW(replay_fifo(trace, cluster, kSecond), InvalidArgument);
  SimulationSettings followed = named_by("fifo");
  followed.iterations.emplace();
  EXPECT_THROW(run(trace.jobs, cluster, followed), InvalidArgument);
}

}  // namespace berth::sim::simulated_groups_test
