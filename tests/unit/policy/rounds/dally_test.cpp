// Dally's order and its delays, by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/support/policy_jobs.hpp"
#include "tests/unit/core/network/network_support.hpp"
#include "tests/unit/policy/rounds/dally_plans.hpp"

namespace berth::dally_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using DallyPlans = test::DallyPlans;
using test::gang;
using test::on;
using Keys = std::vector<std::int64_t>;

using test::kHour;

PolicyJob waits(const std::string& id, TimeUs submit, TimeUs run = 0, TimeUs ideal = 0) {
  PolicyJob one;
  one.id = id;
  one.submit = submit;
  one.run = run;
  one.ideal_run = ideal;
  return one;
}

PolicyJob runs(const std::string& id, TimeUs assigned, TimeUs run, TimeUs ideal) {
  PolicyJob one = waits(id, 0, run, ideal);
  one.running = true;
  one.assigned = assigned;
  return one;
}

}  // namespace

// (i) of the source's consequences: jobs that have not run are before all whose lease has ended, and behind none.
TEST(Dally, JobsThatHaveNotRunAreFirst) {
  const auto policy = find_policy("dally").make({});
  policy->load({});
  const PolicyJobs jobs({runs("leased", 9 * kHour + 1, 5, 1), runs("ended", 9 * kHour, kHour, 1), waits("new", 8 * kHour)});
  EXPECT_EQ(jobs.keys(*policy, 10 * kHour), (Keys{0, 2, 1}));
}

// (ii): of two jobs with as much service, that in the bad place.
TEST(Dally, TheJobThatTheNetworkHeldBackIsBefore) {
  const auto policy = find_policy("dally").make({});
  policy->load({});
  const PolicyJobs jobs({runs("good", 0, kHour, kHour), runs("bad", 0, kHour, kHour / 2), waits("waits", 5, kHour, kHour * 3 / 4)});
  EXPECT_EQ(jobs.keys(*policy, kHour), (Keys{3, 1, 2}));
}

// (iii): with a constant speed the key is that speed, however long the job has run.
TEST(Dally, ServiceAloneDoesNotAge) {
  const auto policy = find_policy("dally").make({});
  policy->load({});
  std::vector<PolicyJob> all{waits("long", 3, 1000 * kHour, 250 * kHour), waits("short", 3, 4, 1), waits("middle", 3, kHour, kHour / 4),
                             waits("faster", 3, 4'000'000, 1'000'001)};
  EXPECT_EQ(PolicyJobs(all).keys(*policy, kHour), (Keys{1, 1, 1, 2}));
}

TEST(Dally, EqualOnesByTheLongestWait) {
  const auto policy = find_policy("dally").make({});
  policy->load({});
  std::vector<PolicyJob> all{waits("a", 7), waits("b", 3), runs("c", 0, 4, 4), waits("d", 1, 4, 4), waits("e", 3)};
  all[3].waiting_since = kHour - 1;
  // c counts as waiting since now.
  EXPECT_EQ(PolicyJobs(all).keys(*policy, kHour), (Keys{2, 1, 4, 3, 1}));
}

TEST(Dally, ProgressThatIsNotKnownIsIdeal) {
  const auto policy = find_policy("dally").make({});
  policy->load({});
  EXPECT_EQ(PolicyJobs({waits("a", 3, 4, kNever), waits("b", 3, 4, 3), waits("c", 3, 4, 5)}).keys(*policy, 4), (Keys{2, 1, 3}));
  // The largest numbers that columns have.
  EXPECT_EQ(PolicyJobs({waits("a", 3, 1, kMaxTimeUs), waits("b", 3, kMaxTimeUs, 1)}).keys(*policy, 4), (Keys{2, 1}));
}

TEST(Dally, LeasesEndAndBeginAgain) {
  const auto policy = find_policy("dally").make({{"lease_s", "100"}});
  PolicyState kept;
  policy->load(kept);
  const PolicyJobs jobs({runs("a", 50 * kSecond, kSecond, 1), waits("b", 0)});
  jobs.keys(*policy, 149 * kSecond);
  EXPECT_EQ(jobs.next_change(*policy, 149 * kSecond).front(), 150 * kSecond);
  jobs.keys(*policy, 150 * kSecond);
  EXPECT_EQ(jobs.next_change(*policy, 150 * kSecond).front(), 250 * kSecond);
  policy->store(kept);
  EXPECT_EQ(kept.columns.at("lease_from_us").at("a"), 150 * kSecond);
  const auto common = find_policy("dally").make({{"lease_s", "100"}, {"leases", "common"}});
  common->load({});
  jobs.keys(*common, 60 * kSecond);
  EXPECT_EQ(jobs.next_change(*common, 60 * kSecond).front(), 100 * kSecond);
  // While no job waits, the end of a lease changes nothing for a job that keeps its GPUs.
  const auto keeps = find_policy("dally").make({{"lease_s", "100"}, {"lease_end", "keep"}});
  keeps->load({});
  const PolicyJobs alone({runs("a", 50 * kSecond, kSecond, 1)});
  alone.keys(*keeps, 150 * kSecond);
  EXPECT_EQ(alone.next_change(*keeps, 150 * kSecond).front(), kNever);
  EXPECT_EQ(alone.next_change(*policy, 150 * kSecond).front(), 250 * kSecond);
}

