// GPUs out of service in reasons: which of them a waiting job is told about, in what words, and that the validator counts them again.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::unavailable_test {
namespace {

struct Answer {
  Snapshot snapshot;
  ClusterState state;
  Plan plan;
  explicit Answer(const Snapshot& s, const std::string& policy = "fifo") : snapshot(s), state(s) {
    Request request;
    request.policy = policy;
    Engine engine;
    plan = engine.decide(state, request);
  }
  Decision& of(const std::string& job) { return plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job(job)))); }
  std::string text(const std::string& job) {
    const Decision& d = of(job);
    const std::string change = render_would_start_if(state, d.reason, d.job);
    return render_reason(state, d.reason, d.job) + (change.empty() ? "" : "; would start if " + change);
  }
  std::string violations() const {
    const std::vector<std::string> found = validate_plan(state, plan);
    EXPECT_EQ(validate_plan(ClusterState(snapshot), plan), found);  // a state that has not decided, as `berth validate` reads one
    std::string text;
    for (const std::string& one : found) text += one + "\n";
    return text;
  }
};

// Jobs of one type, so that the reason has no word about it.
Snapshot one_type() {
  Snapshot s = two_racks();
  s.gpu_types.pop_back();
  return s;
}

Job& in_one_rack(Job& job, std::int32_t members, std::int32_t gpus) {
  Group group = group_of("w", members, gpus);
  group.require = LevelRef{TopologyKind::kSwitch, "rack"};
  job.shapes[0].groups = {group};
  return job;
}

}  // namespace

TEST(Unavailable, DrainedNodesAreNamed) {
  Snapshot s = one_type();
  add_job(s, "a", 20);
  s.nodes[2].state = s.nodes[3].state = NodeState::kDrain;
  Answer answer(s);
  const Reason& r = answer.of("a").reason;

  EXPECT_EQ(answer.text("a"), "needs 20 GPUs; 16 free after this plan; 16 more are on drained nodes n2, n3");
  EXPECT_EQ(r.drained, 16);
  EXPECT_EQ(r.failed, 0);
  EXPECT_EQ(r.unavailable_nodes, 2);
  EXPECT_EQ(r.unavailable_on, (std::array<std::int32_t, 3>{2, 3, -1}));
  EXPECT_EQ(answer.violations(), "");
}

