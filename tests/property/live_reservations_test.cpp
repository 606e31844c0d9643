// Plans of changes list how reservations differ. What a scheduler holds by them is what the whole plan reserves.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/property/live_loop.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/random.hpp"

namespace berth::live_reservations_test {
namespace {

using test::Loop;
using test::Random;

Loop reserving_loop(const std::string& policy, const std::string& discipline, std::uint64_t seed) {
  Random random(seed);
  Request request;
  request.policy = policy;
  request.params = {{"discipline", discipline}};
  request.changes_only = true;
  return {std::move(random), std::move(request), test::plain_cluster(seed, 40), test::plain_newcomers(seed)};
}

/// A decision that the scheduler does not read.
void decide_aside(Loop& loop, const Request& request) {
  PolicyState aside;
  Plan plan;
  loop.engine->decide(loop.state, aside, request, plan);
}

void drain_and_return_nodes(Loop& loop) {
  for (const Node& node : loop.state.snapshot().nodes) {
    const NodeState state = loop.random.percent(40) ? NodeState::kDrain : NodeState::kReady;
    loop.apply(delta::SetNodeState{node.id, state, 0});
  }
}

struct Seen {
  std::size_t listed = 0, stood = 0, dropped = 0, repeated = 0;
};

Seen follow(const std::string& policy, const std::string& discipline) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFatalFailure(); ++seed) {
    Loop loop = reserving_loop(policy, discipline, seed);
    for (std::int32_t round = 0; round < 40; ++round) {
      const std::string where = policy + " " + discipline + ", seed " + std::to_string(seed) + ", round " + std::to_string(round);
      switch (loop.random.below(13)) {
        case 0:
        case 1:
          loop.apply(loop.change_and_back().there);
          break;
        case 2: {
          Request other = loop.request;
          other.params[0].second = loop.random.of<const char*>({"easy", "conservative", "greedy"});
          decide_aside(loop, other);
          break;
        }
        case 3:
          decide_aside(loop, loop.request);
          break;
        case 4: {
          const Snapshot s = loop.state.snapshot();
          if (!s.jobs.empty()) loop.apply(delta::PutJob{loop.described_again(loop.random.of(s.jobs))});
          break;
        }
        case 5:  // the job that comes may have the index of the one that leaves
          loop.go_on();
          break;
        case 6:
          drain_and_return_nodes(loop);
          break;
        default:
          loop.pass_time(loop.random.below(200) * kSecond);
          if (loop.random.percent(50)) loop.apply(delta::PutJob{loop.newcomer()});
      }
      loop.request.changes_only = loop.random.percent(90);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) break;
      if (loop.random.percent(60)) commit(loop.state, loop.plan);
    }
    seen.listed += loop.view.listed();
    seen.stood += loop.view.stood();
    seen.dropped += loop.view.dropped();
    seen.repeated += loop.view.repeated();
  }
  return seen;
}

TEST(LiveReservations, DifferencesAddUpToTheWholePlanUnderEasy) {
  for (const char* policy : {"fifo", "priority", "sjf"}) {
    const Seen seen = follow(policy, "easy");
    EXPECT_GT(seen.stood, 100U) << policy;
    EXPECT_GT(seen.dropped, 2U) << policy;
    EXPECT_LT(seen.repeated * 20, seen.listed) << policy << ": of jobs that were described again";
  }
}

TEST(LiveReservations, DifferencesAddUpToTheWholePlanUnderConservative) {
  for (const char* policy : {"fifo", "priority", "sjf"}) {
    const Seen seen = follow(policy, "conservative");
    EXPECT_GT(seen.stood, 1'000U) << policy;
    EXPECT_GT(seen.dropped, 10U) << policy;
    EXPECT_LT(seen.repeated * 20, seen.listed) << policy << ": of jobs that were described again";
  }
}

}  // namespace
}  // namespace berth::live_reservations_test
