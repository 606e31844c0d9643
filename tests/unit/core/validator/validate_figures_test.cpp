// Figures of a plan that the state determines.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::validate_figures_test {
namespace {

/// Four jobs on 32 GPUs of a cluster of two racks: one keeps 8, one starts on 16, one waits for 16, one requests more
/// than exist.
class ValidateFigures : public ::testing::Test {
 protected:
  static Snapshot cluster() {
    Snapshot s = two_racks();
    s.nodes[3].state = NodeState::kFailed;
    Queue queue;
    queue.id = "q";
    s.queues = {queue, queue};
    s.queues[1].id = "limited";
    s.queues[1].quotas.push_back({"a100", 0, 20, kUnlimited});
    run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7}).shapes[0].rate = 2'000'000;
    add_job(s, "b", 12).shapes[0].rate = 3'000'000;
    add_job(s, "c", 16);
    add_job(s, "d", 64);
    add_job(s, "e", 10);
    for (const std::size_t j : {std::size_t{1}, std::size_t{4}}) s.jobs[j].queue = "limited";
    for (Job& job : s.jobs) job.shapes[0].gpu_type = "a100";
    s.jobs[0].progress.work_total = s.jobs[1].progress.work_total = 600 * kSecond;  // of 1 unit a second
    s.jobs[1].shapes[0].local_batch = 32;
    return s;
  }

  ValidateFigures() : state_(cluster()) {
    Request request;
    request.policy = "fifo";
    request.params = {{"discipline", "greedy"}};
    plan_ = Engine().decide(state_, request);
  }

  Decision& decision(const std::string& job) {
    for (Decision& d : plan_.decisions) {
      if (state_.job(d.job)->id == job) return d;
    }
    throw std::out_of_range(job);
  }
  /// All violations, one per line.
  std::string check() const {
    std::string text;
    for (const std::string& one : validate_plan(state_, plan_)) text += one + "\n";
    return text;
  }

  ClusterState state_;
  Plan plan_;
};

}  // namespace

TEST_F(ValidateFigures, TheEnginesOwnPlanStatesThemRight) {
  EXPECT_EQ(check(), "");
  EXPECT_EQ(decision("a").action, Action::kKeep);
  EXPECT_EQ(decision("b").action, Action::kStart);
  EXPECT_EQ(decision("c").reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(decision("d").action, Action::kReject);
  EXPECT_EQ(decision("e").reason.code, ReasonCode::kQuota);
}

TEST_F(ValidateFigures, TotalsOfGpus) {
  plan_.totals.gpus += 8;
  EXPECT_EQ(check(), "totals: gpus is 32; the cluster has 24 that work\n");
  plan_.totals.gpus -= 8;
  plan_.totals.gpus_used = 21;
  plan_.objective.clear();
  EXPECT_EQ(check(), "totals: gpus_used is 21; the decisions give out 20\n");
}

TEST_F(ValidateFigures, TheObjective) {
  plan_.objective = {{"gpus_used", 19}, {"gpus_free", 5}};
  EXPECT_EQ(check(),
            "objective: gpus_used is 19; the totals have 20\n"
            "objective: gpus_free is 5; 20 of 24 GPUs are in use\n");
}

TEST_F(ValidateFigures, TheRevision) {
  plan_.revision = 57;
  EXPECT_EQ(check(), "the plan is of revision 57; the state has revision " + std::to_string(state_.revision()) + "\n");
}

TEST_F(ValidateFigures, ThePolicyAndItsParameters) {
  plan_.policy = "fif";
  EXPECT_NE(check().find("the plan's policy: unknown policy 'fif'"), std::string::npos) << check();
  plan_.policy = "fifo";
  plan_.params = {{"discipline", "lifo"}};
  EXPECT_NE(check().find("the plan's policy: "), std::string::npos) << check();
  EXPECT_NE(check().find("lifo"), std::string::npos) << check();
}

TEST_F(ValidateFigures, TablesHowFarItCameAndTheProof) {
  plan_.tables ^= 1;
  EXPECT_EQ(check().rfind("the plan was made with the tables ", 0), 0u) << check();
  plan_.tables ^= 1;
  plan_.stopped_by = "fate";
  EXPECT_EQ(check(), "the plan was stopped by 'fate', which is none of: done, iterations, budget, cancel\n");
  plan_.stopped_by = "done";
  plan_.backend = "abacus";
  EXPECT_EQ(check(), "the plan was answered by 'abacus', which is none of: reference, cpu, cuda\n");
  plan_.backend = "cpu";
  plan_.iterations = 6;
  EXPECT_EQ(check(), "the scheduling pass visited 6 jobs of 5\n");
  plan_.iterations = 3;
  plan_.proof = Proof::kInfeasibleCertified;
  EXPECT_EQ(check(), "the plan's proof is infeasible_certified; its decisions make it placed_validated\n");
}

TEST_F(ValidateFigures, RatesBatchesEndsAndCosts) {
  decision("a").rate += 500'000;
  decision("b").rate = 9'000'000;
  decision("c").rate = 1;
  EXPECT_EQ(check(),
            "job a: is predicted to run at 2.5 a second; what it is given makes 2\n"
            "job b: is predicted to run at 9 a second; what it is given makes 3\n"
            "job c: is predicted to run at 0.000001 a second; what it is given makes 0\n");
  decision("a").rate = 2'000'000;
  decision("b").rate = 3'000'000;
  decision("c").rate = 0;
  EXPECT_EQ(check(), "");

  decision("b").local_batch = 31;
  EXPECT_EQ(check(), "job b: is given a local batch of 31; shape s says 32\n");
  decision("b").local_batch = 32;
  decision("b").finish_us += kSecond;
  decision("a").finish_us = kNever;
  EXPECT_EQ(check(),
            "job a: is predicted to end never; at its rate it ends 400 s\n"
            "job b: is predicted to end 301 s; at its rate it ends 300 s\n");
  decision("b").finish_us -= kSecond;
  decision("a").finish_us = 400 * kSecond;
  decision("e").cost_us = 1;
  EXPECT_EQ(check(), "job e: has the action wait at a cost of 0.000001 s; it is 0 s\n");
}

TEST_F(ValidateFigures, IndicesOfAReasonExist) {
  const Reason right = decision("c").reason;
  const auto with = [&](const std::function<void(Reason&)>& change) {
    decision("c").reason = right;
    change(decision("c").reason);
    return check();
  };
  EXPECT_EQ(with([](Reason& r) { r.gpu_type = 2; }), "job c: has a reason about GPU type 2, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.queue = 2; }), "job c: has a reason about queue 2, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.where = 1; }), "job c: has a reason about place 1, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.level = 0, r.where = 4; }), "job c: has a reason about node 4, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.level = 1, r.where = 1000; }), "job c: has a reason about domain 1000, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.level = 7; }), "job c: has a reason about level 7, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.other_job = 99; }), "job c: has a reason about job index 99, which does not exist\n");
  EXPECT_EQ(with([](Reason& r) { r.best = -1; }), "job c: has a reason with asked 16, best -1, missing 12: none of them is negative\n");
}

