// Decisions computed by hand.

#include "berth/engine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "berth/error.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::engine_test {
namespace {

using test::add_job;
using test::run_on;

Request ask(const std::string& policy, std::vector<std::pair<std::string, std::string>> params = {}) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  return request;
}

const Decision& of(const ClusterState& state, const Plan& plan, const std::string& id) {
  return plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job(id))));
}

/// One node of 8 GPUs: `hog` runs on all of it with 1,000 s to go, `quick` requests 4 for 10 s.
Snapshot one_node_full() {
  Snapshot s = test::two_racks();
  s.nodes.resize(1);
  Job& hog = run_on(add_job(s, "hog", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  hog.estimate.run_us = 1'000 * kSecond;
  hog.costs.restart_us = 30 * kSecond;
  hog.costs.checkpoint_save_us = 5 * kSecond;
  add_job(s, "quick", 4).estimate.run_us = 10 * kSecond;
  return s;
}

TEST(Engine, PreemptsTheLongerJobAndSaysWhatItCosts) {
  const ClusterState state(one_node_full());
  Engine engine;

  const Plan plan = engine.decide(state, ask("srsf"));

  EXPECT_EQ(of(state, plan, "quick").action, Action::kStart);
  EXPECT_EQ(of(state, plan, "quick").finish_us, 110 * kSecond);
  EXPECT_EQ(of(state, plan, "hog").action, Action::kPreempt);
  EXPECT_EQ(of(state, plan, "hog").cost_us, 35 * kSecond);
  EXPECT_EQ(of(state, plan, "hog").reason.code, ReasonCode::kLostPriority);
  EXPECT_EQ(of(state, plan, "hog").reason.other_job, state.find_job("quick"));
}

TEST(Engine, ABudgetThatNoClockCanCountIsNoLimit) {
  const ClusterState state(one_node_full());
  for (const char* policy : {"fifo", "price"}) {
    for (const TimeUs budget : {kNever, kNever - 1, 9'223'372'036 * kSecond}) {
      Request request = ask(policy);
      request.budget_us = budget;
      EXPECT_EQ(Engine().decide(state, request).stopped_by, "done") << policy << ' ' << budget;
    }
  }
}

TEST(Engine, KeepsRunningJobsWherePoliciesDoNotPreempt) {
  const ClusterState state(one_node_full());
  Engine engine;

  const Plan plan = engine.decide(state, ask("sjf"));

  EXPECT_EQ(of(state, plan, "hog").action, Action::kKeep);
  EXPECT_EQ(of(state, plan, "quick").action, Action::kWait);
}

TEST(Engine, EasyReservesForTheFirstAndLetsOnlyShortJobsPass) {
  Snapshot s = test::two_racks();
  s.nodes.resize(1);
  run_on(add_job(s, "a", 4), "n0", {0, 1, 2, 3}).estimate.run_us = 50 * kSecond;
  add_job(s, "b", 8).estimate.run_us = 10 * kSecond;
  add_job(s, "c", 2).estimate.run_us = 51 * kSecond;
  add_job(s, "d", 2).estimate.run_us = 50 * kSecond;
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo", {{"discipline", "easy"}}));

  EXPECT_EQ(of(state, plan, "b").action, Action::kReserve);
  EXPECT_EQ(of(state, plan, "b").start_us, 150 * kSecond);
  EXPECT_EQ(of(state, plan, "c").action, Action::kWait);
  EXPECT_EQ(of(state, plan, "c").reason.code, ReasonCode::kReservedFor);
  EXPECT_EQ(of(state, plan, "d").action, Action::kStart);
}

// The limit of q is 9, and c is reserved for 8 on n0. d may use the other two GPUs until then. Its place may be slower than the tightest:
// over two racks it takes twice as long, and c would find the limit used. So nothing is promised to c.
TEST(Engine, AReservationWithoutRoomInItsQueueIsDropped) {
  const auto decide = [](std::int64_t rate_over_racks, const char* discipline) {
    Snapshot s = test::two_racks();
    s.queues.resize(1);
    s.queues[0].id = "q";
    s.queues[0].quotas = {{"*", 0, 9, kUnlimited}};
    run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7}).estimate.run_us = 100 * kSecond;
    run_on(add_job(s, "b1", 7), "n1", {0, 1, 2, 3, 4, 5, 6});
    run_on(add_job(s, "b2", 7), "n2", {0, 1, 2, 3, 4, 5, 6});
    run_on(add_job(s, "b3", 8), "n3", {0, 1, 2, 3, 4, 5, 6, 7});
    Job& wide = add_job(s, "c", 8);
    wide.queue = "q";
    wide.shapes[0].groups = {test::group_of("w", 1, 8)};
    Job& pair = add_job(s, "d", 2);
    pair.queue = "q";
    pair.estimate.run_us = 80 * kSecond;
    pair.profile.kind = ProfileKind::kTable;
    pair.profile.points = {{"", 2, 0, "node", 2'000'000}, {"", 2, 0, "pod", rate_over_racks}};
    const ClusterState state(s);
    Engine engine;
    const Plan plan = engine.decide(state, ask("fifo", {{"discipline", discipline}}));
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    return std::string(to_string(of(state, plan, "c").action)) + ", " + std::string(to_string(of(state, plan, "d").action)) + " until " +
           std::to_string(of(state, plan, "d").finish_us / kSecond);
  };

  for (const char* discipline : {"easy", "conservative"}) {
    EXPECT_EQ(decide(2'000'000, discipline), "reserve, start until 180");
    EXPECT_EQ(decide(1'000'000, discipline), "wait, start until 260");
  }
}

TEST(Engine, SharesOfGpusCountAgainstQuotas) {
  Snapshot s = test::two_racks();
  for (Node& node : s.nodes) node.sharing = true;
  Queue team;
  team.id = "team";
  team.quotas = {{"*", 0, 1, kUnlimited}};
  s.queues = {team};
  for (const char* id : {"a", "b", "c"}) {
    Job& job = add_job(s, id, 1);
    job.queue = "team";
    job.sharing = true;
    job.shapes[0].share_ppm = 400'000;
  }
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  EXPECT_EQ(of(state, plan, "a").action, Action::kStart);
  EXPECT_EQ(of(state, plan, "b").action, Action::kStart);
  EXPECT_EQ(of(state, plan, "c").action, Action::kWait);
  EXPECT_EQ(of(state, plan, "c").reason.code, ReasonCode::kQuota);
  ClusterState next(s);
  commit(next, plan);
  EXPECT_EQ(engine.decide(next, ask("fifo")).totals.waits, 1) << "what runs counts too";
}

// A reservation ends, a label does not: the certificate of the label holds during it.
TEST(Engine, RejectsForWhatLastsWhileSomethingIsReserved) {
  Snapshot s = test::two_racks();
  Reservation maintenance;
  maintenance.id = "maintenance";
  maintenance.nodes = {"n0", "n1", "n2"};
  maintenance.to_us = 1'000 * kSecond;
  s.reservations = {maintenance};
  for (Node& node : s.nodes) node.labels = {{"disk", node.id == "n3" ? "ssd" : "hdd"}};
  add_job(s, "labelled", 16).constraints.labels = {{"disk", {"ssd"}}};
  add_job(s, "patient", 16).constraints.labels = {{"disk", {"hdd"}}};
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  EXPECT_EQ(of(state, plan, "labelled").action, Action::kReject);
  EXPECT_TRUE(of(state, plan, "labelled").reason.certified);
  EXPECT_EQ(of(state, plan, "patient").action, Action::kWait);
}

TEST(Engine, RejectedJobBlocksNoOtherUnderStrict) {
  Snapshot s = test::two_racks();
  add_job(s, "a", 33);
  add_job(s, "b", 8);
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  EXPECT_EQ(of(state, plan, "a").action, Action::kReject);
  EXPECT_TRUE(check_certificate(state, of(state, plan, "a").reason, state.find_job("a")));
  EXPECT_EQ(of(state, plan, "b").action, Action::kStart);
}

// At 100 s: `late` needs 10 s and has its deadline at 109 s, `tight` at 110 s; the run time of `unknown` is not known.
TEST(Engine, RejectsJobsWhoseHardDeadlineIsOutOfReach) {
  Snapshot s = test::two_racks();
  const auto due = [&](const char* id, TimeUs run, TimeUs at, bool hard) {
    Job& job = add_job(s, id, 4);
    job.estimate.run_us = run;
    job.deadline = {at, hard, 0};
  };
  due("late", 10 * kSecond, 109 * kSecond, true);
  due("soft", 10 * kSecond, 109 * kSecond, false);
  due("tight", 10 * kSecond, 110 * kSecond, true);
  due("unknown", kNever, 101 * kSecond, true);
  s.jobs.back().time_limit_us = 50 * kSecond;
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  EXPECT_EQ(of(state, plan, "late").action, Action::kReject);
  EXPECT_EQ(of(state, plan, "late").reason.code, ReasonCode::kDeadlineImpossible);
  EXPECT_EQ(of(state, plan, "late").reason.until_us, 110 * kSecond);
  for (const char* id : {"soft", "tight", "unknown"}) EXPECT_EQ(of(state, plan, id).action, Action::kStart) << id;
  EXPECT_EQ(plan.proof, Proof::kPlacedValidated);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
}

TEST(Engine, StrictBlocksAllJobsBehind) {
  Snapshot s = test::two_racks();
  run_on(add_job(s, "a", 1), "n0", {0});
  add_job(s, "b", 32);
  add_job(s, "c", 1);
  const ClusterState state(s);
  Engine engine;

  const Plan strict = engine.decide(state, ask("fifo"));
  const Plan skip = engine.decide(state, ask("fifo", {{"discipline", "greedy"}}));

  EXPECT_EQ(of(state, strict, "c").reason.code, ReasonCode::kBehind);
  EXPECT_EQ(of(state, strict, "c").reason.other_job, state.find_job("b"));
  EXPECT_EQ(of(state, skip, "c").action, Action::kStart);
}

TEST(Engine, WorkLimitStopsThePassAndSaysSo) {
  Snapshot s = test::two_racks();
  for (const char* id : {"a", "b", "c"}) add_job(s, id, 1);
  const ClusterState state(s);
  Engine engine;
  Request request = ask("fifo");
  request.max_iterations = 2;

  const Plan plan = engine.decide(state, request);

  EXPECT_EQ(plan.iterations, 2);
  EXPECT_EQ(plan.stopped_by, "iterations");
  EXPECT_EQ(plan.proof, Proof::kBudgetExhausted);
  EXPECT_EQ(plan.totals.starts, 2);
  EXPECT_EQ(of(state, plan, "c").reason.code, ReasonCode::kBudget);
}

TEST(Engine, MovesADisplacedJobAndChargesTheDearerOfItsCosts) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  Job& hog = run_on(add_job(s, "hog", 4), "n0", {0, 1, 2, 3});
  hog.estimate.run_us = 1'000 * kSecond;
  hog.costs = {};
  hog.costs.restart_us = 30 * kSecond;
  hog.costs.migrate_us = 45 * kSecond;
  Job& pin = run_on(add_job(s, "pin", 1), "n1", {0});
  pin.preemption.preemptible = false;
  // Eight GPUs of one node: only hog's node can be emptied.
  Job& quick = add_job(s, "quick", 8);
  quick.estimate.run_us = 10 * kSecond;
  Group group;
  group.name = "g";
  group.members_min = group.members_want = 1;
  group.gpus_per_member = 8;
  quick.shapes.front().groups = {group};
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("srsf"));

  EXPECT_EQ(of(state, plan, "quick").action, Action::kStart);
  const Decision& moved = of(state, plan, "hog");
  EXPECT_EQ(moved.action, Action::kMigrate);
  EXPECT_EQ(moved.cost_us, 45 * kSecond);
  ASSERT_EQ(moved.entry_end - moved.entry_begin, 1);
  EXPECT_EQ(plan.entries.at(static_cast<std::size_t>(moved.entry_begin)).node, state.find_node("n1"));
}

