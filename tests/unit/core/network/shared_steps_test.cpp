#include "host/core/network/shared_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/core/network/network_support.hpp"

namespace berth::core::shared_steps_test {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

class SharedStepsTest : public ::testing::Test {
 protected:
  SharedStepsTest() : state_(test::two_node_racks(4)), links_(state_), steps_(links_) {}
  std::vector<std::int32_t> settled() {
    const std::span<const std::int32_t> changed = steps_.settle();
    return {changed.begin(), changed.end()};
  }
  using Jobs = std::vector<std::int32_t>;

  ClusterState state_;
  NetworkLinks links_;  // each of a node: 10 GB a second
  SharedSteps steps_;
};

TEST_F(SharedStepsTest, AGangAloneIsNotSlowed) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}}, 2'000'000'000, 1'000'000);
  EXPECT_EQ(settled(), Jobs{});
  EXPECT_EQ(steps_.speed_ppm(0), 1'000'000);
}

// A step of 1 s that has none of its communication lasts 2 s alone.
TEST_F(SharedStepsTest, CommunicationThatTheStepDoesNotHaveIsAdded) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}}, 1'000'000'000, 1'000'000, 0);
  EXPECT_EQ(settled(), Jobs{0});
  EXPECT_EQ(steps_.speed_ppm(0), 500'000);
}

// 1 s of computing, half of a second of hops, 1 s of sending.
TEST_F(SharedStepsTest, LatencyIsAdded) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}}, 1'000'000'000, 1'000'000, 0, 500'000'000);
  settled();
  EXPECT_EQ(steps_.speed_ppm(0), 400'000);
}

// A measured step has it.
TEST_F(SharedStepsTest, LatencyOfAMeasuredStepIsNotAdded) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}}, 2'000'000'000, 1'000'000, SharedSteps::kAlone, 500'000'000);
  EXPECT_EQ(settled(), Jobs{});
  EXPECT_EQ(steps_.speed_ppm(0), 1'000'000);
}

// Hops use no link: S = 1 + d, d = S / (1 + S) as below, where half of the second is computing and half of it hops.
TEST_F(SharedStepsTest, GangsSendNothingWhileTheyWaitForHops) {
  for (std::int32_t job = 0; job < 2; ++job) {
    steps_.add(job, std::vector<LinkBytes>{{0, 10 * kGB}}, 500'000'000, 1'000'000, 0, 500'000'000);
  }
  settled();
  EXPECT_NEAR(static_cast<double>(steps_.speed_ppm(0)), 0.5e6 / (1 + (1 + std::sqrt(5.0)) / 2), 1.5);
}

// N = 1 + d, d = N / (1 + N): N is the golden ratio, a step lasts 1 + N instead of 2.
TEST_F(SharedStepsTest, TwoGangsThatSendHalfOfTheTime) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}}, 2'000'000'000, 1'000'000);
  steps_.add(1, std::vector<LinkBytes>{{0, 10 * kGB}}, 2'000'000'000, 1'000'000);
  EXPECT_EQ(settled(), (Jobs{0, 1}));
  EXPECT_NEAR(static_cast<double>(steps_.speed_ppm(0)), 2e6 / (1 + (1 + std::sqrt(5.0)) / 2), 1.5);
  EXPECT_EQ(steps_.speed_ppm(0), steps_.speed_ppm(1));
  steps_.remove(0);
  EXPECT_EQ(settled(), Jobs{1});
  EXPECT_EQ(steps_.speed_ppm(1), 1'000'000);
}

