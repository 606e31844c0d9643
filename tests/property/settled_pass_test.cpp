// A preemptive scheduling pass leaves nothing to do for the next one: docs/placement.md, section 6, "Order".
// Whoever waits then waits for jobs before it, not for those behind it.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <string>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/base/names.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/random.hpp"

namespace berth::settled_pass_test {
namespace {

/// A full cluster of flat gangs that may all be displaced.
Snapshot full_cluster(test::Random& random, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = random.within(1, 12);
  o.gpus_per_node = random.of<std::int32_t>({4, 8});
  o.nodes_per_rack = 3;
  o.jobs = random.within(5, 60);
  o.workload = random.of<sim::Workload>({sim::Workload::kPhilly, sim::Workload::kHelios, sim::Workload::kPai});
  o.seed = seed;
  Snapshot s = sim::generate(o);
  for (Job& job : s.jobs) {
    job.preemption = {};
    job.deadline = {};
    job.time_limit_us = kNever;
    // Everybody's rank changes: short jobs and long ones run.
    job.estimate.run_us = random.within(1, 1000) * kSecond;
    job.progress.run_us = 0;
    job.progress.attained_gpu_us = random.within(0, 40'000) * kSecond;
  }
  return s;
}

std::string changes(const Plan& plan, const ClusterState& state) {
  std::string text;
  for (const Decision& d : plan.decisions) {
    if (d.action == Action::kKeep || d.action == Action::kWait || d.action == Action::kReject) continue;
    text += fmt::format("{} {}; ", core::name(d.action), state.job(d.job)->id);
  }
  return text;
}

}  // namespace

TEST(SettledPass, TheNextDecisionChangesNothing) {
  std::map<Action, std::int64_t> seen;
  std::int64_t by_displaced = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    ClusterState state(full_cluster(random, seed));
    Request request;
    request.policy = random.of<const char*>({"srtf", "srsf", "las"});
    // With guarantees a job that is displaced may block others, and come behind them once it waits.
    request.params = {{"packing", random.of<const char*>({"topology", "count"})},
                      {"discipline", random.of<const char*>({"greedy", "strict"})},
                      {"quotas", "limits"}};
    const Plan first = Engine().decide(state, request);
    for (const Decision& d : first.decisions) {
      ++seen[d.action];
      if (d.reason.code == ReasonCode::kLostPriority) {
        const Decision& by = first.decisions[static_cast<std::size_t>(state.job_rank(d.reason.other_job))];
        by_displaced += by.action == Action::kMigrate ? 1 : 0;
      }
    }
    commit(state, first);

    const Plan second = Engine().decide(state, request);

    ASSERT_EQ(changes(second, state), "") << "seed " << seed << ' ' << request.policy << ' ' << request.params[0].second << ' '
                                          << request.params[1].second << "; first: " << changes(first, state);
  }
  EXPECT_GT(seen[Action::kMigrate], 0);
  EXPECT_GT(seen[Action::kPreempt], 0);
  EXPECT_GT(by_displaced, 0);
}

}  // namespace berth::settled_pass_test
