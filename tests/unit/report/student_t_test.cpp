#include "host/report/student_t.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace berth::report::student_t_test {

TEST(StudentT, QuantilesAsPublished) {
  EXPECT_NEAR(student_975(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_975(9), 2.26216, 1e-5);
  EXPECT_NEAR(student_975(30), 2.04227, 1e-5);
  EXPECT_NEAR(student_975(40), 2.02108, 1e-5);
  EXPECT_NEAR(student_975(60), 2.00030, 1e-5);
  EXPECT_NEAR(student_975(120), 1.97993, 1e-5);
  EXPECT_NEAR(student_975(1'000'000), 1.95997, 1e-5);
  EXPECT_TRUE(std::isinf(student_975(0)));
  for (std::int64_t v = 2; v < 2000; ++v) EXPECT_LT(student_975(v), student_975(v - 1)) << v;
}

}  // namespace berth::report::student_t_test
