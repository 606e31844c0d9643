// Decisions under leases: plans of changes of an engine that has decided before are those of a new one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "host/sim/generate/generate.hpp"
#include "tests/property/live_loop.hpp"
#include "tests/support/plain_cluster.hpp"

namespace berth::lease_loops_test {
namespace {

using test::Loop;
using test::Random;

Request any_of_dally(Random& random) {
  Request request;
  request.policy = random.of<const char*>({"dally", "dally", "dally-manual", "dally-nowait", "dally-consolidated"});
  request.changes_only = true;
  request.params.emplace_back("lease_end", random.of<const char*>({"offer", "offer", "move", "keep"}));
  request.params.emplace_back("leases", random.of<const char*>({"own", "own", "common"}));
  request.params.emplace_back("lease_s", random.of<const char*>({"60", "300", "3600"}));
  if (request.policy == "dally-manual") request.params.emplace_back("timers", random.of<const char*>({"1:2", "0.5:never", "4:1:2/8:3:9"}));
  if (request.policy == "dally") request.params.emplace_back("history", random.of<const char*>({"24", "2"}));
  request.params.emplace_back("packing", random.of<const char*>({"topology", "topology", "topology", "count", "emptiest", "consolidate"}));
  request.params.emplace_back("discipline", random.of<const char*>({"greedy", "greedy", "greedy", "greedy", "strict", "easy"}));
  request.params.emplace_back("quotas", random.of<const char*>({"limits", "limits", "limits", "guarantees"}));
  return request;
}

Snapshot any_cluster(Random& random, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 12;
  o.jobs = 20 + random.below(random.percent(50) ? 60 : 200);
  o.seed = seed;
  o.fabric = sim::Fabric::kTree;
  o.nodes_per_rack = 3;
  o.racks_per_pod = 2;
  o.elastic = random.percent(10);
  o.queues = random.percent(60) ? 0 : 3;
  if (random.percent(50)) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 1}};
  if (random.percent(50)) o.workload = sim::Workload::kDally;
  const bool plain = random.percent(80);  // else all jobs are asked in most decisions
  if (plain) o.outage_ppm = 0;
  Snapshot s = sim::generate(o);
  if (plain) {
    s.reservations.clear();
    for (Node& node : s.nodes) {
      node.sharing = false;
      node.available_until_us = kNever;
    }
    test::erase_shared(s.jobs);
  }
  const bool some_wait = random.percent(10);
  for (Job& job : s.jobs) {
    if (random.percent(10)) job.preemption.minimum_run_us = random.below(2'000) * kSecond;
    if (some_wait && random.percent(20)) job.constraints.longest_wait = {{{TopologyKind::kSwitch, "rack"}, 400 * kSecond}};
  }
  return s;
}

// Of some queue, below what its jobs use or above it.
void change_a_limit(Loop& loop) {
  const Snapshot s = loop.state.snapshot();
  if (s.queues.empty()) return;
  Queue queue = loop.random.of(s.queues);
  queue.quotas = {{"*", 0, loop.random.below(40), kUnlimited, kUnlimited}};
  loop.apply(delta::PutQueue{queue});
}

TEST(LeaseLoops, PlansOfChangesAreThoseOfANewEngine) {
  int unchanged = 0, changed_later = 0, decisions = 0, by_heads = 0;
  // BERTH_LOOPS=N: that many.
  const char* const more = std::getenv("BERTH_LOOPS");
  const std::uint64_t loops = more == nullptr ? 300 : std::strtoull(more, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= loops; ++seed) {
    Random random(seed);
    const Request request = any_of_dally(random);
    const Snapshot s = any_cluster(random, seed);
    Loop loop(random, request, s, s.jobs);
    bool was_unchanged = false;
    for (int step = 0; step < 40; ++step) {
      const std::string where = "seed " + std::to_string(seed) + " " + request.policy + ", step " + std::to_string(step);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) return;
      ++decisions;
      by_heads += loop.plan.timing.order_s == 0 ? 1 : 0;  // docs/formats/plan.md
      const bool is_unchanged = loop.plan.decisions.empty();
      unchanged += is_unchanged && was_unchanged ? 1 : 0;
      changed_later += !is_unchanged && was_unchanged ? 1 : 0;
      was_unchanged = is_unchanged;
      if (loop.random.percent(95)) commit(loop.state, loop.plan);
      const TimeUs until = loop.plan.order_until_us;
      if (until != kNever && until > loop.state.now() && loop.random.percent(85)) {
        // To the end of a lease or timer, or a bit before or after it.
        const TimeUs bit = loop.random.percent(20) ? loop.random.below(3) - 1 : 0;
        loop.pass_time(std::max<TimeUs>(0, until - loop.state.now() + bit));
        continue;
      }
      was_unchanged = false;
      loop.go_on();
      if (loop.random.percent(20)) loop.apply(loop.change_and_back().there);
      if (loop.random.percent(20)) change_a_limit(loop);
      // Another policy state, or one that the caller changed.
      if (loop.random.percent(5)) loop.policy_state = {};
      if (loop.random.percent(5)) loop.policy_state.columns["lease_from_us"]["left long ago"] = 7;
      const auto leases = loop.policy_state.columns.find("lease_from_us");
      if (leases != loop.policy_state.columns.end() && loop.random.percent(5)) {
        for (auto& [job, from] : leases->second) {
          if (loop.random.percent(20)) from = std::max<std::int64_t>(0, from - loop.random.below(4'000) * kSecond);
        }
      }
    }
  }
  EXPECT_GT(unchanged, 500);
  EXPECT_GT(changed_later, 50);
  EXPECT_GT(by_heads, decisions / 4);
}

// A job that gives way leaves more GPUs than the job before it takes. Two others of one class, behind it in the order, get them.
TEST(LeaseLoops, JobsOfAClassStartWhereOneGaveWayInThePass) {
  sim::GenerateOptions o;
  o.nodes = 1;
  o.jobs = 60;
  o.seed = 1;
  o.outage_ppm = 0;
  o.queues = 0;
  o.workload = sim::Workload::kDally;
  Snapshot s = sim::generate(o);
  const auto asks = [](std::int32_t gpus) { return [gpus](const Job& job) { return job.shapes.front().gpus == gpus; }; };
  const auto small = std::find_if(s.jobs.begin(), s.jobs.end(), asks(1)), large = std::find_if(s.jobs.begin(), s.jobs.end(), asks(8));
  ASSERT_TRUE(small != s.jobs.end() && large != s.jobs.end());
  const TimeUs hour = 3'600 * kSecond;
  const auto ran = [&](Job job, const std::string& id, std::int64_t part) {
    job = test::as_newcomer(std::move(job), id, s.now_us - 20 * hour);
    job.progress.run_us = part > 0 ? 10 * hour : 0;
    job.progress.work_total = 4'000'000'000'000'000;
    job.progress.work_done = job.progress.work_total / 1'000'000 * part;
    return job;
  };
  const Job first = ran(*small, "first", 0), held_back = ran(*large, "held back", 1);
  Job fast = ran(*small, "fast", 100'000);
  fast.constraints.cpu_milli_per_gpu += 1;  // of another class than the first
  Job faster = fast;
  faster.id = "faster";
  s.reservations.clear();
  s.jobs = {held_back};

  Request request;
  request.policy = "dally-nowait";
  request.changes_only = true;
  request.params = {{"lease_end", "keep"}, {"lease_s", "3600"}};
  test::Loop loop(Random(1), request, s, s.jobs);
  loop.decide("start");
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  commit(loop.state, loop.plan);
  ASSERT_TRUE(loop.apply(std::vector<Delta>{delta::PutJob{first}, delta::PutJob{fast}, delta::PutJob{faster}}));
  for (const char* where : {"in the lease", "at its end"}) {
    loop.decide(where);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    loop.pass_time(hour);
  }
  EXPECT_EQ(loop.plan.totals.preempts, 1);
  EXPECT_EQ(loop.plan.totals.starts, 3);
  EXPECT_EQ(loop.plan.timing.order_s, 0);
}

// The one head starts, and no GPU is left.
TEST(LeaseLoops, AskAnotherJobWhereAllHeadsStart) {
  sim::GenerateOptions o;
  o.nodes = 2;
  o.jobs = 40;
  o.seed = 1;
  o.outage_ppm = 0;
  o.queues = 0;
  Snapshot s = sim::generate(o);
  s.reservations.clear();
  for (Node& node : s.nodes) {
    node.sharing = false;
    node.available_until_us = kNever;
  }
  const auto one = std::find_if(s.jobs.begin(), s.jobs.end(), [](const Job& job) {
    return job.shapes.size() == 1 && job.shapes.front().gpus == 1 && job.shapes.front().share_ppm == kWholeGpu;
  });
  ASSERT_NE(one, s.jobs.end());
  const Job described = *one;
  s.jobs.clear();
  for (int i = 0; i < 40; ++i) {
    s.jobs.push_back(test::as_newcomer(described, "job" + std::to_string(i), s.now_us));
    s.jobs.back().deadline = {};
  }
  Request request;
  request.policy = "dally-nowait";
  request.changes_only = true;
  request.params = {{"quotas", "limits"}};
  test::Loop loop(Random(1), request, s, s.jobs);
  int by_heads = 0;
  for (int step = 0; step < 12; ++step) {
    loop.decide("step " + std::to_string(step));
    if (::testing::Test::HasFatalFailure()) return;
    by_heads += loop.plan.timing.order_s == 0 ? 1 : 0;
    commit(loop.state, loop.plan);
    if (step % 2 == 0) continue;  // an idle decision in between
    const Snapshot now = loop.state.snapshot();
    const auto runs = std::find_if(now.jobs.begin(), now.jobs.end(), [](const Job& job) { return job.state == JobState::kRunning; });
    ASSERT_NE(runs, now.jobs.end());
    ASSERT_TRUE(loop.apply(delta::RemoveJob{runs->id, "completed"}));
  }
  EXPECT_EQ(by_heads, 11);  // all but the first
}

}  // namespace
}  // namespace berth::lease_loops_test
