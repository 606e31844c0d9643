#include "host/cli/base/values.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"

namespace berth::cli::values_test {

TEST(CliValues, DurationsAreExactMicroseconds) {
  EXPECT_EQ(parse_duration("100ms"), 100'000);
  EXPECT_EQ(parse_duration("1.5s"), 1'500'000);
  EXPECT_EQ(parse_duration("0.000001s"), 1);
  EXPECT_EQ(parse_duration("250us"), 250);
  EXPECT_EQ(parse_duration("2m"), 120 * kSecond);
  EXPECT_EQ(parse_duration("1.50m"), 90 * kSecond);
  EXPECT_EQ(parse_duration("1h"), 3'600 * kSecond);
  EXPECT_EQ(parse_duration("1.5d"), 36 * 3'600 * kSecond);
}

TEST(CliValues, WhatIsNoDurationIsRefused) {
  for (const char* text :
       {"", "100", "ms", "-1s", "1e3s", "1.s", ".5s", "0.5us", "1.0000001s", "9999999999999s", "1 s", "1y", "1.5.5s", "nan"}) {
    EXPECT_THROW(parse_duration(text), InvalidArgument) << text;
  }
}

TEST(CliValues, PartsAreBetweenZeroAndOne) {
  EXPECT_EQ(parse_part("--spare", "0.25"), 250'000);
  EXPECT_EQ(parse_part("--spare", "1"), 1'000'000);
  EXPECT_EQ(parse_part("--spare", "0"), 0);
  for (const char* text : {"1.000001", "-0.1", "50%", "", "0.1234567"}) EXPECT_THROW(parse_part("--spare", text), InvalidArgument) << text;
}

TEST(CliValues, AKeyEndsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_key_value("a=b=c"), std::make_pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(parse_key_value("a="), std::make_pair(std::string("a"), std::string()));
  EXPECT_THROW(parse_key_value("a"), InvalidArgument);
  EXPECT_THROW(parse_key_value("=b"), InvalidArgument);
}

}  // namespace berth::cli::values_test
