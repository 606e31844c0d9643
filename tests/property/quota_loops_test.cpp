// Queues with guarantees and fair shares, event after event: no job is displaced in a circle, and none that its queue is entitled to is
// displaced for one that borrows (docs/quotas.md, "Why it ends").

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/params.hpp"
#include "tests/support/queues/lending.hpp"
#include "tests/support/random.hpp"

namespace berth::test::quota_loops_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

Queue random_queue(Random& random, std::string id, const std::string& parent) {
  Queue queue;
  queue.id = std::move(id);
  queue.parent = parent;
  queue.weight_ppm = random.within(1, 4) * 500'000;
  const auto add = [&](const char* type) {
    Quota quota;
    quota.gpu_type = type;
    quota.guarantee = random.within(0, 16);
    if (random.percent(20)) quota.limit = random.within(8, 40);
    if (random.percent(20)) quota.borrowing = random.within(0, 16);
    queue.quotas.push_back(quota);
  };
  const bool of_types = random.percent(40);
  if (!of_types && random.percent(90)) add("*");
  if (of_types || random.percent(30)) add("H");
  if (of_types && random.percent(80)) add("A");
  return queue;
}

Snapshot random_cluster(Random& random) {
  Snapshot s;
  s.now_us = 1000 * kSecond;
  s.gpu_types.resize(2);
  s.gpu_types[0].id = "H";
  s.gpu_types[1].id = "A";
  const std::int32_t nodes = random.within(2, 8);
  for (std::int32_t n = 0; n < nodes; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = random.percent(70) ? "H" : "A";
    node.gpus = random.percent(80) ? 8 : 4;
    s.nodes.push_back(node);
  }
  s.queues = {random_queue(random, "a", ""),   random_queue(random, "b", ""),   random_queue(random, "c", ""),
              random_queue(random, "a1", "a"), random_queue(random, "a2", "a"), random_queue(random, "b1", "b")};
  if (random.percent(50)) {
    for (Queue& queue : s.queues) {
      for (Quota& quota : queue.quotas) {
        if (queue.parent.empty() && random.percent(60)) quota.limit = random.within(8, 40);
      }
    }
    lend_some(random, s.queues, 16);
  }
  return s;
}

Job random_job(Random& random, std::int32_t number, TimeUs now) {
  Job job;
  job.id = "j" + std::to_string(number);
  job.submit_us = now;
  job.queue = random.of<const char*>({"a", "b", "c", "a1", "a2", "b1", "c"});
  job.priority = random.within(0, 3);
  job.preemption.preemption_class = random.within(0, 2);
  job.preemption.preemptible = !random.percent(10);
  if (random.percent(20)) job.preemption.minimum_run_us = random.within(1, 600) * kSecond;
  job.estimate.run_us = random.within(60, 5000) * kSecond;
  Shape shape;
  shape.id = "s";
  shape.gpus = random.of<std::int32_t>({1, 1, 2, 4, 8, 8, 12, 16});
  if (random.percent(60)) shape.gpu_type = random.percent(50) ? "H" : "A";
  if (random.percent(25)) {  // all on one node
    shape.groups.resize(1);
    shape.groups[0].name = "g";
    shape.groups[0].gpus_per_member = shape.gpus = std::min(shape.gpus, 8);
  }
  job.shapes = {shape};
  return job;
}

/// Cores or memory are scarce, or neither.
void state_cores(Random& random, std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    node.cpu_milli = random.within(8, 40) * 1'000;
    node.memory_bytes = random.within(20, 200) * kGib;
  }
}
void ask_for_cores(Random& random, Constraints& of) {
  of.cpu_milli_per_gpu = random.within(0, 4) * 1'000;
  of.memory_bytes_per_gpu = random.within(0, 20) * kGib;
}

/// Jobs that run, those of any GPU type with their first node.
std::string who_runs(const ClusterState& state) {
  std::string text;
  for (const Job& job : state.snapshot().jobs) {
    if (job.state != JobState::kRunning) continue;
    text += job.id + (job.shapes[0].gpu_type.empty() ? '@' + job.allocation.entries[0].node : "") + ' ';
  }
  return text;
}

struct Seen {
  std::int64_t decisions = 0, displaced = 0, reclaimed = 0;
  int most = 0;  // decisions after one event
};

