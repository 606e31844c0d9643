// Which dead classes are tried again when there is more: by groups, turns and bounds of members.

#include "host/core/kept/dead_classes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/kernel/place/group.hpp"
#include "berth/kernel/place/workspace.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::core::dead_classes_test {
namespace {

using Indices = std::vector<std::int32_t>;
constexpr std::uint64_t kFull = 0xFF;

OrderPlace at(std::int64_t key) { return {key, 0, static_cast<std::int32_t>(key)}; }

/// n0, n1 in one rack, n2, n3 in the other, of 8 GPUs each. No GPU is free at first. A class is a job of its own.
class DeadClassesTest : public ::testing::Test {
 protected:
  DeadClassesTest() : state_(with_queues()) {}

  static Snapshot with_queues() {
    Snapshot s = test::two_racks();
    for (const char* id : {"other", "root", "own"}) s.queues.emplace_back().id = id;
    s.queues[2].parent = "root";
    return s;
  }
  /// A job of some members; it waits in queue `own`.
  static Job gang(std::int32_t members, std::int32_t gpus) {
    Snapshot s;
    Job job = test::add_job(s, "j", members * gpus);
    job.queue = "own";
    job.shapes[0].gpu_type = "a100";
    job.shapes[0].groups = {test::group_of("g", members, gpus)};
    return job;
  }
  static Group& group(Job& job) { return job.shapes[0].groups[0]; }

  /// @returns its class
  std::int32_t add(Job job, TimeUs end = kNever) {
    const auto of = static_cast<std::int32_t>(n_jobs_);
    ends_.push_back(end);
    job.id = "j" + std::to_string(n_jobs_++);
    state_.apply(delta::PutJob{job});
    return of;
  }
  /// After `add` of all.
  void begin() {
    p_ = &impl_of(StateView(state_)).problem();
    const std::int32_t gpus = kernel::detail::most_gpus_per_node(*p_);
    const auto carve = [&](std::byte* block) {
      kernel::BumpAllocator allocator{block};
      s_ = kernel::detail::carve_state(allocator, *p_, gpus, p_->gpu_begin[p_->n_nodes]);
      return allocator.used;
    };
    constexpr std::size_t kAlign = 16;
    memory_.assign(carve(nullptr) + kAlign, std::byte{});
    void* aligned = memory_.data();
    std::size_t room = memory_.size();
    std::align(kAlign, room - kAlign, aligned, room);
    carve(static_cast<std::byte*>(aligned));
    for (std::int32_t n = 0; n < p_->n_nodes; ++n) s_.cpu[n] = s_.memory[n] = kernel::kNoLimit;
    kernel::SerialGroup group;
    kernel::build_index(group, *p_, s_);
    demands_.begin(*p_);
    for (std::int32_t of = 0; of < static_cast<std::int32_t>(n_jobs_); ++of) {
      const std::int32_t job = state_.find_job("j" + std::to_string(of));
      Indices kind{p_->job_queue[job], 0};
      for (std::int32_t o = p_->option_begin[job]; o < p_->option_end[job]; ++o)
        kind.push_back(demands_.row(p_->options[o].demand, ends_[static_cast<std::size_t>(of)]));
      kind[1] = of;  // no two are one class
      classes_.add(kind, {of, of, job});
    }
    dead_.begin_pass(classes_.size());
  }
  std::int64_t missing(std::int32_t of) const {
    const std::int32_t row = classes_.demands(static_cast<std::size_t>(of)).front();
    return members_missing(*p_, s_, p_->demands[demands_.demand(row)], demands_.end(row));
  }

