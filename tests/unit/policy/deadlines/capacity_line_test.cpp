// Each answer against one that looks at every instant.

#include "host/policy/deadlines/capacity_line.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/random.hpp"

namespace berth::policy::capacity_line_test {
namespace {

using test::Random;

constexpr TimeUs kEnd = 60;  // after it nothing is taken

// GPUs in use in each unit of time.
struct EveryInstant {
  std::int64_t gpus = 0;
  TimeUs now = 0;
  std::vector<std::int64_t> used = std::vector<std::int64_t>(2 * kEnd, 0);

  void take(TimeUs from, TimeUs to, std::int64_t n) {
    for (TimeUs t = std::max(from, now); t < to; ++t) used[static_cast<std::size_t>(t)] += n;
  }
  bool is_free(std::int64_t n, TimeUs from, TimeUs to) const {
    for (TimeUs t = std::max(from, now); t < to; ++t) {
      if (used[static_cast<std::size_t>(t)] + n > gpus) return false;
    }
    return true;
  }
  TimeUs latest_end(std::int64_t n, TimeUs run, TimeUs until) const {
    for (TimeUs end = until; end - run >= now; --end) {
      if (is_free(n, end - run, end)) return end;
    }
    return kNever;
  }
  TimeUs earliest_start(std::int64_t n, TimeUs run, TimeUs from) const {
    for (TimeUs start = std::max(from, now); start <= kEnd; ++start) {
      if (is_free(n, start, start + run)) return start;
    }
    return kNever;
  }
  std::int64_t gpu_us_until(TimeUs until) const {
    std::int64_t sum = 0;
    for (TimeUs t = now; t < until; ++t) sum += used[static_cast<std::size_t>(t)];
    return sum;
  }
  TimeUs earliest_room(std::int64_t work, std::int64_t busy_micro, TimeUs from) const {
    for (TimeUs d = std::max(from, now); d < 2 * kEnd; ++d) {
      if ((gpus * 1'000'000 - busy_micro) * (d - now) - gpu_us_until(d) * 1'000'000 >= work * 1'000'000) return d;
    }
    return kNever;
  }
};

}  // namespace

TEST(CapacityLine, AgreesWithALookAtEveryInstant) {
  Random random(35);
  for (int world = 0; world < 2'000; ++world) {
    EveryInstant slow;
    slow.gpus = random.within(0, 6);
    slow.now = random.within(0, 5);
    CapacityLine line;
    line.begin(slow.now, slow.gpus);
    for (int i = random.within(0, 8); i > 0; --i) {
      const TimeUs from = random.within(0, 50);
      const TimeUs to = from + random.within(0, 10);
      const std::int64_t gpus = random.within(1, 3);
      slow.take(from, to, gpus);
      line.add(from, to, gpus);
    }
    line.settle();
    for (int i = 0; i < 12; ++i) {
      const std::int64_t gpus = random.within(1, 7);
      const TimeUs run = random.within(1, 12), at = random.within(static_cast<int>(slow.now), kEnd);
      const TimeUs end = slow.latest_end(gpus, run, at);
      ASSERT_EQ(line.latest_end(gpus, run, at), end) << world;
      ASSERT_EQ(line.earliest_start(gpus, run, at), gpus > slow.gpus ? kNever : slow.earliest_start(gpus, run, at)) << world;
      ASSERT_EQ(line.is_free(gpus, at, at + run), slow.is_free(gpus, at, at + run)) << world;
      ASSERT_EQ(line.gpu_us_until(at), slow.gpu_us_until(at)) << world;
      const std::int64_t busy = random.within(0, 2) * 500'000;
      const TimeUs room = slow.earliest_room(run * gpus, busy, at), found = line.earliest_room(run * gpus, busy, at);
      ASSERT_TRUE(room == kNever ? found == kNever || found >= 2 * kEnd : found == room) << world << ": " << room << " and " << found;
      if (end == kNever || random.percent(50)) continue;
      slow.take(end - run, end, gpus);
      line.take(end - run, end, gpus);
    }
  }
}

// A job that is never displaced holds its GPUs for ever.
TEST(CapacityLine, GpusThatAreTakenForEverAreNeverFree) {
  CapacityLine line;
  line.begin(10, 4);
  line.add(0, kNever, 3);
  line.settle();

  EXPECT_EQ(line.latest_end(1, 5, 100), 100);
  EXPECT_EQ(line.latest_end(2, 5, 100), kNever);
  EXPECT_EQ(line.earliest_start(2, 5, 10), kNever);
  EXPECT_EQ(line.earliest_start(1, kNever, 10), 10);
  EXPECT_EQ(line.earliest_room(10, 0, 10), 20);
  EXPECT_EQ(line.earliest_room(10, 1'000'000, 10), kNever);
}

}  // namespace berth::policy::capacity_line_test
