// Plans of ones: docs/ones.md, sections 8 and 9.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::ones_test {
namespace {

using test::elastic;
using test::fate;
using test::one_node;
using test::runs;

/// Speed proportional to GPUs, on any number of them; the first shape, the requested one, has `requested` GPUs.
test::GpuRates linear(std::int32_t most, std::int32_t requested = 1) {
  test::GpuRates rates;
  for (std::int32_t gpus = 1; gpus <= most; ++gpus) rates.emplace_back(gpus, gpus * 1'000'000LL);
  std::rotate(rates.begin(), rates.begin() + requested - 1, rates.end());
  return rates;
}

Job& seen(Job& job, std::int64_t epochs, std::int64_t run_s = 100) {
  job.progress.epochs_done_micro = epochs * 1'000'000;
  job.progress.run_us = run_s * kSecond;
  return job;
}

Request asking(std::vector<std::pair<std::string, std::string>> params = {}) { return test::asking("ones", std::move(params)); }

TEST(Ones, ANewJobStartsInItsSmallestShape) {
  Snapshot s = one_node();
  elastic(s, "a");
  elastic(s, "b", {{2, 2'000'000}, {4, 4'000'000}});
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking());

  EXPECT_EQ(fate(state, plan, "a"), "start 1");
  EXPECT_EQ(fate(state, plan, "b"), "start 2");
  EXPECT_EQ(plan.iterations, 1);
}

TEST(Ones, AJobIsNotResizedBeforeItsSecondEpoch) {
  for (const std::int64_t epochs : {1, 2}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a"), 2), epochs);
    const ClusterState state(s);
    EXPECT_EQ(fate(state, test::valid_plan(state, asking()), "a"), epochs < 2 ? "keep 2" : "resize 4");
  }
}

// 2 epochs of 100 samples, or of 30 s of run time where no samples are reported.
TEST(Ones, EpochsAreCountedBySamplesElseByTime) {
  for (const std::int64_t enough : {0, 1}) {
    Snapshot s = one_node();
    Job& by_samples = runs(elastic(s, "a"), 2);
    by_samples.progress.dataset_size = 100;
    by_samples.progress.samples_done = 199 + enough;
    by_samples.progress.run_us = 1'000 * kSecond;
    Snapshot t = one_node();
    runs(elastic(t, "a"), 2).progress.run_us = (59 + enough) * kSecond;
    for (const Snapshot& one : {s, t}) {
      const ClusterState state(one);
      const Plan plan = test::valid_plan(state, asking({{"epoch_s", "30"}}));
      EXPECT_EQ(fate(state, plan, "a"), enough == 0 ? "keep 2" : "resize 4");
    }
  }
}

// At most twice its GPUs, and no more before it ran an epoch with them.
TEST(Ones, AJobDoublesAtMostOnceInAnEpoch) {
  Snapshot s = one_node();
  seen(runs(elastic(s, "a", linear(8, 8)), 2), 3);
  PolicyState kept;
  ClusterState state(s);
  EXPECT_EQ(fate(state, test::valid_plan(state, asking(), kept), "a"), "resize 4");
  EXPECT_EQ(kept.columns.at("most").at("a"), 4);
  EXPECT_EQ(kept.columns.at("scheduled").at("a"), 3'000'000);

  s.jobs[0].allocation = {};
  runs(s.jobs[0], 4);
  ClusterState grown(s);
  EXPECT_EQ(fate(grown, test::valid_plan(grown, asking(), kept), "a"), "keep 4");
  s.jobs[0].progress.epochs_done_micro = 4'000'000;
  ClusterState later(s);
  EXPECT_EQ(fate(later, test::valid_plan(later, asking(), kept), "a"), "resize 8");
}

// The limit is four times the request. GPUs that no job may have within the limits go to the next job in order, up to
// M.
TEST(Ones, GrowsToFourTimesWhatWasRequestedUnlessGpusIdle) {
  for (const bool others : {true, false}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a", linear(8)), 4), 3);
    if (others) seen(test::run_on(elastic(s, "b", linear(8, 8)), "n0", {4}), 3).allocation.shape = "1";
    PolicyState kept;
    kept.columns["most"] = {{"a", 8}, {"b", 4}};
    const ClusterState state(s);
    const Plan plan = test::valid_plan(state, asking(), kept);
    EXPECT_EQ(fate(state, plan, "a"), others ? "keep 4" : "resize 8");
    if (others) {
      EXPECT_EQ(fate(state, plan, "b"), "resize 4");
    }
  }
}

