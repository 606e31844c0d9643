// Gangs repaired after failures, computed by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::gang_repair_test {
namespace {

constexpr std::uint64_t kAll = 0xFF;

using Places = std::vector<std::pair<std::int32_t, std::uint64_t>>;  // node rank, GPUs

struct Answer {
  Action action;
  ReasonCode reason;
  Places places;
};

Answer decide(Snapshot s, const std::string& job, const std::string& discipline = "strict") {
  for (Job& one : s.jobs) {
    if (one.shapes[0].groups.empty()) continue;
    one.shapes[0].gpus = 0;
    for (const Group& g : one.shapes[0].groups) one.shapes[0].gpus += g.members_want * g.gpus_per_member;
  }
  const ClusterState state(s);
  Engine engine;
  Request request;
  request.policy = "fifo";
  request.params = {{"discipline", discipline}};
  const Plan plan = engine.decide(state, request);
  const Decision& d = plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job(job))));
  Answer out{d.action, d.reason.code, {}};
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
    out.places.emplace_back(entry.node, entry.gpus);
  }
  return out;
}

void fail(Snapshot& s, std::size_t node) { s.nodes[node].state = NodeState::kFailed; }

Job& on_whole(Job& job, const std::string& node) { return run_on(job, node, {0, 1, 2, 3, 4, 5, 6, 7}); }

/// Three racks of two nodes:  r0: n0 n1   r1: n2 n3   r2: n4 n5
Snapshot three_racks() {
  Snapshot s = two_racks();
  s.domains.push_back(domain_of("r2", "rack", "p"));
  s.nodes.push_back(node_of("n4", "p/r2"));
  s.nodes.push_back(node_of("n5", "p/r2"));
  return s;
}

/// A running gang "a" of whole nodes.
Job& gang_on(Snapshot& s, const std::vector<std::string>& nodes) {
  Job& job = add_job(s, "a", 0);
  job.shapes[0].groups = {group_of("w", static_cast<std::int32_t>(nodes.size()), 8)};
  for (const std::string& node : nodes) on_whole(job, node);
  return job;
}

std::vector<Gpu> eight_gpus(std::int32_t other, GpuState state, TimeUs free_at = kNever) {
  std::vector<Gpu> gpus;
  for (std::int32_t i = 0; i < 8; ++i) gpus.push_back({i, i == other ? state : GpuState::kOk, i == other ? free_at : kNever, -1});
  return gpus;
}

}  // namespace

TEST(Repair, StaysInThePreferredDomainOfTheSurvivors) {
  Snapshot s = three_racks();
  Job& job = gang_on(s, {"n2", "n4"});
  job.shapes[0].groups[0].prefer = LevelRef{TopologyKind::kSwitch, "rack"};
  fail(s, 4);

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  EXPECT_EQ(a.places, (Places{{2, kAll}, {3, kAll}}));
}

TEST(Repair, PreferenceOfAGroupAboveCounts) {
  Snapshot s = three_racks();
  Job& job = gang_on(s, {"n2", "n4"});
  Group top = group_of("top", 0, 1);
  top.prefer = LevelRef{TopologyKind::kSwitch, "rack"};
  job.shapes[0].groups[0].parent = "top";
  job.shapes[0].groups.push_back(top);
  fail(s, 4);

  EXPECT_EQ(decide(s, "a").places, (Places{{2, kAll}, {3, kAll}}));
}

TEST(Repair, StaysNearWithoutAPreferenceToo) {
  Snapshot s = three_racks();
  gang_on(s, {"n2", "n4"});
  fail(s, 4);

  EXPECT_EQ(decide(s, "a").places, (Places{{2, kAll}, {3, kAll}}));
}

