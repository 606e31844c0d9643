// The latest leases, against a look at each lease.

#include "host/policy/deadlines/lease_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::policy::lease_table_test {
namespace {

constexpr TimeUs kLease = 10;

std::vector<TimeUs> leases_of(const std::vector<LeaseRun>& runs) {
  std::vector<TimeUs> all;
  for (const LeaseRun& run : runs) {
    for (TimeUs at = run.from; at < run.to; at += kLease) all.push_back(at);
  }
  return all;
}

CapacityLine random_line(test::Random& random) {
  CapacityLine line;
  line.begin(random.within(0, 15), random.within(1, 6));
  for (std::int32_t i = random.within(0, 12); i > 0; --i) {
    const TimeUs from = random.within(0, 200), gpus = random.within(1, 3);
    const TimeUs to = random.percent(10) ? kNever : from + random.within(1, 60);
    if (line.is_free(gpus, from, to)) line.add(from, to, gpus);
  }
  line.settle();
  return line;
}

}  // namespace

TEST(LeaseTable, FindsTheLatestLeasesThatAreFree) {
  test::Random random(7);
  int found = 0, missing = 0;
  for (int world = 0; world < 20'000; ++world) {
    const CapacityLine line = random_line(random);
    const LeaseNeed need{random.within(1, 6), random.within(1, 90), 0, random.within(0, 220), false};
    const TimeUs from = line.now() + random.within(0, 20);
    std::vector<TimeUs> expected;
    for (TimeUs at = need.deadline / kLease * kLease - kLease; at >= from; at -= kLease) {
      if (static_cast<TimeUs>(expected.size()) * kLease < need.work && line.is_free(need.gpus, at, at + kLease)) expected.push_back(at);
    }
    std::reverse(expected.begin(), expected.end());
    if (static_cast<TimeUs>(expected.size()) * kLease < need.work) expected.clear();
    std::vector<LeaseRun> runs;
    EXPECT_EQ(latest_leases(line, kLease, from, need, runs), !expected.empty());
    EXPECT_EQ(leases_of(runs), expected) << world;
    ++(expected.empty() ? missing : found);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(found, 3'000);
  EXPECT_GT(missing, 3'000);
}

// Each run of leases pays for being displaced. The deadline that is offered is the first at which leases are found.
TEST(LeaseTable, RunsOfLeasesPayForChanges) {
  test::Random random(8);
  int offered = 0, whole = 0;
  for (int world = 0; world < 20'000; ++world) {
    const CapacityLine line = random_line(random);
    LeaseNeed need{random.within(1, 6), random.within(1, 90), random.within(0, 25), 0, random.percent(20)};
    std::vector<LeaseRun> runs;
    TimeUs first = kNever;
    for (need.deadline = 0; need.deadline < 600 && first == kNever; ++need.deadline) {
      if (latest_leases(line, kLease, line.now(), need, runs)) first = need.deadline;
    }
    EXPECT_EQ(earliest_lease_end(line, kLease, line.now(), need), first) << world;
    if (testing::Test::HasFailure()) return;
    if (first == kNever) continue;
    ++offered;
    TimeUs work = 0;
    for (const LeaseRun& run : runs) {
      EXPECT_TRUE(line.is_free(need.gpus, run.from, run.to));
      EXPECT_EQ(run.from % kLease + run.to % kLease, 0);
      work += run.to - run.from - need.cost;
    }
    EXPECT_GE(work, need.work);
    EXPECT_LE(runs.back().to, first);
    whole += need.whole ? 1 : 0;
    EXPECT_TRUE(!need.whole || runs.size() == 1);
  }
  EXPECT_GT(offered, 5'000);
  EXPECT_GT(whole, 500);
}

TEST(LeaseTable, KeepsRunsInAState) {
  PolicyState state;
  LeaseTable table;
  std::vector<LeaseRun> read;
  const std::vector<LeaseRun> three{{0, 10}, {20, 40}, {60, 70}}, one{{60, 70}};
  table.load(state);
  table.set("a", three);
  table.set("b", one);
  table.store(state);
  LeaseTable other;
  other.load(state);
  other.read("a", read);
  EXPECT_EQ(read, three);
  other.set("a", one);
  other.read("a", read);
  EXPECT_EQ(read, one);
  other.store(state);
  table.load(state);
  table.read("a", read);
  EXPECT_EQ(read, one);
  table.read("b", read);
  EXPECT_EQ(read, one);
  table.read("c", read);
  EXPECT_TRUE(read.empty());
}

}  // namespace berth::policy::lease_table_test