// From 1 to 4 and to 8: there is no shape with twice as many.
TEST(Ones, GrowsOverGpusThatAreNoShape) {
  Snapshot s = one_node();
  elastic(s, "a", {{8, 8'000'000}, {1, 1'000'000}, {4, 4'000'000}});
  ClusterState state(s);
  PolicyState kept;
  std::vector<std::string> fates;
  for (std::int64_t epochs = 0; epochs < 8; ++epochs) {
    const Plan plan = test::valid_plan(state, asking(), kept);
    fates.push_back(fate(state, plan, "a"));
    commit(state, plan);
    Progress progress = state.job(0)->progress;
    progress.epochs_done_micro = (epochs + 2) * 1'000'000;
    state.apply(delta::SetProgress{"a", progress});
  }
  EXPECT_EQ(fates, (std::vector<std::string>{"start 1", "keep 1", "resize 4", "resize 8", "keep 8", "keep 8", "keep 8", "keep 8"}));
}

// Its epochs were counted by time, and were more.
TEST(Ones, AJobWhoseEpochsFellBlocksNoOther) {
  for (const std::int64_t scheduled : {std::int64_t{60'000'000}, INT64_MAX}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a", linear(8, 8)), 2), 3);
    PolicyState kept;
    kept.columns["scheduled"]["a"] = scheduled;
    ClusterState state(s);
    EXPECT_EQ(fate(state, test::valid_plan(state, asking(), kept), "a"), "keep 2");
    kept.columns["scheduled"]["a"] = 3'000'000;
    s.jobs[0].progress.epochs_done_micro = 4'000'000;
    ClusterState later(s);
    EXPECT_EQ(fate(later, test::valid_plan(later, asking(), kept), "a"), "resize 4");
  }
}

// The vectors of the spec: 2 x 32 / (T / median + 1), rounded down, then up to an even number.
TEST(Ones, TheLargestJobShrinksWhenItHasRunForLong) {
  for (const auto& [ratio, shrunk] : {std::pair{1, 32}, std::pair{3, 16}, std::pair{4, 12}, std::pair{5, 10}, std::pair{100, 2}}) {
    Snapshot s = one_node(64);
    seen(runs(elastic(s, "a", linear(32)), 32), 3, 100 * ratio);
    for (int i = 0; i < 3; ++i) s.history.push_back({std::to_string(i), "", "", 1, 0, 100 * kSecond, ""});
    for (int i = 0; i < 62; ++i) elastic(s, "w" + std::to_string(i), linear(1));
    const ClusterState state(s);
    PolicyState kept;
    kept.columns["most"]["a"] = 64;
    const Plan plan = test::valid_plan(state, asking(), kept);
    EXPECT_EQ(fate(state, plan, "a"), shrunk == 32 ? "resize 4" : "resize " + std::to_string(shrunk)) << ratio;
  }
}

