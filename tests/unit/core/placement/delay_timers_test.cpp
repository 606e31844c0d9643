// Jobs wait for one domain of a level as long as they state, under every policy.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::test::delay_timers_test {
namespace {

Job gang(const std::string& id, std::int32_t gpus) {
  Job job;
  job.id = id;
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = gpus;
  return job;
}

Job holds(const std::string& id, const std::string& node, std::vector<std::int32_t> gpus) {
  Job job = gang(id, static_cast<std::int32_t>(gpus.size()));
  job.state = JobState::kRunning;
  job.preemption.preemptible = false;
  job.allocation.shape = "s";
  job.allocation.entries = {{"", 0, node, std::move(gpus), kWholeGpu, false}};
  return job;
}

LevelRef at(const char* level) { return {TopologyKind::kSwitch, level}; }

// Nodes n0 to n7 of 4 GPUs, racks r0 to r3 of two nodes, pods p0 and p1.
class WaitsForALevel : public ::testing::Test {
 protected:
  WaitsForALevel() {
    snapshot_ = two_node_racks(4);
    snapshot_.now_us = 1000 * kSecond;
    request_.policy = "fifo";
    request_.params = {{"discipline", "greedy"}};
  }

  Job& job() { return snapshot_.jobs.front(); }
  // Only these nodes are free.
  void free_nodes(const std::set<std::string>& nodes) {
    for (const Node& node : snapshot_.nodes) {
      if (nodes.count(node.id) == 0) snapshot_.jobs.push_back(holds("x" + node.id, node.id, {0, 1, 2, 3}));
    }
  }

  Plan decide() {
    const ClusterState state(snapshot_);
    Engine engine;
    Plan plan;
    engine.decide(state, kept_, request_, plan);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    text_ = io::to_json(plan, state, false);
    return plan;
  }
  // Decisions stand by job rank.
  const Decision& of(const Plan& plan, std::size_t job) const {
    const Job& asked = snapshot_.jobs[job];
    const auto rank = std::count_if(snapshot_.jobs.begin(), snapshot_.jobs.end(), [&](const Job& other) {
      return std::tie(other.submit_us, other.id) < std::tie(asked.submit_us, asked.id);
    });
    return plan.decisions.at(static_cast<std::size_t>(rank));
  }
  bool says(const std::string& part) const { return text_.find(part) != std::string::npos; }

  Snapshot snapshot_;
  PolicyState kept_;
  Request request_;
  std::string text_;
};

TEST_F(WaitsForALevel, UntilTheTimerRunsOut) {
  snapshot_.jobs = {gang("g", 8)};
  job().submit_us = 990 * kSecond;
  job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  free_nodes({"n0", "n2"});

  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.level, 1);
  EXPECT_EQ(of(plan, 0).reason.best, 4);
  EXPECT_EQ(of(plan, 0).reason.until_us, 1040 * kSecond);
  EXPECT_EQ(plan.order_until_us, 1040 * kSecond);
  EXPECT_TRUE(says("\"delay_timer\""));
  EXPECT_TRUE(says("waits for one rack for 40 s more: needs 8 GPUs in one rack; best rack has 4 left: ")) << text_;

  snapshot_.origin_iso = "2026-11-27T12:00:00Z";
  decide();
  EXPECT_TRUE(says("waits for one rack until 2026-11-27T12:17:20Z: needs")) << text_;

  snapshot_.now_us = 1040 * kSecond - 1;
  EXPECT_EQ(of(decide(), 0).action, Action::kWait);
  snapshot_.now_us = 1040 * kSecond;
  plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(plan.order_until_us, kNever);
}

TEST_F(WaitsForALevel, AWaitBeyondTheLargestTimeNeverEnds) {
  snapshot_.jobs = {gang("g", 8)};
  job().submit_us = 990 * kSecond;
  job().constraints.longest_wait = {{at("rack"), kMaxTimeUs - 990 * kSecond}};
  free_nodes({"n0", "n2"});
  EXPECT_EQ(decide().order_until_us, kMaxTimeUs);
  job().constraints.longest_wait = {{at("rack"), kMaxTimeUs - 990 * kSecond + 1}};
  const Plan plan = decide();
  EXPECT_EQ(plan.order_until_us, kNever);
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.until_us, kNever);
}

