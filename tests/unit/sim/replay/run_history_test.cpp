#include "host/sim/replay/run_history.hpp"

#include <gtest/gtest.h>

namespace berth::sim::run_history_test {

TEST(RunHistory, SameUserSpeaksBeforeSameSizeBeforeAll) {
  RunHistory history;
  history.add("u", 1, 10);
  history.add("u", 8, 21);
  history.add("", 4, 100);
  history.finish();

  EXPECT_EQ(history.estimate("u", 4, 0).run_us, 15);
  EXPECT_EQ(history.estimate("w", 4, 0).run_us, 100);
  EXPECT_EQ(history.estimate("w", 2, 0).run_us, 43);
  EXPECT_EQ(history.estimate("", 2, 0).run_us, 43);  // jobs without a user are not grouped as one user
}

TEST(RunHistory, OnlyJobsThatRanLongerAreCompared) {
  RunHistory history;
  for (const TimeUs run : {40, 10, 30, 20}) history.add("u", 1, run);
  history.finish();

  EXPECT_EQ(history.estimate("u", 1, 10).run_us, 30);
  EXPECT_EQ(history.estimate("u", 1, 10).p50_us, 30);
  EXPECT_EQ(history.estimate("u", 1, 10).p90_us, 40);
  EXPECT_EQ(history.estimate("u", 1, 39).run_us, 40);
  EXPECT_EQ(history.estimate("u", 1, 40), Estimate{});
}

TEST(RunHistory, SumsBeyond64BitsAreExact) {
  RunHistory history;
  for (int i = 0; i < 200; ++i) history.add("u", 1, kMaxTimeUs);
  history.finish();

  EXPECT_EQ(history.estimate("u", 1, 0).run_us, kMaxTimeUs);
}

TEST(RunHistory, NothingFinishedIsNotKnown) {
  RunHistory history;
  history.finish();

  EXPECT_EQ(history.estimate("u", 1, 0), Estimate{});
}

}  // namespace berth::sim::run_history_test