// Half of 8 or 9 GPUs is 4; of 10 it is 5, and a job with 4 is small.
TEST(Ones, OnlyAJobWithHalfOfAllGpusShrinks) {
  for (const std::int32_t gpus : {8, 9, 10}) {
    Snapshot s = one_node(gpus);
    seen(runs(elastic(s, "a", linear(4, 4)), 4), 3, 1'000);
    for (int i = 0; i < 3; ++i) s.history.push_back({std::to_string(i), "", "", 1, 0, 10 * kSecond, ""});
    for (int i = 0; i < gpus - 2; ++i) elastic(s, "w" + std::to_string(i), linear(1));
    const ClusterState state(s);
    EXPECT_EQ(fate(state, test::valid_plan(state, asking()), "a"), gpus < 10 ? "resize 2" : "keep 4") << gpus;
  }
}

TEST(Ones, OnlyIdleGpusAreGivenWhileAJobMustNotChange) {
  Snapshot s = one_node();
  seen(runs(elastic(s, "a"), 4), 3);
  test::run_on(seen(elastic(s, "b"), 3), "n0", {4, 5}).allocation.shape = "2";
  elastic(s, "c");
  PolicyState kept;
  kept.columns["scheduled"] = {{"a", 0}, {"b", 2'500'000}};  // b has not run for an epoch
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking(), kept);

  EXPECT_EQ(fate(state, plan, "a"), "keep 4");
  EXPECT_EQ(fate(state, plan, "b"), "keep 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
}

// The parameters that are ours.

TEST(Ones, AJobMayBeFreshForATimeWhateverItsEpochs) {
  for (const std::int64_t run_s : {59, 60}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a"), 2), 3, run_s);
    const ClusterState many(s);
    EXPECT_EQ(fate(many, test::valid_plan(many, asking({{"fresh_s", "60"}})), "a"), run_s < 60 ? "keep 2" : "resize 4");
    s.jobs[0].progress.epochs_done_micro = 10'000;
    const ClusterState few(s);
    EXPECT_EQ(fate(few, test::valid_plan(few, asking({{"fresh_s", "60"}, {"gate_s", "60"}})), "a"), run_s < 60 ? "keep 2" : "resize 4");
  }
}

TEST(Ones, AGateOfEachJobLetsOthersChange) {
  for (const char* gate : {"all", "each"}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a"), 2), 3);
    test::run_on(seen(elastic(s, "b"), 3), "n0", {2, 3}).allocation.shape = "2";
    PolicyState kept;
    kept.columns["scheduled"] = {{"a", 0}, {"b", 2'500'000}};  // b has not run for an epoch
    const ClusterState state(s);

    const Plan plan = test::valid_plan(state, asking({{"gate", gate}}), kept);

    EXPECT_EQ(fate(state, plan, "a"), std::string(gate) == "all" ? "keep 2" : "resize 4");
    EXPECT_EQ(fate(state, plan, "b"), "keep 2");
    EXPECT_EQ(kept.columns.at("scheduled").at("a"), std::string(gate) == "all" ? 0 : 3'000'000);
    EXPECT_EQ(kept.columns.at("scheduled").at("b"), 2'500'000);
  }
}

// b may not grow yet, and c waits for what a gives back.
TEST(Ones, AGateOfEachJobGivesIdleGpusToWaitingJobsFirst) {
  Snapshot s = one_node();
  seen(runs(elastic(s, "a", linear(8)), 6), 3, 1'000);  // above its limit of four times one GPU
  test::run_on(seen(elastic(s, "b", linear(8)), 3), "n0", {6, 7}).allocation.shape = "2";
  elastic(s, "c");
  PolicyState kept;
  kept.columns["scheduled"] = {{"a", 0}, {"b", 2'500'000}};
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking({{"gate", "each"}, {"shrink", "no"}, {"generations", "20"}}), kept);

  EXPECT_EQ(fate(state, plan, "b"), "keep 2");
  EXPECT_EQ(fate(state, plan, "c"), "start 1");
}

// The clock of the gate is then run time: a changed after 100 s.
TEST(Ones, TheGateMayBeATime) {
  for (const std::int64_t run_s : {199, 200}) {
    Snapshot s = one_node();
    seen(runs(elastic(s, "a"), 2), 3, run_s);
    PolicyState kept;
    kept.columns["scheduled"]["a"] = 1'000'000;
    const ClusterState state(s);
    EXPECT_EQ(fate(state, test::valid_plan(state, asking({{"gate_s", "100"}}), kept), "a"), run_s < 200 ? "keep 2" : "resize 4");
    EXPECT_EQ(kept.columns.at("scheduled").at("a"), run_s < 200 ? 1'000'000 : 2'000'000);
  }
}

TEST(Ones, WithoutShrinkingALongJobHasTheLimitOfAllJobs) {
  Snapshot s = one_node(64);
  seen(runs(elastic(s, "a", linear(32)), 32), 3, 300);
  for (int i = 0; i < 3; ++i) s.history.push_back({std::to_string(i), "", "", 1, 0, 100 * kSecond, ""});
  for (int i = 0; i < 62; ++i) elastic(s, "w" + std::to_string(i), linear(1));
  const ClusterState state(s);
  for (const char* shrink : {"yes", "no"}) {
    PolicyState kept;
    kept.columns["most"]["a"] = 64;
    const Plan plan = test::valid_plan(state, asking({{"shrink", shrink}}), kept);
    EXPECT_EQ(fate(state, plan, "a"), std::string(shrink) == "yes" ? "resize 16" : "resize 4");
  }
}

TEST(Ones, JobsOutsideTheScheduleSaySo) {
  Snapshot s = one_node();
  for (int i = 0; i < 9; ++i) elastic(s, "j" + std::to_string(i));
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking());

  EXPECT_EQ(fate(state, plan, "j7"), "start 1");
  EXPECT_EQ(fate(state, plan, "j8"), "wait");
  EXPECT_EQ(plan.decisions[8].reason.code, ReasonCode::kNotChosen);
}