// a runs in one rack. From the other n2 is free, where a takes twice as long: 1800 s in place of 900.
TEST(Repair, EndsBeforeTheNodesThatItTakesInItsNewPlace) {
  for (const TimeUs until : {1'899, 1'900}) {
    Snapshot s = two_racks();
    s.nodes[2].available_until_us = until * kSecond;
    Job& job = gang_on(s, {"n0", "n1"});
    job.profile.kind = ProfileKind::kTable;
    job.profile.points = {{"", 16, 0, "rack", 2 * kSecond}, {"", 16, 0, "", kSecond}};
    job.estimate.run_us = 900 * kSecond;
    on_whole(add_job(s, "b", 8), "n3");
    fail(s, 1);
    const Answer a = decide(s, "a");
    EXPECT_EQ(a.action, until == 1'900 ? Action::kReplace : Action::kPreempt) << until;
    EXPECT_EQ(a.places, until == 1'900 ? (Places{{0, kAll}, {2, kAll}}) : Places{});
  }
}

// a gives up GPU 1, which works. Nothing was free on n0 before.
TEST(Repair, TakesWhatAJobBeforeItGaveUp) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  Job& a = add_job(s, "a", 2);
  a.shapes[0].groups = {group_of("w", 1, 2)};
  run_on(a, "n0", {0, 1});
  run_on(add_job(s, "b", 2), "n0", {2, 3});
  run_on(add_job(s, "c", 4), "n0", {4, 5, 6, 7});
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kFailed);
  s.nodes[0].gpu_list[2].state = GpuState::kFailed;

  EXPECT_EQ(decide(s, "a").action, Action::kPreempt);
  const Answer b = decide(s, "b");

  EXPECT_EQ(b.action, Action::kReplace);
  EXPECT_EQ(b.places, (Places{{0, 0b1010}}));
}

TEST(Repair, TakesASpareNodeBeforeThePreferredDomain) {
  Snapshot s = three_racks();
  gang_on(s, {"n2", "n4"}).shapes[0].groups[0].prefer = LevelRef{TopologyKind::kSwitch, "rack"};
  fail(s, 4);
  s.nodes[0].state = NodeState::kSpare;

  EXPECT_EQ(decide(s, "a").places, (Places{{2, kAll}, {0, kAll}}));
}

TEST(Repair, DoesWithoutMembersBeyondTheWanted) {
  Snapshot s = two_racks();
  s.nodes.resize(3);
  Job& job = gang_on(s, {"n0", "n1", "n2"});
  job.shapes[0].groups[0].members_min = job.shapes[0].groups[0].members_want = job.shapes[0].groups[0].members_max = 2;
  job.shapes[0].groups[0].spares = 1;
  fail(s, 0);

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  EXPECT_EQ(a.places, (Places{{1, kAll}, {2, kAll}}));
}

TEST(Repair, PlacesWhatItCanAndDropsTheRest) {
  Snapshot s = two_racks();
  Job& job = gang_on(s, {"n0", "n1", "n2"});
  job.shapes[0].groups[0].members_min = job.shapes[0].groups[0].members_want = job.shapes[0].groups[0].members_max = 2;
  job.shapes[0].groups[0].spares = 1;
  fail(s, 0);
  fail(s, 1);

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  EXPECT_EQ(a.places, (Places{{3, kAll}, {2, kAll}}));
}

TEST(Repair, NeverGoesBelowTheWantedMembers) {
  Snapshot s = two_racks();
  s.nodes.resize(3);
  Job& job = gang_on(s, {"n0", "n1", "n2"});
  job.shapes[0].groups[0].members_min = 1;
  fail(s, 0);

  EXPECT_NE(decide(s, "a").action, Action::kReplace);
}

TEST(Repair, WholeSegmentsAreDropped) {
  Snapshot s = two_racks();
  Job& job = gang_on(s, {"n0", "n1", "n2", "n3"});
  Group& group = job.shapes[0].groups[0];
  group.members_min = group.members_want = group.members_max = 2;
  group.spares = 2;
  group.segment = Segment{2, {TopologyKind::kSwitch, "rack"}};
  Snapshot half = s;
  fail(s, 0);
  fail(s, 1);
  fail(half, 0);

  EXPECT_EQ(decide(s, "a").action, Action::kReplace);
  EXPECT_EQ(decide(s, "a").places, (Places{{2, kAll}, {3, kAll}}));
  EXPECT_NE(decide(half, "a").action, Action::kReplace);
}

