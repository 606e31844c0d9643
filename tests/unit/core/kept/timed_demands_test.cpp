// Demands together with the nodes that stay until a job ends.

#include "host/core/kept/timed_demands.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "berth/units.hpp"

namespace berth::core::timed_demands_test {
namespace {

kernel::ProblemView nodes_that_end(const std::vector<TimeUs>& untils) {
  kernel::ProblemView p{};
  p.n_nodes = static_cast<std::int32_t>(untils.size());
  p.node_until = untils.data();
  p.n_demands = 7;
  for (const TimeUs until : untils) p.has_until = until != kNever ? 1 : p.has_until;
  return p;
}

TEST(TimedDemands, WithoutEndsTheRowOfADemandIsTheDemand) {
  const std::vector<TimeUs> untils{kNever, kNever};
  const kernel::ProblemView p = nodes_that_end(untils);
  TimedDemands demands;
  demands.begin(p);
  EXPECT_FALSE(demands.any());
  EXPECT_EQ(demands.row(3, 50), 3);
  EXPECT_EQ(demands.row(3, kNever), 3);
  EXPECT_EQ(demands.demand(3), 3);
  EXPECT_EQ(demands.end(3), kNever);
  EXPECT_EQ(demands.size(p), 7U);
  EXPECT_EQ(demands.loses_node_at(10, 20), kNever);
}

TEST(TimedDemands, JobsThatEndBetweenTheSameEndsOfNodesHaveOneRow) {
  const std::vector<TimeUs> untils{200, kNever, 100, 200};
  const kernel::ProblemView p = nodes_that_end(untils);
  TimedDemands demands;
  demands.begin(p);
  const std::int32_t first = demands.row(3, 100), second = demands.row(3, 101), last = demands.row(3, 201);
  EXPECT_EQ(demands.row(3, 5), first);
  EXPECT_EQ(demands.row(3, 200), second);
  EXPECT_EQ(demands.row(3, kNever), last);
  EXPECT_NE(first, second);
  EXPECT_NE(second, last);
  EXPECT_NE(demands.row(4, 100), first);
  EXPECT_EQ(demands.size(p), 4U);
  EXPECT_EQ(demands.demand(second), 3);
  EXPECT_EQ(demands.end(first), 100);
  EXPECT_EQ(demands.end(second), 200);
  EXPECT_EQ(demands.end(last), kNever);
}

TEST(TimedDemands, AJobLosesANodeTheInstantAfterItJustEndsInTime) {
  const std::vector<TimeUs> untils{100, 200};
  TimedDemands demands;
  demands.begin(nodes_that_end(untils));
  EXPECT_EQ(demands.loses_node_at(10, 20), 81);
  EXPECT_EQ(demands.loses_node_at(80, 20), 81);
  EXPECT_EQ(demands.loses_node_at(81, 20), 181);
  EXPECT_EQ(demands.loses_node_at(181, 20), kNever);
  EXPECT_EQ(demands.loses_node_at(10, kNever), kNever);
  EXPECT_NE(demands.row(1, end_of(80, 20)), demands.row(1, end_of(81, 20)));
}

TEST(TimedDemands, OtherEndsAreOfOtherNodes) {
  const std::vector<TimeUs> before{100, kNever}, after{101, kNever}, none{kNever, kNever};
  TimedDemands demands;
  demands.begin(nodes_that_end(before));
  EXPECT_TRUE(demands.are_of(nodes_that_end(before)));
  EXPECT_FALSE(demands.are_of(nodes_that_end(after)));
  EXPECT_FALSE(demands.are_of(nodes_that_end(none)));
}

}  // namespace
}  // namespace berth::core::timed_demands_test