// 8 members of 1 GPU, or 4: on 4 free GPUs the gang runs at half its speed, so 100 s of work take 200 s.
TEST(Engine, ASmallGangIsPredictedAtTheRateOfItsMembers) {
  for (const std::int64_t stated : {0, 3'000'000}) {
    Snapshot s = test::two_racks();
    s.nodes.resize(1);
    run_on(add_job(s, "half", 4), "n0", {0, 1, 2, 3});
    Job& gang = add_job(s, "gang", 8);
    gang.estimate.run_us = 100 * kSecond;
    gang.shapes[0].rate = stated;
    gang.shapes[0].local_batch = 64;
    gang.shapes[0].learning_rate_pico = 250'000'000;
    gang.shapes[0].groups = {test::group_of("w", 8, 1)};
    gang.shapes[0].groups[0].members_min = 4;
    ClusterState state(s);
    Engine engine;

    const Plan plan = engine.decide(state, ask("fifo"));
    const Decision& d = of(state, plan, "gang");

    ASSERT_EQ(d.action, Action::kStart);
    EXPECT_EQ(d.rate, stated > 0 ? 1'500'000 : 500'000);
    EXPECT_EQ(d.finish_us, 300 * kSecond);
    EXPECT_EQ(d.local_batch, 64);
    EXPECT_EQ(d.learning_rate_pico, 250'000'000);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});

    commit(state, plan);
    const Plan next = engine.decide(state, ask("fifo"));
    EXPECT_EQ(of(state, next, "gang").action, Action::kKeep);
    EXPECT_EQ(of(state, next, "gang").rate, d.rate);
    EXPECT_EQ(of(state, next, "gang").finish_us, d.finish_us);
    EXPECT_EQ(of(state, next, "gang").learning_rate_pico, 250'000'000);
  }
}