// The target changes which jobs run: a job that still waits requests half the next time, but never less than its
// minimum.
TEST(Ones, JobsLeftOutRequestLess) {
  Snapshot s = one_node();
  seen(runs(elastic(s, "a", {{4, 4'000'000}, {8, 8'000'000}}), 4), 3);
  for (const char* id : {"b", "c"}) {
    Job& job = elastic(s, id, {{2, 1'000}, {8, 5'000}});  // slow: the other one comes first in order
    seen(job, 3);
    job.progress.work_done = 1'000'000'000'000;
  }
  PolicyState kept;
  kept.columns["saved"] = {{"b", 8}, {"c", 3}};
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking({{"generations", "20"}}), kept);

  ASSERT_EQ(fate(state, plan, "a"), "resize 8");
  EXPECT_EQ(kept.columns.at("saved").at("b"), 4);
  EXPECT_EQ(kept.columns.at("most").at("b"), 4);
  EXPECT_EQ(kept.columns.at("saved").at("c"), 2);
}

TEST(Ones, KnowsOneGpuType) {
  Snapshot s = test::two_types();
  test::run_on(s.jobs[0], "n1", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = "h";
  const ClusterState state(s);
  const Plan plan = test::valid_plan(state, asking());
  EXPECT_EQ(fate(state, plan, "a"), "keep h");
  EXPECT_EQ(fate(state, plan, "b"), "start s");
  EXPECT_EQ(fate(state, test::valid_plan(state, asking({{"gpu_type", "h100"}})), "b"), "wait");
  EXPECT_THROW(test::valid_plan(state, asking({{"gpu_type", "none"}})), InvalidArgument);
}

// Both ask for 8 GPUs of a100, where their rates are not known.
TEST(Ones, JobsWhoseRatesAreKnownOnAnotherTypeStartOnTheFewestGpus) {
  Snapshot s = test::two_types();
  for (Job& job : s.jobs) {
    job.profile.kind = ProfileKind::kTable;
    job.profile.points.resize(1);
    job.profile.points[0].gpu_type = "h100";
    job.profile.points[0].gpus = 8;
    job.profile.points[0].rate = 1'000'000;
    job.shapes[0].rate = 0;
    job.shapes.insert(job.shapes.begin() + 1, job.shapes[0]);
    job.shapes[1].id = "half";
    job.shapes[1].gpus = 4;
  }
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, asking());

  EXPECT_EQ(fate(state, plan, "a"), "start half");
  EXPECT_EQ(fate(state, plan, "b"), "start half");
}

TEST(Ones, TheProgressCallbackMayStopIt) {
  Snapshot s = one_node();
  for (int i = 0; i < 6; ++i) elastic(s, "j" + std::to_string(i));
  Request request = asking({{"generations", "9"}});
  std::vector<std::int64_t> told;
  request.progress = [&](std::int64_t made, std::int64_t all) {
    EXPECT_EQ(all, 9);
    told.push_back(made);
    return made < 3;
  };
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    request.backend = backend;
    told.clear();
    const Plan plan = test::valid_plan(ClusterState(s), request);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(plan.iterations, 3);
    EXPECT_EQ(plan.stopped_by, "cancel");
    Request limited = asking();
    limited.max_iterations = plan.iterations;
    PolicyState again, kept;
    test::valid_plan(ClusterState(s), limited, again);
    told.clear();
    test::valid_plan(ClusterState(s), request, kept);
    EXPECT_EQ(again, kept);
  }
}

TEST(Ones, ManyDecisionsAreOneEvolution) {
  Snapshot s = one_node();
  for (int i = 0; i < 6; ++i) elastic(s, "j" + std::to_string(i));
  const ClusterState state(s);
  PolicyState one_by_one, at_once;
  for (int i = 0; i < 5; ++i) test::valid_plan(state, asking(), one_by_one);
  test::valid_plan(state, asking({{"generations", "5"}}), at_once);
  EXPECT_EQ(one_by_one, at_once);
}

