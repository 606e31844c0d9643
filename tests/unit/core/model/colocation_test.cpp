#include "host/core/model/colocation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace berth::core::colocation_test {
namespace {

Profile with(const std::string& model, std::vector<std::pair<std::string, std::int64_t>> table) {
  Profile profile;
  profile.model = model;
  profile.colocation = std::move(table);
  return profile;
}

// The kinds 0, 1 and 2: b and c say nothing of some others.
Colocation three() {
  Colocation colocation;
  colocation.kind_of(with("a", {{"a", 600'000}, {"b", 800'000}, {"c", 333'333}}));
  colocation.kind_of(with("b", {{"a", 900'000}}));
  colocation.kind_of(with("c", {}));
  return colocation;
}

}  // namespace

TEST(Colocation, JobsOfOneModelAndOneTableAreOneKind) {
  Colocation colocation;
  EXPECT_EQ(colocation.kind_of(with("a", {{"b", 800'000}})), 0);
  EXPECT_EQ(colocation.kind_of(with("a", {{"b", 700'000}})), 1);
  EXPECT_EQ(colocation.kind_of(with("b", {{"b", 800'000}})), 2);
  EXPECT_EQ(colocation.kind_of(with("a", {{"b", 800'000}})), 0);
}

TEST(Colocation, EachKeepsWhatItsOwnTableSays) {
  const Colocation colocation = three();
  EXPECT_EQ(colocation.kept(0, 1), 800'000);
  EXPECT_EQ(colocation.kept(1, 0), 900'000);
  EXPECT_EQ(colocation.kept(0, 0), 600'000);
  EXPECT_EQ(colocation.kept(1, 1), Colocation::kNotKnown);
}

TEST(Colocation, AJobWithoutAModelIsInNoTable) {
  Colocation colocation = three();
  const std::int32_t nameless = colocation.kind_of(with("", {{"a", 500'000}}));
  EXPECT_EQ(colocation.kept(0, nameless), Colocation::kNotKnown);
  EXPECT_EQ(colocation.kept(nameless, 0), 500'000);
}

TEST(Colocation, SeveralJobsOnAGpuMultiply) {
  const Colocation colocation = three();
  EXPECT_EQ(kept_on_gpu(colocation, 0, std::vector<std::int32_t>{}), KeptFraction{});
  EXPECT_EQ(kept_on_gpu(colocation, 0, std::vector<std::int32_t>{1, 0}), (KeptFraction{480'000, true}));
}

// Rounded down in other orders the product is 209,069.
TEST(Colocation, TheOrderOfTheJobsDoesNotMatter) {
  Colocation colocation;
  for (const char* model : {"a", "b", "c"}) colocation.kind_of(with(model, {{"a", 640'007}, {"b", 980'003}, {"c", 333'333}}));
  std::vector<std::int32_t> others{0, 1, 2};
  do {
    EXPECT_EQ(kept_on_gpu(colocation, 0, others), (KeptFraction{209'068, true}));
  } while (std::next_permutation(others.begin(), others.end()));
}

TEST(Colocation, WhatIsNotKnownCostsNothingAndIsSaid) {
  const Colocation colocation = three();
  EXPECT_EQ(kept_on_gpu(colocation, 1, std::vector<std::int32_t>{0, 2}), (KeptFraction{900'000, false}));
}

TEST(Colocation, TheSlowestMemberSetsThePace) {
  EXPECT_EQ(slower({800'000, true}, {700'000, true}), (KeptFraction{700'000, true}));
  EXPECT_EQ(slower({800'000, false}, {900'000, true}), (KeptFraction{800'000, false}));
}

TEST(Colocation, RatesAreRoundedDown) {
  EXPECT_EQ(slowed_rate(3, 500'000), 1);
  EXPECT_EQ(slowed_rate(INT64_MAX, 1'000'000), INT64_MAX);
}

}  // namespace berth::core::colocation_test
