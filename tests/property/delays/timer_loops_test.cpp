// `timers` of any policy in loops: an engine that has decided before answers like a new one on the snapshot.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "host/sim/generate/generate.hpp"
#include "tests/property/live_loop.hpp"
#include "tests/support/policy_jobs.hpp"

namespace berth::timer_loops_test {
namespace {

using test::Loop;
using test::Random;

TEST(TimerLoops, DecideLikeANewEngineOnTheSnapshot) {
  int waits = 0, went_on = 0, tuned = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    sim::GenerateOptions o;
    o.nodes = 24;
    o.jobs = 50;
    o.seed = seed;
    o.elastic = random.percent(50);
    o.fabric = sim::Fabric::kTree;
    o.nodes_per_rack = 3;
    o.racks_per_pod = 2;
    if (random.percent(50)) o.queues = 0;
    Snapshot s = sim::generate(o);
    for (Job& job : s.jobs) {
      if (random.percent(20))
        job.constraints.longest_wait = {
            {{TopologyKind::kSwitch, random.of<const char*>({"node", "rack", "pod"})}, random.within(0, 900) * kSecond}};
    }
    Request request;
    request.policy = random.of<const char*>(
        {"fifo", "srsf", "las", "priority", "themis", "tiresias", "edf-admission", "price", "optimus", "gavel-las", "dally"});
    request.params = test::short_search(request.policy);
    if (request.policy != "dally") {
      request.params.emplace_back("timers", random.of<const char*>({"tuned", "1:2", "0.5:never", "never", "0:1"}));
      request.params.emplace_back("timer_unit_s", random.of<const char*>({"60", "1", "3600"}));
    }
    if (test::has_param(request.policy, "discipline"))
      request.params.emplace_back("discipline", random.of<const char*>({"greedy", "greedy", "easy", "conservative", "strict"}));
    request.params.emplace_back("packing", random.of<const char*>({"topology", "topology", "count", "emptiest", "consolidate"}));
    std::vector<Job> newcomers = s.jobs;
    Loop loop(random, request, s, newcomers);
    for (int step = 0; step < 30; ++step) {
      const std::string where = "seed " + std::to_string(seed) + " " + request.policy + ", step " + std::to_string(step);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) return;
      for (const Decision& d : loop.plan.decisions) waits += d.reason.code == ReasonCode::kDelayTimer ? 1 : 0;
      for (const auto& [column, rows] : loop.policy_state.columns) tuned += column.rfind("waits_us", 0) == 0 && !rows.empty() ? 1 : 0;
      if (loop.random.percent(80)) commit(loop.state, loop.plan);
      // To the instant at which a timer runs out, now and then.
      const TimeUs until = loop.plan.order_until_us;
      if (until != kNever && until > loop.state.now() && loop.random.percent(30)) {
        loop.pass_time(until - loop.state.now());
        ++went_on;
      }
      loop.go_on();
    }
  }
  EXPECT_GT(waits, 250);
  EXPECT_GT(went_on, 50);
  EXPECT_GT(tuned, 20);
}

}  // namespace
}  // namespace berth::timer_loops_test
