// Leases by hand, on a cluster of one node with leases of 10 s.

#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::chronus_test {
namespace {

using LeaseParams = std::vector<std::pair<std::string, std::string>>;

Job& lease_job(Snapshot& s, const std::string& id, std::int32_t gpus, TimeUs run_s, TimeUs at_s = 0) {
  Job& job = s.jobs.emplace_back();
  job.id = id;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  job.shapes = {shape};
  job.estimate.run_us = run_s * kSecond;
  if (at_s > 0) job.deadline = {at_s * kSecond, true, 10};
  return job;
}

void lease_run(Job& job, std::vector<std::int32_t> gpus) {
  job.state = JobState::kRunning;
  job.allocation.shape = "s";
  AllocationEntry entry;
  entry.node = "n0";
  entry.gpus = std::move(gpus);
  job.allocation.entries = {entry};
}

class Leased {
 public:
  explicit Leased(const Snapshot& s, const PolicyState& before = {}, const LeaseParams& params = {}) : state(s), kept(before) {
    Request request;
    request.policy = "chronus";
    request.params = params;
    request.params.emplace_back("lease_s", "10");
    Engine engine;
    engine.decide(state, kept, request, plan);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  }
  const Decision& of(const std::string& id) const {
    for (const Decision& d : plan.decisions) {
      if (state.job(d.job)->id == id) return d;
    }
    throw std::out_of_range(id);
  }
  std::int64_t row(const char* column, const std::string& id) const {
    const auto& rows = kept.columns.at(column);
    return rows.count(id) == 0 ? -1 : rows.at(id);
  }
  std::int64_t from_s(const std::string& id) const { return row("lease_from_us_0", id) / kSecond; }
  std::int64_t promised_s(const std::string& id) const { return row("promised_end_us", id) / kSecond; }

  ClusterState state;
  PolicyState kept;
  Plan plan;
};

}  // namespace

// Both need all GPUs for two leases, of which four end before their deadline. Of c, which has more to spare, nothing is left.
TEST(Chronus, PacksIntoTheLatestLeases) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 15, 45);
  lease_job(s, "b", 4, 20, 45);
  lease_job(s, "c", 4, 5, 49);
  const Leased one(s);

  EXPECT_EQ(one.from_s("a"), 20);
  EXPECT_EQ(one.promised_s("a"), 40);
  EXPECT_EQ(one.from_s("b"), 0);
  EXPECT_EQ(one.promised_s("b"), 20);
  EXPECT_EQ(one.row("promised_end_us", "c"), -1);
  EXPECT_EQ(one.of("b").action, Action::kStart);
}

TEST(Chronus, RejectsWithTheEarliestDeadlineThatLeasesAllow) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 15, 45);
  lease_job(s, "b", 4, 20, 45);
  lease_job(s, "c", 4, 11, 44);
  const Leased one(s, {}, {{"unpromised", "reject"}});

  EXPECT_EQ(one.of("c").action, Action::kReject);
  EXPECT_EQ(one.of("c").reason.until_us, 60 * kSecond);
}

// A lease that has begun is not given to a job that comes; one that begins now is.
TEST(Chronus, GivesNoLeaseThatHasBegun) {
  Snapshot s = io::uniform_cluster(1, 4);
  s.now_us = 1;
  lease_job(s, "a", 4, 10, 19);
  EXPECT_EQ(Leased(s).row("promised_end_us", "a"), -1);
  s.now_us = 10 * kSecond;
  s.jobs[0].deadline.at_us = 20 * kSecond;
  EXPECT_EQ(Leased(s).promised_s("a"), 20);
}

// b comes within the lease in which the best-effort job runs, and is accepted, but not for this lease.
TEST(Chronus, DisplacesAtLeaseBoundariesOnly) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "best", 4, 100);
  const Leased first(s);
  EXPECT_EQ(first.of("best").action, Action::kStart);

  lease_run(s.jobs[0], {0, 1, 2, 3});
  s.now_us = 5 * kSecond;
  lease_job(s, "b", 4, 8, 45);
  const Leased within(s, first.kept);
  EXPECT_EQ(within.of("b").action, Action::kWait);
  EXPECT_EQ(within.from_s("b"), 30);
  EXPECT_EQ(within.plan.order_until_us, 10 * kSecond);

  s.now_us = 10 * kSecond;
  EXPECT_EQ(Leased(s, within.kept).of("b").action, Action::kStart);
  // Behind best effort it waits until its lease begins.
  const LeaseParams last{{"early", "last"}};
  EXPECT_EQ(Leased(s, within.kept, last).of("b").action, Action::kWait);
  s.now_us = 30 * kSecond;
  EXPECT_EQ(Leased(s, within.kept, last).of("b").action, Action::kStart);
}

