#include "host/sim/measures/stays.hpp"

#include <gtest/gtest.h>

namespace berth::sim::stays_test {

TEST(Stays, LastUntilTheJobGivesItsGpusBack) {
  Stays stays;
  stays.hold(3, 0, 0b11, 10);
  stays.hold(3, 1, 0b1, 10);
  stays.hold(4, 1, 0b10, 12, 500'000);
  stays.release(3, 20);
  stays.hold(3, 2, 0b1, 20);

  EXPECT_EQ(
      stays.finish(30),
      (std::vector<Stay>{
          {3, 0, 1'000'000, 0b11, 10, 20}, {3, 1, 1'000'000, 0b1, 10, 20}, {4, 1, 500'000, 0b10, 12, 30}, {3, 2, 1'000'000, 0b1, 20, 30}}));
  EXPECT_TRUE(stays.finish(30).empty());
}

// A job that can never start again keeps others running beyond the last completion.
TEST(Stays, ThatEndedAfterTheLastCompletionAreWhole) {
  Stays stays;
  stays.hold(1, 0, 1, 10);
  stays.release(1, 50);

  EXPECT_EQ(stays.finish(30), (std::vector<Stay>{{1, 0, 1'000'000, 1, 10, 50}}));
}

TEST(Stays, ThatTakeNoTimeAreLeftOut) {
  Stays stays;
  stays.hold(1, 0, 1, 10);
  stays.release(1, 10);
  stays.release(1, 11);
  stays.hold(1, 0, 2, 30);

  EXPECT_TRUE(stays.finish(30).empty());
}

}  // namespace berth::sim::stays_test
