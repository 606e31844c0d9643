// `packing=contention` in loops on scarce uplinks: an engine that has decided before answers like a new one on the snapshot.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "host/sim/generate/generate.hpp"
#include "tests/property/live_loop.hpp"

namespace berth {
namespace {

using test::Loop;
using test::Random;

// All to all, by each GPU and step.
void exchange(Job& job, Random& random) {
  job.profile = {};
  job.profile.kind = ProfileKind::kClosedForm;
  job.profile.unit = "steps";
  job.profile.closed_form.step = {{"", 0, 300'000'000}};
  for (Shape& shape : job.shapes) {
    if (!shape.groups.empty() || shape.share_ppm != kWholeGpu) continue;
    Group group;
    group.name = "all";
    group.members_min = group.members_want = group.members_max = shape.gpus;
    group.communication = {{random.of<CommKind>({CommKind::kEp, CommKind::kDp}), "", std::int64_t{random.within(1, 4)} * 1'000'000'000}};
    shape.groups = {group};
  }
  for (AllocationEntry& entry : job.allocation.entries) {
    if (entry.group.empty()) entry.group = "all";
  }
}

TEST(ContentionLoops, DecideLikeANewEngineOnTheSnapshot) {
  int waits = 0, given_up = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    sim::GenerateOptions o;
    o.nodes = 24;
    o.jobs = 50;
    o.seed = seed;
    o.fabric = sim::Fabric::kTree;
    o.nodes_per_rack = 3;
    o.racks_per_pod = 2;
    o.oversubscription_ppm = {{"rack", 4'000'000}, {"pod", 2'000'000}};
    Snapshot s = sim::generate(o);
    Random random(seed);
    for (Job& job : s.jobs) {
      if (random.percent(70)) exchange(job, random);
    }
    Request request;
    request.policy = random.of<const char*>({"fifo", "srsf", "las", "priority"});
    request.params = {{"packing", "contention"}, {"discipline", random.of<const char*>({"greedy", "greedy", "easy"})}};
    std::vector<Job> newcomers = s.jobs;
    Loop loop(random, request, s, newcomers);
    TimeUs until = kNever;
    for (int step = 0; step < 40; ++step) {
      const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) return;
      waits += static_cast<int>(loop.policy_state.columns.count("contention.waiting_since_us"));
      if (loop.random.percent(80)) commit(loop.state, loop.plan);
      // To the instant at which a gang stops waiting, now and then.
      until = loop.plan.order_until_us;
      if (until != kNever && until > loop.state.now() && loop.random.percent(30)) {
        loop.pass_time(until - loop.state.now());
        ++given_up;
      }
      loop.go_on();
    }
  }
  EXPECT_GT(waits, 40);
  EXPECT_GT(given_up, 20);
}

}  // namespace
}  // namespace berth
