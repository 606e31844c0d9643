#include "host/sim/base/job_events.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/support/random.hpp"

namespace berth::sim::job_events_test {
namespace {

TEST(JobEvents, FirstIsTheEarliestAndOfOneInstantTheSmallestRank) {
  test::Random random(1);
  JobEvents events;
  std::map<std::int32_t, std::pair<TimeUs, std::int32_t>> want;  // by job index
  for (int step = 0; step < 20'000; ++step) {
    const std::int32_t job = random.below(40);
    if (random.percent(60)) {
      const TimeUs at = random.below(20);
      events.set(at, 100 - job, job);
      want[job] = {at, 100 - job};
    } else {
      events.remove(job);
      want.erase(job);
    }

    ASSERT_EQ(events.next() == kNever, want.empty());
    if (want.empty()) continue;
    std::pair<TimeUs, std::int32_t> least{kNever, 0};
    for (const auto& [_, event] : want) least = std::min(least, event);
    ASSERT_EQ(events.next(), least.first);
    ASSERT_EQ(events.job(), 100 - least.second);
  }
}

}  // namespace
}  // namespace berth::sim::job_events_test