TEST_F(ValidateFigures, NumbersOfAReasonSayWhatItsCodeSays) {
  Reason& c = decision("c").reason;
  const Reason right = c;
  c.best = 9;  // 24 work, 20 are allocated
  EXPECT_EQ(check(), "job c: has the reason insufficient_gpus and best 9; 4 GPUs are free there\n");
  c = right;
  c.asked = 17;
  EXPECT_EQ(check(), "job c: has the reason insufficient_gpus and asked 17; its largest shape has 16 GPUs\n");
  c.asked = 4;
  c.missing = 0;
  EXPECT_EQ(check(), "job c: has the reason insufficient_gpus, asked 4 and best 4: nothing lacks\n");
  c = right;
  c.missing = 17;
  EXPECT_EQ(check(), "job c: has the reason insufficient_gpus, asked 16 and best 4: 17 cannot be missing\n");
  c = right;
  decision("e").reason.best = 3;
  EXPECT_EQ(check(), "job e: has the reason quota, asked 10 and best 3; the limit of queue limited leaves 8\n");
  decision("e").reason.best = 8;
  decision("c").reason = decision("e").reason;  // which is in no queue
  EXPECT_EQ(check(), "job c: has the reason quota of a queue that it does not stand in\n");
}

TEST_F(ValidateFigures, JobsInTheWayAreThere) {
  Reason& c = decision("c").reason;
  c = {};
  c.code = ReasonCode::kBehind;
  EXPECT_EQ(check(), "job c: has the reason behind without another job\n");
  c.other_job = decision("b").job;
  EXPECT_EQ(check(), "job c: has the reason behind; job b, which it names, has the action start\n");
  c.code = ReasonCode::kNodeFailed;
  EXPECT_EQ(check(), "job c: has the reason node_failed; it lost no GPU\n");
  c.code = ReasonCode::kBudget;
  c.asked = 1;
  EXPECT_NE(check().find("job c: has the reason budget, asked 1 and best 0: that reason has no numbers\n"), std::string::npos) << check();
  c.code = ReasonCode::kDeadlineImpossible;
  c.asked = 0;
  c.until_us = 5 * kSecond;
  EXPECT_EQ(check(),
            "job c: has the action wait and the reason deadline_impossible with an end at 5 s; it has no hard deadline that is out of "
            "reach\n");
  c = {};
  c.code = ReasonCode::kBehind;
  c.other_job = decision("e").job;
  decision("b").reason = c;
  EXPECT_EQ(check(), "job b: has the action start and yet the reason behind\n");
}

}  // namespace berth::test::validate_figures_test
