#include "host/io/kueue/quantity.hpp"

#include <gtest/gtest.h>

namespace berth::io::kueue::quantity_test {
namespace {

TEST(Quantity, ReadsTheNotationOfKubernetes) {
  EXPECT_EQ(parse_quantity("8"), 8000);
  EXPECT_EQ(parse_quantity("+8"), 8000);
  EXPECT_EQ(parse_quantity("0"), 0);
  EXPECT_EQ(parse_quantity("1500m"), 1500);
  EXPECT_EQ(parse_quantity("0.5"), 500);
  EXPECT_EQ(parse_quantity(".5"), 500);
  EXPECT_EQ(parse_quantity("5."), 5000);
  EXPECT_EQ(parse_quantity("1.5k"), 1'500'000);
  EXPECT_EQ(parse_quantity("2M"), 2'000'000'000);
  EXPECT_EQ(parse_quantity("1Ki"), 1'024'000);
  EXPECT_EQ(parse_quantity("1.5Ki"), 1'536'000);
  EXPECT_EQ(parse_quantity("12e2"), 1'200'000);
  EXPECT_EQ(parse_quantity("12E2"), 1'200'000);
  EXPECT_EQ(parse_quantity("999999n"), 0);
  EXPECT_EQ(parse_quantity("1500000u"), 1500);
}

TEST(Quantity, RefusesAnythingElse) {
  for (const char* text :
       {"", "-1", "m", "k", ".", "+", "8x", "1e2k", "8 ", " 8", "0x8", "1e", "Ki", "nan", "inf", "8mm", "1,5", "+-8", "++8"})
    EXPECT_FALSE(parse_quantity(text).has_value()) << text;
  EXPECT_FALSE(parse_quantity("9E").has_value());
  EXPECT_FALSE(parse_quantity("99999999Ei").has_value());
}

}  // namespace
}  // namespace berth::io::kueue::quantity_test
