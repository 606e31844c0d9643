#include "tests/replicas/ada_srsf.hpp"

#include <gtest/gtest.h>

namespace berth::test::ada_srsf_test {

TEST(AdaSrsfReplica, WhatAdaDualGainsIsWhatItCountsTwice) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    const auto mean = [&](AdaAdmission admission, bool twice) { return replay_ada_srsf({seed, 20, 1, admission, twice}); };
    const double one = mean(AdaAdmission::kOne, false);
    EXPECT_LT(mean(AdaAdmission::kAdaDual, true), 0.85 * one);   // published: 20.1 % less
    EXPECT_GT(mean(AdaAdmission::kAdaDual, false), 0.98 * one);  // counted once it gains nothing
    EXPECT_GT(mean(AdaAdmission::kTwo, false), one);
  }
}

}  // namespace berth::test::ada_srsf_test
