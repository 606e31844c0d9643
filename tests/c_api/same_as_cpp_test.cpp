// Decisions read from C equal those from C++, for every policy, on generated clusters, with deltas between.
#include <berth.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/params.hpp"

namespace berth::same_as_cpp_test {
namespace {

class SameAsCpp : public ::testing::TestWithParam<std::string> {
 protected:
  static void expect_same_plans(bool changes_only);
};

void SameAsCpp::expect_same_plans(bool changes_only) {
  sim::GenerateOptions o;
  o.nodes = 24;
  o.jobs = 120;
  o.seed = 11;
  o.workload = sim::Workload::kHelios;
  const std::string json = io::to_json(sim::generate(o));
  ClusterState state = io::parse_state(json);
  Engine engine;
  PolicyState memory;
  Request request;
  request.policy = GetParam();
  request.params = test::short_search(GetParam());
  request.changes_only = changes_only;

  berth_state* c_state = nullptr;
  berth_engine* c_engine = nullptr;
  berth_plan* c_plan = nullptr;
  berth_policy_state* c_memory = nullptr;
  ASSERT_EQ(berth_state_from_json(json.data(), json.size(), nullptr, &c_state, nullptr), BERTH_OK);
  ASSERT_EQ(berth_engine_create(&c_engine, nullptr), BERTH_OK);
  ASSERT_EQ(berth_plan_create(&c_plan, nullptr), BERTH_OK);
  ASSERT_EQ(berth_policy_state_create(&c_memory, nullptr), BERTH_OK);
  berth_request c_request{};
  c_request.struct_size = sizeof c_request;
  c_request.policy = GetParam().c_str();
  c_request.changes_only = changes_only ? 1 : 0;
  std::vector<std::string> params;
  std::vector<const char*> given;
  for (const auto& [name, value] : request.params) params.push_back(name + "=" + value);
  for (const std::string& one : params) given.push_back(one.c_str());
  c_request.n_params = given.size();
  c_request.params.strings = given.empty() ? nullptr : given.data();

  for (int round = 0; round < 4; ++round) {
    Plan plan;
    engine.decide(state, memory, request, plan);
    ASSERT_EQ(berth_decide(c_engine, c_state, c_memory, &c_request, c_plan, nullptr), BERTH_OK) << berth_last_error();
    char* text = nullptr;
    ASSERT_EQ(berth_plan_to_json(c_plan, c_state, 0, &text, nullptr, nullptr), BERTH_OK);
    EXPECT_EQ(std::string(text), io::to_json(plan, state, false));
    berth_free(text);

    berth_plan_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(berth_plan_get_info(c_plan, &info, nullptr), BERTH_OK);
    ASSERT_EQ(info.changes_only, changes_only ? 1 : 0);
    ASSERT_EQ(info.n_decisions, plan.decisions.size());
    ASSERT_EQ(info.reservations_since, plan.reservations_since);
    std::vector<std::int32_t> dropped(plan.reservations_dropped.size());
    ASSERT_EQ(info.n_reservations_dropped, dropped.size());
    ASSERT_EQ(berth_plan_reservations_dropped(c_plan, 0, dropped.size(), dropped.data(), nullptr), BERTH_OK);
    ASSERT_EQ(dropped, plan.reservations_dropped);

    const std::size_t n = plan.decisions.size();
    std::vector<std::int32_t> job(n), action(n), reason(n);
    std::vector<std::int64_t> finish(n), asked(n);
    berth_decisions columns{};
    columns.struct_size = sizeof columns;
    columns.job = job.data();
    columns.action = action.data();
    columns.reason = reason.data();
    columns.finish_us = finish.data();
    columns.asked = asked.data();
    ASSERT_EQ(berth_plan_decisions(c_plan, 0, n, &columns, nullptr), BERTH_OK);
    for (std::size_t i = 0; i < n; ++i) {
      const Decision& d = plan.decisions[i];
      ASSERT_EQ(job[i], d.job);
      ASSERT_EQ(action[i], static_cast<std::int32_t>(d.action));
      ASSERT_EQ(reason[i], static_cast<std::int32_t>(d.reason.code));
      ASSERT_EQ(finish[i], d.finish_us);
      ASSERT_EQ(asked[i], d.reason.asked);
    }

    commit(state, plan);
    ASSERT_EQ(berth_commit(c_state, c_plan, nullptr, nullptr), BERTH_OK);
    const TimeUs later = state.now() + 600 * kSecond;
    state.apply(delta::SetTime{later});
    const std::int32_t kind = BERTH_SET_TIME;
    berth_deltas deltas{};
    deltas.struct_size = sizeof deltas;
    deltas.n = 1;
    deltas.kind = &kind;
    deltas.time_us = &later;
    std::uint64_t revision = 0;
    ASSERT_EQ(berth_state_apply(c_state, &deltas, &revision, nullptr), BERTH_OK);
    EXPECT_EQ(revision, state.revision());
  }
  berth_plan_destroy(&c_plan, nullptr);
  berth_policy_state_destroy(&c_memory, nullptr);
  berth_engine_destroy(&c_engine, nullptr);
  berth_state_destroy(&c_state, nullptr);
}

TEST_P(SameAsCpp, PlanByPlan) { expect_same_plans(false); }
TEST_P(SameAsCpp, PlanOfChangesByPlanOfChanges) { expect_same_plans(true); }

INSTANTIATE_TEST_SUITE_P(Policies, SameAsCpp, ::testing::ValuesIn(test::policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

// The enumerators of berth.h equal those of the C++ headers.
static_assert(BERTH_REASON_BUDGET == static_cast<int>(ReasonCode::kBudget) && BERTH_REASON_BEHIND == static_cast<int>(ReasonCode::kBehind));
static_assert(BERTH_ACTION_RESERVE == static_cast<int>(Action::kReserve) && BERTH_ACTION_WAIT == static_cast<int>(Action::kWait));
static_assert(BERTH_PROOF_BUDGET_EXHAUSTED == static_cast<int>(Proof::kBudgetExhausted));
static_assert(BERTH_BACKEND_CUDA == static_cast<int>(Backend::kCuda) && BERTH_TOPOLOGYS == kTopologyKinds);
static_assert(BERTH_NODE_RELEASING == static_cast<int>(NodeState::kReleasing) &&
              BERTH_GPU_RELEASING == static_cast<int>(GpuState::kReleasing));
static_assert(BERTH_JOB_BATCH_INFERENCE == static_cast<int>(JobKind::kBatchInference) && BERTH_NEVER == kNever);

}  // namespace
}  // namespace berth::same_as_cpp_test