// What it did early it needs no more in leases, and the earliest go.
TEST(Chronus, EarlyWorkShortensAReservation) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 25, 90);
  const Leased first(s);
  EXPECT_EQ(first.from_s("a"), 60);

  lease_run(s.jobs[0], {0, 1, 2, 3});
  s.jobs[0].progress.run_us = 12 * kSecond;
  s.now_us = 12 * kSecond;
  const Leased later(s, first.kept);
  EXPECT_EQ(later.from_s("a"), 70);
  EXPECT_EQ(later.promised_s("a"), 90);
}

// 54 s x 1.1 x (1 + (1 + log2 4) x 0.5 s / 10 s) = 68.31 s.
TEST(Chronus, PadsByThePublishedFormula) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 54, 100);
  EXPECT_EQ(Leased(s).from_s("a"), 40);
  EXPECT_EQ(Leased(s, {}, {{"padding", "published"}}).from_s("a"), 30);
  // Costs of changes are counted instead: 54 s and 3 s to restart, or 9 s.
  s.jobs[0].costs.restart_us = 3 * kSecond;
  EXPECT_EQ(Leased(s).from_s("a"), 40);
  s.jobs[0].costs.restart_us = 9 * kSecond;
  EXPECT_EQ(Leased(s).from_s("a"), 30);
}

TEST(Chronus, AsksOnceOrAtEachLease) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 30, 30);
  lease_job(s, "b", 4, 5, 39);
  const Leased first(s);
  EXPECT_EQ(first.promised_s("a"), 30);
  EXPECT_EQ(first.row("promised_end_us", "b"), -1);

  s.jobs.erase(s.jobs.begin());
  s.now_us = 20 * kSecond;
  EXPECT_EQ(Leased(s, first.kept).row("promised_end_us", "b"), -1);
  EXPECT_EQ(Leased(s, first.kept, {{"asked", "lease"}}).promised_s("b"), 30);
}

// States of other origin: leases that are not enough, do not ascend, or end late.
TEST(Chronus, DropsReservationsThatCannotBe) {
  Snapshot s = io::uniform_cluster(1, 4);
  s.now_us = 5 * kSecond;
  lease_job(s, "a", 4, 25, 90);
  const auto kept = [&](std::int64_t from, std::int64_t to, std::int64_t end) {
    PolicyState state;
    state.columns["promised_end_us"]["a"] = end;
    state.columns["lease_from_us_0"]["a"] = from;
    state.columns["lease_to_us_0"]["a"] = to;
    state.scalars["lease_index"] = 0;
    return Leased(s, state).row("promised_end_us", "a");
  };
  EXPECT_EQ(kept(60 * kSecond, 90 * kSecond, 90 * kSecond), 90 * kSecond);
  EXPECT_EQ(kept(70 * kSecond, 90 * kSecond, 90 * kSecond), -2);
  EXPECT_EQ(kept(60 * kSecond, 100 * kSecond, 100 * kSecond), -2);
  EXPECT_EQ(kept(90 * kSecond, 60 * kSecond, 90 * kSecond), -2);
  EXPECT_EQ(kept(INT64_MIN, INT64_MAX, 90 * kSecond), -2);
}

// Before 45 s all leases are taken. c ends by its second step, and stays there when others are gone.
TEST(Chronus, WithoutLeasesTheNextStepIsAccepted) {
  Snapshot s = io::uniform_cluster(1, 4);
  lease_job(s, "a", 4, 15, 45);
  lease_job(s, "b", 4, 20, 45);
  Job& c = lease_job(s, "c", 2, 5, 45);
  c.deadline = {45 * kSecond, false, 10, {{52 * kSecond, 8}, {70 * kSecond, 2}}};
  const Leased one(s);
  EXPECT_EQ(one.promised_s("c"), 50);
  s.jobs.erase(s.jobs.begin(), s.jobs.begin() + 2);
  s.now_us = 10 * kSecond;
  EXPECT_EQ(Leased(s, one.kept).promised_s("c"), 50);
}

}  // namespace berth::chronus_test
