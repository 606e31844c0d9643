#include "host/sim/counts/gpu_timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::sim::gpu_timeline_test {
namespace {

using Set = std::vector<std::uint64_t>;

constexpr TimeUs kEnd = 80;  // nothing changes from then on

/// The same, instant by instant and GPU by GPU.
struct Instants {
  std::vector<std::vector<bool>> free = std::vector<std::vector<bool>>(kEnd + 1);  // [instants][GPUs]

  static TimeUs end(TimeUs from, TimeUs run) { return run == kNever || from + run > kEnd ? kEnd + 1 : from + run; }
  Set throughout(TimeUs from, TimeUs run) const {
    Set set((free[0].size() + 63) / 64);
    for (std::size_t g = 0; g < free[0].size(); ++g) {
      bool all = true;
      for (TimeUs at = from; at < end(from, run); ++at) all = all && free[static_cast<std::size_t>(at)][g];
      if (all) set[g / 64] |= std::uint64_t{1} << (g % 64);
    }
    return set;
  }
  void put(TimeUs from, TimeUs run, const Set& gpus, bool to) {
    for (TimeUs at = from; at < end(from, run); ++at) {
      for (std::size_t g = 0; g < free[0].size(); ++g) {
        if ((gpus[g / 64] >> (g % 64) & 1) != 0) free[static_cast<std::size_t>(at)][g] = to;
      }
    }
  }
};

std::int64_t count(const Set& set) {
  std::int64_t n = 0;
  for (const std::uint64_t word : set) n += std::popcount(word);
  return n;
}

Set some_of(test::Random& random, const Set& set, std::int64_t n) {
  Set some(set.size());
  while (count(some) < n) {
    const auto g = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(64 * set.size())));
    some[g / 64] |= set[g / 64] & (std::uint64_t{1} << (g % 64));
  }
  return some;
}

/// GPUs of running jobs come free one after the other.
void begin(test::Random& random, GpuTimeline& timeline, Instants& want, std::size_t gpus) {
  Set rest((gpus + 63) / 64), none = rest;
  for (std::size_t g = 0; g < gpus; ++g) rest[g / 64] |= std::uint64_t{1} << (g % 64);
  for (auto& row : want.free) row.assign(gpus, false);
  TimeUs at = 0;
  for (bool first = true; count(rest) > 0 && random.percent(90); first = false) {
    const Set some = some_of(random, rest, random.within(1, static_cast<std::int32_t>(count(rest))));
    first ? timeline.begin(0, some) : timeline.release(at, some);
    want.put(at, kNever, some, true);
    for (std::size_t w = 0; w < rest.size(); ++w) rest[w] &= ~some[w];
    at += random.within(0, 9);
    if (first) at = std::max<TimeUs>(at, 1);
  }
  if (count(rest) == static_cast<std::int64_t>(gpus)) timeline.begin(0, none);
}

}  // namespace

TEST(GpuTimeline, FindsTheFirstStartInWhichTheSameGpusAreFreeThroughout) {
  GpuTimeline timeline(2);
  timeline.begin(0, Set{1});
  timeline.release(30, Set{2});
  timeline.reserve(20, 10, Set{1});
  Set free(1);

  EXPECT_EQ(timeline.find(1, 20, 0, free), 0);
  EXPECT_EQ(timeline.find(1, 21, 0, free), 30);
  EXPECT_EQ(free, Set{3});
  EXPECT_EQ(timeline.find(2, 1, 0, free), 30);
  EXPECT_EQ(timeline.find(3, 1, 0, free), kNever);
}

TEST(GpuTimeline, IsTheOneInstantByInstant) {
  std::int64_t later = 0, never = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    const auto gpus = static_cast<std::size_t>(random.within(1, random.of<std::int32_t>({8, 150})));
    GpuTimeline timeline(static_cast<std::int64_t>(gpus));
    Instants want;
    begin(random, timeline, want, gpus);
    TimeUs now = 0;
    for (int job = 0; job < 60; ++job) {
      if (random.percent(10)) timeline.advance(now += random.within(0, 2));
      const std::int64_t n = random.within(1, random.percent(50) ? 3 : static_cast<std::int32_t>(gpus));
      const TimeUs run = random.percent(5) ? kNever : random.within(1, 20), from = now + (random.percent(20) ? random.within(0, 9) : 0);
      Set free(timeline.words());

      const TimeUs start = timeline.find(n, run, from, free);

      TimeUs first = from;
      while (first <= kEnd && count(want.throughout(first, run)) < n) ++first;
      ASSERT_EQ(start, first > kEnd ? kNever : first) << "seed " << seed;
      never += start == kNever ? 1 : 0;
      if (start == kNever || (run != kNever && start + run >= kEnd)) continue;
      later += start > from ? 1 : 0;
      ASSERT_EQ(free, want.throughout(start, run)) << "seed " << seed;
      const Set some = some_of(random, free, n);
      ASSERT_TRUE(timeline.is_free(start, run, some));
      timeline.reserve(start, run, some);
      want.put(start, run, some, false);
      ASSERT_FALSE(timeline.is_free(start, run, some));
      std::vector<GpuTimeline::Room> room;
      timeline.room(now, room);
      ASSERT_EQ(room.back().until, kNever);
      for (const GpuTimeline::Room& step : room) {
        if (step.until != kNever) {
          ASSERT_EQ(step.gpus, count(want.throughout(now, step.until - now))) << "seed " << seed;
          ASSERT_GT(step.gpus, count(want.throughout(now, step.until - now + 1))) << "seed " << seed;
        } else {
          ASSERT_EQ(step.gpus, count(want.throughout(now, kNever))) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(later, 1000);
  EXPECT_GT(never, 100);
}

}  // namespace berth::sim::gpu_timeline_test