// A spare is idle: two members and a spare work like two members.
TEST(Engine, SparesDoNotSpeedAGangUp) {
  Snapshot s = test::two_racks();
  Job& gang = add_job(s, "gang", 2);
  gang.estimate.run_us = 100 * kSecond;
  gang.profile.kind = ProfileKind::kTable;
  gang.profile.points = {{"", 2, 0, "", 1'000'000}, {"", 4, 0, "", 2'000'000}};
  gang.shapes[0].groups = {test::group_of("w", 2, 1)};
  gang.shapes[0].groups[0].spares = 1;
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  EXPECT_EQ(of(state, plan, "gang").rate, 1'000'000);
}

TEST(Engine, SharesOfAGpuRunInTimeSlicesUnlessTheyArePartitions) {
  Snapshot s = test::two_racks();
  s.nodes[0].sharing = true;
  for (const bool partition : {false, true}) {
    Job& job = add_job(s, partition ? "b" : "a", 1);
    job.sharing = true;
    job.shapes[0].share_ppm = 500'000;
    if (partition) job.shapes[0].mig_profile = "3g.40gb";
  }
  ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  ASSERT_EQ(plan.entries.size(), 2u);
  EXPECT_TRUE(plan.entries[0].time_shared);
  EXPECT_FALSE(plan.entries[1].time_shared);
  commit(state, plan);
  EXPECT_TRUE(state.job(0)->allocation.entries[0].time_shared);
  EXPECT_FALSE(state.job(1)->allocation.entries[0].time_shared);
}

