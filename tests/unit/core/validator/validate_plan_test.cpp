// One broken plan per kind of violation; the unchanged one passes.
#include <gtest/gtest.h>

#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::validate_plan_test {

TEST(ValidatePlan, KeptAndStartedJobsOnOneNodePass) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 4), "n0", {0, 1, 2, 3});
  add_job(s, "b", 6);
  add_job(s, "c", 100);
  PlanMaker m(s);

  m.give(1, Action::kStart, flat({{0, 0xf0}, {1, 0x3}}));

  EXPECT_EQ(m.check(), "");
}

TEST(ValidatePlan, JobsMustComeInRankOrderOnceEach) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  add_job(s, "b", 1);
  PlanMaker swapped(s), missing(s);

  std::swap(swapped.plan.decisions[0], swapped.plan.decisions[1]);
  missing.plan.decisions.pop_back();

  EXPECT_EQ(swapped.check(), "decision 0 is about job index 1; by job rank it must be about job a\n");
  EXPECT_EQ(missing.check(), "the plan has 1 decision; the state has 2 jobs\n");
}

TEST(ValidatePlan, PlanOfAnotherTimeIsRefused) {
  Snapshot s = two_racks();
  PlanMaker m(s);

  m.plan.now_us = 5;

  EXPECT_EQ(m.check(), "the plan is for time 0.000005 s; the state is at 100 s\n");
}

TEST(ValidatePlan, ActionMustFitTheStateOfTheJob) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  run_on(add_job(s, "b", 1), "n1", {0});
  PlanMaker keep(s), start(s);

  keep.give(0, Action::kPreempt);
  start.give(1, Action::kStart, flat({{0, 1}}));

  EXPECT_EQ(keep.check(), "job a: is waiting and cannot be given the action preempt\n");
  EXPECT_EQ(start.check(), "job b: is running and cannot be given the action start\n");
}

TEST(ValidatePlan, WaitingNeedsAReasonAndNoGpus) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  PlanMaker mute(s), greedy(s);

  mute.plan.decisions[0].reason.code = ReasonCode::kNone;
  greedy.give(0, Action::kWait, flat({{0, 1}})).reason.code = ReasonCode::kBehind;

  EXPECT_EQ(mute.check(), "job a: has the action wait without a reason\n");
  EXPECT_EQ(greedy.check(), "job a: has the action wait and yet 1 allocation entry\n");
}

TEST(ValidatePlan, GpuIsGivenOnce) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 2), "n0", {0, 1});
  add_job(s, "b", 2);
  PlanMaker m(s);

  m.give(1, Action::kStart, flat({{0, 0x6}}));

  EXPECT_EQ(m.check(), "job b: takes GPU 1 of node n0, which job a has in this plan\n");
}

TEST(ValidatePlan, GpuAndNodeMustExist) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  PlanMaker gpu(s), node(s), shape(s), rows(s), none(s);

  gpu.give(0, Action::kStart, flat({{0, 0x100}}));
  node.give(0, Action::kStart, flat({{4, 1}}));
  shape.give(0, Action::kStart, flat({{0, 1}})).shape = 1;
  rows.give(0, Action::kStart, flat({{0, 1}})).entry_end = 2;
  none.give(0, Action::kStart).shape = 0;

  EXPECT_EQ(gpu.check(), "job a: takes GPU 8 of node n0, which has no such GPU\n");
  EXPECT_EQ(node.check(), "job a: names node 4 of 4\n");
  EXPECT_EQ(shape.check(), "job a: is placed in shape 1 of 1\n");
  EXPECT_EQ(rows.check(), "job a: names entries 0 to 2 of 1\n");
  EXPECT_EQ(none.check(), "job a: has the action start and no GPUs\n");
}

