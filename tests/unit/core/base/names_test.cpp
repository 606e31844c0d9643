#include "host/core/base/names.hpp"

#include <gtest/gtest.h>

namespace berth::core::names_test {

TEST(Names, EveryReasonCodeReadsBack) {
  for (int i = 0; i <= static_cast<int>(ReasonCode::kBudget); ++i) {
    const auto code = static_cast<ReasonCode>(i);

    EXPECT_EQ(from_name<ReasonCode>(name(code)), code);
  }
}

TEST(Names, UnknownNameIsNothing) { EXPECT_FALSE(from_name<Action>("starts").has_value()); }

}  // namespace berth::core::names_test
