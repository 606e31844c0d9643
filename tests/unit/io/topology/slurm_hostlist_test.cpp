#include "host/io/topology/slurm_hostlist.hpp"

#include <gtest/gtest.h>

namespace berth::io::slurm_hostlist_test {
namespace {

using Names = std::vector<std::string>;

Names expanded(const std::string& text) {
  Names out;
  std::int64_t left = kMostHostNames;
  EXPECT_EQ(expand_hostlist(text, left, out), "") << text;
  EXPECT_EQ(left, kMostHostNames - static_cast<std::int64_t>(out.size()));
  return out;
}

std::string problem_of(const std::string& text, std::int64_t left = kMostHostNames) {
  Names out;
  const std::string problem = expand_hostlist(text, left, out);
  EXPECT_TRUE(out.size() <= 2) << text;
  return problem;
}

}  // namespace

TEST(SlurmHostlist, RangesAndPlainNamesAreExpanded) {
  EXPECT_EQ(expanded(""), Names());
  EXPECT_EQ(expanded("n1"), Names({"n1"}));
  EXPECT_EQ(expanded("n[1-3,7],gpu,m[5]"), Names({"n1", "n2", "n3", "n7", "gpu", "m5"}));
}

TEST(SlurmHostlist, NumbersKeepTheWidthOfTheLowerBound) {
  EXPECT_EQ(expanded("n[07-11]"), Names({"n07", "n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expanded("n[9-10,001]"), Names({"n9", "n10", "n001"}));
}

TEST(SlurmHostlist, OfSeveralBracketsTheLastRunsFastestAndTextMayFollow) {
  EXPECT_EQ(expanded("r[1-2]c[0-1]-ib"), Names({"r1c0-ib", "r1c1-ib", "r2c0-ib", "r2c1-ib"}));
}

TEST(SlurmHostlist, WhatIsNoExpressionIsRefused) {
  EXPECT_EQ(problem_of("n[1-3"), "'[' without ']'");
  EXPECT_EQ(problem_of("n1]"), "']' without '['");
  EXPECT_EQ(problem_of("n1,,n2"), "a name is empty");
  EXPECT_EQ(problem_of("n1,"), "a name is empty");
  EXPECT_EQ(problem_of("n[]"), "'[]' is no list of numbers and ranges LOW-HIGH");
  EXPECT_EQ(problem_of("n[3-1]"), "'[3-1]' is no list of numbers and ranges LOW-HIGH");
  EXPECT_EQ(problem_of("n[a-b]"), "'[a-b]' is no list of numbers and ranges LOW-HIGH");
  EXPECT_EQ(problem_of("n[1-99999999999999999999]"), "'[1-99999999999999999999]' is no list of numbers and ranges LOW-HIGH");
}

TEST(SlurmHostlist, AShortTextForVeryManyNamesIsRefusedBeforeAnyIsMade) {
  const std::string too_many = "one expression stands for more than 65536 names";
  EXPECT_EQ(problem_of("n[1-4000000000]"), too_many);
  EXPECT_EQ(problem_of("n[0-65536]"), too_many);
  EXPECT_EQ(problem_of("n[1-300]m[1-300]"), too_many);
  EXPECT_EQ(problem_of("a[1-65536]b[1-65536]c[1-65536]d[1-65536]"), too_many);  // 2^64 of them
  EXPECT_EQ(problem_of("n[1-999999999999999999]m[1-999999999999999999]k[1-999999999999999999]"), too_many);
  EXPECT_EQ(expanded("n[1-65536]").size(), 65'536u);
  EXPECT_EQ(problem_of("a,b,n[1-10]", 11), "more than 20000000 names in all lists together");
}

}  // namespace berth::io::slurm_hostlist_test