TEST(Repair, QuotaOfDroppedMembersIsFreeAgain) {
  Snapshot s = two_racks();
  s.nodes[3].gpus = 4;
  Queue queue;
  queue.id = "q";
  queue.quotas.push_back({"*", 0, 24, -1});
  s.queues = {queue};
  Job& job = gang_on(s, {"n0", "n1", "n2"});
  job.queue = "q";
  job.shapes[0].groups[0].members_min = job.shapes[0].groups[0].members_want = job.shapes[0].groups[0].members_max = 2;
  job.shapes[0].groups[0].spares = 1;
  fail(s, 0);
  add_job(s, "b", 4).queue = "q";

  EXPECT_EQ(decide(s, "a").action, Action::kReplace);
  EXPECT_EQ(decide(s, "b").action, Action::kStart);
}

TEST(Repair, LostMembersGiveBackCoresAndMemoryFirst) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kFailed);
  s.nodes[0].cpu_milli = 16'000;
  s.nodes[0].memory_bytes = 1'000;
  Job& job = run_on(add_job(s, "a", 1), "n0", {0});
  job.constraints.cpu_milli_per_gpu = 16'000;
  job.constraints.memory_bytes_per_gpu = 1'000;

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  ASSERT_EQ(a.places.size(), 1U);
  EXPECT_EQ(a.places[0].first, 0);
}

TEST(Repair, WorkingGpusOfALostMemberServeAgain) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kFailed);
  s.nodes[0].gpu_list.resize(5);
  s.nodes[0].gpus = 5;
  Job& job = add_job(s, "a", 0);
  job.shapes[0].groups = {group_of("w", 1, 4)};
  run_on(job, "n0", {0, 1, 2, 3});

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  EXPECT_EQ(a.places, (Places{{0, 0x1E}}));
}

// Cores released by a lost member are not released again when its job ends.
TEST(Repair, ReservationsCountTheCoresOfAReplacedJobWhereItIs) {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kFailed);
  for (Node& n : s.nodes) n.cpu_milli = 8'000;
  Job& a = run_on(add_job(s, "a", 1), "n0", {0});
  a.constraints.cpu_milli_per_gpu = 4'000;
  a.estimate.run_us = 100 * kSecond;
  Job& b = run_on(add_job(s, "b", 1), "n0", {1});
  b.constraints.cpu_milli_per_gpu = 4'000;
  b.estimate.run_us = 5'000 * kSecond;
  on_whole(add_job(s, "c", 8), "n1").estimate.run_us = 7'000 * kSecond;
  Job& d = add_job(s, "d", 2);
  d.constraints.cpu_milli_per_gpu = 4'000;
  d.estimate.run_us = 10 * kSecond;

  EXPECT_EQ(decide(s, "a", "easy").action, Action::kReplace);
  EXPECT_EQ(decide(s, "d", "easy").action, Action::kReserve);
}

TEST(Repair, AGpuBeingReleasedIsNotLost) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kReleasing, s.now_us + 50);
  run_on(add_job(s, "a", 1), "n0", {0});

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kKeep);
  EXPECT_EQ(a.places, (Places{{0, 1}}));
}

TEST(Repair, NoJobIsReservedForAGpuBeingReleasedThatIsHeld) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].gpu_list = eight_gpus(0, GpuState::kReleasing, s.now_us + 50);
  run_on(add_job(s, "a", 1), "n0", {0}).estimate.run_us = 1'000 * kSecond;
  add_job(s, "b", 8).estimate.run_us = 10 * kSecond;

  EXPECT_EQ(decide(s, "a", "easy").action, Action::kKeep);
  EXPECT_EQ(decide(s, "b", "easy").action, Action::kWait);
}