TEST(Engine, GivesTheBatchThatTheShapeSays) {
  Snapshot s = test::two_racks();
  add_job(s, "a", 1).shapes[0].local_batch = 32;
  s.jobs[0].shapes[0].learning_rate_pico = 5;
  const ClusterState state(s);
  Engine engine;
  Plan plan = engine.decide(state, ask("fifo"));

  plan.decisions[0].local_batch = 64;
  plan.decisions[0].learning_rate_pico = 6;

  EXPECT_EQ(validate_plan(state, plan), (std::vector<std::string>{"job a: is given a local batch of 64; shape s says 32",
                                                                  "job a: is given a learning rate of 6 x 1e-12; shape s says 5"}));
}

// `quick` takes 4 of the GPUs that `hog` releases: 4 are left, not 8.
TEST(Engine, CountsWhatIsFreeAfterThosePreemptedHaveLeft) {
  Snapshot s = one_node_full();
  add_job(s, "wide", 6).estimate.run_us = 2'000 * kSecond;
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("srsf"));

  const Reason& reason = of(state, plan, "wide").reason;
  EXPECT_EQ(reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(reason.best, 4);
  EXPECT_EQ(reason.missing, 2);
  EXPECT_EQ(plan.objective, (std::vector<std::pair<std::string, std::int64_t>>{{"gpus_used", 4}, {"gpus_free", 4}}));
}

