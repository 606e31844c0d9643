#include "host/sim/base/slot_events.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "tests/support/random.hpp"

namespace berth::sim {
namespace {

TEST(SlotEvents, FirstIsTheEarliestAndOfOneInstantTheSmallestRank) {
  test::Random random(1);
  SlotEvents events;
  std::map<std::int32_t, std::pair<TimeUs, std::int32_t>> want;  // by job index
  for (int step = 0; step < 20'000; ++step) {
    const std::int32_t slot = random.below(40);
    if (random.percent(60)) {
      const TimeUs at = random.below(20);
      events.set(at, 100 - slot, slot);
      want[slot] = {at, 100 - slot};
    } else {
      events.remove(slot);
      want.erase(slot);
    }

    ASSERT_EQ(events.next() == kNever, want.empty());
    if (want.empty()) continue;
    std::pair<TimeUs, std::int32_t> least{kNever, 0};
    for (const auto& [_, event] : want) least = std::min(least, event);
    ASSERT_EQ(events.next(), least.first);
    ASSERT_EQ(events.slot(), 100 - least.second);
  }
}

}  // namespace
}  // namespace berth::sim