TEST(Dally, BadParametersAreRefused) {
  using P = core::Params;
  for (const P& bad : {P{{"history", "0"}}, P{{"history", "10001"}}, P{{"lease_s", "0"}}, P{{"lease_s", "0.999999"}}, P{{"leases", "none"}},
                       P{{"timers", "1"}}}) {
    Request request;
    request.policy = "dally";
    request.params = bad;
    Engine engine;
    EXPECT_THROW(engine.decide(ClusterState(test::two_node_racks(1)), request), InvalidArgument) << bad.front().first;
  }
}

// Three levels: nodes, racks and pods. The timers without waits are 6, 9 and 12 leases.
TEST_F(DallyPlans, WaitLevelByLevel) {
  snapshot_.jobs = {gang("g", 4, 97 * kHour)};
  for (const Node& node : snapshot_.nodes) {
    Job half = on("x" + node.id, 99 * kHour + 1, {node.id});
    half.allocation.entries[0].gpus = {0, 1};
    half.shapes[0].gpus = 2;
    snapshot_.jobs.push_back(half);
  }
  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.level, 0);
  EXPECT_EQ(of(plan, 0).reason.until_us, 103 * kHour);
  for (Job& job : snapshot_.jobs) job.preemption.preemptible = false;
  snapshot_.now_us = 103 * kHour - 1;
  EXPECT_EQ(of(decide(), 0).reason.level, 0);
  snapshot_.now_us = 103 * kHour;
  plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);  // in a rack
  EXPECT_EQ(kept_.columns.at("waits_us.switch.rack"),
            (std::map<std::string, std::int64_t>{{"4@" + std::to_string(103 * kHour) + ".0", 6 * kHour}}));
}

TEST_F(DallyPlans, ALargeGangSkipsLevelsThatCouldNeverHoldIt) {
  snapshot_.jobs = {gang("g", 12, 100 * kHour), on("x", 99 * kHour + 1, {"n0", "n1"}), on("y", 99 * kHour + 1, {"n4", "n5"})};
  Plan plan = decide();
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.level, 2);
  EXPECT_EQ(of(plan, 0).reason.until_us, 112 * kHour);
  snapshot_.jobs = {gang("g", 20, 100 * kHour), on("x", 99 * kHour + 1, {"n0", "n1"})};
  EXPECT_EQ(of(decide(), 0).action, Action::kStart);
  snapshot_.jobs = {gang("g", 33, 100 * kHour)};
  EXPECT_EQ(of(decide(), 0).action, Action::kReject);
}

TEST_F(DallyPlans, TimersFollowTheWaitsOfGangsOfThatSize) {
  // Mean 8, no deviation: 8 leases at nodes.
  kept_.columns["waits_us.node"] = {{"4@1.0", 8 * kHour}, {"4@1.1", 8 * kHour}, {"2@1.0", 20 * kHour}};
  before_ = kept_;
  snapshot_.jobs = {gang("g", 4, 100 * kHour)};
  for (const Node& node : snapshot_.nodes) {
    Job half = on("x" + node.id, 99 * kHour + 1, {node.id});
    half.allocation.entries[0].gpus = {0, 1};
    half.shapes[0].gpus = 2;
    snapshot_.jobs.push_back(half);
  }
  EXPECT_EQ(of(decide(), 0).reason.until_us, 108 * kHour);
  EXPECT_EQ(io::parse_policy_state(io::to_json(kept_), "kept"), kept_);
}

