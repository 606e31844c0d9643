// What queues have and are entitled to, kept up job by job, is what is found from the whole state.

#include "host/core/quota/queue_balance.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "tests/support/queues/lending.hpp"
#include "tests/support/random.hpp"

namespace berth::test::queue_balance_test {
namespace {

Queue balanced_queue(Random& random, const std::string& id, const std::string& parent) {
  Queue queue;
  queue.id = id;
  queue.parent = parent;
  queue.weight_ppm = random.within(1, 4) * 500'000;
  for (const char* type : {"*", "H"}) {
    if (random.percent(40)) continue;
    queue.quotas.push_back({type, random.within(0, 12), random.percent(20) ? random.within(4, 20) : kUnlimited, kUnlimited});
  }
  return queue;
}

const std::vector<std::pair<std::string, std::string>> kTree{{"a", ""}, {"b", ""}, {"a1", "a"}, {"a2", "a"}, {"a21", "a2"}};

Snapshot balanced_cluster(Random& random) {
  Snapshot s;
  for (const char* type : {"H", "A"}) s.gpu_types.emplace_back().id = type;
  for (int n = 0; n < 4; ++n) {
    Node node;
    node.id = fmt::format("n{}", n);
    node.gpu_type = n < 2 ? "H" : "A";
    node.gpus = 8;
    s.nodes.push_back(node);
  }
  for (const auto& [id, parent] : kTree) s.queues.push_back(balanced_queue(random, id, parent));
  if (random.percent(50)) lend_some(random, s.queues, 12);
  return s;
}

Job balanced_job(Random& random, int number, TimeUs now) {
  Job job;
  job.id = fmt::format("j{}", number);
  job.submit_us = now;
  job.queue = random.of<const char*>({"a", "b", "a1", "a2", "a21", ""});
  job.estimate.run_us = random.within(60, 5000) * kSecond;
  Shape shape;
  shape.id = "s";
  shape.gpus = random.of<std::int32_t>({1, 2, 4, 8, 12});
  if (random.percent(60)) shape.gpu_type = random.percent(50) ? "H" : "A";
  job.shapes = {shape};
  return job;
}

std::string rows_of(const ClusterState& state, const core::QueueBalance& balance) {
  std::string text;
  for (std::size_t q = 0; q < kTree.size(); ++q) {
    const core::QueueBalance::Row& row = balance.row(static_cast<std::int32_t>(q));
    text += fmt::format("{} {} {} {}; ", StateView(state).queues()[q].id, row.has, row.guaranteed, row.fair);
  }
  return text;
}

std::string rows_of(const ClusterState& state) {
  std::string text;
  for (const auto& row : core::queue_standings(state, nullptr)) {
    if (row.gpu_type >= 0) continue;
    text += fmt::format("{} {} {} {}; ", StateView(state).queues()[static_cast<std::size_t>(row.queue)].id, row.has, row.entitled,
                        row.fair_share);
  }
  return text;
}

void run_balanced(const std::string& policy, std::uint64_t seed) {
  Random random(seed);
  ClusterState state(balanced_cluster(random));
  Engine engine;
  Request request;
  request.policy = policy;
  request.params = {{"quotas", random.of<const char*>({"guarantees", "fair", "limits"})}};
  core::QueueBalance balance;
  balance.begin(state);
  std::vector<std::string> there;
  for (int event = 0; event < 60; ++event) {
    const TimeUs now = (event + 1) * 100 * kSecond;
    state.apply(delta::SetTime{now});
    const int kind = random.within(0, 9);
    if (kind < 6 || there.empty()) {
      const Job job = balanced_job(random, event, now);
      there.push_back(job.id);
      state.apply(delta::PutJob{job});
      balance.put(state, state.find_job(job.id));
    } else if (kind < 8) {
      const std::size_t at = static_cast<std::size_t>(random.within(0, static_cast<std::int32_t>(there.size()) - 1));
      balance.remove(state.find_job(there[at]));
      state.apply(delta::RemoveJob{there[at], "completed"});
      there.erase(there.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (kind == 8) {
      const auto& [id, parent] = kTree[static_cast<std::size_t>(random.within(0, 4))];
      state.apply(delta::PutQueue{balanced_queue(random, id, parent)});
      balance.begin(state);
    } else {
      state.apply(delta::SetNodeState{"n1", random.percent(50) ? NodeState::kDrain : NodeState::kReady, 0});
    }
    balance.divide(state);
    ASSERT_EQ(rows_of(state, balance), rows_of(state)) << policy << " " << seed << " event " << event;
    const Plan plan = engine.decide(state, request);
    commit(state, plan);
    for (const Decision& d : plan.decisions) {
      if (d.action != Action::kKeep && d.action != Action::kWait) balance.put(state, d.job);
    }
    balance.divide(state);
    ASSERT_EQ(rows_of(state, balance), rows_of(state)) << policy << " " << seed << " decision " << event;
  }
}

}  // namespace

TEST(QueueBalance, KeptUpItIsThatOfTheWholeState) {
  for (const char* policy : {"fifo", "srsf"}) {
    for (std::uint64_t seed = 1; seed <= 40 && !::testing::Test::HasFatalFailure(); ++seed) run_balanced(policy, seed);
  }
}

}  // namespace berth::test::queue_balance_test
