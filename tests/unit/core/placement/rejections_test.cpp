// An engine that decides again and again judges only jobs that may have changed. It rejects what a new engine rejects.

#include "host/core/placement/rejections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::rejections_test {
namespace {

/// A job of 8 GPUs that runs for 50 s and must end at `deadline_s`; kNever: at any time.
Job job_until(const std::string& id, TimeUs deadline_us, std::int32_t gpus = 8) {
  Snapshot s;
  Job job = test::add_job(s, id, gpus);
  job.estimate.run_us = 50 * kSecond;
  job.deadline = {deadline_us, deadline_us != kNever};
  return job;
}

class Rejected : public ::testing::Test {
 protected:
  Rejected() : state_(test::two_racks()) { request_.policy = "fifo"; }

  /// Ids of rejected jobs, by the engine that remembers. A new one gives the same plan.
  std::vector<std::string> ids() {
    PolicyState kept, fresh;
    Plan plan, expected;
    engine_.decide(state_, kept, request_, plan);
    Engine().decide(state_, fresh, request_, expected);
    EXPECT_TRUE(same_plan(plan, expected));
    std::vector<std::string> ids;
    for (const Decision& d : plan.decisions) {
      if (d.action == Action::kReject) ids.push_back(state_.job(d.job)->id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  void at(TimeUs us) { state_.apply(delta::SetTime{us}); }

  using Ids = std::vector<std::string>;
  ClusterState state_;
  Engine engine_;
  Request request_;
};

TEST_F(Rejected, FromTheFirstInstantAtWhichTheDeadlineCannotBeMet) {
  state_.apply(std::vector<Delta>{delta::PutJob{job_until("a", 200 * kSecond)}, delta::PutJob{job_until("b", 170 * kSecond)},
                                  delta::PutJob{job_until("c", kNever)}});
  EXPECT_EQ(ids(), Ids{});
  at(120 * kSecond);
  EXPECT_EQ(ids(), Ids{});
  at(120 * kSecond + 1);
  EXPECT_EQ(ids(), Ids{"b"});
  at(150 * kSecond);
  EXPECT_EQ(ids(), Ids{"b"});
  at(150 * kSecond + 1);
  EXPECT_EQ(ids(), (Ids{"a", "b"}));
}

TEST_F(Rejected, NotOnceTheDeadlineIsLater) {
  state_.apply(std::vector<Delta>{delta::PutJob{job_until("a", 160 * kSecond)}});
  EXPECT_EQ(ids(), Ids{});
  at(130 * kSecond);
  EXPECT_EQ(ids(), Ids{"a"});
  state_.apply(delta::PutJob{job_until("a", 190 * kSecond)});
  EXPECT_EQ(ids(), Ids{});
  at(141 * kSecond);
  EXPECT_EQ(ids(), Ids{"a"});
  state_.apply(delta::RemoveJob{"a", ""});
  EXPECT_EQ(ids(), Ids{});
  state_.apply(delta::PutJob{job_until("z", kNever)});
  EXPECT_EQ(ids(), Ids{}) << "it has the index of the other";
}

TEST_F(Rejected, OnlyWhileItWaits) {
  state_.apply(std::vector<Delta>{delta::PutJob{job_until("a", 155 * kSecond)}, delta::PutJob{job_until("b", 155 * kSecond)}});
  at(110 * kSecond);
  EXPECT_EQ(ids(), (Ids{"a", "b"}));
  state_.apply(delta::StartJob{"a", {"s", {{"", 0, "n0", {0, 1, 2, 3, 4, 5, 6, 7}, kWholeGpu, false}}}});
  EXPECT_EQ(ids(), Ids{"b"});
  at(114 * kSecond);
  EXPECT_EQ(ids(), Ids{"b"});
  state_.apply(delta::StopJob{"a"});
  EXPECT_EQ(ids(), (Ids{"a", "b"})) << "a needs 46 s more and has 41 s";
}

TEST_F(Rejected, WhatTheClusterCannotHoldUntilItCan) {
  state_.apply(std::vector<Delta>{delta::PutJob{job_until("a", kNever, 40)}, delta::PutJob{job_until("b", kNever, 32)}});
  EXPECT_EQ(ids(), Ids{"a"});
  state_.apply(delta::PutJob{job_until("c", kNever, 41)});
  EXPECT_EQ(ids(), (Ids{"a", "c"}));
  state_.apply(delta::PutNode{test::node_of("n4", "p/r1")});
  EXPECT_EQ(ids(), Ids{"c"});
  state_.apply(delta::RemoveNode{"n4"});
  EXPECT_EQ(ids(), (Ids{"a", "c"}));
  state_.apply(delta::PutJob{job_until("c", kNever, 1)});
  EXPECT_EQ(ids(), Ids{"a"});
}

// More than the change log lists one by one.
TEST_F(Rejected, AmongManyThatComeAtOnce) {
  state_.apply(delta::PutJob{job_until("a", kNever, 1)});
  EXPECT_EQ(ids(), Ids{});
  std::vector<Delta> many;
  for (int i = 10; i < 40; ++i) many.push_back(delta::PutJob{job_until("m" + std::to_string(i), i % 2 == 0 ? 110 * kSecond : kNever)});
  many.push_back(delta::PutJob{job_until("z", kNever, 40)});

  state_.apply(many);

  EXPECT_EQ(ids().size(), 16U);
}

std::vector<std::string> rejected_by(core::Rejections& rejections, const ClusterState& state) {
  core::CertificateMemory certificates;
  rejections.reject(StateView(state), impl_of(StateView(state)).problem(), certificates);
  std::vector<std::string> ids;
  for (const std::int32_t job : rejections.rejected_jobs()) ids.push_back(state.job(job)->id);
  return ids;
}

// The logs of both are of one epoch. In the first, more was read than the second has.
TEST(Rejections, OfAnotherStateAreFoundAnew) {
  ClusterState many(test::two_racks()), few(test::two_racks());
  for (int i = 0; i < 50; ++i) many.apply(delta::PutJob{job_until("a", kNever, 40)});
  few.apply(delta::PutJob{job_until("b", kNever, 40)});
  ASSERT_EQ(impl_of(StateView(many)).cluster_version(), impl_of(StateView(few)).cluster_version());
  core::Rejections rejections;
  EXPECT_EQ(rejected_by(rejections, many), std::vector<std::string>{"a"});
  EXPECT_EQ(rejected_by(rejections, few), std::vector<std::string>{"b"});
}

// What exists in all is known by the version of the cluster, which is that of the other.
TEST(Rejections, OfASmallerClusterAreItsOwn) {
  Snapshot large = test::two_racks(), small = large;
  small.nodes.resize(2);
  ClusterState one(large), other(small);
  for (ClusterState* state : {&one, &other}) state->apply(delta::PutJob{job_until("a", kNever, 24)});
  ASSERT_EQ(impl_of(StateView(one)).structure_version(), impl_of(StateView(other)).structure_version());
  core::Rejections rejections;
  EXPECT_EQ(rejected_by(rejections, one), std::vector<std::string>{});
  EXPECT_EQ(rejected_by(rejections, other), std::vector<std::string>{"a"});
  EXPECT_EQ(rejected_by(rejections, one), std::vector<std::string>{});
}

}  // namespace
}  // namespace berth::rejections_test