TEST_F(WaitsForALevel, EveryPolicy) {
  for (const PolicyInfo& policy : policies()) {
    kept_ = {};
    request_ = {};
    request_.policy = policy.name;
    snapshot_.jobs = {gang("g", 8)};
    job().submit_us = 990 * kSecond;
    job().estimate.run_us = 500 * kSecond;
    job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
    free_nodes({"n0", "n2"});
    snapshot_.now_us = 1000 * kSecond;
    const Plan plan = decide();
    EXPECT_EQ(of(plan, 0).action, Action::kWait) << policy.name;
    EXPECT_LE(plan.order_until_us, 1040 * kSecond) << policy.name;
    // In a rack it starts at once, and it never waits longer than it states.
    snapshot_.jobs.erase(snapshot_.jobs.begin() + 1);  // n1 is free, too
    EXPECT_EQ(of(decide(), 0).action, Action::kStart) << policy.name;
    // These wait longer by themselves.
    if (policy.name == "tiresias" || (policy.name.rfind("dally", 0) == 0 && policy.name != "dally-nowait")) continue;
    free_nodes({"n0", "n2"});
    snapshot_.jobs = {job()};
    free_nodes({"n0", "n2"});
    snapshot_.now_us = 1040 * kSecond;
    kept_ = {};
    EXPECT_EQ(of(decide(), 0).action, Action::kStart) << policy.name;
  }
}

// First a node, then a rack, then a pod.
TEST_F(WaitsForALevel, AsLongAsAnyPolicyIsTold) {
  for (const PolicyInfo& policy : policies()) {
    const auto has = [&](const char* name) {
      return std::any_of(policy.params.begin(), policy.params.end(), [&](const PolicyParam& param) { return param.name == name; });
    };
    if (!has("timer_unit_s") || policy.name == "tiresias") continue;  // Dally's have their own, and tiresias waits by itself
    SCOPED_TRACE(policy.name);
    snapshot_.jobs = {gang("g", 8)};
    job().submit_us = 990 * kSecond;
    job().estimate.run_us = 500 * kSecond;
    free_nodes({"n0", "n2"});
    request_ = {};
    request_.policy = policy.name;
    for (const auto& [timers, until] :
         {std::pair{"0.5:1", 1040 * kSecond}, {"never:1", 1040 * kSecond}, {"tuned", 1440 * kSecond}, {"never", kNever}}) {
      kept_ = {};
      request_.params = {{"timer_unit_s", "50"}, {"timers", timers}};
      if (has("discipline")) request_.params.emplace_back("discipline", "greedy");
      snapshot_.now_us = 1000 * kSecond;
      Plan plan = decide();
      EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer) << timers;
      EXPECT_EQ(of(plan, 0).reason.level, 1);
      EXPECT_EQ(of(plan, 0).reason.until_us, until);
      if (until == kNever) continue;
      EXPECT_LE(plan.order_until_us, until);
      snapshot_.now_us = until;
      EXPECT_EQ(of(decide(), 0).action, Action::kStart) << timers;
    }
    for (const char* timers : {"none", "0"}) {
      kept_ = {};
      request_.params = {{"timers", timers}};
      snapshot_.now_us = 1000 * kSecond;
      EXPECT_EQ(of(decide(), 0).action, Action::kStart) << timers;
    }
  }
}

TEST_F(WaitsForALevel, LevelByLevel) {
  snapshot_.jobs = {gang("g", 4)};
  job().constraints.longest_wait = {{at("pod"), 1300 * kSecond}, {at("rack"), 1200 * kSecond}, {at("node"), 1100 * kSecond}};
  for (const char* const node : {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}) {
    const bool all = std::string(node) != "n1" && std::string(node) != "n6";
    snapshot_.jobs.push_back(holds(std::string("x") + node, node, all ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector{0, 1}));
  }
  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.level, 0);
  EXPECT_EQ(plan.order_until_us, 1100 * kSecond);
  EXPECT_TRUE(says("waits for one node for 1 min 40 s more: needs 4 GPUs on one node; best node has 2 left: n1")) << text_;
  snapshot_.now_us = plan.order_until_us;
  plan = decide();
  EXPECT_EQ(of(plan, 0).reason.level, 1);
  EXPECT_EQ(plan.order_until_us, 1200 * kSecond);
  snapshot_.now_us = plan.order_until_us;
  plan = decide();
  EXPECT_EQ(of(plan, 0).reason.level, 2);
  EXPECT_EQ(plan.order_until_us, 1300 * kSecond);
  snapshot_.now_us = plan.order_until_us;
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