// What a job holds there when the decision begins is idle after the plan that takes it away.
TEST(Unavailable, DrainedGpusOfPreemptedJobsAreNamed) {
  Snapshot s = one_type();
  s.nodes.resize(2);
  s.nodes[0].state = NodeState::kDrain;
  Job& a = add_job(s, "a", 16);
  run_on(a, "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  run_on(a, "n1", {0, 1, 2, 3, 4, 5, 6, 7});
  a.allocation.entries[1].member = 8;
  add_job(s, "b", 8).preemption.preemption_class = 2;
  add_job(s, "c", 8).preemption.preemption_class = 1;
  s.jobs[1].priority = 9;
  s.jobs[2].priority = 5;
  Answer answer(s, "priority");
  Answer other(s, "priority");
  other.of("c").reason.drained = 0;
  other.of("c").reason.unavailable_nodes = 0;
  other.of("c").reason.unavailable_on = {-1, -1, -1};

  EXPECT_EQ(answer.of("b").action, Action::kStart);
  EXPECT_EQ(answer.of("a").action, Action::kPreempt);
  EXPECT_EQ(answer.text("c"), "needs 8 GPUs; 0 free after this plan; 8 more are on drained node n0; would start if 8 more were free");
  EXPECT_EQ(answer.violations(), "");
  EXPECT_NE(other.violations(), "");
}

TEST(Unavailable, FailedNodesAndSingleGpusAreNamedToo) {
  Snapshot s = one_type();
  add_job(s, "a", 24);
  s.nodes[3].state = NodeState::kFailed;
  for (std::int32_t i = 0; i < 8; ++i) s.nodes[1].gpu_list.push_back({i, i < 2 ? GpuState::kFailed : GpuState::kOk, kNever, -1});
  Answer failed(s);
  s.nodes[0].state = NodeState::kDrain;
  Answer both(s);

  EXPECT_EQ(failed.text("a"), "needs 24 GPUs; 22 free after this plan; 10 more have failed, on nodes n1, n3");
  EXPECT_EQ(both.text("a"), "needs 24 GPUs; 14 free after this plan; 18 more have failed or been drained, on nodes n0, n1, n3");
  EXPECT_EQ(failed.violations() + both.violations(), "");
}

TEST(Unavailable, ALongListOfNodesIsCut) {
  Snapshot s = one_type();
  for (int i = 4; i < 9; ++i) s.nodes.push_back(node_of("n" + std::to_string(i), "p/r1"));
  for (std::size_t n = 1; n < s.nodes.size(); ++n) s.nodes[n].state = NodeState::kDrain;
  add_job(s, "a", 40);
  Answer answer(s);

  EXPECT_EQ(answer.text("a"), "needs 40 GPUs; 8 free after this plan; 64 more are on drained nodes n1, n2, n3 and 5 more");
  EXPECT_EQ(answer.violations(), "");
}

TEST(Unavailable, OnlyWhatTheJobCouldUseCounts) {
  Snapshot s = one_type();
  s.nodes[0].labels = s.nodes[3].labels = {{"disk", "fast"}};
  s.nodes[2].state = s.nodes[3].state = NodeState::kDrain;
  s.nodes[2].gpus = 4;
  Job& keeps = add_job(s, "k", 3);  // on a drained node: its GPUs are in use
  run_on(keeps, "n3", {0, 1, 2});
  keeps.preemption.preemptible = false;
  add_job(s, "l", 10).constraints.labels = {{"disk", {"fast"}}};
  add_job(s, "m", 24).shapes[0].groups = {group_of("w", 3, 8)};
  Answer answer(s, "srsf");

  EXPECT_EQ(answer.text("l"), "needs 10 GPUs; 8 free after this plan on nodes that it may use, 16 in all; 5 more are on drained node n3");
  EXPECT_EQ(answer.text("m"),
            "needs 24 GPUs as 3 members of 8 GPUs, each on one node; 16 free after this plan; 5 more are on drained node n3");
  EXPECT_EQ(answer.violations(), "");
}

TEST(Unavailable, OfAGangInOneRackThatRackCounts) {
  Snapshot s = one_type();
  s.nodes[1].state = s.nodes[3].state = NodeState::kDrain;
  Job& taken = add_job(s, "a", 2);
  run_on(taken, "n2", {0, 1});
  in_one_rack(add_job(s, "b", 12), 12, 1);
  Answer answer(s);

  EXPECT_EQ(answer.text("b"), "needs 12 GPUs in one rack; best rack has 8 left: r0; 8 more are on drained node n1");
  EXPECT_EQ(answer.violations(), "");
}

// The best rack of those that work has nothing out of service: another would do if it returned.
TEST(Unavailable, AnotherRackThatWouldDoIsNamed) {
  Snapshot s = one_type();
  s.nodes[2].state = s.nodes[3].state = NodeState::kFailed;
  Job& taken = add_job(s, "a", 6);
  run_on(taken, "n0", {0, 1, 2, 3, 4, 5});
  in_one_rack(add_job(s, "b", 12), 12, 1);
  Answer answer(s);

  EXPECT_EQ(
      answer.text("b"),
      "needs 12 GPUs in one rack; best rack has 10 left: r0; 16 more have failed, on nodes n2, n3; would start if 2 more were free in r0");
  EXPECT_EQ(answer.violations(), "");
}

TEST(Unavailable, AJobThatLostItsGpusIsShownWhich) {
  Snapshot s = one_type();
  Job& job = add_job(s, "a", 16);
  run_on(job, "n1", {0, 1, 2, 3, 4, 5, 6, 7});
  run_on(job, "n2", {0, 1, 2, 3, 4, 5, 6, 7});
  job.shapes[0].groups = {};
  job.allocation.entries[1].member = 8;
  s.nodes[2].state = NodeState::kFailed;
  s.nodes[0].state = s.nodes[3].state = NodeState::kDrain;
  Answer answer(s);

  EXPECT_EQ(answer.of("a").reason.code, ReasonCode::kNodeFailed);
  EXPECT_EQ(answer.text("a"), "8 of its 16 GPUs failed, on node n2, and no free GPUs could replace them");
  EXPECT_EQ(answer.violations(), "");
}

TEST(Unavailable, WhereNothingIsOutOfServiceNothingIsSaid) {
  Snapshot s = one_type();
  Job& job = add_job(s, "a", 8);
  run_on(job, "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  add_job(s, "b", 26);
  Answer answer(s);

  EXPECT_EQ(answer.text("b"), "needs 26 GPUs; 24 free after this plan; would start if 2 more were free");
}

TEST(Unavailable, IsInThePlanFileAndReadBack) {
  Snapshot s = one_type();
  add_job(s, "a", 20);
  s.nodes[2].state = NodeState::kFailed;
  s.nodes[3].state = NodeState::kDrain;
  Answer answer(s);
  const std::string json = io::to_json(answer.plan, answer.state, false);

  EXPECT_NE(json.find(R"("unavailable":{"drained":8,"failed":8,"node_count":2,"nodes":["n2","n3"]})"), std::string::npos) << json;
  EXPECT_TRUE(same_plan(io::parse_plan(json, answer.state, "plan"), answer.plan));
}

TEST(Unavailable, TheValidatorCountsAgain) {
  Snapshot s = one_type();
  add_job(s, "a", 20);
  s.nodes[2].state = s.nodes[3].state = NodeState::kDrain;
  const auto with = [&](const std::function<void(Reason&)>& change) {
    Answer answer(s);
    change(answer.of("a").reason);
    return answer.violations();
  };

  EXPECT_EQ(with([](Reason& r) { r.drained = 15; }),
            "job a: has a reason with 15 drained and 0 failed GPUs on 2 nodes; there are 16 and 0 on 2 nodes\n");
  EXPECT_EQ(with([](Reason& r) {
              r.drained = 0;
              r.unavailable_nodes = 0;
              r.unavailable_on = {-1, -1, -1};
            }),
            "job a: has a reason with 0 drained and 0 failed GPUs on 0 nodes; there are 16 and 0 on 2 nodes\n");
  EXPECT_EQ(with([](Reason& r) {
              r.unavailable_on = {0, 2, -1};
            }),
            "job a: has a reason with GPUs out of service on node n0; there are none that it may use, or the nodes are not ascending\n");
  EXPECT_EQ(with([](Reason& r) {
              r.unavailable_on = {2, -1, -1};
            }),
            "job a: has a reason with 16 drained and 0 failed GPUs on 2 nodes, 1 of which it lists\n");
}

}  // namespace berth::test::unavailable_test
