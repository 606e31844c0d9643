// The tuner of Dally's timers: goldens by hand, and its windows in the policy state.
#include "host/core/placement/delay_windows.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "berth/error.hpp"

namespace berth::core::delay_windows_test {
namespace {

constexpr TimeUs kLease = 3'600 * kSecond;
const DelayRule kRule{kLease, 24, {}};
const std::vector<std::string> kTwo{"node", "switch.rack"};

std::int64_t tuned(const std::vector<double>& leases, std::int32_t rung, std::int64_t history = 24, std::int32_t rungs = 2) {
  std::vector<TimeUs> waits;
  for (const double one : leases) waits.push_back(static_cast<TimeUs>(one * static_cast<double>(kLease)));
  return tuned_leases(waits, kLease, history, rung, rungs);
}

}  // namespace

// Mean 5, standard deviation 2; mean 14, standard deviation 3.266.
TEST(DelayTuner, GoldenVectors) {
  EXPECT_EQ(tuned({2, 4, 4, 4, 5, 5, 7, 9}, 0), 9);
  EXPECT_EQ(tuned({}, 1), 12);
  EXPECT_EQ(tuned({10, 14, 18}, 1), 21);
  EXPECT_EQ(tuned({1, 1, 1}, 0), 6);
  EXPECT_EQ(tuned({}, 0), 6);
}

// The mean of 10 and 14.000001 is above 12: their deviation is 2.0000005.
TEST(DelayTuner, RoundsUpToAWholeLeaseExactly) {
  EXPECT_EQ(tuned({8, 8}, 0), 8);
  const std::vector<TimeUs> more{8 * kLease, 8 * kLease + 1};
  EXPECT_EQ(tuned_leases(more, kLease, 24, 0, 2), 9);
  EXPECT_EQ(tuned({6, 10}, 0), 12);
  const std::vector<TimeUs> wider{6 * kLease, 10 * kLease + 1};
  EXPECT_EQ(tuned_leases(wider, kLease, 24, 0, 2), 13);
}

TEST(DelayTuner, IsWithinBoundsOfTheHistory) {
  EXPECT_EQ(tuned({100}, 0), 20);  // four fifths of 24, rounded up
  EXPECT_EQ(tuned({100}, 1), 24);
  EXPECT_EQ(tuned({}, 0, 1), 1);  // the bound above goes before that below
  EXPECT_EQ(tuned({}, 1, 1), 1);
  EXPECT_EQ(tuned({}, 0, 5), 4);
  EXPECT_EQ(tuned({0, 0}, 0), 6);
}

// Ours: between the node and the highest level the bounds go up evenly.
TEST(DelayTuner, LevelsBetweenHaveBoundsBetween) {
  EXPECT_EQ(tuned({}, 1, 24, 3), 9);
  EXPECT_EQ(tuned({100}, 1, 24, 3), 22);  // nine tenths
  EXPECT_EQ(tuned({}, 2, 24, 3), 12);
  EXPECT_EQ(tuned({}, 1, 24, 4), 8);
  EXPECT_EQ(tuned({}, 0, 24, 1), 6);
  EXPECT_EQ(tuned({100}, 0, 24, 1), 20);
}

TEST(DelayTuner, HugeWaitsDoNotOverflow) {
  const std::vector<TimeUs> all(DelayWindows::kMostWaits, std::numeric_limits<TimeUs>::max());
  EXPECT_EQ(tuned_leases(all, 1, 10'000, 0, 2), 8'000);
  std::vector<TimeUs> apart = all;
  for (std::size_t i = 0; i < apart.size(); i += 2) apart[i] = 0;
  EXPECT_EQ(tuned_leases(apart, 1, 10'000, 1, 2), 10'000);
  // Half of 4096 waits at 2^50 us: mean and deviation 2^49 each.
  EXPECT_EQ(tuned_leases(apart, TimeUs{1} << 45, 10'000, 0, 2), 48);
}

TEST(DelayWindows, KeepWaitsInThePolicyState) {
  PolicyState kept;
  DelayWindows windows;
  windows.load(&kept, kTwo, kRule);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 6);
  windows.add(kRule, 0, 4, 100 * kLease, 9 * kLease);
  windows.add(kRule, 0, 4, 100 * kLease, 9 * kLease);
  windows.add(kRule, 0, 4, 101 * kLease, kLease - 1);  // too short to count
  windows.add(kRule, 1, 4, 101 * kLease, 14 * kLease);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 9);
  windows.store(kept);
  EXPECT_EQ(kept.columns.at("waits_us.node"),
            (std::map<std::string, std::int64_t>{{"4@360000000000.0", 9 * kLease}, {"4@360000000000.1", 9 * kLease}}));

  DelayWindows again;
  again.load(&kept, kTwo, kRule);
  EXPECT_EQ(again.leases(kRule, 0, 4), 9);
  EXPECT_EQ(again.leases(kRule, 0, 8), 6);
  EXPECT_EQ(again.leases(kRule, 1, 4), 14);
}

// One object goes on with what it stored, unless the caller has something else.
TEST(DelayWindows, SeeWhatTheCallerChanged) {
  PolicyState kept;
  DelayWindows windows;
  windows.load(&kept, kTwo, kRule);
  windows.add(kRule, 0, 4, 100 * kLease, 9 * kLease);
  windows.store(kept);
  const PolicyState copy = kept;
  const std::uint64_t version = windows.version();
  windows.load(&copy, kTwo, kRule);
  EXPECT_EQ(windows.version(), version);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 9);
  kept.columns["waits_us.node"].begin()->second = 12 * kLease;
  windows.load(&kept, kTwo, kRule);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 12);
  windows.load(&copy, kTwo, kRule);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 9);
  DelayRule other = kRule;
  other.lease_us /= 2;
  windows.load(&copy, kTwo, other);
  EXPECT_EQ(windows.leases(other, 0, 4), 18);
  windows.load(nullptr, kTwo, other);
  EXPECT_EQ(windows.leases(other, 0, 4), 6);
  // What was added and not stored is forgotten.
  windows.load(&copy, kTwo, kRule);
  windows.add(kRule, 0, 4, 101 * kLease, 20 * kLease);
  windows.load(&copy, kTwo, kRule);
  EXPECT_EQ(windows.leases(kRule, 0, 4), 9);
}

