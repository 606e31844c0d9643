#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/quantise.hpp"
#include "host/backend/check_contend.hpp"
#include "tests/support/contend/random_contend.hpp"
#include "tests/support/random.hpp"

namespace berth::test::contend_test {
namespace {

using Loads = std::vector<std::int64_t>;
using Counts = std::vector<std::int32_t>;

ContendBuffers expected(const ContendCase& one) { return contend(*core::make_reference_backend(), one); }

/// The example of docs/contention.md: two racks with an uplink each, 0 and 1, and four hosts with a link each, 2 to 5.
ContendCase two_racks() {
  ContendCase one;
  one.links = 6;
  one.add_job({0, 1, 2, 4}, {8'192, 8'192, 4'096, 4'096});  // over both racks
  one.add_job({2, 3}, {2'048, 2'048});                      // within the first
  one.add_job({}, {});                                      // on one host
  one.add_candidate({3}, {1'024});
  one.add_candidate({0, 1, 3, 5}, {12'288, 12'288, 6'144, 6'144});
  return one;
}

TEST(ContendReference, LoadsAreThoseAfterTheCandidateIsPlaced) {
  const ContendBuffers got = expected(two_racks());
  EXPECT_EQ(got.load, (Loads{8'192, 8'192, 6'144, 2'048, 4'096, 0}));
  EXPECT_EQ(got.load_sum, (Loads{3'072, 2 * 20'480 + 8'192 + 6'144}));
  EXPECT_EQ(got.load_max, (Loads{3'072, 20'480}));
  EXPECT_EQ(got.overload, (Loads{0, 2 * 4'096}));
  EXPECT_EQ(got.failed, (Counts{0, 0}));
}

TEST(ContendReference, PairsAreProductsOfSevenBits) {
  const ContendBuffers got = expected(two_racks());
  // Uses of 12,288, 8,192, 6,144, 2,048 and 1,024 are 96, 64, 48, 16 and 8 of 128.
  EXPECT_EQ(got.pair_value, (Counts{0, 8 * 16, 0, 96 * 64 + 96 * 64, 48 * 16, 0}));
  EXPECT_EQ(got.top_value, (Counts{128, 0, 0, 12'288, 768, 0}));
  EXPECT_EQ(got.top_job, (Counts{1, -1, -1, 0, 1, -1}));
  EXPECT_EQ(got.pair_sum, (Loads{128, 13'056}));
}

TEST(ContendReference, FourteenBitsKeepSmallWeights) {
  ContendCase one = two_racks();
  one.weight = {100, 100, 100, 100, 100, 100};  // 12,288 x 100 / 2^14 = 75; in seven bits 0.6, so 1
  EXPECT_EQ(expected(one).pair_value, (Counts{0, 0, 0, 1 * 64 + 1 * 64, 0, 0}));
  one.limbs = 2;  // 1,024 x 100 / 2^14 = 6.25 and 6,144 x 100 / 2^14 = 37.5, so 38
  EXPECT_EQ(expected(one).pair_value, (Counts{0, 6 * 16, 0, 75 * 64 + 75 * 64, 38 * 16, 0}));
}

TEST(ContendReference, OnlyCongestedLinksCountWithTheirWeights) {
  ContendCase one = two_racks();
  const Loads load{8'192, 20'480, 40'000, 16'384, 4'096, 0};
  for (const std::int64_t l : load) one.weight.push_back(kernel::congestion_weight(l, kernel::kUseOne));
  EXPECT_EQ(one.weight, (Counts{0, 4'096, 16'384, 0, 0, 0}));
  EXPECT_EQ(expected(one).pair_value, (Counts{0, 0, 0, 24 * 64, 0, 0}));
}

TEST(ContendReference, ACandidateDoesNotMeetTheJobThatItReplaces) {
  ContendCase one = two_racks();
  one.excluded = {-1, 0};
  const ContendBuffers got = expected(one);
  EXPECT_EQ(got.load_max, (Loads{3'072, 12'288}));
  EXPECT_EQ(got.load_sum, (Loads{3'072, 12'288 + 12'288 + 8'192 + 6'144}));
  EXPECT_EQ(got.pair_value, (Counts{0, 128, 0, 0, 768, 0}));
  EXPECT_EQ(got.top_job, (Counts{1, -1, -1, 1, -1, -1}));
  EXPECT_EQ(got.pair_sum, (Loads{128, 768}));
}

TEST(ContendReference, AFailedLinkIsReportedAndAllOfItIsOverload) {
  ContendCase one = two_racks();
  one.capacity = {16'384, 0, 16'384, 16'384, 16'384, 16'384};
  const ContendBuffers got = expected(one);
  EXPECT_EQ(got.failed, (Counts{0, 1}));
  EXPECT_EQ(got.overload, (Loads{0, 4'096 + 20'480}));
}

TEST(ContendReference, LoadsOfTheCallerAreTaken) {
  ContendCase one = two_racks();
  one.load = {0, 0, 0, 50'000, 0, 0};
  const ContendBuffers got = expected(one);
  EXPECT_EQ(got.load[3], 2'048);  // what running jobs add up to
  EXPECT_EQ(got.load_max, (Loads{51'024, 56'144}));
}

TEST(ContendReference, EqualValuesComeInTheOrderOfJobs) {
  ContendCase one;
  one.links = 1;
  one.k = 5;
  for (const std::uint16_t use : std::vector<std::uint16_t>{1'280, 2'560, 1'280, 2'560}) one.add_job({0}, {use});
  one.add_candidate({0}, {16'384});  // 1.0 is 127 of 128
  const ContendBuffers got = expected(one);
  EXPECT_EQ(got.top_job, (Counts{1, 3, 0, 2, -1}));
  EXPECT_EQ(got.top_value, (Counts{127 * 20, 127 * 20, 127 * 10, 127 * 10, 0}));
}

TEST(ContendReference, WeightsOfJobsCountInSums) {
  ContendCase one = two_racks();
  one.job_weight = {8, 3, 1'000};
  EXPECT_EQ(expected(one).pair_sum, (Loads{3 * 128, 8 * 12'288 + 3 * 768}));
}

TEST(ContendQuantities, UsesAreRoundedToTheNearestAndSaturate) {
  EXPECT_EQ(kernel::use_of(0, 0, 0), 0);
  EXPECT_EQ(kernel::use_of(1, 0, 1), kernel::kMostUse);  // a failed link
  EXPECT_EQ(kernel::use_of(1, 1, 0), kernel::kMostUse);
  EXPECT_EQ(kernel::use_of(12'500'000, 12'500'000'000, 1'000), 16'384);  // a millisecond of each
  EXPECT_EQ(kernel::use_of(1, 16'384, 2'000'000), 1);                    // 0.5
  EXPECT_EQ(kernel::use_of(1, 16'384, 2'000'001), 0);
  EXPECT_EQ(kernel::use_of(65'534, 16'384, 1'000'000), 65'534);
  EXPECT_EQ(kernel::use_of(65'536, 16'384, 1'000'000), kernel::kMostUse);
  EXPECT_EQ(kernel::use_of(INT64_MAX, 1, 1), kernel::kMostUse);
  EXPECT_EQ(kernel::use_of(INT64_MAX, INT64_MAX, INT64_MAX), 0);
}

TEST(ContendQuantities, ProductsTakeSevenOrFourteenBits) {
  EXPECT_EQ(kernel::pair_use(63), 0);
  EXPECT_EQ(kernel::pair_use(64), 1);
  EXPECT_EQ(kernel::pair_use(16'255), 127);
  EXPECT_EQ(kernel::pair_use(kernel::kMostUse), 127);
  EXPECT_EQ(kernel::weighted_use(63, kernel::kUseOne, 1), 0);
  EXPECT_EQ(kernel::weighted_use(64, kernel::kUseOne, 1), 1);
  EXPECT_EQ(kernel::weighted_use(kernel::kMostUse, kernel::kUseOne, 1), 127);
  EXPECT_EQ(kernel::weighted_use(63, kernel::kUseOne, 2), 63);
  EXPECT_EQ(kernel::weighted_use(1, kernel::kUseOne / 2, 2), 1);
  EXPECT_EQ(kernel::weighted_use(1, kernel::kUseOne / 2 - 1, 2), 0);
  EXPECT_EQ(kernel::weighted_use(kernel::kMostUse, kernel::kUseOne, 2), 16'383);
}

TEST(ContendLoads, KeptOverManyChangesTheyAreTheSumOfTheRows) {
  Random random(3);
  const ContendCase pool(5, {50, 200, 0, 20});
  Loads load(50, 0);
  std::vector<bool> runs(200, false);
  for (int step = 0; step < 2'000; ++step) {
    const auto j = static_cast<std::size_t>(random.below(200));
    const std::int32_t first = pool.job_begin[j], n = pool.job_begin[j + 1] - first;
    (runs[j] ? kernel::remove_row : kernel::add_row)(load.data(), pool.job_link.data() + first, pool.job_use.data() + first, n);
    runs[j] = !runs[j];
  }
  ContendCase left;
  left.links = 50;
  for (std::size_t j = 0; j < runs.size(); ++j) {
    const auto first = pool.job_begin[j], last = pool.job_begin[j + 1];
    if (runs[j])
      left.add_job({pool.job_link.begin() + first, pool.job_link.begin() + last},
                   {pool.job_use.begin() + first, pool.job_use.begin() + last});
  }
  ASSERT_GT(left.jobs(), 50);
  EXPECT_EQ(expected(left).load, load);
}

std::string complaint(const ContendCase& one) {
  try {
    core::check_contend(one.view(), one.request());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(ContendCheck, NamesWhatCannotBe) {
  EXPECT_EQ(complaint(two_racks()), "");
  const auto with = [](const auto& change) {
    ContendCase one = two_racks();
    change(one);
    return complaint(one);
  };
  EXPECT_EQ(with([](ContendCase& one) { one.job_link[1] = 0; }), "job 0 has link 0 twice; add the uses");
  EXPECT_EQ(with([](ContendCase& one) { one.link[3] = 0; }), "candidate 1 has link 0 after 1; links must ascend");
  EXPECT_EQ(with([](ContendCase& one) { one.link[0] = 6; }), "candidate 0: link is 6; it must be 0 to 5");
  EXPECT_EQ(with([](ContendCase& one) { one.link[0] = -1; }), "candidate 0: link is -1; it must be 0 to 5");
  EXPECT_EQ(with([](ContendCase& one) { one.job_begin[2] = 3; }), "job 1 ends before it begins");
  EXPECT_EQ(with([](ContendCase& one) { one.k = 65; }), "k is 65; it must be 0 to 64");
  EXPECT_EQ(with([](ContendCase& one) { one.limbs = 3; }), "limbs is 3; it must be 1 to 2");
  EXPECT_EQ(with([](ContendCase& one) { one.weight.assign(6, 16'385); }), "weight of link 0 is 16385; it must be 0 to 16384");
  EXPECT_EQ(with([](ContendCase& one) { one.load.assign(6, -1); }), "load of link 0 is -1; it must be 0 to 35184372088832");
  EXPECT_EQ(with([](ContendCase& one) { one.capacity.assign(6, -1); }), "capacity of link 0 is -1; it must be 0 to 35184372088832");
  EXPECT_EQ(with([](ContendCase& one) { one.excluded = {0, 3}; }), "excluded job of candidate 1 is 3; it must be -1 to 2");
  EXPECT_EQ(with([](ContendCase& one) {
              one.job_weight = {INT32_MAX, 1, 0};
            }),
            "sum of the weights of jobs is 2147483648; it must be 0 to 2147483647");
}

TEST(ContendCheck, RefusesRowsWhoseProductsMayLeave31Bits) {
  ContendCase one;
  one.links = 1'033;
  std::vector<std::int32_t> links;
  for (std::int32_t l = 0; l < one.links; ++l) links.push_back(l);
  const std::vector<std::uint16_t> uses(links.size(), kernel::kMostUse);
  one.add_job(links, uses);
  one.add_candidate(links, uses);
  EXPECT_EQ(complaint(one), "");
  one.limbs = 2;
  EXPECT_EQ(complaint(one), "number of links of candidate 0 is 1033; it must be 0 to 1032");
  links.pop_back();
  one.begin = {0, 1'032};
  EXPECT_EQ(complaint(one), "");
  EXPECT_EQ(expected(one).pair_value, Counts{1'032 * 16'383 * 127});  // 2,147,221,512
}

}  // namespace
}  // namespace berth::test::contend_test