// A tighter level with a longer timer goes before.
TEST_F(WaitsForALevel, TheTightestLevelThatItStillWaitsFor) {
  snapshot_.jobs = {gang("g", 4)};
  job().constraints.longest_wait = {{at("rack"), 1100 * kSecond}, {at("node"), 1200 * kSecond}};
  for (const Node& node : snapshot_.nodes) snapshot_.jobs.push_back(holds("x" + node.id, node.id, {0, 1}));
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).reason.level, 0);
  EXPECT_EQ(of(plan, 0).reason.until_us, 1200 * kSecond);
}

TEST_F(WaitsForALevel, ALevelThatCouldNeverHoldItDoesNotCount) {
  snapshot_.jobs = {gang("g", 12)};
  job().constraints.longest_wait = {{at("node"), 5000 * kSecond}, {at("rack"), 5000 * kSecond}};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
  // Its nodes have 8 GPUs in the racks r0 and r2, of one node each.
  job() = gang("g", 8);
  job().constraints.longest_wait = {{at("rack"), 5000 * kSecond}};
  job().constraints.required_nodes = {"n0", "n4"};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
  // Members on nodes of their own.
  job() = gang("g", 2);
  job().constraints.longest_wait = {{at("node"), 5000 * kSecond}};
  Group group;
  group.name = "w";
  group.members_min = group.members_want = group.members_max = 2;
  group.spread = Spread{at("node"), 1};
  job().shapes[0].groups = {group};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

TEST_F(WaitsForALevel, FailedNodesCountAsPartOfADomain) {
  snapshot_.jobs = {gang("g", 8)};
  job().constraints.longest_wait = {{at("rack"), 5000 * kSecond}};
  for (std::size_t n = 0; n < snapshot_.nodes.size(); n += 2) snapshot_.nodes[n].state = NodeState::kFailed;
  EXPECT_EQ(of(decide(), 0).reason.code, ReasonCode::kDelayTimer);
}

// From when it lost its GPUs, or was submitted; a time that lies ahead is now.
TEST_F(WaitsForALevel, TheTimeCountsFromItsLastGpus) {
  snapshot_.jobs = {gang("g", 8)};
  job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  free_nodes({"n0", "n2"});
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
  job().waiting_since_us = 980 * kSecond;
  EXPECT_EQ(decide().order_until_us, 1030 * kSecond);
  job().waiting_since_us = 9000 * kSecond;
  EXPECT_EQ(decide().order_until_us, 1050 * kSecond);
}

TEST_F(WaitsForALevel, ZeroIsNoWait) {
  snapshot_.jobs = {gang("g", 8)};
  job().submit_us = 1000 * kSecond;
  job().constraints.longest_wait = {{at("rack"), 0}};
  free_nodes({"n0", "n2"});
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
}

// What it requires by itself stays, in whatever topology.
TEST_F(WaitsForALevel, BesidesWhatItRequires) {
  for (std::size_t n = 0; n < snapshot_.nodes.size(); ++n) {
    snapshot_.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kPower)] = n % 2 == 0 ? "even" : "odd";
  }
  for (const char* const id : {"even", "odd"}) {
    Domain domain;
    domain.id = id;
    domain.topology = TopologyKind::kPower;
    domain.level = "feed";
    snapshot_.domains.push_back(domain);
  }
  snapshot_.jobs = {gang("g", 8)};
  Group group;
  group.name = "w";
  group.members_min = group.members_want = group.members_max = 8;
  group.require = LevelRef{TopologyKind::kPower, "feed"};
  job().shapes[0].groups = {group};
  job().submit_us = 1000 * kSecond;
  job().constraints.longest_wait = {{at("pod"), 50 * kSecond}};
  free_nodes({"n0", "n1", "n3", "n4"});  // a pod with two odd nodes, and two even nodes in two pods
  Plan plan = decide();
  ASSERT_EQ(of(plan, 0).action, Action::kStart);
  const Decision& d = of(plan, 0);
  std::set<std::int32_t> nodes;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) nodes.insert(plan.entries[static_cast<std::size_t>(e)].node);
  EXPECT_EQ(nodes, (std::set<std::int32_t>{1, 3}));
  snapshot_.jobs.push_back(holds("y", "n3", {0}));
  plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(plan.order_until_us, 1050 * kSecond);
}