TEST_F(DallyPlans, TheOtherTimersAreFixed) {
  snapshot_.jobs = {gang("g", 8, 100 * kHour)};
  for (const char* const node : {"n1", "n3", "n5", "n7"}) snapshot_.jobs.push_back(on(node, 99 * kHour + 1, {node}));
  const auto with = [&](const std::string& policy, const core::Params& params) {
    kept_ = before_ = {};
    request_.policy = policy;
    request_.params = params;
    return of(decide(), 0);
  };
  EXPECT_EQ(with("dally-nowait", {}).action, Action::kStart);
  EXPECT_EQ(with("dally-consolidated", {}).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(with("dally-consolidated", {}).reason.until_us, kNever);
  EXPECT_EQ(with("dally-manual", {}).reason.until_us, 102 * kHour);
  EXPECT_EQ(with("dally-manual", {{"timers", "7:2.5"}}).reason.until_us, 100 * kHour + kHour * 5 / 2);
  EXPECT_EQ(with("dally-manual", {{"timers", "0"}}).action, Action::kStart);
  EXPECT_EQ(with("dally-manual", {{"timers", "0:never"}}).reason.until_us, kNever);
  EXPECT_EQ(with("dally-manual", {{"timers", "0:0:0:0"}}).action, Action::kStart);
  // By GPUs: the first entry that has as many, else the last.
  EXPECT_EQ(with("dally-manual", {{"timers", "4:0/8:7:2.5/16:1:1"}}).reason.until_us, 100 * kHour + kHour * 5 / 2);
  EXPECT_EQ(with("dally-manual", {{"timers", "7:0/9:7:3.5"}}).reason.until_us, 100 * kHour + kHour * 7 / 2);
  EXPECT_EQ(with("dally-manual", {{"timers", "1:0/2:7:4.5"}}).reason.until_us, 100 * kHour + kHour * 9 / 2);
  EXPECT_EQ(with("dally-manual", {{"timers", "8:0/16:never"}}).action, Action::kStart);
  for (const char* const bad : {"/", "8:1/", "/8:1", "8/9", "8:1/8:2", "8:1/4:2", "0:1/8:2", "1.5:1/8:2", "never:1/8:2", "8:/9:1",
                                "8:1/9:x", "1:1/1000000001:1", "1:1/8:1:2:3:4:5:6:7:8:9"}) {
    EXPECT_THROW(with("dally-manual", {{"timers", bad}}), InvalidArgument) << bad;
  }
  for (const char* const bad : {"", ":", "1:", "1,2", "-1", "x", "1e3", "1000001", "1:2:3:4:5:6:7:8:9"}) {
    EXPECT_THROW(with("dally-manual", {{"timers", bad}}), InvalidArgument) << bad;
  }
}

// A new job takes GPUs from the job whose lease has ended and whose network was best.
TEST_F(DallyPlans, LeasesThatEndedGoToNewJobs) {
  request_.params = {{"lease_end", "keep"}};
  snapshot_.jobs = {gang("new", 8, 99 * kHour)};
  const std::vector<std::vector<std::string>> places{{"n0", "n1"}, {"n2", "n4"}, {"n3", "n5"}, {"n6", "n7"}};
  for (const auto& nodes : places) snapshot_.jobs.push_back(on(nodes.front(), 99 * kHour, nodes));
  for (std::size_t j = 1; j < 5; ++j) {
    snapshot_.jobs[j].progress.run_us = kHour;
    snapshot_.jobs[j].progress.work_done = 1'000'000 * static_cast<std::int64_t>(j == 4 ? 3600 : 2000);
  }
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kStart);
  EXPECT_EQ(of(plan, 4).action, Action::kPreempt);
  EXPECT_EQ(plan.totals.keeps, 3);
  EXPECT_EQ(plan.order_until_us, 101 * kHour);
}

TEST_F(DallyPlans, AJobInItsLeaseIsNotDisplaced) {
  snapshot_.jobs = {gang("new", 32, 99 * kHour), on("x", 99 * kHour + 1, {"n0"})};
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).action, Action::kWait);
  EXPECT_EQ(plan.order_until_us, 100 * kHour + 1);
}

// One size for all: its window is the only one.
TEST_F(DallyPlans, ABrokenStateIsRefused) {
  kept_.columns["waits_us.node"] = {{"nonsense", 1}};
  before_ = kept_;
  snapshot_.jobs = {gang("g", 4, 0)};
  EXPECT_THROW(decide(), InvalidArgument);
}

// A node, an NVLink domain of a rack, a pod: the rack is no level of its own.
TEST_F(DallyPlans, NvlinkDomainsAreALevel) {
  for (std::size_t n = 0; n < snapshot_.nodes.size(); ++n) {
    const std::string id = "d" + std::to_string(n / 2);
    snapshot_.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = id;
    if (n % 2 == 0) {
      Domain domain;
      domain.id = id;
      domain.topology = TopologyKind::kNvlink;
      domain.level = "block";
      snapshot_.domains.push_back(domain);
    }
  }
  snapshot_.jobs = {gang("g", 8, 100 * kHour)};
  for (const char* const node : {"n1", "n3", "n5", "n7"}) snapshot_.jobs.push_back(on(node, 99 * kHour + 1, {node}));
  const Plan plan = decide();
  EXPECT_EQ(of(plan, 0).reason.code, ReasonCode::kDelayTimer);
  EXPECT_EQ(of(plan, 0).reason.topology, static_cast<std::uint8_t>(TopologyKind::kNvlink));
  EXPECT_EQ(of(plan, 0).reason.until_us, 109 * kHour);
}

}  // namespace berth::dally_test