TEST_F(SharedStepsTest, GangsThatAlwaysSendShareALinkEvenly) {
  for (std::int32_t job = 0; job < 4; ++job) steps_.add(job, std::vector<LinkBytes>{{0, 10 * kGB}}, 1'000'000'000, 1'000'000);
  settled();
  for (std::int32_t job = 0; job < 4; ++job) EXPECT_EQ(steps_.speed_ppm(job), 250'000);
}

TEST_F(SharedStepsTest, HiddenCommunicationCostsNothing) {
  for (std::int32_t job = 0; job < 2; ++job) steps_.add(job, std::vector<LinkBytes>{{0, 10 * kGB}}, 2'000'000'000, 0);
  EXPECT_EQ(settled(), Jobs{});
}

TEST_F(SharedStepsTest, OnlyGangsThatShareLinksAreLookedAt) {
  steps_.add(0, std::vector<LinkBytes>{{0, 10 * kGB}, {1, 10 * kGB}}, 2'000'000'000, 1'000'000);
  steps_.add(1, std::vector<LinkBytes>{{2, 10 * kGB}, {3, 10 * kGB}}, 2'000'000'000, 1'000'000);
  EXPECT_EQ(settled(), Jobs{});
  steps_.add(2, std::vector<LinkBytes>{{1, 10 * kGB}, {4, 10 * kGB}}, 2'000'000'000, 1'000'000);
  EXPECT_EQ(settled(), (Jobs{0, 2}));
  EXPECT_EQ(steps_.speed_ppm(1), 1'000'000);
}

// The same iteration without sparse rows, from its definition, over all gangs.
class PlainSteps {
 public:
  struct Gang {
    std::map<std::int32_t, double> needs;
    double step = 1, exposed = 1;
  };
  std::map<std::int32_t, Gang> gangs;

  std::map<std::int32_t, std::int64_t> speeds() const {
    std::map<std::int32_t, double> sends, lasts;
    for (const auto& [job, gang] : gangs) sends[job] = std::min(1.0, alone(gang) / gang.step);
    for (int round = 0; round < 20'000; ++round) {
      for (const auto& [job, gang] : gangs) {
        lasts[job] = alone(gang);
        for (const auto& [link, needs] : gang.needs) {
          double others = 0;
          for (const auto& [other, there] : gangs) others += other != job && there.needs.count(link) != 0 ? sends[other] : 0;
          lasts[job] = std::max(lasts[job], needs * (1 + others));
        }
      }
      for (const auto& [job, gang] : gangs) sends[job] = std::min(1.0, lasts[job] / step(gang, lasts[job]));
    }
    std::map<std::int32_t, std::int64_t> speeds;
    for (const auto& [job, gang] : gangs) speeds[job] = std::max<std::int64_t>(1, std::llround(1e6 * gang.step / step(gang, lasts[job])));
    return speeds;
  }

 private:
  static double alone(const Gang& gang) {
    double most = 0;
    for (const auto& [link, needs] : gang.needs) most = std::max(most, needs);
    return most;
  }
  static double step(const Gang& gang, double lasts) { return gang.step + gang.exposed * (lasts - alone(gang)); }
};

// Gangs come and go at random. Speeds are those of the definition, and exactly those where all come at once.
TEST_F(SharedStepsTest, SpeedsFollowFromTheGangsThatAreThere) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  struct One {
    std::vector<LinkBytes> rows;
    std::int64_t step_ns, exposed_ppm;
  };
  std::map<std::int32_t, One> there;
  std::map<std::int32_t, std::int64_t> before;
  int slowed = 0;
  for (int change = 0; change < 60; ++change) {
    for (int times = 0; times < 2; ++times) {
      const auto job = static_cast<std::int32_t>(below(10));
      if (there.erase(job) != 0) {
        steps_.remove(job);
        before.erase(job);
        continue;
      }
      One one;
      std::int64_t longest = 0;
      for (std::int32_t link = 0; link < 8; ++link) {
        if (below(3) != 0) continue;
        one.rows.push_back({link, (1 + below(100)) * kGB / 10});
        longest = std::max(longest, one.rows.back().bytes / 10);
      }
      one.step_ns = longest + 1 + below(4'000'000'000);
      one.exposed_ppm = 250'000 * below(5);
      steps_.add(job, one.rows, one.step_ns, one.exposed_ppm);
      there[job] = one;
      before[job] = 1'000'000;
    }
    const Jobs changed = settled();
    PlainSteps plain;
    SharedSteps fresh(links_);
    for (auto one = there.rbegin(); one != there.rend(); ++one) {
      fresh.add(one->first, one->second.rows, one->second.step_ns, one->second.exposed_ppm);
      PlainSteps::Gang& gang = plain.gangs[one->first];
      gang.step = static_cast<double>(one->second.step_ns) * 1e-9;
      gang.exposed = static_cast<double>(one->second.exposed_ppm) * 1e-6;
      for (const LinkBytes& row : one->second.rows) gang.needs[row.link] = static_cast<double>(row.bytes) / 1e10;
    }
    fresh.settle();
    for (const auto& [job, speed] : plain.speeds()) {
      EXPECT_NEAR(static_cast<double>(steps_.speed_ppm(job)), static_cast<double>(speed), 30) << change << " " << job;
      EXPECT_EQ(steps_.speed_ppm(job), fresh.speed_ppm(job)) << change << " " << job;
      EXPECT_EQ(std::binary_search(changed.begin(), changed.end(), job), before[job] != steps_.speed_ppm(job)) << change << " " << job;
      before[job] = steps_.speed_ppm(job);
      slowed += speed < 900'000 ? 1 : 0;
    }
  }
  EXPECT_GT(slowed, 50);
}

}  // namespace
}  // namespace berth::core::shared_steps_test
