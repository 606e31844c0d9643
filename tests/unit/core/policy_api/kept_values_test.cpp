// An engine that has decided before caches values of options; it must decide like a fresh one.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "berth/state.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::kept_values_test {
namespace {

Job& trained(Job& job) {
  for (Shape& shape : job.shapes) shape.local_batch = 32;
  job.progress.grad_sqr_micro = 1'000'000;
  job.progress.grad_var_micro = 3'000'000;
  job.progress.work_total = 20'000'000'000;
  job.costs.restart_us = 100 * kSecond;
  job.deadline.at_us = 23'600 * kSecond;  // as requested it takes 20,000 s
  return job;
}

// Five shapes per job, on a node of 8 GPUs and on half of another.
Snapshot three_jobs() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpus = 4;
  s.gpu_types.resize(1);
  for (const char* id : {"a", "b", "c"}) trained(test::elastic(s, id));
  s.jobs[2].shapes[3].rate = 5'500'000;
  return s;
}

std::vector<Request> requests() {
  std::vector<Request> all;
  for (const char* objective : {"goodput", "throughput", "cost", "flow_time", "sruf", "sia", "finish_time_fairness"}) {
    all.push_back(test::asking("price", {{"objective", objective}}));
  }
  all.push_back(test::asking("price", {{"power", "1"}}));
  all.push_back(test::asking("price", {{"horizon_s", "7200"}}));
  all.push_back(test::asking("price", {{"terms", "restart,tardiness"}, {"horizon_s", "7200"}}));
  all.push_back(test::asking("price", {{"terms", "none"}}));
  all.push_back(test::asking("sia"));
  all.push_back(test::asking("afs"));
  return all;
}

class KeptValues : public ::testing::Test {
 protected:
  void expect_same(const std::string& when) {
    const std::vector<Request> all = requests();
    kept_.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Plan from_scratch = Engine{}.decide(state, all[i]);
      EXPECT_TRUE(same_plan(kept_[i].decide(state, all[i]), from_scratch)) << when << ", request " << i;
      EXPECT_TRUE(same_plan(busy_.decide(state, all[i]), from_scratch)) << when << ", asked by turns, request " << i;
    }
  }
  void happens(const std::string& what, const std::vector<Delta>& deltas) {
    state.apply(deltas);
    expect_same(what);
    state.apply(std::vector<Delta>{delta::SetTime{state.now() + 60 * kSecond}});
    expect_same("a minute after: " + what);
  }
  const Job& job(const char* id) const { return *state.job(state.find_job(id)); }
  Delta start(const char* id, const char* node, std::int32_t gpus) const {
    Snapshot s;
    const Job running = test::runs(test::elastic(s, id), gpus, node);
    return delta::StartJob{id, running.allocation};
  }

  ClusterState state{three_jobs()};

 private:
  std::vector<Engine> kept_;
  Engine busy_;
};

TEST_F(KeptValues, AreThoseOfTheStateAtHand) {
  happens("nothing", {});
  Progress progress = job("a").progress;
  progress.grad_var_micro = 300'000'000;
  happens("a larger batch pays", {delta::SetProgress{"a", progress}});
  Job heavy = job("b");
  heavy.weight_ppm = 5'000'000;
  happens("b weighs more", {delta::PutJob{heavy}});
  happens("a and b start", {start("a", "n0", 4), start("b", "n1", 2)});
  happens("a node fails", {delta::SetNodeState{"n0", NodeState::kFailed, 0}});
  happens("it is back", {delta::SetNodeState{"n0", NodeState::kReady, 0}});
  happens("b stops", {delta::StopJob{"b"}});
  happens("b ends", {delta::RemoveJob{"b", "completed"}});
  Snapshot s;
  Job other = trained(test::elastic(s, "d", {{1, 2'000'000}, {2, 2'100'000}, {4, 2'200'000}, {8, 2'300'000}}));
  other.submit_us = state.now();
  happens("another has its index", {delta::PutJob{other}});
}

// It costs a restart once it has run.
TEST_F(KeptValues, AJobWhoseNodeFailsAsItStartsHasNothingToRestart) {
  state.apply(std::vector<Delta>{start("a", "n0", 8), delta::SetNodeState{"n0", NodeState::kFailed, 0}});
  expect_same("at once");
  happens("later", {});
}

// Only the option in which it ran changes.
TEST_F(KeptValues, AJobThatLosesItsGpusRunsInNoOptionAnyMore) {
  Snapshot s;
  Job small = trained(test::elastic(s, "a", {{1, 1'000'000}, {2, 1'900'000}, {4, 3'400'000}}));
  small.weight_ppm = 100'000'000;  // it takes 4 GPUs, on any nodes
  state.apply(std::vector<Delta>{delta::PutJob{small}});
  happens("it starts, and no job leaves room to repair it", {start("a", "n0", 4), start("b", "n1", 4)});
  happens("its node fails", {delta::SetNodeState{"n0", NodeState::kFailed, 0}});
}

// Versions count the changes of one state only.
TEST_F(KeptValues, OfAnotherStateAreForgotten) {
  Snapshot s = three_jobs();
  s.jobs[0].weight_ppm = 5'000'000;
  const ClusterState other(std::move(s));
  const Request request = test::asking("price");
  Engine engine;
  for (const ClusterState* one : std::initializer_list<const ClusterState*>{&state, &other, &state}) {
    EXPECT_TRUE(same_plan(engine.decide(*one, request), Engine{}.decide(*one, request)));
  }
}

}  // namespace
}  // namespace berth::kept_values_test
