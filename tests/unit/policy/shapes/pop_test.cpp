// The parts by hand: objective throughput, speeds 1, 1.9, 3.4 and 5 on 1, 2, 4 and 8 GPUs.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/backend/backend.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/choice.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::pop_test {
namespace {

using test::add_job;
using test::elastic;
using test::fate;
using test::one_node;

Plan plan_of(const ClusterState& state, const std::string& k, std::uint64_t seed = 0) {
  Request request = test::asking("pop", {{"k", k}, {"objective", "throughput"}});
  request.seed = seed;
  return test::valid_plan(state, request);
}

TEST(PopPolicy, EachPartHasItsShareOfTheGpus) {
  Snapshot s = one_node();
  elastic(s, "a").weight_ppm = 3'000'000;
  elastic(s, "b");
  const ClusterState state(s);

  // 8 GPUs for a and none for b have the value 3 x 5; 4 for each 4 x 3.4 = 13.6.
  EXPECT_EQ(fate(state, plan_of(state, "1"), "a"), "start 8");
  const Plan halves = plan_of(state, "2");
  EXPECT_EQ(fate(state, halves, "a"), "start 4");
  EXPECT_EQ(fate(state, halves, "b"), "start 4");
  EXPECT_EQ(halves.bound.value, 13'600'000);
  EXPECT_EQ(halves.bound.bound, plan_of(state, "1").bound.bound);  // of the whole
}

TEST(PopPolicy, WhatIsOverGoesToTheFirstParts) {
  Snapshot s = one_node(5);
  for (const char* id : {"a", "b", "c"}) elastic(s, id, {{1, 1'000'000}, {2, 1'900'000}});
  const ClusterState state(s);

  const Plan plan = plan_of(state, "3");

  std::multiset<std::string> fates;
  for (const char* id : {"a", "b", "c"}) fates.insert(fate(state, plan, id));
  EXPECT_EQ(fates, (std::multiset<std::string>{"start 1", "start 2", "start 2"}));
}

TEST(PopPolicy, ThereAreNoMorePartsThanJobs) {
  Snapshot s = one_node();
  elastic(s, "a");
  const ClusterState state(s);

  EXPECT_EQ(fate(state, plan_of(state, "4096"), "a"), "start 8");
  EXPECT_EQ(plan_of(ClusterState(one_node()), "7").bound.bound, 0);
}

TEST(PopPolicy, AJobLargerThanItsPartStartsOnWhatIsLeft) {
  Snapshot s = one_node();
  add_job(s, "a", 6).shapes[0].rate = 6'000'000;
  elastic(s, "b", {{1, 1'000'000}});
  const ClusterState state(s);

  const Plan plan = plan_of(state, "2");

  EXPECT_EQ(fate(state, plan, "a"), "start s");
  EXPECT_EQ(fate(state, plan, "b"), "start 1");
}

// Two parts of 4 GPUs, weights 3, 3, 1 and 1: a part has both heavy jobs and runs one of them, or each part has one.
TEST(PopPolicy, TheSeedDealsTheJobs) {
  Snapshot s = one_node();
  for (const char* id : {"a", "b"}) elastic(s, id, {{4, 1'000'000}}).weight_ppm = 3'000'000;
  for (const char* id : {"c", "d"}) elastic(s, id, {{4, 1'000'000}});
  const ClusterState state(s);

  std::set<std::int64_t> values;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan plan = plan_of(state, "2", seed);
    values.insert(plan.bound.value);
    // A job without room in its part would pay the prices of the whole: it is not outbid.
    for (const Decision& d : plan.decisions) {
      if (d.action != Action::kWait) continue;
      const bool heavy = state.job(d.job)->weight_ppm == 3'000'000;
      EXPECT_EQ(d.reason.code, heavy ? ReasonCode::kInsufficientGpus : ReasonCode::kOutbid);
    }
    EXPECT_TRUE(same_plan(plan, plan_of(state, "2", seed)));
  }

  EXPECT_EQ(values, (std::set<std::int64_t>{4'000'000, 6'000'000}));
}

// Under `goodput` the first choice finds places in these clusters, so that price does not choose again.
TEST(PopPolicy, OnePartIsTheFirstChoiceOfPrice) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    sim::GenerateOptions o;
    o.nodes = 12;
    o.jobs = 60;
    o.seed = seed;
    o.elastic = true;
    if (seed % 2 == 0) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 2}};
    const ClusterState state(sim::generate(o));
    Engine engine;
    PolicyState kept, kept_by_price;
    Plan plan, by_price;
    Request request;
    request.seed = seed;
    for (int round = 0; round < 2; ++round) {
      request.policy = "pop";
      request.params = {{"k", "1"}, {"objective", "goodput"}, {"quotas", "limits"}};
      engine.decide(state, kept, request, plan);
      request.policy = "price";
      request.params = {{"objective", "goodput"}, {"quotas", "limits"}};
      engine.decide(state, kept_by_price, request, by_price);
      plan.policy = "price";
      plan.params = by_price.params;
      EXPECT_TRUE(same_plan(plan, by_price)) << "seed " << seed << ", round " << round;
      EXPECT_EQ(kept.scalars, kept_by_price.scalars);
    }
  }
}

