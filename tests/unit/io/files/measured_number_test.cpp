#include "host/io/files/measured_number.hpp"

#include <gtest/gtest.h>

#include "berth/units.hpp"

namespace berth::io::measured_number_test {

TEST(MeasuredNumber, DigitsBeyondThePlacesAreCutOff) {
  EXPECT_EQ(parse_measured("4.907044539018749", 6), 4'907'044);
  EXPECT_EQ(parse_measured("0.0012090879917144776", 9), 1'209'087);
  EXPECT_EQ(parse_measured("1.9999999", 0), 1);
  EXPECT_EQ(parse_measured("1e-05", 6), 10);
  EXPECT_EQ(parse_measured("12.5E+2", 0), 1'250);
  EXPECT_EQ(parse_measured("1e-400", 6), 0);
  EXPECT_EQ(parse_measured("0", 6), 0);
  EXPECT_EQ(parse_measured("00012", 2), 1'200);
  EXPECT_EQ(parse_measured("1234567890123456789.5", 0), 1'234'567'890'123'456'780);  // 18 significant digits
}

TEST(MeasuredNumber, OtherTextsAndNumbersBeyondTheCeilingAreNone) {
  for (const char* bad :
       {"", "nan", "inf", "-1", "-0.5", "+1", ".5", "5.", "1e", "1e+", "1,5", "1 ", "0x1", "1e19", "9223372036854775807", "1e999"})
    EXPECT_EQ(parse_measured(bad, 0), std::nullopt) << bad;
  EXPECT_EQ(parse_measured("4611686018428", 6), std::nullopt);
}

}  // namespace berth::io::measured_number_test