/// Decides until nothing changes. @returns false after a failure
void settle(ClusterState& state, Engine& engine, const Request& request, Seen& seen) {
  std::set<std::string> before{who_runs(state)};
  std::set<std::pair<std::int32_t, std::int32_t>> displaced_by;  // while time stands still
  for (int again = 0;; ++again) {
    const Plan plan = engine.decide(state, request);
    ++seen.decisions;
    seen.most = std::max(seen.most, again + 1);
    seen.displaced += plan.totals.preempts;
    if (plan.totals.preempts > 0) {
      ASSERT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << plan.policy;
    }
    std::map<std::int32_t, const Decision*> of;
    for (const Decision& d : plan.decisions) of[d.job] = &d;
    for (const Decision& d : plan.decisions) {
      if (d.reason.code != ReasonCode::kLostPriority || d.reason.queue < 0) continue;
      ++seen.reclaimed;
      const Decision& by = *of.at(d.reason.other_job);
      ASSERT_NE(by.job, d.job);
      ASSERT_LE(d.reason.best, d.reason.asked);
      // Whoever took the GPUs is not displaced in turn.
      ASSERT_NE(by.action, Action::kPreempt);
      // Nor does the victim take them back. One of several types may, for its claim, if it ran on another type.
      if (state.job(d.job)->shapes[0].gpu_type.empty()) continue;
      displaced_by.emplace(d.job, by.job);
      ASSERT_EQ(displaced_by.count({by.job, d.job}), 0U);
    }
    // A job that may not be displaced, at first or ever, comes first from now on, so that others of its queue fall behind, and its GPUs
    // are out of their reach.
    for (const Decision& d : plan.decisions) {
      const Preemption& stays = state.job(d.job)->preemption;
      if (d.action == Action::kStart && (stays.minimum_run_us > 0 || !stays.preemptible)) displaced_by.clear();
    }
    commit(state, plan);
    if (plan.totals.starts + plan.totals.moves + plan.totals.preempts == 0) return;
    // The same jobs run as before: they went in a circle.
    const bool moved_only = plan.totals.starts + plan.totals.preempts == 0;
    ASSERT_TRUE(before.insert(who_runs(state)).second || moved_only) << "after " << again << " decisions";
    ASSERT_LT(again, 80);
  }
}

void run(const std::string& policy, const std::string& quotas, std::uint64_t seed, int events, Seen& seen) {
  Random random(seed);
  Snapshot cluster = random_cluster(random);
  const bool dominant = quotas == "drf";
  if (dominant) state_cores(random, cluster.nodes);
  ClusterState state(std::move(cluster));
  Engine engine;
  Request request;
  request.policy = policy;
  request.params = {{"quotas", quotas}};
  if (has_param(policy, "discipline")) request.params.emplace_back("discipline", random.of<const char*>({"greedy", "greedy", "easy"}));
  for (int event = 0; event < events; ++event) {
    SCOPED_TRACE(::testing::Message() << policy << ", " << quotas << ", seed " << seed << ", event " << event);
    std::vector<std::string> running, waiting;
    for (const Job& job : state.snapshot().jobs) (job.state == JobState::kRunning ? running : waiting).push_back(job.id);
    if (running.size() + waiting.size() > 30 || (!running.empty() && random.percent(45))) {
      const std::vector<std::string>& ones = running.empty() ? waiting : running;
      state.apply(delta::RemoveJob{random.of(ones), "completed"});
    } else {
      Job job = random_job(random, event, state.now());
      if (dominant) ask_for_cores(random, job.constraints);
      if (policy == "edf") job.deadline.at_us = state.now() + random.within(100, 9000) * kSecond;
      state.apply(delta::PutJob{job});
    }
    state.apply(delta::SetTime{state.now() + random.within(0, 300) * kSecond});
    settle(state, engine, request, seen);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace

// Its log: of each policy the decisions, and most of them after one event; jobs displaced, and those for a queue's quota.
TEST(QuotaLoops, NoJobsAreDisplacedInACircle) {
  Seen all;
  std::printf("%-10s %-11s %9s %5s %9s %9s\n", "policy", "quotas", "decisions", "most", "displaced", "reclaimed");
  for (const char* policy : {"fifo", "sjf", "srtf", "srsf", "las", "priority", "edf"}) {
    for (const char* quotas : {"guarantees", "fair", "drf"}) {
      Seen seen;
      for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        run(policy, quotas, seed, 150, seen);
        if (HasFatalFailure()) return;
      }
      std::printf("%-10s %-11s %9lld %5d %9lld %9lld\n", policy, quotas, static_cast<long long>(seen.decisions), seen.most,
                  static_cast<long long>(seen.displaced), static_cast<long long>(seen.reclaimed));
      all.decisions += seen.decisions;
      all.reclaimed += seen.reclaimed;
    }
  }
  EXPECT_GE(all.decisions, 50'000);
  EXPECT_GT(all.reclaimed, 1'000);
}

}  // namespace berth::test::quota_loops_test
