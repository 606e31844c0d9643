// No policy that chooses shapes leaves a GPU idle that a job could use at a gain larger than the cost of the change.
// All jobs are on one node, so that places never stand in the way.

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/params.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth {
namespace {

constexpr std::int32_t kNode = 64;
constexpr std::int64_t kHours = 3600;

// Jobs of hours, known, estimated, outlived or unknown. Some run on the first GPUs.
Snapshot random_jobs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  Snapshot s = test::one_node(kNode);
  std::int32_t used = 0;
  for (std::int64_t j = 0, jobs = 1 + below(16); j < jobs; ++j) {
    test::GpuRates rates;
    std::int64_t rate = 1'000'000;
    for (std::int32_t gpus = 1; gpus <= 32; gpus *= 2) {
      rates.emplace_back(gpus, rate);
      rate += rate * below(100) / 100;
    }
    Job& job = test::elastic(s, "j" + std::to_string(j), rates);
    job.costs.restart_us = 30 * kSecond;
    const std::int64_t known = below(4);
    if (known == 0) job.progress.work_total = (2 + below(50)) * kHours * 1'000'000;
    if (known == 1) job.estimate.run_us = (2 + below(50)) * kHours * kSecond;
    if (known == 2) job.estimate.run_us = 60 * kSecond;
    const auto held = static_cast<std::int32_t>(std::int64_t{1} << below(5));
    if (below(2) == 0 || used + held > kNode) continue;
    std::vector<std::int32_t> gpus;
    for (std::int32_t g = 0; g < held; ++g) gpus.push_back(used++);
    test::run_on(job, "n0", gpus).allocation.shape = std::to_string(held);
    job.progress.run_us = (1 + below(20)) * kHours * kSecond;
    job.progress.attained_gpu_us = job.progress.run_us * held;
  }
  return s;
}

std::int64_t rate_on(const Job& job, std::int32_t gpus) {
  for (const Shape& shape : job.shapes) {
    if (shape.gpus == gpus) return shape.rate;
  }
  return 0;
}

// What could be used and is not: "" where nothing is.
std::string idle_in(const ClusterState& state, const Plan& plan) {
  std::int32_t idle = kNode;
  std::vector<std::int32_t> held(plan.decisions.size());
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const Decision& d = plan.decisions[i];
    for (std::int32_t e = d.entry_begin; runs_now(d.action) && e < d.entry_end; ++e) {
      held[i] += std::popcount(plan.entries[static_cast<std::size_t>(e)].gpus);
    }
    idle -= held[i];
  }
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const Job& job = *state.job(plan.decisions[i].job);
    const bool changes = job.state == JobState::kRunning;
    for (const Shape& shape : job.shapes) {
      if (shape.gpus <= held[i] || shape.gpus > held[i] + idle) continue;
      // A change of 30 s is worth it where it saves a quarter of hours.
      const std::int64_t now = rate_on(job, held[i]), then = shape.rate;
      if (held[i] == 0 || (changes ? then > now + now / 4 : then > now)) {
        return job.id + " has " + std::to_string(held[i]) + " GPUs, " + std::to_string(idle) + " are idle";
      }
    }
  }
  return "";
}

class WorkConservation : public ::testing::TestWithParam<std::string> {};

TEST_P(WorkConservation, NoGpuIsIdleThatAJobCouldUse) {
  const core::PolicyEntry& entry = core::find_policy(GetParam());
  Request request = test::asking(GetParam(), test::short_search(GetParam()));
  std::int32_t found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ClusterState state(random_jobs(seed));
    request.seed = seed;
    const std::string idle = idle_in(state, Engine().decide(state, request));
    if (idle.empty()) continue;
    ++found;
    EXPECT_NE(entry.leaves_idle, nullptr) << "seed " << seed << ": " << idle;
  }
  // An exception that is named is one.
  EXPECT_EQ(found > 0, entry.leaves_idle != nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, WorkConservation, ::testing::ValuesIn(test::shape_policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth
