#include "berth/kernel/base/wide.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace berth::kernel::wide_test {
namespace {

// Operands whose product just fits 64 bits, or just does not.
std::vector<std::int64_t> edges() {
  std::vector<std::int64_t> all;
  for (const std::int64_t v : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{1'000'000},
                               std::int64_t{3'037'000'499}, std::int64_t{3'037'000'500}, std::int64_t{1} << 31, std::int64_t{1} << 32,
                               (std::int64_t{1} << 32) + 1, std::int64_t{1} << 62, INT64_MAX - 1, INT64_MAX}) {
    all.push_back(v);
    all.push_back(-v);
  }
  all.push_back(INT64_MIN);
  return all;
}

// All in 128 bits.
Wide floor_div_plain(Wide a, Wide b) {
  const Wide quotient = a / b, rest = a - quotient * b;
  return rest < 0 ? quotient - 1 : quotient;
}

TEST(Wide, DividesTowardsMinusInfinityOnBothSidesOf64Bits) {
  int wide = 0;
  for (const std::int64_t a : edges()) {
    for (const std::int64_t b : edges()) {
      for (const std::int64_t c : edges()) {
        if (c <= 0) continue;
        SCOPED_TRACE(testing::Message() << a << " * " << b << " / " << c);
        const Wide product = Wide{a} * b;
        const Wide want = floor_div_plain(product, c);
        EXPECT_TRUE(floor_div(product, c) == want);
        EXPECT_TRUE(floor_div_near(product, c) == want);
        EXPECT_EQ(mul_div(a, b, c), saturate(want));
        EXPECT_TRUE(floor_div(Wide{a}, Wide{c} << 3) == floor_div_plain(a, Wide{c} << 3));
        wide += is_narrow(product) ? 0 : 1;
      }
    }
  }
  EXPECT_GT(wide, 1000);
}

TEST(Wide, IsNarrowWhere64BitsHoldTheNumber) {
  EXPECT_TRUE(is_narrow(INT64_MAX));
  EXPECT_TRUE(is_narrow(INT64_MIN));
  EXPECT_FALSE(is_narrow(Wide{INT64_MAX} + 1));
  EXPECT_FALSE(is_narrow(Wide{INT64_MIN} - 1));
  EXPECT_FALSE(is_narrow(Wide{1} << 64));
}

}  // namespace
}  // namespace berth::kernel::wide_test