TEST(Engine, StopsWhenAnotherThreadCancelsAndItsWorkLimitRepeatsThePlan) {
  const ClusterState state(one_node_full());
  Engine engine;
  std::thread([&] { engine.cancel(); }).join();

  const Plan stopped = engine.decide(state, ask("srsf"));
  const Plan whole = engine.decide(state, ask("srsf"));

  EXPECT_EQ(stopped.stopped_by, "cancel");
  EXPECT_EQ(stopped.iterations, 0);
  EXPECT_EQ(stopped.proof, Proof::kBudgetExhausted);
  EXPECT_EQ(of(state, stopped, "quick").reason.code, ReasonCode::kBudget);
  EXPECT_EQ(whole.stopped_by, "done");
  Request again = ask("srsf");
  again.max_iterations = whole.iterations;
  EXPECT_TRUE(same_plan(whole, engine.decide(state, again)));
}

TEST(Engine, PolicyStateComesOutAndGoesInAgain) {
  Snapshot s = test::two_racks();
  run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  add_job(s, "b", 2).estimate.run_us = 10 * kSecond;
  ClusterState state(s);
  Engine engine;
  PolicyState kept;
  Plan plan;

  engine.decide(state, kept, ask("qssf"), plan);
  EXPECT_EQ(kept.policy, "qssf");
  EXPECT_EQ(kept.columns.at("qssf_key").count("b"), 1U);
  state.apply(delta::RemoveJob{"b", ""});
  engine.decide(state, kept, ask("qssf"), plan);

  EXPECT_TRUE(kept.columns["qssf_key"].empty());
  EXPECT_THROW(engine.decide(state, kept, ask("fifo"), plan), InvalidArgument);
}

TEST(Engine, RefusesUnknownPoliciesParametersAndThreads) {
  const ClusterState state(one_node_full());
  Engine engine;
  Request no_thread = ask("fifo");
  no_thread.threads = 0;

  EXPECT_THROW(engine.decide(state, ask("fastest")), InvalidArgument);
  EXPECT_THROW(engine.decide(state, ask("fifo", {{"colour", "red"}})), InvalidArgument);
  EXPECT_THROW(engine.decide(state, ask("fifo", {{"packing", "tight"}})), InvalidArgument);
  EXPECT_THROW(engine.decide(state, no_thread), InvalidArgument);
  EXPECT_EQ(engine.decide(state, ask("fifo")).decisions.size(), 2U) << "still of use";
}

// The held GPUs are changed without the state's knowledge, so that the validator rejects the plan.
TEST(Engine, ADecisionThatFailsLeavesThePolicyStateAsItWas) {
  ClusterState state(one_node_full());
  Engine engine;
  PolicyState before;
  before.policy = "las";
  before.columns["las_reset_gpu_us"]["left long ago"] = 7;
  PolicyState memory = before;
  Plan plan;
  state.impl().jobs.at(static_cast<std::size_t>(state.find_job("hog"))).entries.front().gpus = 1;

  EXPECT_THROW(engine.decide(state, memory, ask("las", {{"promote_knob", "8"}}), plan), InternalError);

  EXPECT_EQ(memory, before);
  engine.decide(ClusterState(one_node_full()), memory, ask("las", {{"promote_knob", "8"}}), plan);
  EXPECT_NE(memory, before) << "one that does not fail forgets who left";
}

TEST(Engine, ServesTwoStatesAlternately) {
  const ClusterState full(one_node_full());
  Snapshot s = test::two_racks();
  add_job(s, "x", 8);
  const ClusterState empty(s);
  Engine both;

  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_TRUE(same_plan(both.decide(full, ask("gittins")), Engine().decide(full, ask("gittins"))));
    EXPECT_TRUE(same_plan(both.decide(empty, ask("gittins")), Engine().decide(empty, ask("gittins"))));
  }
}

// Two states with the same number of changes: what is cached for one must not be used for the other.
TEST(Engine, TakesAnotherStateForAnother) {
  Snapshot s = test::two_racks();
  add_job(s, "a", 32);
  const ClusterState large(s);
  s.nodes.resize(1);
  const ClusterState small(s);
  Engine engine;

  EXPECT_EQ(of(large, engine.decide(large, ask("fifo")), "a").action, Action::kStart);
  EXPECT_EQ(of(small, engine.decide(small, ask("fifo")), "a").action, Action::kReject);
  EXPECT_EQ(of(large, engine.decide(large, ask("fifo")), "a").action, Action::kStart);
}

TEST(Engine, TakesAStateLoadedAgainForAnother) {
  Snapshot s = test::two_racks();
  add_job(s, "a", 32);
  ClusterState state(s);
  s.nodes.resize(1);
  Engine engine;
  engine.decide(state, ask("fifo"));

  state.apply(delta::Load{s});

  EXPECT_EQ(of(state, engine.decide(state, ask("fifo")), "a").action, Action::kReject);
}

