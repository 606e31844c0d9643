// Classes of waiting jobs while demands come and go.

#include "host/core/kept/waiting_classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::core::waiting_classes_test {
namespace {

using test::Random;
using Kind = std::vector<std::int32_t>;

constexpr std::int32_t kJobs = 300;

/// Each job waits in one class, and each class has the jobs of its kind in order.
void expect_classes(const WaitingClasses& classes, const std::map<std::int32_t, Kind>& kind_of) {
  std::set<std::int32_t> found;
  std::set<Kind> kinds;
  for (std::size_t of = 0; of < classes.size(); ++of) {
    const std::vector<OrderPlace>& jobs = classes.jobs(of);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Kind& kind = kind_of.at(jobs[i].job);
      ASSERT_EQ(classes.queue(of), kind.front());
      ASSERT_EQ(classes.demands(of).front(), kind[2]);
      ASSERT_EQ(classes.class_of()[static_cast<std::size_t>(jobs[i].job)], static_cast<std::int32_t>(of));
      ASSERT_TRUE(i == 0 || jobs[i - 1] < jobs[i]);
      found.insert(jobs[i].job);
    }
    ASSERT_TRUE(jobs.empty() || kinds.insert(kind_of.at(jobs.front().job)).second) << "two classes of one kind";
  }
  ASSERT_EQ(found.size(), kind_of.size());
}

TEST(WaitingClasses, AreAsManyAsWaitWhereThousandsOfDemandsComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    WaitingClasses classes;
    std::map<std::int32_t, Kind> kind_of;
    std::size_t most = 0;  // kinds that wait at once
    for (std::int32_t round = 0; round < 500; ++round) {
      for (std::int32_t i = 0; i < 20; ++i) {
        const std::int32_t job = random.below(kJobs);
        classes.remove(job);
        kind_of.erase(job);
        if (random.percent(60)) continue;
        const Kind kind{random.below(3), 0, random.percent(30) ? random.below(5) : 20 * round + i};
        classes.add(kind, {random.below(1'000), job, job});
        kind_of[job] = kind;
      }
      const std::size_t before = classes.size();
      for (const std::int32_t of : classes.drop_empty()) {
        ASSERT_LT(static_cast<std::size_t>(of), before);
        ASSERT_TRUE(classes.jobs(static_cast<std::size_t>(of)).empty());
      }
      std::set<Kind> kinds;
      for (const auto& [job, kind] : kind_of) kinds.insert(kind);
      most = std::max(most, kinds.size());
      expect_classes(classes, kind_of);
    }
    EXPECT_LE(classes.size(), 2 * most + 100) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::core::waiting_classes_test
