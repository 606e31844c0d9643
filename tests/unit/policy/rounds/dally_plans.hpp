#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::test {

inline constexpr TimeUs kHour = 3'600 * kSecond;

inline Job gang(const std::string& id, std::int32_t gpus, TimeUs submit) {
  Job job;
  job.id = id;
  job.submit_us = submit;
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = gpus;
  job.progress.work_total = 1'000'000'000'000;
  return job;
}

/// Runs on all GPUs of nodes of 4.
inline Job on(const std::string& id, TimeUs since, const std::vector<std::string>& nodes) {
  Job job = gang(id, static_cast<std::int32_t>(4 * nodes.size()), 0);
  job.state = JobState::kRunning;
  job.last_assignment_us = since;
  job.allocation.shape = "s";
  for (const std::string& node : nodes)
    job.allocation.entries.push_back(
        {"", static_cast<std::int32_t>(4 * job.allocation.entries.size()), node, {0, 1, 2, 3}, kWholeGpu, false});
  return job;
}

/// Plans of a policy of Dally, which are valid and those of the reference. Racks r0 to r3 of two nodes with 4 GPUs each, in two pods. It is
/// 100 h.
class DallyPlans : public ::testing::Test {
 protected:
  DallyPlans() {
    snapshot_ = two_node_racks(4);
    snapshot_.now_us = 100 * kHour;
    request_.policy = "dally";
  }
  Plan decide() {
    const ClusterState state(snapshot_);
    Engine engine;
    Plan plan;
    engine.decide(state, kept_, request_, plan);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    Request reference = request_;
    reference.backend = Backend::kReference;
    Plan same;
    PolicyState before = before_;
    engine.decide(state, before, reference, same);
    EXPECT_TRUE(same_plan(plan, same));
    EXPECT_EQ(before, kept_);
    before_ = kept_;
    return plan;
  }
  // Decisions stand by job rank.
  const Decision& of(const Plan& plan, std::size_t job) const {
    const Job& asked = snapshot_.jobs[job];
    const auto rank = std::count_if(snapshot_.jobs.begin(), snapshot_.jobs.end(), [&](const Job& other) {
      return std::tie(other.submit_us, other.id) < std::tie(asked.submit_us, asked.id);
    });
    return plan.decisions.at(static_cast<std::size_t>(rank));
  }

  Snapshot snapshot_;
  PolicyState kept_, before_;
  Request request_;
};

}  // namespace berth::test