TEST(Engine, AnswersWithAnotherPackingOnTheSameRevision) {
  Snapshot s = test::two_racks();
  for (std::int32_t gpus = 9; gpus <= 32; ++gpus) add_job(s, "j" + std::to_string(gpus), gpus);
  const ClusterState state(s);
  Engine engine;
  const Plan before = engine.decide(state, ask("fifo"));

  engine.decide(state, ask("fifo", {{"packing", "consolidate"}}));

  EXPECT_TRUE(same_plan(engine.decide(state, ask("fifo")), before));
}

TEST(Engine, RejectsNoJobForThePacking) {
  Snapshot s = test::two_racks();
  for (Node& node : s.nodes) node.cpu_milli = 96'000;
  add_job(s, "a", 8).constraints.cpu_milli_per_gpu = 13'500;
  const ClusterState state(s);
  Engine engine;

  // Seven of its members fill the cores of a node, so it does not fit on one node; spread over two it does.
  const Plan whole = engine.decide(state, ask("fifo", {{"packing", "consolidate"}}));

  EXPECT_EQ(of(state, whole, "a").action, Action::kWait);
  EXPECT_FALSE(of(state, whole, "a").reason.certified);
  EXPECT_EQ(of(state, engine.decide(state, ask("fifo")), "a").action, Action::kStart);
}

// 16 GPUs: `first` and `second` hold 5 each, `wide` requests the 6 that are left, which lie apart.
Snapshot counted_but_apart() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  run_on(add_job(s, "first", 5), "n0", {0, 1, 2, 3, 4}).estimate.run_us = 10 * kSecond;
  run_on(add_job(s, "last", 1), "n0", {7}).estimate.run_us = 50 * kSecond;
  run_on(add_job(s, "second", 5), "n1", {0, 1, 2, 3, 4}).estimate.run_us = 20 * kSecond;
  add_job(s, "small", 2).estimate.run_us = 40 * kSecond;
  add_job(s, "wide", 6).estimate.run_us = 30 * kSecond;
  return s;
}

TEST(Engine, AdmissionByCountsLeavesIdleWhatAnAdmittedJobCannotUse) {
  const ClusterState state(counted_but_apart());
  Engine engine;
  const Plan placed = engine.decide(state, ask("srtf", {{"packing", "consolidate"}}));
  EXPECT_EQ(of(state, placed, "wide").action, Action::kWait);
  EXPECT_EQ(of(state, placed, "small").action, Action::kStart);
  EXPECT_EQ(of(state, placed, "last").action, Action::kKeep);

  const Plan counted = engine.decide(state, ask("srtf", {{"packing", "consolidate"}, {"admission", "count"}}));

  EXPECT_EQ(of(state, counted, "first").action, Action::kKeep);
  EXPECT_EQ(of(state, counted, "second").action, Action::kKeep);
  EXPECT_EQ(of(state, counted, "wide").action, Action::kWait);
  EXPECT_EQ(of(state, counted, "small").action, Action::kWait);
  EXPECT_EQ(of(state, counted, "small").reason.code, ReasonCode::kBehind);
  EXPECT_EQ(of(state, counted, "small").reason.other_job, state.find_job("wide"));
  EXPECT_EQ(of(state, counted, "last").action, Action::kPreempt);
  EXPECT_EQ(of(state, counted, "last").reason.other_job, state.find_job("wide"));
  EXPECT_EQ(counted.totals.gpus_used, 10);
  EXPECT_EQ(counted.stopped_by, "done");
  EXPECT_EQ(counted.iterations, 5);
}

