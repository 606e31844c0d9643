#include "host/core/model/profile.hpp"

#include <gtest/gtest.h>

#include "host/core/base/table_hash.hpp"

namespace berth::core::profile_test {
namespace {

Shape shape(std::int32_t gpus, std::int32_t batch = 0, std::int32_t share_ppm = kWholeGpu) {
  Shape one;
  one.gpus = gpus;
  one.local_batch = batch;
  one.share_ppm = share_ppm;
  return one;
}

// One step of 10 samples on one GPU takes 3 ms: 250 us a sample and 500 us a step.
Job closed_form(std::int64_t gradient_bytes = 0) {
  Job job;
  job.shapes = {shape(8, 10)};
  job.profile.kind = ProfileKind::kClosedForm;
  job.profile.unit = "samples";
  job.profile.gradient_bytes = gradient_bytes;
  job.profile.closed_form.step = {{"", 250'000, 500'000}};
  return job;
}

SpanInfo span_of(std::int32_t level) {
  SpanInfo span;
  span.gpu_type = "h100";
  span.level = level;
  span.nvlink_bytes_per_s = 450'000'000'000;
  span.nic_bytes_per_s = 400'000'000'000;
  return span;
}

}  // namespace

TEST(OpaqueProfile, IsLinearBelowAndFlatAboveTheRequest) {
  Job job;
  job.shapes = {shape(8)};

  EXPECT_EQ(profile_rate(job, shape(8), {}), 1'000'000);
  EXPECT_EQ(profile_rate(job, shape(4), {}), 500'000);
  EXPECT_EQ(profile_rate(job, shape(3), {}), 375'000);
  EXPECT_EQ(profile_rate(job, shape(16), span_of(2)), 1'000'000);
  EXPECT_EQ(profile_rate(job, shape(1, 0, 1), {}), 1);  // a millionth of one of eight GPUs: rounded up to the lowest rate
}

TEST(OpaqueProfile, SharesCountAsPartsOfGpus) {
  Job job;
  job.shapes = {shape(1, 0, 500'000)};

  EXPECT_EQ(profile_rate(job, job.shapes[0], {}), 1'000'000);
  EXPECT_EQ(profile_rate(job, shape(1, 0, 250'000), {}), 500'000);
  EXPECT_EQ(profile_rate(job, shape(1), {}), 1'000'000);
}

TEST(Profile, ARateInTheShapeWins) {
  Job job = closed_form();
  job.shapes[0].rate = 7;

  EXPECT_EQ(profile_rate(job, job.shapes[0], span_of(0)), 7);
}

TEST(Profile, AShapeLargerThanANodeHasNoRateInsideOne) {
  const Job job = closed_form();

  EXPECT_EQ(profile_rate(job, shape(9, 10), span_of(0)), 0);
  EXPECT_GT(profile_rate(job, shape(9, 10), span_of(1)), 0);
}

TEST(ClosedForm, OneGpuTakesItsComputeTime) {
  const Job job = closed_form(1'000'000'000);

  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 3'333'333'333);  // 10 samples in 3 ms
  EXPECT_EQ(profile_rate(job, shape(1), span_of(0)), 1'333'333'333);      // no batch stated: 1 sample in 0.75 ms
}

TEST(ClosedForm, AddsTheAllReduceOfTheSpan) {
  const Job job = closed_form(1'000'000'000);
  // In a node: 14 hops of 3.4 us and 2 * 7/8 GB at 450 GB/s = 3.888888 ms. 32 GPUs on 4 nodes of a rack: the golden
  // 7.638888 ms and 6 hops of 15 us more.
  const std::int64_t inside = 47'600 + 3'888'888, across = 47'600 + 6 * 15'000 + 7'638'888;

  EXPECT_EQ(all_reduce_ns(job, shape(8, 10), span_of(0)), inside);
  EXPECT_EQ(all_reduce_ns(job, shape(32, 10), span_of(1)), across);
  EXPECT_EQ(profile_rate(job, shape(8, 10), span_of(0)), 80 * 1'000'000 * 1'000'000'000LL / (3'000'000 + inside));
  EXPECT_EQ(profile_rate(job, shape(32, 10), span_of(1)), 320 * 1'000'000 * 1'000'000'000LL / (3'000'000 + across));
}

TEST(ClosedForm, OverlapHidesPartOfTheCommunication) {
  Job job = closed_form(1'000'000'000);
  job.profile.closed_form.overlap_ppm = 750'000;

  EXPECT_EQ(profile_rate(job, shape(8, 10), span_of(0)), 80 * 1'000'000 * 1'000'000'000LL / (3'000'000 + 3'936'488 / 4));
}

TEST(ClosedForm, InputWorkCanBeTheSlowerPart) {
  Job job = closed_form();
  job.profile.closed_form.io_ns = 1'600'000;  // 16 core-milliseconds a step
  job.constraints.cpu_milli_per_gpu = 4'000;
  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 2'500'000'000);  // 4 ms

  job.profile.closed_form.cpu_milli_saturation = 2'000;
  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 1'250'000'000);  // 8 ms

  job.constraints.cpu_milli_per_gpu = 0;
  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 1'250'000'000);
}

TEST(ClosedForm, TheWorstLinkOnTheWayCounts) {
  Job job = closed_form(1'000'000'000);
  SpanInfo span = span_of(2);
  span.latency_ns = 500;
  span.uplink_bytes_per_s = 100'000'000'000;

  // Three switches: 14 + 3 + 0.5 us a hop; 2 * 1/2 GB at 100 GB/s.
  EXPECT_EQ(all_reduce_ns(job, shape(16, 10), span), 47'600 + 3'888'888 + 2 * 17'500 + 10'000'000);

  span.one_nvlink_domain = true;
  EXPECT_EQ(all_reduce_ns(job, shape(16, 10), span), 30 * 3'400 + 4'166'666);
}

TEST(ClosedForm, WithoutNvlinkGpusUsePcieAndUnstatedNicsDoNotLimit) {
  Job job = closed_form(1'000'000'000);
  SpanInfo span;
  span.level = 1;

  EXPECT_EQ(all_reduce_ns(job, shape(16, 10), span), 14 * 5'700 + 72'916'666 + 2 * 15'000);
}

TEST(ClosedForm, UnitsOfStepsAndSeconds) {
  Job job = closed_form(1'000'000'000);
  job.profile.unit = "steps";
  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 333'333'333);

  // A second of work is a second of eight GPUs that never communicate: 26,666.666666 samples.
  job.profile.unit = "s";
  EXPECT_EQ(profile_rate(job, shape(1, 10), span_of(0)), 124'999);  // an eighth; both rates are rounded down first
  EXPECT_EQ(profile_rate(job, shape(8, 10), span_of(0)), 432'495);  // 3 ms of 6.936488
}

TEST(ClosedForm, AnUnknownGpuTypeHasNoRate) {
  Job job = closed_form();
  job.profile.closed_form.step = {{"v100", 1, 1}, {"h100", 2, 0}};

  EXPECT_EQ(profile_rate(job, shape(1, 1), span_of(0)), 500'000'000'000'000);
  job.profile.closed_form.step.pop_back();
  EXPECT_EQ(profile_rate(job, shape(1, 1), span_of(0)), 0);
}

TEST(TableProfile, RemainingGpuTimeOfTwoJobs) {
  // The score of ONES: 4 GPUs, 80,000 samples left at 4,000 a second is 80 GPU-seconds; 2 GPUs, 60,000 at 1,000 is 120.
  Job a, b;
  a.shapes = {shape(4)};
  b.shapes = {shape(2)};
  for (Job* job : {&a, &b}) job->profile.kind = ProfileKind::kTable;
  a.profile.points = {{"", 4, 0, "", 4'000'000'000}};
  b.profile.points = {{"", 2, 0, "", 1'000'000'000}};

  EXPECT_EQ(4 * (80'000'000'000 / profile_rate(a, a.shapes[0], {})), 80);
  EXPECT_EQ(2 * (60'000'000'000 / profile_rate(b, b.shapes[0], {})), 120);
}

// A gang of 4 x 2 GPUs of which 3 members are left, on two nodes.
TEST(Profile, CountsTheGpusAtWorkWhateverTheShapeAsksFor) {
  SpanInfo six = span_of(1);
  six.gpus = 6;
  six.nodes = 2;
  six.gpus_per_node = 4;
  Job opaque;
  opaque.shapes = {shape(8)};
  Job stated = opaque;
  stated.shapes[0].rate = 7'000;
  Job measured = opaque;
  measured.profile.kind = ProfileKind::kTable;
  measured.profile.points = {{"", 4, 0, "", 40}, {"", 8, 0, "", 60}};
  Job modelled = closed_form(1'000'000'000);

  EXPECT_EQ(profile_rate(opaque, opaque.shapes[0], six), 750'000);
  EXPECT_EQ(profile_rate(stated, stated.shapes[0], six), 5'250);
  EXPECT_EQ(profile_rate(measured, measured.shapes[0], six), 50);
  EXPECT_EQ(profile_rate(modelled, modelled.shapes[0], six), profile_rate(modelled, shape(6, 10), six));
  EXPECT_LT(profile_rate(modelled, modelled.shapes[0], six), profile_rate(modelled, modelled.shapes[0], span_of(1)));
  six.gpus = 12;
  EXPECT_EQ(profile_rate(stated, stated.shapes[0], six), 7'000);
}

TEST(Profile, DependsOnThePlaceWhereItIsAModelOrAPointNamesASpan) {
  Job job = closed_form(1);
  EXPECT_TRUE(depends_on_place(job));
  job.profile = {};
  EXPECT_FALSE(depends_on_place(job));
  job.profile.kind = ProfileKind::kTable;
  job.profile.points.resize(2);
  EXPECT_FALSE(depends_on_place(job));
  job.profile.points[1].span = "rack";
  EXPECT_TRUE(depends_on_place(job));
}

TEST(TableHash, IsFnv1a) {
  TableHash empty, a, foobar, number, bytes;
  a.add("a");
  foobar.add("foobar");
  number.add(std::int64_t{0x0807060504030201});
  bytes.add("\x01\x02\x03\x04\x05\x06\x07\x08");

  EXPECT_EQ(empty.value(), 0xcbf29ce484222325ULL);
  EXPECT_EQ(a.value(), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(foobar.value(), 0x85944171f73967e8ULL);
  EXPECT_EQ(number.value(), bytes.value());
}

TEST(TableHash, WhereATableEndsCounts) {
  TableHash one, two;
  for (const auto& table : std::vector<std::vector<std::int64_t>>{{1}, {1, 1}}) one.add(table);
  for (const auto& table : std::vector<std::vector<std::int64_t>>{{1, 1}, {1}}) two.add(table);

  EXPECT_NE(one.value(), two.value());
}

}  // namespace berth::core::profile_test