  void set_free(std::int32_t node, std::uint64_t gpus) {
    kernel::set_free(*p_, s_, node, gpus);
    dead_.free_changed();
  }
  void die(std::int32_t of, std::int64_t key, std::int64_t missing, bool by_quota = false) {
    dead_.set(*p_, demands_, classes_, of, at(key), missing, by_quota);
  }
  /// Another pass, in which a node has more GPUs.
  void grow(std::int32_t node, std::int64_t gpus) {
    dead_.begin_pass(classes_.size());
    grow_more(node, gpus, nullptr);
  }
  void grow_more(std::int32_t node, std::int64_t gpus, const OrderPlace* behind) {
    DeadClasses::Growth& growth = dead_.grow();
    growth.add_node({node, gpus, 0, 0});
    growth.end_node();
    dead_.begin_turns(*p_, s_, behind);
  }
  /// Classes that wake, in order, until a place.
  Indices woken(const OrderPlace* until = nullptr) {
    Indices all;
    while (const auto one = dead_.wake_next(*p_, s_, until)) all.push_back(one->of);
    return all;
  }
  Indices woken_until(std::int64_t key) {
    const OrderPlace until = at(key);
    return woken(&until);
  }
  Indices woken_by_quota(const char* queue, const OrderPlace* behind = nullptr) {
    std::vector<std::uint8_t> more(static_cast<std::size_t>(p_->n_queues), 0);
    more[static_cast<std::size_t>(impl_of(StateView(state_)).queue_index.at(queue))] = 1;
    std::vector<DeadClasses::Woken> found;
    dead_.wake_by_quota(*p_, classes_, more, behind, found);
    Indices all;
    for (const DeadClasses::Woken& one : found) all.push_back(one.of);
    return all;
  }

  ClusterState state_;
  std::size_t n_jobs_ = 0;
  std::vector<TimeUs> ends_;  // [jobs]
  const kernel::ProblemView* p_ = nullptr;
  kernel::PassState s_{};
  std::vector<std::byte> memory_;
  TimedDemands demands_;
  WaitingClasses classes_;
  DeadClasses dead_;
};

TEST_F(DeadClassesTest, AClassIsDeadFromItsPlaceOn) {
  const std::int32_t a = add(gang(1, 8)), b = add(gang(1, 4));
  begin();
  die(a, 10, 1);
  EXPECT_FALSE(dead_.is_dead(0, at(9)));
  EXPECT_TRUE(dead_.is_dead(0, at(10)));
  EXPECT_TRUE(dead_.is_dead(0, at(11)));
  EXPECT_FALSE(dead_.is_dead(static_cast<std::size_t>(b), at(99)));
  dead_.forget(a);
  EXPECT_FALSE(dead_.is_dead(0, at(11)));
}

// 3 members of 4 GPUs. 2 of them lack room.
TEST_F(DeadClassesTest, AClassWakesOnceAsManyMembersMayFindRoomAsLackedIt) {
  const std::int32_t a = add(gang(3, 4));
  begin();
  die(a, 10, 2);
  set_free(0, 0x0F);
  grow(0, 3);  // parts of a member count as one
  EXPECT_EQ(woken(), Indices{});
  EXPECT_TRUE(dead_.is_dead(0, at(10)));
  set_free(1, 0x07);
  grow(1, 3);
  EXPECT_EQ(woken(), Indices{}) << "3 GPUs are no member";
  set_free(1, 0x0F);
  grow(1, 1);
  EXPECT_EQ(woken(), Indices{a});
  EXPECT_FALSE(dead_.is_dead(0, at(10)));
}

TEST_F(DeadClassesTest, NoMoreMembersFindRoomThanANodeHasMoreGpusFor) {
  const std::int32_t a = add(gang(4, 2));
  begin();
  die(a, 10, 2);
  set_free(0, kFull);
  grow(0, 2);  // the others were free before
  EXPECT_EQ(woken(), Indices{});
  grow(0, 2);
  EXPECT_EQ(woken(), Indices{a});
}

TEST_F(DeadClassesTest, NodesThatADemandDoesNotAllowGiveItNothing) {
  Job elsewhere = gang(1, 4);
  elsewhere.constraints.excluded_nodes = {"n0"};
  const std::int32_t a = add(elsewhere), b = add(gang(1, 4));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  set_free(0, kFull);
  set_free(1, kFull);
  grow(0, 8);
  EXPECT_EQ(woken(), Indices{b});
  grow(1, 8);
  EXPECT_EQ(woken(), Indices{a});
}

// n0 ends at 200 s.
TEST_F(DeadClassesTest, NodesThatEndBeforeAJobGiveItNothing) {
  Node node = test::node_of("n0", "p/r0");
  node.available_until_us = 200 * kSecond;
  state_.apply(delta::PutNode{node});
  const std::int32_t late = add(gang(2, 4), 200 * kSecond + 1), in_time = add(gang(2, 4), 200 * kSecond), unknown = add(gang(2, 4));
  begin();
  set_free(0, kFull);
  set_free(1, 0x0F);
  EXPECT_EQ(missing(in_time), -1);
  EXPECT_EQ(missing(late), 1);
  EXPECT_EQ(missing(unknown), 1);
  die(late, 10, 1);
  die(in_time, 20, 1);
  die(unknown, 30, 1);
  grow(0, 8);
  EXPECT_EQ(woken(), Indices{in_time});
  grow(1, 4);
  EXPECT_EQ(woken(), (Indices{late, unknown}));
}

// Of two groups: by the type of their members.
TEST_F(DeadClassesTest, ClassesTakeTurnsInTheOrderOfTheirPlaces) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 3)), c = add(gang(1, 2)), d = add(gang(1, 3));
  begin();
  die(d, 40, 1);
  die(b, 20, 1);
  die(c, 30, 1);
  die(a, 10, 1);
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(woken_until(10), Indices{});
  EXPECT_EQ(woken_until(30), (Indices{a, b}));
  EXPECT_EQ(woken_until(31), Indices{c});
  EXPECT_EQ(woken(), Indices{d});
  EXPECT_EQ(woken(), Indices{});
}