TEST(Ones, AnEmptyPopulationOrOneOfAnotherSizeIsNone) {
  Snapshot s = one_node();
  PolicyState of_nobody, of_four, none;
  test::valid_plan(ClusterState(s), asking(), of_nobody);
  for (int i = 0; i < 12; ++i) elastic(s, "j" + std::to_string(i));
  const ClusterState state(s);
  test::valid_plan(state, asking({{"population", "4"}}), of_four);
  of_four.scalars["generation"] = 0;
  for (PolicyState* const kept : {&of_nobody, &of_four, &none}) test::valid_plan(state, asking(), *kept);
  EXPECT_EQ(of_nobody, none);
  EXPECT_EQ(of_four, none);
  EXPECT_NE(none.columns.at("individual/00000"), none.columns.at("individual/00015"));
}

TEST(Ones, AStateOfAnotherClusterDoesNoHarm) {
  Snapshot s = one_node();
  for (int i = 0; i < 4; ++i) seen(elastic(s, "j" + std::to_string(i)), 3);
  seen(runs(s.jobs[0], 2), 3);
  const ClusterState state(s);
  PolicyState kept;
  kept.scalars = {{"generation", INT64_MIN}};
  for (const std::int64_t value : {INT64_MIN, std::int64_t{-1}, INT64_MAX, std::int64_t{5} << 32, (std::int64_t{2} << 32) + 4}) {
    for (const char* name : {"most", "saved", "scheduled", "first", "individual/00000", "individual/00001", "individual/99999"}) {
      for (int i = 0; i < 4; ++i) kept.columns[name]["j" + std::to_string(i)] = value;
    }
    test::valid_plan(state, asking(), kept);
    EXPECT_EQ(kept.columns.count("individual/99999"), 0U);
  }
}

TEST(Ones, APopulationOutlivesGpus) {
  Snapshot s = one_node();
  for (int i = 0; i < 3; ++i) seen(test::run_on(elastic(s, "j" + std::to_string(i)), "n0", {2 * i, 2 * i + 1}), 3).allocation.shape = "2";
  PolicyState kept;
  test::valid_plan(ClusterState(s), asking({{"generations", "5"}}), kept);
  s.jobs.pop_back();
  s.nodes[0].gpus = 4;
  const ClusterState state(s);
  const Plan plan = test::valid_plan(state, asking(), kept);
  EXPECT_EQ(plan.totals.gpus_used, 4);
  for (const auto& [name, column] : kept.columns) EXPECT_EQ(column.count("j2"), 0U) << name;
}

TEST(Ones, WhatIsTooLargeToEvolveIsRefused) {
  Snapshot s = one_node();
  for (int i = 0; i < 129; ++i) elastic(s, "j" + std::to_string(i));
  const ClusterState state(s);
  EXPECT_THROW(test::valid_plan(state, asking({{"population", "65536"}})), InvalidArgument);
  EXPECT_THROW(test::valid_plan(state, asking({{"population", "0"}})), InvalidArgument);
  EXPECT_THROW(test::valid_plan(state, asking({{"mutation", "1.1"}})), InvalidArgument);
}

TEST(Ones, NothingToEvolve) {
  Snapshot none = one_node();
  EXPECT_EQ(test::valid_plan(ClusterState(none), asking()).iterations, 0);
  Snapshot drained = one_node();
  elastic(drained, "a");
  drained.nodes[0].state = NodeState::kDrain;
  EXPECT_EQ(test::valid_plan(ClusterState(drained), asking()).iterations, 0);
  Snapshot pinned = one_node();
  runs(elastic(pinned, "a"), 8).preemption.preemptible = false;
  elastic(pinned, "b");
  EXPECT_EQ(test::valid_plan(ClusterState(pinned), asking()).iterations, 0);
  Snapshot one_gpu = one_node(1);
  elastic(one_gpu, "a");
  elastic(one_gpu, "b");
  const ClusterState state(one_gpu);
  EXPECT_EQ(fate(state, test::valid_plan(state, asking()), "a"), "start 1");
}

}  // namespace
}  // namespace berth::ones_test
