#include "host/core/base/split.hpp"

#include <gtest/gtest.h>

namespace berth::core::split_test {

using Parts = std::vector<std::string_view>;

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a-b", '-'), (Parts{"a", "b"}));
  EXPECT_EQ(split("-a-", '-'), (Parts{"", "a", ""}));
  EXPECT_EQ(split("", '-'), Parts{""});
}

TEST(Split, AWholeNumberIsDigitsAlone) {
  EXPECT_EQ(parse_whole("0", 9), 0);
  EXPECT_EQ(parse_whole("007", 9), 7);
  EXPECT_EQ(parse_whole("9223372036854775807", INT64_MAX), INT64_MAX);
  for (const char* bad : {"", "-1", "-0", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "10", "9223372036854775808"}) {
    EXPECT_EQ(parse_whole(bad, 9), std::nullopt) << bad;
  }
}

}  // namespace berth::core::split_test
