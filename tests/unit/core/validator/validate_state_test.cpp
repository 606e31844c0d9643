// Validator, reasons and certificates through the public interface, on a live state.
#include <gtest/gtest.h>

#include "berth/engine.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::validate_state_test {
namespace {

// "a" holds four GPUs of r0's n0 and six of r1's n2; "b" requests 14 in one rack, "c" more than exist.
Snapshot contended() {
  Snapshot s = two_racks();
  Job& a = add_job(s, "a", 10);
  run_on(a, "n0", {0, 1, 2, 3});
  run_on(a, "n2", {0, 1, 2, 3, 4, 5});
  a.allocation.entries[1].member = 4;
  Group gang = group_of("w", 14, 1);
  gang.require = LevelRef{TopologyKind::kSwitch, "rack"};
  Job& b = add_job(s, "b", 14);
  b.shapes[0].groups = {gang};
  add_job(s, "c", 33);
  return s;
}

const Decision& of(const ClusterState& state, const Plan& plan, const std::string& job) {
  return plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job(job))));
}

Plan decided(const ClusterState& state) {
  Request request;
  request.policy = "fifo";
  Engine engine;
  return engine.decide(state, request);
}

}  // namespace

TEST(ValidateState, ReasonReadsAsPromised) {
  const ClusterState state(contended());
  const Plan plan = decided(state);
  const Decision& b = of(state, plan, "b");

  EXPECT_EQ(b.action, Action::kWait);
  EXPECT_EQ(render_reason(state, b.reason, b.job), "needs 14 GPUs of one type (such as a100) in one rack; best rack has 12 left: r0");
  EXPECT_EQ(render_would_start_if(state, b.reason, b.job), "2 more were free there");
}

TEST(ValidateState, CertificateOfTheColumnsHoldsOnTheDescriptions) {
  const ClusterState state(contended());
  const Plan plan = decided(state);
  const Decision& c = of(state, plan, "c");
  Reason tampered = c.reason;
  tampered.best = 16;

  EXPECT_EQ(c.action, Action::kReject);
  EXPECT_EQ(render_reason(state, c.reason, c.job), "needs 33 GPUs of one type (such as a100); the cluster has 32");
  EXPECT_TRUE(check_certificate(state, c.reason, c.job));
  EXPECT_FALSE(check_certificate(state, c.reason, state.find_job("b")));
  EXPECT_FALSE(check_certificate(state, tampered, c.job));
}

TEST(ValidateState, PlanOfTheEngineIsValidAndABrokenOneIsNot) {
  const ClusterState state(contended());
  Plan plan = decided(state);

  EXPECT_TRUE(validate_plan(state, plan).empty());
  plan.entries.at(0).gpus = 0xf0;
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{"job a: is kept with other GPUs than it holds"});
}

TEST(ValidateState, ChangesOfTheStateAreSeen) {
  ClusterState state(contended());
  const Plan plan = decided(state);

  state.apply(delta::SetNodeState{"n0", NodeState::kFailed, 0});

  EXPECT_EQ(
      validate_plan(state, plan),
      (std::vector<std::string>{"job a: is kept on GPU 0 of node n0, which does not work",
                                "totals: gpus is 32; the cluster has 24 that work", "the plan is of revision 1; the state has revision 2",
                                "job b: has the reason topology_required and best 12; 8 GPUs are free there"}));
}

}  // namespace berth::test::validate_state_test