// An entry that is 24 leases old still counts, until another comes.
TEST(DelayWindows, OldWaitsLeaveWhenAnotherComes) {
  PolicyState kept;
  DelayWindows windows;
  windows.load(&kept, kTwo, kRule);
  windows.add(kRule, 0, 4, 100 * kLease, 20 * kLease);
  windows.add(kRule, 0, 8, 100 * kLease, 20 * kLease);
  windows.store(kept);
  DelayWindows later;
  later.load(&kept, kTwo, kRule);
  later.add(kRule, 0, 4, 124 * kLease, 20 * kLease);
  EXPECT_EQ(later.leases(kRule, 0, 4), 20);
  later.add(kRule, 0, 4, 124 * kLease + 1, 7 * kLease);
  later.store(kept);
  EXPECT_EQ(kept.columns.at("waits_us.node").count("4@360000000000.0"), 0U);
  EXPECT_EQ(kept.columns.at("waits_us.node").count("8@360000000000.0"), 1U);
  EXPECT_EQ(kept.columns.at("waits_us.node").size(), 3U);
}

TEST(DelayWindows, HaveSoManyWaitsAtMost) {
  PolicyState kept;
  DelayWindows windows;
  windows.load(&kept, kTwo, kRule);
  for (std::size_t i = 0; i <= DelayWindows::kMostWaits; ++i) windows.add(kRule, 0, 1, static_cast<TimeUs>(i), 2 * kLease);
  windows.store(kept);
  EXPECT_EQ(kept.columns.at("waits_us.node").size(), DelayWindows::kMostWaits);
  EXPECT_EQ(kept.columns.at("waits_us.node").count("1@0.0"), 0U);
}

TEST(DelayWindows, OfLevelsThatTheClusterDoesNotHaveAreDropped) {
  PolicyState kept;
  kept.columns["waits_us.nvlink.domain"]["4@5.0"] = 2 * kLease;
  kept.columns["waits_us.switch.rack"]["4@5.0"] = 2 * kLease;
  kept.columns["waits_of_others"]["a"] = 1;
  const PolicyState before = kept;
  DelayWindows windows;
  windows.load(&kept, kTwo, kRule);
  EXPECT_EQ(kept, before);
  windows.store(kept);
  EXPECT_EQ(kept.columns.count("waits_us.nvlink.domain"), 0U);
  EXPECT_EQ(kept.columns.size(), 2U);
}

TEST(DelayWindows, RefuseWhatIsNoWait) {
  for (const char* const row : {"", "4", "4@5", "@5.0", "4@.0", "4@5.", "x@5.0", "-4@5.0", "4@-5.0", "4@5.0.0", "4@5.0 ", "4.0@5"}) {
    PolicyState kept;
    kept.columns["waits_us.switch.rack"][row] = 1;
    DelayWindows windows;
    EXPECT_THROW(windows.load(&kept, kTwo, kRule), InvalidArgument) << row;
  }
  PolicyState kept;
  kept.columns["waits_us.node"]["4@5.0"] = -1;
  DelayWindows windows;
  EXPECT_THROW(windows.load(&kept, kTwo, kRule), InvalidArgument);
  kept.columns.clear();
  kept.columns["waits_us.of another cluster"]["x"] = -1;
  EXPECT_NO_THROW(windows.load(&kept, kTwo, kRule));
}

}  // namespace berth::core::delay_windows_test