TEST_F(DeadClassesTest, WhatIsTakenBeforeAPlaceWakesNoClassThere) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 2));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  set_free(0, 0x03);
  grow(0, 2);
  EXPECT_EQ(woken_until(20), Indices{a});
  set_free(0, 0);
  EXPECT_EQ(woken(), Indices{});
  EXPECT_TRUE(dead_.is_dead(static_cast<std::size_t>(b), at(20)));
  set_free(0, 0x03);
  grow(0, 2);
  EXPECT_EQ(woken(), Indices{b}) << "what was taken did not count";
}

// What a displaced job leaves was not in reach of the place where it stood, but of none before it.
TEST_F(DeadClassesTest, AGrowthWithinAPassIsForClassesFromAPlaceOn) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 2)), c = add(gang(1, 2));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  die(c, 30, 1);
  dead_.begin_pass(classes_.size());
  set_free(0, kFull);
  const OrderPlace from = at(20);
  grow_more(0, 8, &from);
  EXPECT_EQ(woken_until(21), Indices{b});
  EXPECT_EQ(woken(), Indices{c});
  EXPECT_TRUE(dead_.is_dead(static_cast<std::size_t>(a), at(10)));
}

// A job at 15 holds 4 GPUs and may be displaced.
TEST_F(DeadClassesTest, VictimsCountForThePlacesBeforeThem) {
  const std::int32_t a = add(gang(1, 6)), b = add(gang(1, 6));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  set_free(0, 0x03);
  dead_.begin_pass(classes_.size());
  DeadClasses::Growth& growth = dead_.grow();
  growth.add_node({0, 4, 0, 0});
  growth.add_victim(at(15), 4, 0, 0);
  growth.end_node();
  dead_.begin_turns(*p_, s_, nullptr);
  EXPECT_EQ(woken(), Indices{a});
}

// Victims at 12 and 18 hold 2 GPUs each. For the place 10 both are behind.
TEST_F(DeadClassesTest, VictimsOfANodeAddUp) {
  const std::int32_t a = add(gang(1, 4)), b = add(gang(1, 4));
  begin();
  die(a, 10, 1);
  die(b, 15, 1);
  dead_.begin_pass(classes_.size());
  DeadClasses::Growth& growth = dead_.grow();
  growth.add_node({0, 4, 0, 0});
  growth.add_victim(at(12), 2, 0, 0);
  growth.add_victim(at(18), 2, 0, 0);
  growth.end_node();
  dead_.begin_turns(*p_, s_, nullptr);
  EXPECT_EQ(woken(), Indices{a});
}