TEST(Engine, AdmissionByCountsIsTheSameWhereEveryAdmittedJobHasAPlace) {
  const ClusterState state(counted_but_apart());
  Engine engine;

  const Plan counted = engine.decide(state, ask("srtf", {{"admission", "count"}}));

  EXPECT_EQ(of(state, counted, "wide").action, Action::kStart);
  EXPECT_EQ(of(state, counted, "last").action, Action::kPreempt);
  EXPECT_EQ(of(state, counted, "last").reason.other_job, state.find_job("wide"));
  EXPECT_EQ(of(state, counted, "small").reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(counted.totals.gpus_used, 16);
}

TEST(Engine, AdmissionByCountsKeepsWhatCannotBeDisplaced) {
  Snapshot s = counted_but_apart();
  s.jobs[1].preemption.guaranteed_until_us = 1'000 * kSecond;
  const ClusterState state(s);

  const Plan counted = Engine().decide(state, ask("srtf", {{"packing", "consolidate"}, {"admission", "count"}}));

  // One GPU less is to be had: `wide` is not admitted, `small` is, and starts beside `last`.
  EXPECT_EQ(of(state, counted, "last").action, Action::kKeep);
  EXPECT_EQ(of(state, counted, "small").action, Action::kStart);
}

TEST(Engine, ReplacesFromASpareNodeAndKeepsTheSurvivors) {
  Snapshot s = test::two_racks();
  s.nodes[2].state = NodeState::kSpare;
  Job& gang = add_job(s, "gang", 16);
  run_on(run_on(gang, "n0", {0, 1, 2, 3, 4, 5, 6, 7}), "n1", {0, 1, 2, 3, 4, 5, 6, 7});
  gang.allocation.entries[1].member = 8;
  gang.costs.restart_us = 30 * kSecond;
  ClusterState state(s);
  state.apply(delta::SetNodeState{"n1", NodeState::kFailed, 0});
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  const Decision& d = of(state, plan, "gang");
  ASSERT_EQ(d.action, Action::kReplace);
  EXPECT_EQ(d.cost_us, 30 * kSecond);
  std::uint64_t on_n0 = 0, on_n2 = 0;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
    if (entry.node == 0) on_n0 |= entry.gpus;
    if (entry.node == 2) on_n2 |= entry.gpus;
  }
  EXPECT_EQ(on_n0, 0xFFU);
  EXPECT_EQ(on_n2, 0xFFU);
}

// The gang's member moves to GPUs 0 and 1, and job b, which comes before it, starts on the GPU that it gives back, too.
TEST(Engine, CommitsAPlanInWhichAnEarlierJobTakesWhatARepairedGangGivesBack) {
  Snapshot s = test::two_racks();
  s.nodes.resize(1);
  Job& gang = add_job(s, "gang", 2);
  gang.shapes[0].groups = {test::group_of("w", 1, 2)};
  run_on(gang, "n0", {6, 7});
  gang.submit_us = 2 * kSecond;
  run_on(add_job(s, "c", 6), "n0", {0, 1, 2, 3, 4, 5});
  add_job(s, "b", 5).submit_us = 1 * kSecond;
  ClusterState state(s);
  state.apply(delta::RemoveJob{"c", "completed"});
  state.apply(delta::SetGpuState{"n0", 6, GpuState::kFailed, kNever});
  Engine engine;

  const Plan plan = engine.decide(state, ask("fifo"));

  ASSERT_EQ(of(state, plan, "gang").action, Action::kReplace);
  const Decision& b = of(state, plan, "b");
  ASSERT_EQ(b.action, Action::kStart);
  ASSERT_NE(plan.entries[static_cast<std::size_t>(b.entry_begin)].gpus & 0x80U, 0U);
  EXPECT_NO_THROW(commit(state, plan));
  EXPECT_EQ(state.job(state.find_job("gang"))->allocation.entries[0].gpus, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(state.job(state.find_job("gang"))->progress.restarts, 1);
  EXPECT_EQ(state.job(state.find_job("b"))->state, JobState::kRunning);
}

TEST(Engine, AReservationOnRequiredNodesWaitsForThemAndNotForNodesThatLeave) {
  Snapshot s = test::two_racks();
  Job& hog = run_on(add_job(s, "hog", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  hog.estimate.run_us = 1'000 * kSecond;
  Job& pinned = add_job(s, "pinned", 2);
  pinned.estimate.run_us = 10 * kSecond;
  pinned.constraints.required_nodes = {"n0"};
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, ask("priority"));

  const Decision& d = of(state, plan, "pinned");
  ASSERT_EQ(d.action, Action::kReserve);
  EXPECT_EQ(d.reason.code, ReasonCode::kNodeConstraint);
  const std::string text = render_reason(state, d.reason, d.job);
  EXPECT_NE(text.find("0 free after this plan on nodes that it may use"), std::string::npos) << text;
}

}  // namespace
}  // namespace berth::engine_test