// A backend that only records its requests, and gives every job its last option.
class Looks final : public core::PlacementBackend {
 public:
  const char* name() const override { return "looks"; }
  void place(const kernel::ProblemView&, const core::PlaceTask&, const kernel::PlaceResult&) override {}
  void place_batch(const kernel::ProblemView&, std::span<const core::PlaceTask>, std::span<const kernel::PlaceResult>) override {}
  void score(const kernel::ProblemView&, const kernel::ScoreQuery&, kernel::CandidateRow*) override {}
  void price(std::span<const core::PriceTask> tasks, std::span<const kernel::PriceResult> results) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const kernel::PriceView& part = tasks[i].problem;
      for (std::int32_t j = 0; j < part.n_jobs; ++j) {
        for (std::int32_t k = part.option_begin[j]; k < part.option_begin[j + 1]; ++k) {
          EXPECT_LE(part.gpus[k], part.capacity[part.type[k]]);
          ++options;
        }
        results[i].option[j] = part.option_begin[j + 1] - part.option_begin[j] - 1;
      }
    }
  }
  void ones(const core::OnesTask&, const kernel::OnesResult&) override {}
  void plan_search(const core::PlanSearchTask&, const kernel::PlanSearchResult&) override {}
  void replay(const kernel::ReplayView&, std::span<const core::ReplayTask>, std::span<const kernel::ReplayResult>) override {}
  void delay_replay(const kernel::DelayReplayView&, std::span<const core::DelayReplayTask>,
                    std::span<const kernel::DelayReplayResult>) override {}
  void contend(const kernel::ContendView&, const kernel::ContendRequest&, const kernel::ContendResult&) override {}
  void victims(const kernel::ProblemView&, const kernel::VictimsRequest&, const kernel::VictimsResult&) override {}
  int options = 0;
};

// Two parts of 4 GPUs. The fourth option of each job is the last that fits its part.
TEST(PopPolicy, APartIsNotAskedForWhatItHasNoRoomFor) {
  const test::ChoiceProblem whole(
      {8}, {{{0, 8, 50}, {0, 1, 10}, {0, 5, 40}, {0, 4, 34}}, {{0, 5, 40}, {0, 2, 19}, {0, 1, 10}, {0, 4, 34}}, {{0, 6, 60}}});
  const StateImpl state;
  const PolicyState kept;
  Looks backend;
  std::vector<std::int32_t> chosen(3, -7);

  core::find_policy("pop").shapes({{"k", "2"}})->choose({state, kept, whole.view(), {}, {}, {}, 0, 0, nullptr}, backend, chosen);

  EXPECT_EQ(backend.options, 5);
  EXPECT_EQ(chosen, (std::vector<std::int32_t>{3, 3, -1}));
}

TEST(PopPolicy, BadNumbersOfPartsAreRefused) {
  const ClusterState state(one_node());
  for (const char* bad : {"0", "-1", "4097", "1.5", "", "k"}) {
    EXPECT_THROW(Engine().decide(state, test::asking("pop", {{"k", bad}})), InvalidArgument) << bad;
  }
}

// A part has no GPU of the type of which there is one: the job on it is not chosen, and finds the same GPU again.
TEST(PopPolicy, AJobThatFindsItsOwnGpusAgainKeepsThem) {
  Snapshot s = test::two_types();
  s.jobs.clear();
  s.nodes[1].gpus = 1;
  for (const std::int32_t gpu : {2, 4, 7}) {
    Job& job = add_job(s, "a" + std::to_string(gpu), 1);
    job.shapes[0].gpu_type = "a100";
    test::run_on(job, "n0", {gpu}).allocation.shape = job.shapes[0].id;
  }
  Job& b = add_job(s, "b", 1);
  b.shapes[0].gpu_type = "h100";
  test::run_on(b, "n1", {0}).allocation.shape = b.shapes[0].id;
  const ClusterState state(s);

  const Plan plan = test::valid_plan(state, test::asking("pop"));

  EXPECT_EQ(plan.totals.moves, 0);
  EXPECT_EQ(plan.totals.keeps, 4);
  EXPECT_EQ(fate(state, plan, "b").substr(0, 4), "keep");
}

}  // namespace
}  // namespace berth::pop_test
