// The policy ones with a fitted predictor: docs/ones.md, section 8, and docs/predictor.md.
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::ones_model_test {
namespace {

using test::elastic;
using test::fate;

// By accuracy: 100,000 epochs remain at accuracy 0, none at accuracy 1.
const std::string kByAccuracy = "0:0:0:0:-100000:100000";

// One GPU. Both have run three epochs; by their work a ends sooner, by accuracy b.
Snapshot two_waiting() {
  Snapshot s = test::one_node(1);
  for (const char* id : {"a", "b"}) {
    Progress& progress = elastic(s, id, {{1, 1'000'000}}).progress;
    progress.dataset_size = 100;
    progress.samples_done = 300;
    progress.work_done = 300'000'000;
    progress.work_total = *id == 'a' ? 301'000'000 : 300'000'000'000;
    progress.accuracy_ppm = *id == 'a' ? 0 : 1'000'000;
    progress.run_us = 300 * kSecond;
  }
  return s;
}

Request asking(const std::string& model) {
  return test::asking("ones", model.empty() ? std::vector<std::pair<std::string, std::string>>{}
                                            : std::vector<std::pair<std::string, std::string>>{{"model", model}});
}

TEST(OnesModel, SaysHowMuchIsToCome) {
  const ClusterState state(two_waiting());

  EXPECT_EQ(fate(state, test::valid_plan(state, asking("")), "a"), "start 1");
  const Plan plan = test::valid_plan(state, asking(kByAccuracy));
  EXPECT_EQ(fate(state, plan, "a"), "wait");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
}

TEST(OnesModel, APlanRepeatsItselfByItsParameters) {
  const ClusterState state(two_waiting());
  const Plan plan = test::valid_plan(state, asking(kByAccuracy));

  Request again = asking("");
  again.params = plan.params;
  const Plan repeated = test::valid_plan(state, again);

  EXPECT_EQ(repeated.params, plan.params);
  for (const char* id : {"a", "b"}) EXPECT_EQ(fate(state, repeated, id), fate(state, plan, id));
}

// Without the features of the fit the estimate is used.
TEST(OnesModel, IsNotForJobsWithoutADataset) {
  Snapshot s = two_waiting();
  for (Job& job : s.jobs) {
    job.progress.dataset_size = 0;
    job.progress.epochs_done_micro = 3'000'000;
  }
  const ClusterState state(s);

  EXPECT_EQ(fate(state, test::valid_plan(state, asking(kByAccuracy)), "a"), "start 1");
}

TEST(OnesModel, IsTheSameOnEveryBackend) {
  const ClusterState state(two_waiting());
  PolicyState kept[2];
  for (const Backend backend : {Backend::kReference, Backend::kCpu}) {
    Request request = asking("0.5:1.25:-0.75:3:-40:50.125");
    request.backend = backend;
    test::valid_plan(state, request, kept[backend == Backend::kCpu ? 1 : 0]);
  }
  EXPECT_EQ(kept[0], kept[1]);
}

TEST(OnesModel, OfSixNumbersBetweenColonsOnly) {
  const ClusterState state(two_waiting());
  for (const char* good : {"0:0:0:0:0:0", "-1000000:1000000:-0.000001:1.5:0.25:-0"})
    EXPECT_NO_THROW(test::valid_plan(state, asking(good))) << good;
  for (const char* bad : {"1", "1:2:3:4:5", "1:2:3:4:5:6:7", "1:2:3:4:5:", "1,2,3,4,5,6", "1:2:3:4:5:x", "1:2:3:4:5:nan", "1:2:3:4:5:1e3",
                          "1:2:3:4:5:--6", "1:2:3:4:5:1000000.1", "1:2:3:4:5:0.0000001", "@m.json", " "}) {
    EXPECT_THROW(test::valid_plan(state, asking(bad)), InvalidArgument) << bad;
  }
  try {
    test::valid_plan(state, asking("1:2"));
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "policy 'ones': model='1:2': expected 6 decimals between colons, from -1000000 to 1000000 with at most 6 digits after the point");
  }
}

}  // namespace
}  // namespace berth::ones_model_test
