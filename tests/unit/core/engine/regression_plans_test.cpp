// What plans of snapshots of data/regressions say. tests/property/legal_snapshots_test.cpp has that each has a valid one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::regression_plans_test {
namespace {

Snapshot regression(const std::string& name) {
  const std::string file = test::source_dir() + "/data/regressions/" + name + ".json";
  return io::parse_snapshot(io::read_file(file), file);
}

Job& named(Snapshot& s, const std::string& id) {
  return *std::find_if(s.jobs.begin(), s.jobs.end(), [&](const Job& job) { return job.id == id; });
}

Plan planned(const ClusterState& state, const std::string& policy, const std::string& param, const std::string& value, PolicyState& kept) {
  Request request;
  request.policy = policy;
  request.params = {{param, value}};
  Plan plan;
  Engine().decide(state, kept, request, plan);
  return plan;
}

const Decision& of(const ClusterState& state, const Plan& plan, const std::string& id) {
  return *std::find_if(plan.decisions.begin(), plan.decisions.end(), [&](const Decision& d) { return state.job(d.job)->id == id; });
}

TEST(RegressionPlans, AReservationBeginsWhenTheGangEndsAtItsNewPlaces) {
  Snapshot slower = regression("reserved_behind_repair");
  // In one rack again: ten times as fast as before.
  Snapshot faster = slower;
  std::swap(faster.nodes[0].domain, faster.nodes[2].domain);
  for (const char* discipline : {"easy", "conservative"}) {
    PolicyState kept;
    const ClusterState far(slower), near(faster);
    EXPECT_EQ(of(far, planned(far, "fifo", "discipline", discipline, kept), "gang").action, Action::kReplace);
    EXPECT_EQ(of(far, planned(far, "fifo", "discipline", discipline, kept), "next").start_us, 1'100 * kSecond) << discipline;
    EXPECT_EQ(of(near, planned(near, "fifo", "discipline", discipline, kept), "next").start_us, 200 * kSecond) << discipline;
  }
}

TEST(RegressionPlans, APromiseCountsARepairedGangAtItsNewPlaces) {
  Snapshot s = regression("reserved_behind_repair");
  named(s, "gang").preemption.preemptible = false;
  const auto promised = [&](TimeUs deadline_us) {
    named(s, "next").deadline = {deadline_us, true, 1, {}};
    const ClusterState state(s);
    PolicyState kept;
    planned(state, "edf-admission", "expected", "0", kept);
    const auto column =
        std::find_if(kept.columns.begin(), kept.columns.end(), [](const auto& one) { return one.first == "promised_end_us"; });
    for (const auto& [id, end] : column->second) {
      if (id == "next") return end;
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(promised(300 * kSecond), -1);
  EXPECT_EQ(promised(1'200 * kSecond), 1'200 * kSecond);
}

TEST(RegressionPlans, TwoSharesOnOneGpuAreAMove) {
  const ClusterState state(regression("shares_on_other_gpus"));
  PolicyState kept;
  const Plan plan = planned(state, "srtf", "discipline", "greedy", kept);
  EXPECT_EQ(of(state, plan, "long").action, Action::kMigrate);
  EXPECT_EQ(of(state, plan, "short").action, Action::kStart);
}

}  // namespace
}  // namespace berth::regression_plans_test
