#include "host/core/model/work_leg.hpp"

#include <gtest/gtest.h>

namespace berth::core::work_leg_test {

// 100 units, the first half at 3 a second, the second at 7: 16 2/3 s and 7 1/7 s.
TEST(WorkLeg, ABoundaryBetweenTwoMicrosecondsIsNotRounded) {
  const WorkLeg slow{0, 100'000'000, 3'000'000, 0};
  const WorkLeg fast = next_leg(slow, 50'000'000, 7'000'000);

  EXPECT_EQ(reaches(slow, 50'000'000), 16'666'667);
  EXPECT_EQ(fast, (WorkLeg{16'666'667, 50'000'000, 7'000'000, 2'333'333}));  // a third of a microsecond at 7 a second
  EXPECT_EQ(left_after(fast, 16'666'667), 49'999'998);
  EXPECT_EQ(reaches(fast, 0), 23'809'524);  // 23 17/21 s; rounding at the boundary would add a microsecond
  EXPECT_EQ(left_after(fast, 23'809'524), 0);
  EXPECT_GT(left_after(fast, 23'809'523), 0);
}

TEST(WorkLeg, LegsOfOneRateAreOneLeg) {
  const WorkLeg whole{0, 100'000'007, 3'333'331, 0};
  WorkLeg leg = whole;
  for (const std::int64_t left : {99'999'999, 70'000'001, 69'999'999, 33, 32, 1}) leg = next_leg(leg, left, whole.rate);

  EXPECT_EQ(reaches(leg, 0), reaches(whole, 0));
  for (TimeUs later = 0; later < 5; ++later) EXPECT_EQ(left_after(leg, leg.worked + later), left_after(whole, leg.worked + later));
}

TEST(WorkLeg, ManyBegunInOneMicrosecondTakeNoTime) {
  const WorkLeg first{0, 1'000, 100'000'000'000, 0};  // 100,000 millionths a microsecond
  const WorkLeg second = next_leg(first, 990, 50'000'000'000), third = next_leg(second, 980, 1'000'000);

  EXPECT_EQ(second.worked, 1);
  EXPECT_EQ(third.worked, 1);
  // 10 at 100,000 and 10 at 50,000 a microsecond: 0.9997 of it is left, in which 0.9997 are done.
  EXPECT_EQ(third.ahead, 999'700);
  EXPECT_EQ(reaches(third, 0), 1 + 980);
}

TEST(WorkLeg, TheLargestWorkAndRateAreCounted) {
  const WorkLeg leg{0, kScoreCeiling, 1, 0};
  EXPECT_EQ(reaches(leg, 0), INT64_MAX);
  const WorkLeg fast{0, kScoreCeiling, kScoreCeiling, 0};
  EXPECT_EQ(reaches(fast, 0), kSecond);
  EXPECT_EQ(next_leg(fast, kScoreCeiling / 2, kScoreCeiling).worked, kSecond / 2);
}

}  // namespace berth::core::work_leg_test
