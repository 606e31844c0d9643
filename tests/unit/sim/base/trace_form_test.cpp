// A job of a trace with a measured profile, on clusters that have some of the measured GPU types.
#include "host/sim/base/trace_form.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/replay/replay.hpp"

namespace berth::sim::trace_form_test {
namespace {

RatePoint point(const char* type, std::int32_t gpus, const char* span, std::int64_t units_per_s) {
  return {type, gpus, 0, span, units_per_s * 1'000'000};
}

Domain domain(const char* id, const char* level, const char* parent) {
  Domain one;
  one.id = id;
  one.level = level;
  one.parent = parent;
  return one;
}

/// A trace of one job, 100 units on 2 GPUs, measured on two types; across nodes V100s have half the speed.
Trace two_types() {
  Trace trace;
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points = {point("V100", 2, "node", 10), point("V100", 2, "", 5), point("K80", 2, "", 1), point("V100", 4, "", 8)};
  trace.profiles = {{"p", profile}};
  TraceJob job;
  job.id = "j";
  job.model = "m";
  job.gpus = 2;
  job.batch = 8;
  job.run_us = 10 * kSecond;
  job.profile = "p";
  job.work = 100'000'000;
  trace.jobs = {job};
  return trace;
}

std::vector<std::string> ids(const TraceForm& form) {
  std::vector<std::string> all;
  for (const Shape& shape : form.shapes) all.push_back(shape.id);
  return all;
}

using Ids = std::vector<std::string>;

}  // namespace

TEST(TraceForm, OneShapeForEachMeasuredTypeThatTheClusterHas) {
  Trace trace = two_types();
  const TraceJob& job = trace.jobs[0];

  EXPECT_EQ(ids(TraceForms(trace.profiles, io::cluster_from("1x4xK80+1x4xV100+1x4xA100", {})).of(job)), (Ids{"2xV100", "2xK80"}));
  EXPECT_EQ(ids(TraceForms(trace.profiles, io::cluster_from("1x4xK80", {})).of(job)), Ids{"2xK80"});
  trace.jobs[0].gpu_type = "K80";
  EXPECT_EQ(ids(TraceForms(trace.profiles, io::cluster_from("1x4xK80+1x4xV100", {})).of(job)), Ids{"2xK80"});
}

TEST(TraceForm, AnElasticJobMayHaveAShapeForEveryPointAndTheOneAskedForFirst) {
  Trace trace = two_types();
  trace.jobs[0].elastic = true;

  const Snapshot cluster = io::cluster_from("1x4xV100+1x4xK80", {});

  const TraceForm form = TraceForms(trace.profiles, cluster, true).of(trace.jobs[0]);

  EXPECT_EQ(ids(TraceForms(trace.profiles, cluster).of(trace.jobs[0])), (Ids{"2xV100", "2xK80"}));  // unless it is requested
  EXPECT_EQ(ids(form), (Ids{"2xV100", "2xK80", "4xV100"}));
  EXPECT_EQ(form.shapes[0].local_batch, 4);
  EXPECT_EQ(form.shapes[2].local_batch, 2);
  EXPECT_EQ(form.gpu_types(), (Ids{"V100", "K80"}));
}

TEST(TraceForm, TheLargestBatchIsSharedByItsGpus) {
  Trace trace = two_types();
  trace.jobs[0].batch = INT32_MAX;

  const Snapshot snapshot = snapshot_at(trace, io::uniform_cluster(1, 2), 0);

  EXPECT_EQ(snapshot.jobs.at(0).shapes.at(0).local_batch, 1'073'741'824);
  EXPECT_NO_THROW(check_snapshot(snapshot));
}

TEST(TraceForm, WhereNoMeasuredTypeIsTheJobKeepsItsRunTimeAndLosesItsProfile) {
  const Trace trace = two_types();
  const Snapshot cluster = io::uniform_cluster(1, 2);

  const Snapshot snapshot = snapshot_at(trace, cluster, 4 * kSecond);

  ASSERT_EQ(snapshot.jobs.size(), 1u);
  EXPECT_EQ(snapshot.jobs[0].shapes[0].id, "2");
  EXPECT_EQ(snapshot.jobs[0].profile.kind, ProfileKind::kOpaque);
  EXPECT_EQ(snapshot.jobs[0].progress.work_done, 4'000'000);  // seconds
  EXPECT_NE(snapshot.x[0].second.find(R"("without_profile":1)"), std::string::npos);
  EXPECT_EQ(snapshot_at(trace, cluster, 10 * kSecond).history.at(0).run_us, 10 * kSecond);
}

TEST(TraceForm, WorkAtTheMeasuredRateIsHowLongTheReplayLetsItRun) {
  const Trace trace = two_types();
  Snapshot racks = io::cluster_from("2x1xV100", {});

  EXPECT_EQ(snapshot_at(trace, io::cluster_from("1x2xV100", {}), 1'000 * kSecond).history.at(0).run_us, 10 * kSecond);
  EXPECT_EQ(snapshot_at(trace, racks, 1'000 * kSecond).history.at(0).run_us, 20 * kSecond);  // across nodes
  EXPECT_EQ(snapshot_at(trace, io::cluster_from("1x2xK80", {}), 1'000 * kSecond).history.at(0).run_us, 100 * kSecond);
}

TEST(TraceForm, TheRateOfTheLowestCommonLevelCounts) {
  Trace trace = two_types();
  trace.profiles[0].second.points.push_back(point("V100", 2, "rack", 4));
  Snapshot cluster = io::cluster_from("2x1xV100", {});
  cluster.domains = {domain("pod", "pod", ""), domain("a", "rack", "pod"), domain("b", "rack", "pod")};
  const auto runs_for = [&](const char* first, const char* second) {
    cluster.nodes[0].domain[0] = first;
    cluster.nodes[1].domain[0] = second;
    return snapshot_at(trace, cluster, 1'000 * kSecond).history.at(0).run_us / kSecond;
  };

  EXPECT_EQ(runs_for("pod/a", "pod/a"), 25);
  EXPECT_EQ(runs_for("pod/a", "pod/b"), 20);  // a pod is not measured: any span
}

TEST(TraceForm, ARunningJobHasDoneItsRateAndTheTruthOnlyWhenAskedFor) {
  const Trace trace = two_types();
  const Snapshot cluster = io::cluster_from("1x2xK80", {});

  const Job job = snapshot_at(trace, cluster, 30 * kSecond).jobs.at(0);
  const Job oracle = snapshot_at(trace, cluster, 30 * kSecond, EstimateSource::kOracle).jobs.at(0);

  EXPECT_EQ(job.allocation.shape, "2xK80");
  EXPECT_EQ(job.progress.work_done, 30'000'000);
  EXPECT_EQ(job.progress.work_total, 0);
  EXPECT_EQ(job.profile.unit, "steps");
  EXPECT_EQ(job.profile.model, "m");
  EXPECT_EQ(oracle.progress.work_total, 100'000'000);
  EXPECT_NO_THROW(check_snapshot(snapshot_at(trace, cluster, 30 * kSecond)));
}

TEST(TraceForm, AProfileWithoutTypesHoldsForAny) {
  Trace trace = two_types();
  trace.profiles[0].second.points = {point("", 2, "", 4)};

  const Snapshot snapshot = snapshot_at(trace, io::uniform_cluster(1, 2), 1'000 * kSecond);

  EXPECT_EQ(snapshot.history.at(0).run_us, 25 * kSecond);
}

TEST(TraceForm, DeadlinePriorityAndWeightEnterTheSnapshot) {
  Trace trace = two_types();
  TraceJob& job = trace.jobs[0];
  job.deadline_us = 7;
  job.deadline_hard = true;
  job.deadline_value = 9;
  job.priority = 3;
  job.weight_ppm = 2'000'000;

  const Job taken = snapshot_at(trace, io::uniform_cluster(1, 2), 0).jobs.at(0);

  EXPECT_EQ(taken.deadline.at_us, 7);
  EXPECT_TRUE(taken.deadline.hard);
  EXPECT_EQ(taken.deadline.value, 9);
  EXPECT_EQ(taken.priority, 3);
  EXPECT_EQ(taken.weight_ppm, 2'000'000);
}

TEST(TraceForm, MoreAlternativesThanAJobMayHaveAreRefused) {
  Trace trace = two_types();
  trace.jobs[0].elastic = true;
  for (std::int32_t gpus = 1; gpus <= kMaxShapes + 1; ++gpus) trace.profiles[0].second.points.push_back(point("", gpus, "", 1));

  EXPECT_THROW(TraceForms(trace.profiles, io::uniform_cluster(1, 2), true).of(trace.jobs[0]), InvalidArgument);
}

}  // namespace berth::sim::trace_form_test