TEST(ValidatePlan, NodesMustBeOpen) {
  Snapshot s = two_racks();
  s.nodes[0].state = NodeState::kDrain;
  s.nodes[1].available_from_us = s.now_us + 1;
  s.nodes[2].state = NodeState::kSpare;
  s.nodes[3].gpu_list = {{0, GpuState::kOk, kNever, -1}, {1, GpuState::kFailed, kNever, -1}, {2, GpuState::kReleasing, s.now_us + 5, -1}};
  s.nodes[3].gpus = 3;
  add_job(s, "a", 1);
  const auto with = [&](std::int32_t node, std::uint64_t mask) {
    PlanMaker m(s);
    m.give(0, Action::kStart, flat({{node, mask}}));
    return m.check();
  };

  EXPECT_EQ(with(0, 1), "job a: is placed on node n0, which is in state drain\n");
  EXPECT_EQ(with(1, 1), "job a: is placed at 100 s on node n1, which is available from 100.000001 s\n");
  EXPECT_EQ(with(2, 1), "job a: is placed on node n2, which is in state spare\n");
  EXPECT_EQ(with(3, 2), "job a: takes GPU 1 of node n3, which is in state failed\n");
  EXPECT_EQ(with(3, 4), "job a: takes GPU 2 of node n3, which is in state releasing\n");
  EXPECT_EQ(with(3, 1), "");
}

TEST(ValidatePlan, JobMustEndBeforeItsNodeLeaves) {
  Snapshot s = two_racks();
  s.nodes[0].available_until_us = s.now_us + 50;
  add_job(s, "a", 1);
  PlanMaker late(s), unknown(s), in_time(s);

  late.give(0, Action::kStart, flat({{0, 1}}), s.now_us + 51);
  unknown.give(0, Action::kStart, flat({{0, 1}}));
  in_time.give(0, Action::kStart, flat({{0, 1}}), s.now_us + 50);

  EXPECT_EQ(late.check(), "job a: is placed on node n0, which is available until 100.00005 s; the job would end at 100.000051 s\n");
  EXPECT_EQ(unknown.check(), "job a: is placed on node n0, which is available until 100.00005 s; the job has no predicted end\n");
  EXPECT_EQ(in_time.check(), "");
}

TEST(ValidatePlan, ReservedNodesAreForTheNamedJobs) {
  Snapshot s = two_racks();
  Reservation r;
  r.id = "weekend";
  r.domains = {{TopologyKind::kSwitch, "p/r0"}};
  r.from_us = s.now_us + 10;
  r.jobs = {"b"};
  s.reservations = {r};
  add_job(s, "a", 1);
  add_job(s, "b", 1);
  PlanMaker before(s), into(s);

  before.give(0, Action::kStart, flat({{0, 1}}), s.now_us + 10);
  into.give(0, Action::kStart, flat({{0, 1}}), s.now_us + 11);
  into.give(1, Action::kStart, flat({{1, 1}}));

  EXPECT_EQ(before.check(), "");
  EXPECT_EQ(into.check(), "job a: is placed on node n0, which reservation weekend keeps for others\n");
}

TEST(ValidatePlan, KeptJobKeepsExactlyItsGpus) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 2), "n0", {0, 1});
  PlanMaker other(s), regrouped(s), shape(s);

  other.plan.entries[0].gpus = 0x5;
  regrouped.plan.entries = flat({{0, 0x1}, {0, 0x2}});
  regrouped.plan.decisions[0].entry_end = 2;
  shape.plan.decisions[0].shape = 7;

  EXPECT_EQ(other.check(), "job a: is kept with other GPUs than it holds\n");
  EXPECT_EQ(regrouped.check(), "");
  EXPECT_EQ(shape.check(), "job a: is kept in shape 7; it runs in shape 0\n");
}

TEST(ValidatePlan, KeptJobMayDrainButNotRunOnFailedGpus) {
  Snapshot drained = two_racks(), failed = two_racks();
  run_on(add_job(drained, "a", 1), "n0", {3});
  run_on(add_job(failed, "a", 1), "n0", {3});
  drained.nodes[0].state = NodeState::kDrain;
  failed.nodes[0].state = NodeState::kFailed;

  EXPECT_EQ(PlanMaker(drained).check(), "");
  EXPECT_EQ(PlanMaker(failed).check(), "job a: is kept on GPU 3 of node n0, which does not work\n");
}

