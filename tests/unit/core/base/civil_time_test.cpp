#include "host/core/base/civil_time.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"

namespace berth::core::civil_time_test {

TEST(CivilTime, SecondsAreExactAndNeverRounded) {
  EXPECT_EQ(parse_seconds("66.0"), 66 * kSecond);
  EXPECT_EQ(parse_seconds("0.1"), 100'000);
  EXPECT_EQ(parse_seconds("-2.000001"), -2'000'001);
  EXPECT_EQ(parse_seconds("9007199254.740993"), 9'007'199'254'740'993);  // 2^53 + 1: a double cannot hold it
  EXPECT_EQ(parse_seconds("1.5000000"), 1'500'000);
  for (const char* bad :
       {"", "-", ".5", "1.", "1.0000001", "1e3", "+1", "nan", "inf", " 1", "1 ", "0x10", "9223372036854775808", "1.2.3"}) {
    EXPECT_FALSE(parse_seconds(bad).has_value()) << bad;
  }
}

TEST(CivilTime, SecondsReadBack) {
  for (const TimeUs us : {TimeUs{0}, TimeUs{1}, TimeUs{-1}, 66 * kSecond, TimeUs{1'500'000}, TimeUs{-2'000'001}, kMaxTimeUs}) {
    EXPECT_EQ(parse_seconds(format_seconds(us)), us);
  }
}

TEST(CivilTime, KnownInstantsCountFrom1970) {
  EXPECT_EQ(parse_civil("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(parse_civil("1970-01-02T00:00:01.5"), 86'401'500'000);
  EXPECT_EQ(parse_civil("2000-03-01 00:00:00"), 951'868'800 * kSecond);
  EXPECT_EQ(parse_civil("1969-12-31 23:59:59"), -kSecond);
  EXPECT_EQ(parse_civil("2020-03-18T04:01:39"), 1'584'504'099 * kSecond);
}

TEST(CivilTime, EveryDayOfFourCenturiesReadsBackInOrder) {
  TimeUs day = *parse_civil("1899-12-31 12:00:00");
  for (int i = 0; i < 146'097; ++i, day += 86'400 * kSecond) {
    ASSERT_EQ(parse_civil(format_civil(day)), day) << format_civil(day);
  }
  EXPECT_EQ(format_civil(day), "2299-12-31T12:00:00");
}

TEST(CivilTime, ADateAfterAnOriginStaysInItsZone) {
  EXPECT_EQ(civil_after("2020-12-31T23:59:55", 10 * kSecond), "2021-01-01T00:00:05");
  EXPECT_EQ(civil_after("2020-12-31 23:59:55Z", 10 * kSecond), "2021-01-01T00:00:05Z");
  EXPECT_EQ(civil_after("2020-02-28T23:00:00+05:30", 7'200 * kSecond), "2020-02-29T01:00:00+05:30");
  EXPECT_EQ(civil_after("9999-12-31T23:59:59", kSecond), "");  // no form for the year 10000
  EXPECT_EQ(civil_after("2020-12-31T23:59:55", kNever - 1), "");
  EXPECT_EQ(civil_after("0000-01-01T00:00:00", -kSecond), "");
  for (const char* other :
       {"", "Z", "yesterday", "2020-12-31", "2020-12-31T23:59:55 UTC", "2020-12-31T23:59:55+0530", "2020-12-31T23:59:55+0x:30"}) {
    EXPECT_EQ(civil_after(other, kSecond), "") << other;
  }
}

TEST(CivilTime, WrongFormsAreNothing) {
  for (const char* bad : {"", "2017-10-09", "2017-10-09 07:01", "2017-02-29 00:00:00", "2017-13-01 00:00:00", "2017-00-10 00:00:00",
                          "2017-10-09 24:00:00", "2017-10-09 07:60:00", "2017-10-09 07:01:55Z", "2017-10-09 07:01:55+08:00",
                          "2017-10-09 07:01:55.", "2017-10-09_07:01:55", "None", "1900-02-29 00:00:00"}) {
    EXPECT_FALSE(parse_civil(bad).has_value()) << bad;
  }
}

TEST(CivilTime, ADayThatItsMonthHasNotIsDistinguishedFromAWrongForm) {
  for (const char* missing : {"2026-02-30 12:00:00", "2017-02-29T00:00:00.5", "2026-04-31 00:00:00", "2026-01-00 00:00:00"}) {
    EXPECT_TRUE(is_missing_day(missing)) << missing;
  }
  for (const char* other : {"", "2026-02-28 12:00:00", "2026-02-30", "2026-13-01 00:00:00", "2026-02-30 25:00:00", "2026-02-xx 12:00:00"}) {
    EXPECT_FALSE(is_missing_day(other)) << other;
  }
}

TEST(CivilTime, InstantsCountFromTheOrigin) {
  const std::string origin = "2020-03-18T04:01:39";

  EXPECT_EQ(parse_instant("2020-03-18 04:01:40", origin), kSecond);
  EXPECT_EQ(parse_instant("2020-03-18T04:01:38", origin), -kSecond);
  EXPECT_EQ(parse_instant("+0.25", ""), 250'000);
  EXPECT_THROW(parse_instant("2020-03-18 04:01:40", ""), InvalidArgument);
  EXPECT_THROW(parse_instant("+-1", origin), InvalidArgument);
  EXPECT_THROW(parse_instant("1000", origin), InvalidArgument);
  EXPECT_THROW(parse_instant("2020-03-18T04:01:40Z", origin), InvalidArgument);
}

}  // namespace berth::core::civil_time_test