// A job that runs is not moved for its timers; one that is displaced waits from then on.
TEST_F(WaitsForALevel, ADisplacedJobWaitsAgain) {
  Job low = gang("low", 8);
  low.state = JobState::kRunning;
  low.allocation.shape = "s";
  low.allocation.entries = {{"", 0, "n0", {0, 1, 2, 3}, kWholeGpu, false}, {"", 4, "n4", {0, 1, 2, 3}, kWholeGpu, false}};
  low.constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  snapshot_.jobs = {low};
  free_nodes({"n0", "n2", "n4"});
  request_ = {};
  request_.policy = "priority";
  EXPECT_EQ(of(decide(), 0).action, Action::kKeep);
  Job high = gang("high", 4);
  high.preemption.preemption_class = high.priority = 1;
  high.constraints.required_nodes = {"n0"};
  snapshot_.jobs.push_back(high);
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kPreempt);
  EXPECT_EQ(plan.order_until_us, 1050 * kSecond);
}

// The reservation is of a rack, too.
TEST_F(WaitsForALevel, NextToAReservation) {
  snapshot_.jobs = {gang("g", 8), gang("h", 4)};
  job().submit_us = 990 * kSecond;
  job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  snapshot_.jobs[1].submit_us = 995 * kSecond;
  snapshot_.jobs[1].estimate.run_us = 1000 * kSecond;
  free_nodes({"n0", "n2"});
  for (Job& one : snapshot_.jobs) {
    if (one.state == JobState::kRunning) one.estimate.run_us = (one.id == "xn3" ? 20 : 2000) * kSecond;
  }
  request_.params = {{"discipline", "easy"}};
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kReserve);
  EXPECT_EQ(of(plan, 0).start_us, 1020 * kSecond);
  EXPECT_NE(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 1).action, Action::kStart);
  EXPECT_EQ(plan.entries[static_cast<std::size_t>(of(plan, 1).entry_begin)].node, 0);  // n2 is reserved
}

// The reservation is in the rack, and its reason says when the job may go elsewhere.
TEST_F(WaitsForALevel, SoonerThanAReservation) {
  snapshot_.jobs = {gang("g", 8)};
  job().submit_us = 990 * kSecond;
  job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  free_nodes({"n0", "n2"});
  for (Job& one : snapshot_.jobs) {
    if (one.state == JobState::kRunning) one.estimate.run_us = 2'000 * kSecond;
  }
  for (const char* discipline : {"easy", "conservative"}) {
    request_.params = {{"discipline", discipline}};
    const Plan plan = decide();
    EXPECT_EQ(of(plan, 0).action, Action::kReserve);
    EXPECT_EQ(of(plan, 0).start_us, 3'000 * kSecond);
    EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
    EXPECT_EQ(of(plan, 0).reason.until_us, 1'040 * kSecond);
    EXPECT_EQ(plan.order_until_us, 1'040 * kSecond);
    EXPECT_TRUE(says("waits for one rack for 40 s more: needs 8 GPUs in one rack")) << text_;
  }
}

TEST_F(WaitsForALevel, ALiveEngineFollowsIt) {
  snapshot_.jobs = {gang("g", 8), gang("later", 1)};
  job().submit_us = 990 * kSecond;
  job().constraints.longest_wait = {{at("rack"), 50 * kSecond}};
  free_nodes({"n0", "n2"});
  ClusterState state(snapshot_);
  Engine engine;
  request_.changes_only = true;
  Plan plan;
  engine.decide(state, kept_, request_, plan);
  EXPECT_EQ(plan.totals.waits, 1);
  EXPECT_EQ(plan.order_until_us, 1040 * kSecond);
  state.apply(delta::SetTime{1040 * kSecond});
  state.apply(delta::RemoveJob{"later", {}});
  engine.decide(state, kept_, request_, plan);
  EXPECT_EQ(plan.totals.starts, 1);
}

}  // namespace
}  // namespace berth::test::delay_timers_test
