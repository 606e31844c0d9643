// Shares, reservations and repaired gangs.
#include <gtest/gtest.h>

#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::validate_share_test {
namespace {

Job& add_share(Snapshot& s, const std::string& id, std::int32_t ppm, std::int64_t memory) {
  Job& job = add_job(s, id, 1);
  job.shapes[0].share_ppm = ppm;
  job.sharing = true;
  job.constraints.gpu_memory_bytes = memory;
  return job;
}

std::vector<PlanEntry> share(std::int32_t node, std::uint64_t gpu, std::int32_t ppm) { return {{node, 0, 0, 1, gpu, ppm, true}}; }

}  // namespace

TEST(ValidateShares, AddUpToAWholeGpuAtMost) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  run_on(add_share(s, "a", 600'000, 0), "n0", {0});
  add_share(s, "b", 400'000, 0);
  add_share(s, "c", 400'001, 0);
  PlanMaker fits(s), over(s);

  fits.give(1, Action::kStart, share(0, 1, 400'000));
  over.give(2, Action::kStart, share(0, 1, 400'001));

  EXPECT_EQ(fits.check(), "");
  EXPECT_EQ(over.check(), "GPU 0 of node n0: shares of 1.000001 in 2 pieces add up to more than a GPU\n");
}

TEST(ValidateShares, ShareTheMemoryToo) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  run_on(add_share(s, "a", 100'000, std::int64_t{50} << 30), "n0", {0});
  add_share(s, "b", 100'000, std::int64_t{31} << 30);
  PlanMaker m(s);

  m.give(1, Action::kStart, share(0, 1, 100'000));

  EXPECT_EQ(m.check(), "GPU 0 of node n0: shares take 86973087744 bytes of its 85899345920 bytes of memory\n");
}

TEST(ValidateShares, NeedConsentOfBothSides) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  add_share(s, "a", 500'000, 0);
  add_share(s, "b", 500'000, 0).sharing = false;
  PlanMaker node(s), job(s);

  node.give(0, Action::kStart, share(1, 1, 500'000));
  job.give(1, Action::kStart, share(0, 1, 500'000));

  EXPECT_EQ(node.check(), "job a: takes a share of a GPU of node n1; the node does not allow sharing\n");
  EXPECT_EQ(job.check(), "job b: takes a share of a GPU of node n0; the job does not allow sharing\n");
}

TEST(ValidateShares, RunInTimeSlicesUnlessTheyArePartitions) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  add_share(s, "a", 500'000, 0);
  add_share(s, "b", 500'000, 0).shapes[0].mig_profile = "3g.40gb";
  add_job(s, "c", 1);
  PlanMaker in_time(s), as_partition(s), whole(s);
  const std::vector<PlanEntry> in_turns = share(0, 1, 500'000);
  std::vector<PlanEntry> alone = in_turns;
  alone[0].time_shared = false;

  in_time.give(0, Action::kStart, alone);
  as_partition.give(1, Action::kStart, in_turns);
  whole.give(2, Action::kStart, flat({{0, 1}}));
  whole.plan.entries.back().time_shared = true;

  EXPECT_EQ(in_time.check(), "job a: takes GPUs of node n0 for itself; shape s asks for a share in time\n");
  EXPECT_EQ(as_partition.check(), "job b: takes GPUs of node n0 in time slices with others; shape s asks for a MIG partition\n");
  EXPECT_EQ(whole.check(), "job c: takes GPUs of node n0 in time slices with others; shape s asks for whole GPUs\n");
}

TEST(ValidateShares, StayAsTheyWereHeld) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  run_on(add_share(s, "a", 500'000, 0), "n0", {0}).allocation.entries[0].time_shared = true;
  PlanMaker same(s), other(s);
  other.plan.entries[0].time_shared = false;

  EXPECT_EQ(same.check(), "");
  EXPECT_EQ(other.check(), "job a: is kept with other GPUs than it holds\n");
}

TEST(ValidateShares, AreNeverOnAWholeGpuOfAnother) {
  Snapshot s = two_racks();
  s.nodes[0].sharing = true;
  run_on(add_share(s, "a", 100'000, 0), "n0", {0});
  add_job(s, "b", 1);
  add_share(s, "c", 500'000, 0);
  PlanMaker whole(s), wrong_share(s);

  whole.give(1, Action::kStart, flat({{0, 1}}));
  wrong_share.give(2, Action::kStart, share(0, 2, 400'000));

  EXPECT_EQ(whole.check(), "job b: takes GPU 0 of node n0, which job a has in this plan\n");
  EXPECT_EQ(wrong_share.check(), "job c: takes 0.4 of each GPU on node n0; group gang asks for 0.5\n");
}

TEST(ValidateReservation, FitsAfterTheFinishingJobsLeave) {
  Snapshot s = two_racks();
  run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  add_job(s, "b", 8);
  add_job(s, "c", 1);
  PlanMaker good(s), early(s), delayed(s), twice(s), after(s);
  const TimeUs end = s.now_us + 500;
  for (PlanMaker* m : {&good, &early, &delayed, &twice, &after}) m->plan.decisions[0].finish_us = end;

  good.give(1, Action::kReserve, flat({{0, 0xff}})).start_us = end;
  early.give(1, Action::kReserve, flat({{0, 0xff}})).start_us = end - 1;
  delayed.give(1, Action::kReserve, flat({{1, 0xff}})).start_us = end;
  delayed.give(2, Action::kStart, flat({{1, 0x80}}), end + 1);
  twice.give(1, Action::kReserve, flat({{0, 0xff}})).start_us = end;
  twice.plan.decisions[1].finish_us = end + 9;
  twice.give(2, Action::kReserve, flat({{0, 4}})).start_us = end + 8;
  after.give(1, Action::kReserve, flat({{0, 0xff}})).start_us = end;
  after.plan.decisions[1].finish_us = end + 8;
  after.give(2, Action::kReserve, flat({{0, 4}})).start_us = end + 8;

  EXPECT_EQ(good.check(), "");
  EXPECT_EQ(early.check(), "job b: is reserved for GPU 0 of node n0 at 100.000499 s; job a still has it then\n");
  EXPECT_EQ(delayed.check(), "job b: is reserved for GPU 7 of node n1 at 100.0005 s; job c still has it then\n");
  EXPECT_EQ(twice.check(), "job c: is reserved for GPU 2 of node n0 at 100.000508 s; job b has it then\n");
  EXPECT_EQ(after.check(), "");
}

// The limit of root is 12, and leaf keeps 2 of it. Job c has 4 GPUs and b is reserved for 8.
TEST(ValidateReservation, QueuesHaveRoomForReservedJobs) {
  Snapshot s = two_racks();
  Queue root, other, leaf;
  root.id = "root";
  root.quotas = {{"*", 0, 12, kUnlimited}};
  other.id = "other";
  leaf.id = "leaf";
  other.parent = leaf.parent = "root";
  s.queues = {other, leaf, root};
  run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  add_job(s, "b", 8).queue = "other";
  add_job(s, "c", 4).queue = "other";
  add_job(s, "d", 2).queue = "root";
  const TimeUs end = s.now_us + 500;
  const auto check = [&](TimeUs end_of_c, std::int32_t gpus_of_d) {
    PlanMaker m(s);
    m.plan.decisions[0].finish_us = end;
    m.give(1, Action::kReserve, flat({{0, 0xff}})).start_us = end;
    m.give(2, Action::kStart, flat({{1, 0xf}}), end_of_c);
    if (gpus_of_d > 0) m.give(3, Action::kStart, flat({{2, 3}}));
    return m.check();
  };
  const std::string over = "job b: is reserved for 100.0005 s; jobs of queue root would hold 14 GPUs then, and it may have 12\n";

  EXPECT_EQ(check(kNever, 0), "");
  EXPECT_EQ(check(kNever, 2), over);
  EXPECT_EQ(check(end + 1, 2), over);
  EXPECT_EQ(check(end, 2), "");

  s.queues[1].quotas = {{"*", 2, kUnlimited, kUnlimited, 0}};
  EXPECT_EQ(check(end, 2), "");
  EXPECT_EQ(
      check(end + 1, 0),
      "job b: is reserved for 100.0005 s; jobs of queue root would hold, and queues below it keep, 14 GPUs then, and it may have 12\n");
}

// Two reservations of one queue: the second begins when the first has ended, or before.
TEST(ValidateReservation, ReservedJobsGiveTheirQuotaBack) {
  Snapshot s = two_racks();
  Queue queue;
  queue.id = "q";
  queue.quotas = {{"a100", 0, 8, kUnlimited}};
  s.queues = {queue};
  run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  add_job(s, "b", 8).queue = "q";
  add_job(s, "c", 1).queue = "q";
  const TimeUs end = s.now_us + 500;
  const auto check = [&](TimeUs start_of_c) {
    PlanMaker m(s);
    m.plan.decisions[0].finish_us = end;
    m.give(1, Action::kReserve, flat({{0, 0xff}}), end + 9).start_us = end;
    m.give(2, Action::kReserve, flat({{1, 1}})).start_us = start_of_c;
    return m.check();
  };

  EXPECT_EQ(check(end + 9), "");
  EXPECT_EQ(check(end + 8), "job c: is reserved for 100.000508 s; jobs of queue q would hold 9 a100 GPUs then, and it may have 8\n");
}

TEST(ValidateReservation, CountsCoresOfJobsThatStay) {
  Snapshot s = two_racks();
  s.nodes[0].cpu_milli = 1000;
  run_on(add_job(s, "a", 1), "n0", {0}).constraints.cpu_milli_per_gpu = 600;
  add_job(s, "b", 1).constraints.cpu_milli_per_gpu = 500;
  PlanMaker stays(s), leaves(s);

  stays.give(1, Action::kReserve, flat({{0, 2}})).start_us = s.now_us + 5;
  leaves.plan.decisions[0].finish_us = s.now_us + 5;
  leaves.give(1, Action::kReserve, flat({{0, 2}})).start_us = s.now_us + 5;

  EXPECT_EQ(stays.check(), "node n0: its jobs need 1.1 cores; it has 1 core\n");
  EXPECT_EQ(leaves.check(), "");
}

namespace {

// Two members of 2 GPUs on n0 and n1; n1 failed; n3 is a spare node.
Snapshot wounded() {
  Snapshot s = two_racks();
  Job& job = add_job(s, "a", 0);
  job.shapes[0].groups = {group_of("w", 2, 2)};
  run_on(job, "n0", {0, 1});
  run_on(job, "n1", {0, 1});
  s.nodes[1].state = NodeState::kFailed;
  s.nodes[3].state = NodeState::kSpare;
  return s;
}

}  // namespace

TEST(ValidateReplace, SurvivorsStayAndLostMembersMoveToSpares) {
  const Snapshot s = wounded();
  PlanMaker m(s);

  m.give(0, Action::kReplace, flat({{0, 0x3}, {3, 0x3}}, 2));

  EXPECT_EQ(m.check(), "");
}

TEST(ValidateReplace, SurvivorMustNotMove) {
  const Snapshot s = wounded();
  PlanMaker m(s);

  m.give(0, Action::kReplace, flat({{2, 0x3}, {3, 0x3}}, 2));

  EXPECT_EQ(m.check(), "job a: has the action replace and gives up GPU 0 of node n0, where member 0 still runs\n");
}

TEST(ValidateReplace, OnlyForJobsThatLostSomething) {
  Snapshot s = wounded();
  s.nodes[1].state = NodeState::kReady;
  PlanMaker m(s);

  m.give(0, Action::kReplace, flat({{0, 0x3}, {1, 0x3}}, 2));

  EXPECT_EQ(m.check(), "job a: has the action replace and has lost no GPU\n");
}

TEST(ValidateReplace, FailedNodeIsNoPlaceToReplaceOn) {
  const Snapshot s = wounded();
  PlanMaker m(s);

  m.give(0, Action::kReplace, flat({{0, 0x3}, {1, 0x3}}, 2));

  EXPECT_EQ(m.check(), "job a: is placed on node n1, which is in state failed\n");
}

}  // namespace berth::test::validate_share_test
