#include "host/core/model/all_reduce.hpp"

#include <gtest/gtest.h>

namespace berth::core::all_reduce_test {
namespace {

// Decimal megabytes per second, so that 1.17 GB/s is whole.
std::int64_t bandwidth_term_ns(std::int64_t bytes, std::int64_t mb_per_s) {
  return ring_all_reduce_ns(bytes, {8, mb_per_s * 1'000'000, 0});
}

}  // namespace

TEST(AllReduce, HierarchicalGoldenOfFourNodes) {
  // 1 GB, 8 GPUs at 450 GB/s in each of 4 nodes with 8 NICs of 50 GB/s: 7.639 ms.
  EXPECT_EQ(hierarchical_all_reduce_ns(1'000'000'000, {8, 450'000'000'000, 0}, {4, 400'000'000'000, 0}), 7'638'888);
}

TEST(AllReduce, RingOfEightMatchesTheRegressionTable) {
  const std::int64_t resnet50 = 102'011'648, vgg11 = 531'405'568, alexnet = 244'361'984;

  EXPECT_EQ(bandwidth_term_ns(resnet50, 450'000), 396'711);    // 0.397 ms
  EXPECT_EQ(bandwidth_term_ns(resnet50, 150'000), 1'190'135);  // 1.190
  EXPECT_EQ(bandwidth_term_ns(resnet50, 24'000), 7'438'349);   // 7.44
  EXPECT_EQ(bandwidth_term_ns(resnet50, 12'000), 14'876'698);  // 14.88
  EXPECT_EQ(bandwidth_term_ns(resnet50, 1'170), 152'581'524);  // 152.6
  EXPECT_EQ(bandwidth_term_ns(vgg11, 450'000), 2'066'577);     // 2.07
  EXPECT_EQ(bandwidth_term_ns(vgg11, 150'000), 6'199'731);     // 6.20
  EXPECT_EQ(bandwidth_term_ns(vgg11, 24'000), 38'748'322);     // 38.7
  EXPECT_EQ(bandwidth_term_ns(vgg11, 12'000), 77'496'645);     // 77.5
  EXPECT_EQ(bandwidth_term_ns(vgg11, 1'170), 794'837'388);     // 794.8
  EXPECT_EQ(bandwidth_term_ns(alexnet, 24'000), 17'818'061);   // 17.8
  EXPECT_EQ(bandwidth_term_ns(alexnet, 1'170), 365'498'694);   // 365.5
}

TEST(AllReduce, OneRankNeedsNothing) {
  EXPECT_EQ(ring_all_reduce_ns(1'000'000'000, {1, 1, 1'000}), 0);
  EXPECT_EQ(hierarchical_all_reduce_ns(1'000'000'000, {1, 1, 5}, {1, 1, 5}), 0);
}

TEST(AllReduce, HopsCountTwiceAround) {
  EXPECT_EQ(ring_all_reduce_ns(0, {8, 1, 3'400}), 47'600);
  EXPECT_EQ(hierarchical_all_reduce_ns(0, {8, 1, 3'400}, {4, 0, 14'000}), 47'600 + 84'000);
}

TEST(AllReduce, EachTierIsRoundedDown) {
  // 0.75 ns twice: 3 bytes over 2 ranks send 3 bytes.
  EXPECT_EQ(ring_all_reduce_ns(3, {2, 4'000'000'000, 0}), 0);
  EXPECT_EQ(hierarchical_all_reduce_ns(3, {2, 4'000'000'000, 0}, {2, 4'000'000'000, 0}), 0);
  EXPECT_EQ(ring_all_reduce_ns(4, {2, 4'000'000'000, 0}), 1);
}

TEST(AllReduce, TheLargestInputsDoNotOverflow) {
  const std::int64_t bytes = std::int64_t{1} << 56;

  // 2 * (p - 1)/p * 2^56 bytes at 2^56 bytes per second: 2 s less 2/p.
  EXPECT_EQ(ring_all_reduce_ns(bytes, {100'000'000, bytes, 0}), 1'999'999'980);
  EXPECT_EQ(ring_all_reduce_ns(bytes, {100'000'000, 1, INT64_MAX}), INT64_MAX);
}

}  // namespace berth::core::all_reduce_test