TEST(Repair, RequiredDomainIsKept) {
  Snapshot s = three_racks();
  gang_on(s, {"n2", "n3"}).shapes[0].groups[0].require = LevelRef{TopologyKind::kSwitch, "rack"};
  fail(s, 3);

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kMigrate) << "no node of rack r1 is free: the gang moves as a whole";
  EXPECT_EQ(a.places, (Places{{0, kAll}, {1, kAll}}));
}

TEST(Repair, SpreadIsKept) {
  Snapshot s = three_racks();
  gang_on(s, {"n0", "n2"}).shapes[0].groups[0].spread = Spread{{TopologyKind::kSwitch, "rack"}, 1};
  fail(s, 2);
  fail(s, 3);

  EXPECT_EQ(decide(s, "a").action, Action::kReplace);
  EXPECT_EQ(decide(s, "a").places, (Places{{0, kAll}, {4, kAll}}));
}

TEST(Repair, SegmentIsKept) {
  Snapshot s = three_racks();
  gang_on(s, {"n0", "n1", "n2", "n4"}).shapes[0].groups[0].segment = Segment{2, {TopologyKind::kSwitch, "pod"}};
  s.jobs[0].shapes[0].groups[0].segment->at.level = "rack";
  s.nodes[4].domain[0] = "p/r1";
  s.nodes[5].domain[0] = "p/r1";
  s.domains.pop_back();
  s.nodes[1].state = NodeState::kReady;
  fail(s, 4);
  s.nodes[3].state = NodeState::kDrain;

  EXPECT_EQ(decide(s, "a").action, Action::kReplace);
  EXPECT_EQ(decide(s, "a").places, (Places{{0, kAll}, {1, kAll}, {2, kAll}, {5, kAll}}));
}

TEST(Repair, WaitsForItsFailedNodeWhenNothingFits) {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  gang_on(s, {"n0", "n1"});
  fail(s, 1);

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kPreempt);
  EXPECT_EQ(a.reason, ReasonCode::kNodeFailed);
  EXPECT_TRUE(a.places.empty());
}

// Survivors stay, like a kept job, even if the job's constraints have changed; only new members obey them.
TEST(Repair, LeavesSurvivorsOnANodeThatTheJobNoLongerAllows) {
  Snapshot s = three_racks();
  Job& job = gang_on(s, {"n0", "n2"});
  fail(s, 2);
  job.constraints.excluded_nodes = {"n0"};

  const Answer a = decide(s, "a");

  EXPECT_EQ(a.action, Action::kReplace);
  EXPECT_EQ(a.places, (Places{{0, kAll}, {1, kAll}}));
}

TEST(ValidateReplace, GangKeepsAtLeastItsWantedMembers) {
  Snapshot s = two_racks();
  Job& job = gang_on(s, {"n0", "n1", "n2"});
  job.shapes[0].groups[0].members_min = job.shapes[0].groups[0].members_want = job.shapes[0].groups[0].members_max = 2;
  job.shapes[0].groups[0].spares = 1;
  fail(s, 0);
  PlanMaker enough(s), more(s), less(s);

  enough.give(0, Action::kReplace, flat({{1, kAll}, {2, kAll}}, 8));
  more.give(0, Action::kReplace, flat({{1, kAll}, {2, kAll}, {3, kAll}}, 8));
  less.give(0, Action::kReplace, flat({{1, kAll}}, 8));

  EXPECT_EQ(enough.check(), "");
  EXPECT_EQ(more.check(), "");
  EXPECT_NE(less.check().find("group w has 1 member placed of 3"), std::string::npos);
}

TEST(ValidateReplace, NewPlacesNeedTheirCores) {
  Snapshot s = two_racks();
  gang_on(s, {"n0", "n1"}).constraints.cpu_milli_per_gpu = 1'000;
  fail(s, 1);
  s.nodes[2].cpu_milli = 7'999;
  PlanMaker m(s);

  m.give(0, Action::kReplace, flat({{0, kAll}, {2, kAll}}, 8));

  EXPECT_EQ(m.check(), "node n2: its jobs need 8 cores; it has 7.999 cores\n");
}

}  // namespace berth::test::gang_repair_test
