// Themis over hundreds of decisions, compared with the test's own record of leases and rho.
// No job loses GPUs within its lease, and the plan is that of a scheduling pass in the recorded order.
// No state becomes illegal here: where a limit falls or GPUs are lost, jobs do lose GPUs within their leases. The record has no repairs
// either.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "berth/engine.hpp"
#include "berth/placement.hpp"
#include "berth/state.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/measures/figures.hpp"
#include "tests/support/random.hpp"

namespace berth::themis_test {
namespace {

constexpr std::int32_t kNodes = 3, kGpus = 4;
constexpr TimeUs kLease = 100 * kSecond;

/// The record of a job. Run times and shares are integers, so that every quotient here is exact.
struct Known {
  TimeUs submit = 0, run = 0, done = 0;  // work done until `seen`
  std::int32_t gpus = 0;
  bool running = false;
  TimeUs lease_from = 0;
};

class Account {
 public:
  Account(bool common, std::int64_t offered_percent) : common_(common), offered_percent_(offered_percent) {}

  std::map<std::string, Known> jobs;

  bool ended(const Known& job, TimeUs now) const {
    return common_ ? now / kLease > job.lease_from / kLease : now - job.lease_from >= kLease;
  }

  /// Ids, most important first.
  std::vector<std::string> order(TimeUs now) const {
    struct Row {
      int of;
      __int128 shared, alone;  // rho is their quotient
      TimeUs submit;
      std::string id;
    };
    std::vector<Row> rows, bidders;
    const auto n = static_cast<std::int64_t>(jobs.size());
    for (const auto& [id, job] : jobs) {
      const TimeUs left = std::max<TimeUs>(1, job.run - job.done);
      Row row{0, 0, 1, job.submit, id};
      if (!job.running || ended(job, now)) {
        row.of = job.running ? 2 : 3;
        row.shared = __int128{now - job.submit + left} * kNodes * kGpus;
        row.alone = __int128{job.run} * std::max<std::int64_t>(kNodes * kGpus, job.gpus * n);
        bidders.push_back(row);
      } else {
        rows.push_back(row);
      }
    }
    const auto ppm = [](const Row& row) { return row.shared * 1'000'000 / row.alone; };
    const auto worse = [&](const Row& a, const Row& b) {
      return std::tuple(-ppm(a), a.submit, a.id) < std::tuple(-ppm(b), b.submit, b.id);
    };
    std::sort(bidders.begin(), bidders.end(), worse);
    const std::size_t offered = std::max<std::size_t>(1, (bidders.size() * static_cast<std::size_t>(offered_percent_) + 99) / 100);
    for (std::size_t i = 0; i < std::min(offered, bidders.size()); ++i) bidders[i].of = 1;
    std::stable_sort(bidders.begin(), bidders.end(), [](const Row& a, const Row& b) { return a.of < b.of; });
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return std::tie(a.submit, a.id) < std::tie(b.submit, b.id); });
    rows.insert(rows.end(), bidders.begin(), bidders.end());
    std::vector<std::string> ids;
    for (const Row& row : rows) ids.push_back(row.id);
    return ids;
  }

 private:
  bool common_;
  std::int64_t offered_percent_;
};

struct Counts {
  int displaced = 0, kept = 0, early = 0;
};

void follow(std::uint64_t seed, Counts& counts) {
  test::Random random(seed);
  const bool common = random.percent(50);
  const char* f = random.of<const char*>({"0.8", "0.5", "0"});
  Account account(common, std::string(f) == "0.8" ? 20 : std::string(f) == "0.5" ? 50 : 100);
  ClusterState state(io::uniform_cluster(kNodes, kGpus));
  Engine engine;
  PolicyState kept;
  Request request;
  request.policy = "themis";
  request.params = {{"lease_s", "100"}, {"f", f}, {"leases", common ? "common" : "own"}};
  TimeUs now = 0, until = kNever;
  for (int step = 0, names = 0; step < 120; ++step) {
    // To the next end of a lease, or a random instant before or after it: schedulers do not decide exactly on time.
    const TimeUs then = now + random.below(60) * kSecond + random.below(1'000'000);
    const TimeUs next = until != kNever && random.percent(50) ? until : then;
    for (auto& [id, job] : account.jobs) job.done += job.running ? next - now : 0;
    now = next;
    std::vector<Delta> deltas{delta::SetTime{now}};
    for (auto row = account.jobs.begin(); row != account.jobs.end();) {
      const bool ends = row->second.done >= row->second.run;
      if (ends) deltas.push_back(delta::RemoveJob{row->first, "completed"});
      row = ends ? account.jobs.erase(row) : std::next(row);
    }
    for (std::int32_t i = random.below(3); i > 0 && account.jobs.size() < 20; --i) {
      Job job;
      job.id = fmt::format("j{:03}", names++);
      job.submit_us = now;
      Shape shape;
      shape.id = "s";
      shape.gpus = random.of<std::int32_t>({1, 1, 2, 3, 4, 8});
      job.shapes = {shape};
      job.estimate.run_us = random.within(10, 900) * kSecond;
      account.jobs[job.id] = {now, job.estimate.run_us, 0, shape.gpus, false, 0};
      deltas.push_back(delta::PutJob{job});
    }
    state.apply(deltas);

    Scenario pass;
    pass.order = account.order(now);
    pass.preemptive = true;
    pass.params = {{"discipline", "greedy"}};
    const std::vector<Scenario> one{pass};
    const ScenarioOutcome want = Placement().place(state, one)[0];
    Plan plan;
    request.backend = random.of<Backend>({Backend::kReference, Backend::kCpu});
    engine.decide(state, kept, request, plan);
    ASSERT_EQ(plan.decisions.size(), want.job.size());
    TimeUs first_end = kNever;
    for (std::size_t i = 0; i < want.job.size(); ++i) {
      const Decision& d = plan.decisions[i];
      const std::string& id = state.job(d.job)->id;
      Known& job = account.jobs.at(id);
      ASSERT_EQ(d.job, want.job[i]);
      EXPECT_EQ(d.action, want.action[i]) << "seed " << seed << ", step " << step << ": " << id;
      const bool lost = d.action == Action::kPreempt || d.action == Action::kMigrate;
      counts.early += lost && !account.ended(job, now) ? 1 : 0;
      counts.displaced += lost ? 1 : 0;
      counts.kept += d.action == Action::kKeep && account.ended(job, now) ? 1 : 0;
      const bool starts = d.action == Action::kStart || d.action == Action::kMigrate;
      if (starts || (job.running && account.ended(job, now))) job.lease_from = now;
      job.running = starts || d.action == Action::kKeep;
      if (job.running) first_end = std::min(first_end, common ? (job.lease_from / kLease + 1) * kLease : job.lease_from + kLease);
    }
    EXPECT_EQ(plan.order_until_us, first_end) << "seed " << seed << ", step " << step;
    until = plan.order_until_us;
    commit(state, plan);
  }
}

}  // namespace

TEST(Themis, DecidesAsAnAccountOfLeasesAndFairnessSays) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 30 && !::testing::Test::HasFailure(); ++seed) follow(seed, counts);
  EXPECT_EQ(counts.early, 0);
  EXPECT_GT(counts.displaced, 100);
  EXPECT_GT(counts.kept, 100);
}

}  // namespace berth::themis_test