TEST(ValidatePlan, CoresAndMemoryAreLimits) {
  Snapshot s = two_racks();
  s.nodes[0].cpu_milli = 8000;
  s.nodes[0].memory_bytes = 1000;
  Job& held = run_on(add_job(s, "a", 1), "n0", {0});
  held.constraints.cpu_milli_per_gpu = 4000;
  held.constraints.memory_bytes_per_gpu = 400;
  Job& asks = add_job(s, "b", 2);
  asks.constraints.cpu_milli_per_gpu = 2001;
  asks.constraints.memory_bytes_per_gpu = 301;
  PlanMaker full(s), fits(s);

  full.give(1, Action::kStart, flat({{0, 0x6}}));
  fits.give(1, Action::kStart, flat({{0, 0x2}, {1, 0x1}}));

  EXPECT_EQ(full.check(), "node n0: its jobs need 8.002 cores; it has 8 cores\nnode n0: its jobs need 1002 bytes of memory; it has 1000\n");
  EXPECT_EQ(fits.check(), "");
}

TEST(ValidatePlan, QueueLimitsHoldUpToTheRoot) {
  Snapshot s = two_racks();
  Queue root, leaf;
  root.id = "root";
  root.quotas = {{"*", 2, kUnlimited, 2}};
  leaf.id = "leaf";
  leaf.parent = "root";
  leaf.quotas = {{"a100", 0, 8, kUnlimited}};
  s.queues = {root, leaf};
  add_job(s, "a", 4).queue = "leaf";
  add_job(s, "b", 5).queue = "leaf";
  PlanMaker fits(s), over(s), both(s);

  fits.give(0, Action::kStart, flat({{0, 0xf}}));
  over.give(1, Action::kStart, flat({{0, 0x1f}}));
  both.give(0, Action::kStart, flat({{0, 0xf}}));
  both.give(1, Action::kStart, flat({{1, 0x1f}}));

  EXPECT_EQ(fits.check(), "");
  EXPECT_EQ(over.check(), "queue root: its jobs hold 5 GPUs; it may have 4\n");
  EXPECT_EQ(both.check(), "queue root: its jobs hold 9 GPUs; it may have 4\nqueue leaf: its jobs hold 9 a100 GPUs; it may have 8\n");
}

// root: 10 GPUs. lender keeps 4 of them, and inner, between root and leaf, 3. The lender may stand before its parent in the file.
TEST(ValidatePlan, WhatQueuesKeepCountsForThoseAbove) {
  Snapshot s = two_racks();
  Queue root, lender, inner, leaf;
  root.id = "root";
  root.quotas = {{"*", 0, 10, kUnlimited}};
  lender.id = "lender";
  lender.parent = "root";
  lender.quotas = {{"*", 5, kUnlimited, kUnlimited, 1}};
  inner.id = "inner";
  inner.parent = "root";
  inner.quotas = {{"*", 3, kUnlimited, kUnlimited, 0}};
  leaf.id = "leaf";
  leaf.parent = "inner";
  leaf.quotas = {{"*", 2, kUnlimited, kUnlimited, 0}};
  s.queues = {lender, leaf, inner, root};
  add_job(s, "a", 6).queue = "leaf";
  add_job(s, "b", 7).queue = "leaf";
  add_job(s, "c", 4).queue = "lender";
  add_job(s, "d", 5).queue = "lender";
  PlanMaker fits(s), over(s), both(s), lends(s);

  fits.give(0, Action::kStart, flat({{0, 0x3f}}));
  fits.give(2, Action::kStart, flat({{1, 0xf}}));
  over.give(1, Action::kStart, flat({{0, 0x7f}}));
  both.give(0, Action::kStart, flat({{0, 0x3f}}));
  both.give(3, Action::kStart, flat({{1, 0x1f}}));
  lends.give(3, Action::kStart, flat({{1, 0x1f}}));

  EXPECT_EQ(fits.check(), "");
  EXPECT_EQ(over.check(), "queue root: its jobs hold, and queues below it keep, 11 GPUs; it may have 10\n");
  EXPECT_EQ(both.check(), "queue root: its jobs hold, and queues below it keep, 11 GPUs; it may have 10\n");
  EXPECT_EQ(lends.check(), "");
}