TEST_F(DeadClassesTest, CoresAndMemoryBoundMembersToo) {
  Job job = gang(2, 1);
  job.constraints.cpu_milli_per_gpu = 1'000;
  job.constraints.memory_bytes_per_gpu = 10;
  const std::int32_t a = add(job);
  begin();
  set_free(0, kFull);
  s_.cpu[0] = 999;
  s_.memory[0] = 100;
  const auto more = [&](std::int64_t gpus, std::int64_t cpu, std::int64_t memory) {
    dead_.begin_pass(classes_.size());
    DeadClasses::Growth& growth = dead_.grow();
    growth.add_node({0, gpus, cpu, memory});
    growth.end_node();
    dead_.begin_turns(*p_, s_, nullptr);
    return woken();
  };
  die(a, 10, 1);
  EXPECT_EQ(more(8, 999, 100), Indices{}) << "no member has its cores";
  s_.cpu[0] = 1'000;
  EXPECT_EQ(more(0, 1, 0), Indices{a});
  die(a, 10, 1);
  s_.memory[0] = 9;
  EXPECT_EQ(more(8, 1'000, 9), Indices{});
  s_.memory[0] = 10;
  EXPECT_EQ(more(0, 0, 1), Indices{a});
}

// One member more may complete a segment of 2.
TEST_F(DeadClassesTest, SegmentsAreCompletedByAPartOfTheirMembers) {
  Job job = gang(4, 1);
  group(job).segment = Segment{2, {TopologyKind::kSwitch, "rack"}};
  const std::int32_t a = add(job);
  begin();
  die(a, 10, 2);
  set_free(0, 0x01);
  grow(0, 1);
  EXPECT_EQ(woken(), Indices{a});
}

TEST_F(DeadClassesTest, ANodeThatIsRequiredHasRoomForAllMembers) {
  Job job = gang(4, 2);
  group(job).require = LevelRef{TopologyKind::kSwitch, "node"};
  const std::int32_t a = add(job);
  begin();
  set_free(0, 0x3F);
  EXPECT_EQ(missing(a), 4);
  die(a, 10, missing(a));
  grow(0, 6);
  EXPECT_EQ(woken(), Indices{}) << "3 members";
  set_free(0, kFull);
  grow(0, 2);
  EXPECT_EQ(woken(), Indices{a});
}

TEST_F(DeadClassesTest, MembersThatLackRoomAreCounted) {
  Job in_rack = gang(6, 2), in_segments = gang(6, 2), spread = gang(6, 2);
  group(in_rack).require = LevelRef{TopologyKind::kSwitch, "rack"};
  group(in_segments).segment = Segment{3, {TopologyKind::kSwitch, "node"}};
  group(spread).spread = Spread{{TopologyKind::kSwitch, "rack"}, 3};
  const std::int32_t flat = add(gang(6, 2)), rack = add(in_rack), segments = add(in_segments), wide = add(spread);
  begin();
  EXPECT_EQ(missing(flat), 6);
  set_free(0, 0x0F);
  set_free(1, 0x0F);
  set_free(2, 0x0F);
  EXPECT_EQ(missing(flat), 0) << "2 members on each of 3 nodes";
  EXPECT_EQ(missing(rack), 2) << "4 members in the rack of n0 and n1";
  EXPECT_EQ(missing(segments), 6) << "no node has 3 members";
  EXPECT_EQ(missing(wide), 1) << "3 members in one rack, 2 in the other";
  set_free(0, 0x3F);
  EXPECT_EQ(missing(segments), 3);
  set_free(1, 0x3F);
  set_free(2, 0);
  EXPECT_EQ(missing(flat), 0);
  EXPECT_EQ(missing(rack), 0);
  EXPECT_EQ(missing(wide), 3) << "3 members in one rack";
  set_free(1, 0x03);
  for (const std::int32_t of : {flat, rack, segments, wide}) EXPECT_EQ(missing(of), 2) << "8 GPUs are 4 members, wherever they are";
}

// By parents of the queue, too. Those from a place on where that is said.
TEST_F(DeadClassesTest, ClassesThatLackedQuotaWakeByTheirQueues) {
  const std::int32_t a = add(gang(1, 1)), b = add(gang(1, 2)), c = add(gang(1, 3));
  begin();
  die(a, 10, DeadClasses::kOnlyQuota, true);
  die(b, 20, 1, true);
  die(c, 30, 1);
  dead_.begin_pass(classes_.size());
  EXPECT_EQ(woken_by_quota("other"), Indices{});
  const OrderPlace from = at(20);
  EXPECT_EQ(woken_by_quota("root", &from), Indices{b});
  EXPECT_EQ(woken_by_quota("own"), Indices{a});
  EXPECT_EQ(woken_by_quota("own"), Indices{});
  EXPECT_TRUE(dead_.is_dead(static_cast<std::size_t>(c), at(30)));
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(woken(), Indices{c}) << "the others are dead no longer";
}

TEST_F(DeadClassesTest, AClassThatOnlyLackedQuotaHasNoTurn) {
  const std::int32_t a = add(gang(1, 2));
  begin();
  die(a, 10, 1);
  die(a, 10, DeadClasses::kOnlyQuota, true);
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(dead_.listed(), 0U);
  EXPECT_EQ(woken(), Indices{});
  EXPECT_TRUE(dead_.is_dead(0, at(10)));
}

TEST_F(DeadClassesTest, GroupsListNoClassesThatLeft) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 2)), c = add(gang(1, 3));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  die(c, 30, 1, true);
  dead_.begin_pass(classes_.size());
  EXPECT_EQ(dead_.listed(), 3U);
  dead_.forget(a);
  dead_.begin_pass(classes_.size());
  EXPECT_EQ(dead_.listed(), 2U);
  EXPECT_EQ(woken_by_quota("own"), Indices{c});
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(dead_.listed(), 1U);
  EXPECT_EQ(woken(), Indices{b});
  dead_.begin_pass(classes_.size());
  EXPECT_EQ(dead_.listed(), 0U);
}

