#include "berth/kernel/base/plan_terms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/kernel/price/objective.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/validator/plan_value.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::test::plan_terms_test {
namespace {

constexpr std::int64_t kHour = 3600 * kSecond;

Plan decide(const ClusterState& state, const std::string& terms, const std::string& objective = "throughput") {
  Request request;
  request.policy = "price";
  request.params = {{"terms", terms}, {"objective", objective}};
  Plan plan = Engine().decide(state, request);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  return plan;
}

using Losses = std::vector<std::pair<std::string, std::int64_t>>;

// A job whose gradients cross the network: 1 GB per step of 100 ms without communication.
Job& synchronising(Snapshot& s, const std::string& id, std::int32_t gpus) {
  Job& job = add_job(s, id, gpus);
  job.profile.kind = ProfileKind::kTable;
  job.profile.unit = "steps";
  job.profile.gradient_bytes = 1'000'000'000;
  job.profile.points = {{"", gpus, 0, "", 10'000'000}};
  return job;
}

}  // namespace

TEST(PlanTerms, ALinkIsNeededForItsPartOfAStep) {
  EXPECT_EQ(kernel::link_use(1'000, 10'000, 200'000'000), 500'000);  // 0.1 s of 0.2 s
  EXPECT_EQ(kernel::slowed(900, 1'000'000), 900);
  EXPECT_EQ(kernel::slowed(900, 1'500'000), 600);
}

TEST(PlanTerms, IdleGpusCountByTheJobsThatNeedMore) {
  constexpr std::array<std::int64_t, 5> kLarger{1'000'000, 750'000, 500'000, 500'000, 0};
  EXPECT_EQ(kernel::fragmented(0, kLarger.data()), 0);
  EXPECT_EQ(kernel::fragmented(2, kLarger.data()), 1'000'000);
  EXPECT_EQ(kernel::fragmented(4, kLarger.data()), 0);
}

TEST(PlanTerms, LatenessAvoidedIsThatOfWaitingLessThatOfRunning) {
  EXPECT_EQ(kernel::lateness_avoided(10, 4, 7, 5), 4);    // in time
  EXPECT_EQ(kernel::lateness_avoided(10, 4, 7, 10), 1);   // 3 late
  EXPECT_EQ(kernel::lateness_avoided(10, 4, 7, 20), 0);   // later than by waiting
  EXPECT_EQ(kernel::lateness_avoided(10, 30, 7, 5), 10);  // at most the horizon
  EXPECT_EQ(kernel::lateness_avoided(10, 13, -3, 2), 8);  // the deadline has passed
}

TEST(PlanTerms, AreNamesOnceOrNone) {
  const ClusterState state(one_node());
  EXPECT_NO_THROW(decide(state, "none"));
  for (const char* bad : {"", "speed", "span,span", "span,", "none,span", "Span"}) EXPECT_THROW(decide(state, bad), InvalidArgument) << bad;
}

TEST(PlanTerms, StandInThePlanWhereTheyAreOfPlaces) {
  const ClusterState state(one_node());
  EXPECT_EQ(decide(state, "restart,tardiness").bound.terms, Losses{});
  EXPECT_EQ(decide(state, "span,tardiness,migration,fragmentation,link_load").bound.terms,
            (Losses{{"fragmentation", 0}, {"link_load", 0}, {"migration", 0}, {"span", 0}}));
}

// Half as fast across racks, when no rack has enough free nodes.
TEST(PlanTerms, SpanTakesTheSpeedThatIsLost) {
  Snapshot s = two_racks();
  for (const auto& [id, node] : {std::pair("a", "n0"), std::pair("b", "n2")}) {
    run_on(add_job(s, id, 8), node, {0, 1, 2, 3, 4, 5, 6, 7});
    s.jobs.back().preemption.preemptible = false;
  }
  Job& wide = add_job(s, "wide", 16);
  wide.profile.kind = ProfileKind::kTable;
  wide.profile.points = {{"", 16, 0, "rack", 4'000'000}, {"", 16, 0, "pod", 2'000'000}};
  const ClusterState state(std::move(s));
  EXPECT_EQ(decide(state, "restart").bound.value, 1'000'000);
  const Plan plan = decide(state, "restart,span");
  EXPECT_EQ(plan.bound.terms, (Losses{{"span", 500'000}}));
  EXPECT_EQ(plan.bound.value, 500'000);
  EXPECT_EQ(plan.bound.bound, decide(state, "restart").bound.bound);
}

// Two gangs of four nodes in two racks: 1.5 GB over each NIC and uplink in a step of 100 ms.
TEST(PlanTerms, LinkLoadSlowsJobsThatShareALink) {
  Snapshot s = two_racks();
  for (std::size_t i = 1; i < 3; ++i) s.domains[i].uplink_bytes_per_s = 24'000'000'000;
  for (const char* id : {"a", "b"}) {
    Job& job = synchronising(s, id, 16);
    job.shapes[0].groups = {group_of("g", 4, 4)};
    job.shapes[0].groups[0].spread = Spread{{TopologyKind::kSwitch, "node"}, 1};
  }
  // 2 x 0.0625 s of 0.1 s.
  EXPECT_EQ(decide(ClusterState(s), "link_load").bound.terms, (Losses{{"link_load", 2 * 200'000}}));
  // A slower NIC that states its bandwidth: 2 x 0.125 s.
  for (Node& node : s.nodes) {
    node.nics = 2;
    node.nic_bytes_per_s = 6'000'000'000;
  }
  EXPECT_EQ(decide(ClusterState(s), "link_load").bound.terms, (Losses{{"link_load", 2 * 600'000}}));
  // One of them alone: 0.125 s of 0.1 s.
  s.jobs.pop_back();
  EXPECT_EQ(decide(ClusterState(s), "link_load").bound.terms, (Losses{{"link_load", 200'000}}));
  // An NVLink domain of all nodes needs neither.
  s.domains.push_back(domain_of("v", "nvl", ""));
  s.domains.back().topology = TopologyKind::kNvlink;
  for (Node& node : s.nodes) node.domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = "v";
  EXPECT_EQ(decide(ClusterState(s), "link_load").bound.terms, (Losses{{"link_load", 0}}));
}

// The same gangs exchange 1 GB a member, all to all: 1 GB leaves each rack, which its uplink carries in 1/6 s of 0.1 s.
TEST(PlanTerms, LinkLoadCountsWhatGroupsSend) {
  Snapshot s = two_racks();
  for (std::size_t i = 1; i < 3; ++i) s.domains[i].uplink_bytes_per_s = 6'000'000'000;
  for (const char* id : {"a", "b"}) {
    Job& job = synchronising(s, id, 16);
    job.profile.gradient_bytes = 0;
    job.shapes[0].groups = {group_of("g", 4, 4)};
    job.shapes[0].groups[0].spread = Spread{{TopologyKind::kSwitch, "node"}, 1};
    job.shapes[0].groups[0].communication = {{CommKind::kEp, "", 1'000'000'000}};
  }
  // Both together 10/3 of the time: 0.3 of the speed are left.
  EXPECT_EQ(decide(ClusterState(s), "link_load").bound.terms, (Losses{{"link_load", 2 * 700'000}}));
}

// Some objectives fall below 0 where a job is slow, others do not.
TEST(PlanTerms, AWorseNetworkIsNeverOfGreaterValueNorRunningLessThanWaiting) {
  for (const core::ObjectiveInfo& one : core::objectives()) {
    std::int64_t before = INT64_MAX;
    for (const std::int64_t nic : {std::int64_t{100'000'000'000}, std::int64_t{10'000'000'000}, std::int64_t{1'000'000'000},
                                   std::int64_t{1'000'000}, std::int64_t{1'000}, std::int64_t{1}}) {
      Snapshot s = two_racks();
      for (Node& node : s.nodes) {
        node.nics = 1;
        node.nic_bytes_per_s = nic;
      }
      for (const char* id : {"a", "b"}) {
        synchronising(s, id, 16).estimate.run_us = kHour;
        s.jobs.back().shapes[0].groups = {group_of("g", 4, 4)};
        s.jobs.back().shapes[0].groups[0].spread = Spread{{TopologyKind::kSwitch, "node"}, 1};
      }
      const std::int64_t value = decide(ClusterState(std::move(s)), "link_load", std::string(one.name)).bound.value;
      EXPECT_LE(value, before) << one.name << ", " << nic;
      EXPECT_GE(value, 0) << one.name << ", " << nic;
      before = value;
    }
  }
}

TEST(PlanTerms, FragmentationCountsIdleGpusByTheJobsThatCannotUseThem) {
  Snapshot s = one_node();
  add_job(s, "five", 5);
  for (const char* id : {"w4", "x4", "y4"}) add_job(s, id, 4);
  for (Job& job : s.jobs) job.weight_ppm = job.id == "five" ? 17'000'000 : 1'000'000;
  // 5 of 8 GPUs run; 3 are idle, and all jobs need more. The value of an idle GPU is 20 jobs' speed by 17 GPUs each.
  const ClusterState state(std::move(s));
  const Plan plan = decide(state, "fragmentation");
  EXPECT_EQ(plan.totals.gpus_used, 5);
  EXPECT_EQ(plan.bound.terms, (Losses{{"fragmentation", 3 * (20'000'000 / 17)}}));
}

// A job with a near deadline has up to twice the value where that helps.
TEST(PlanTerms, TardinessPrefersJobsThatWouldBeLate) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b"}) {
    add_job(s, id, 8);
    s.jobs.back().estimate.run_us = kHour;
  }
  s.jobs[1].deadline.at_us = s.now_us + 3 * kHour / 2;
  const ClusterState state(std::move(s));
  EXPECT_EQ(fate(state, decide(state, "none"), "a"), "start s");
  const Plan plan = decide(state, "tardiness");
  EXPECT_EQ(fate(state, plan, "b"), "start s");
  EXPECT_EQ(plan.bound.value, 1'500'000);  // half an hour late by waiting for an hour
}

// The same job in the same shape elsewhere, by another plan: 20 minutes of the hour are lost.
TEST(PlanTerms, MigrationTakesTheRunTimeThatMovingLoses) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 4), "n0", {0, 1, 2, 3});
  s.jobs[0].costs.migrate_us = kHour / 3;
  const ClusterState state(std::move(s));
  const Plan stays = decide(state, "migration");
  EXPECT_EQ(stays.bound.terms, (Losses{{"migration", 0}}));
  Plan moves = stays;
  moves.decisions[0].action = Action::kMigrate;
  moves.entries[0].node = 1;
  EXPECT_EQ(core::objective_value_by(state.impl(), moves, stays), stays.bound.value - 333'334);
}

TEST(PlanTerms, AreComputedAgainByTheValidator) {
  Snapshot s = one_node();
  add_job(s, "five", 5);
  add_job(s, "six", 6);
  const ClusterState state(std::move(s));
  const Plan plan = decide(state, "fragmentation,span");
  Plan other = plan;
  other.bound.terms[0].second += 1;
  EXPECT_EQ(validate_plan(state, other).size(), 1U);
  other = plan;
  other.bound.terms.pop_back();
  EXPECT_EQ(validate_plan(state, other), std::vector<std::string>{"the bound has the term none; the plan's places lose span 0"});
  other = plan;
  other.bound.value += 1;
  EXPECT_EQ(validate_plan(state, other).size(), 1U);
}

TEST(PlanTerms, RestartIsWhatChangesCost) {
  Snapshot s = one_node();
  Job& grows = elastic(s, "a", {{4, 1'000'000}, {8, 1'500'000}});
  run_on(grows, "n0", {0, 1, 2, 3});
  grows.costs.restart_us = kHour / 2;
  const ClusterState state(std::move(s));
  EXPECT_EQ(fate(state, decide(state, "restart"), "a"), "keep 4");
  EXPECT_EQ(fate(state, decide(state, "none"), "a"), "resize 8");
}

}  // namespace berth::test::plan_terms_test