TEST(ValidatePlan, OverdrawnQueueOfKeptJobsIsNotThePlansFault) {
  Snapshot s = two_racks();
  Queue queue;
  queue.id = "q";
  queue.quotas = {{"*", 0, 1, kUnlimited}};
  s.queues = {queue};
  run_on(add_job(s, "a", 2), "n0", {0, 1}).queue = "q";

  EXPECT_EQ(PlanMaker(s).check(), "");
}

TEST(ValidatePlan, DisplacedJobsMustBePreemptible) {
  Snapshot s = two_racks();
  Preemption firm, guaranteed, young;
  firm.preemptible = false;
  guaranteed.guaranteed_until_us = s.now_us + 1;
  young.minimum_run_us = 60 * kSecond;
  run_on(add_job(s, "a", 1), "n0", {0}).preemption = firm;
  run_on(add_job(s, "b", 1), "n0", {1}).preemption = guaranteed;
  run_on(add_job(s, "c", 1), "n0", {2}).preemption = young;
  s.jobs[2].progress.run_us = 59 * kSecond;
  run_on(add_job(s, "d", 1), "n0", {3});
  PlanMaker m(s);

  m.give(0, Action::kPreempt);
  m.give(1, Action::kMigrate, flat({{1, 1}}));
  m.give(2, Action::kPreempt);
  m.give(3, Action::kPreempt);

  EXPECT_EQ(m.check(),
            "job a: is displaced and is not preemptible\n"
            "job b: is displaced at 100 s; it is guaranteed to run until 100.000001 s\n"
            "job c: is displaced after 59 s; its minimum run time is 60 s\n");
}

TEST(ValidatePlan, JobOnFailedNodeMayAlwaysBePreempted) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 1), "n0", {0}).preemption.preemptible = false;
  s.nodes[0].state = NodeState::kFailed;
  PlanMaker m(s);

  m.give(0, Action::kPreempt).reason.code = ReasonCode::kNodeFailed;

  EXPECT_EQ(m.check(), "");
}

TEST(ValidatePlan, PriorityDisplacesSmallerClassesOnly) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 1), "n0", {0}).preemption.preemption_class = 3;
  add_job(s, "b", 1).preemption.preemption_class = 3;
  add_job(s, "c", 1).preemption.preemption_class = 4;
  PlanMaker same(s), greater(s);
  same.plan.policy = greater.plan.policy = "priority";

  same.give(0, Action::kPreempt).reason.other_job = 1;
  same.give(1, Action::kStart, flat({{0, 1}}));
  greater.give(0, Action::kPreempt).reason.other_job = 2;
  greater.give(2, Action::kStart, flat({{0, 1}}));

  EXPECT_EQ(same.check(), "job a: of preemption class 3 is displaced; job b is of class 3, which is not greater\n");
  EXPECT_EQ(greater.check(), "");
}

TEST(ValidatePlan, StartIsNowAndFinishIsLater) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  PlanMaker start(s), finish(s);

  start.give(0, Action::kStart, flat({{0, 1}})).start_us = s.now_us + 1;
  finish.give(0, Action::kStart, flat({{0, 1}}), s.now_us - 1);

  EXPECT_EQ(start.check(), "job a: starts at 100.000001 s; the plan is for 100 s\n");
  EXPECT_EQ(finish.check(), "job a: would finish at 99.999999 s, before it starts at 100 s\n");
}

TEST(ValidatePlan, TotalsMustCountTheDecisions) {
  Snapshot s = two_racks();
  add_job(s, "a", 1);
  PlanMaker m(s);
  m.plan.totals.waits = 2;
  m.plan.totals.gpus = 32;

  EXPECT_EQ(m.check_as_is(), "totals: waits is 2; the decisions have 1\n");
}

TEST(ValidatePlan, ReportsNoMoreThanAsked) {
  Snapshot s = two_racks();
  for (const char* id : {"a", "b", "c"}) add_job(s, id, 1);
  PlanMaker m(s);
  for (std::int32_t job = 0; job < 3; ++job) m.plan.decisions[static_cast<std::size_t>(job)].reason.code = ReasonCode::kNone;
  core::PlanValidator validator;

  EXPECT_EQ(validator.check(m.facts, m.plan, {.most = 2}).size(), 2u);
}

}  // namespace berth::test::validate_plan_test