// It died at 10, left, and died at 30.
TEST_F(DeadClassesTest, AClassThatComesBackIsListedAtItsNewPlace) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 2));
  begin();
  die(a, 10, 1);
  die(b, 20, 1);
  dead_.begin_pass(classes_.size());
  dead_.forget(a);
  die(a, 30, 1);
  EXPECT_FALSE(dead_.is_dead(0, at(29)));
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(dead_.listed(), 2U);
  EXPECT_EQ(woken_until(30), Indices{b});
  EXPECT_EQ(woken(), Indices{a});
  die(a, 25, 1);
  die(a, 15, 1);
  grow(0, 8);
  EXPECT_EQ(dead_.listed(), 1U);
  EXPECT_EQ(woken_until(16), Indices{a});
}

TEST_F(DeadClassesTest, ForgettingAllLeavesNone) {
  const std::int32_t a = add(gang(1, 2)), b = add(gang(1, 3));
  begin();
  die(a, 10, 1);
  die(b, 20, 1, true);
  dead_.forget();
  dead_.begin_pass(classes_.size());
  EXPECT_FALSE(dead_.is_dead(0, at(10)));
  EXPECT_EQ(dead_.listed(), 0U);
  EXPECT_EQ(woken_by_quota("own"), Indices{});
  die(a, 12, 1);
  set_free(0, kFull);
  grow(0, 8);
  EXPECT_EQ(woken(), Indices{a});
}

// Options of a class: the least that is missing, and the most that finds room.
TEST_F(DeadClassesTest, AClassOfTwoDemandsWakesByEither) {
  Job job = gang(2, 4);
  job.shapes.push_back(job.shapes[0]);
  job.shapes[1].id = "t";
  job.shapes[1].groups = {test::group_of("g", 4, 2)};
  const std::int32_t a = add(job);
  begin();
  ASSERT_EQ(classes_.demands(0).size(), 2U);
  die(a, 10, 2);
  set_free(0, 0x0F);
  grow(0, 4);
  EXPECT_EQ(woken(), Indices{a}) << "2 members of 2 GPUs";
}

}  // namespace
}  // namespace berth::core::dead_classes_test
