// A simulation by counts equals the simulation with a plan per decision: the same instants and nodes per job, and the same series.
// Nodes that fail and queues with limits are not drawn here: a simulation by counts does not take them.

#include "host/sim/simulation.hpp"
#include "host/sim/replay/replay_plans.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>

#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/counts/count_simulation.hpp"
#include "host/sim/measures/series.hpp"
#include "host/sim/measures/stays.hpp"
#include "tests/property/random_worlds.hpp"
#include "tests/support/params.hpp"
#include "tests/support/parity/parity_stride.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::simulation_test {
namespace {

using test::crowd;
using test::Random;
using test::random_cluster;
using test::random_overheads;
using test::random_trace;
using test::World;

std::string row_of(const JobOutcome& o) {
  const bool rejected = o.end == JobOutcome::End::kRejected;
  return fmt::format("{} end {} {} start {} held {} overhead {} gpu {} lost {} {} starts {} preempted {} moved {} on {}{}\n", o.job,
                     static_cast<int>(o.end), o.end_us, o.start_us, o.held_us, o.overhead_us, static_cast<std::int64_t>(o.gpu_us),
                     static_cast<std::int64_t>(o.lost_gpu_us[0]), static_cast<std::int64_t>(o.lost_gpu_us[1]), o.starts, o.preemptions,
                     o.moves, o.nodes, rejected && o.reason.empty() ? " without a reason" : "");
}

// One a line, in one order: which of the stays that begin at one instant comes first is no part of the result.
// A stay that is followed at once by another one on the same GPUs is one with it: the job was displaced and returned.
std::string stays_text(Stays& stays, const SimulationTotals& totals) {
  std::vector<Stay> all = stays.finish(totals.last_end_us);
  std::sort(all.begin(), all.end(), [](const Stay& a, const Stay& b) {
    return std::tie(a.job, a.node, a.gpus, a.from_us) < std::tie(b.job, b.node, b.gpus, b.from_us);
  });
  std::vector<Stay> merged;
  __int128 gpu_us = 0;
  for (const Stay& stay : all) {
    gpu_us += static_cast<__int128>(std::popcount(stay.gpus)) * (stay.until_us - stay.from_us);
    Stay* before = merged.empty() ? nullptr : &merged.back();
    if (before != nullptr &&
        std::tie(before->job, before->node, before->gpus, before->until_us) == std::tie(stay.job, stay.node, stay.gpus, stay.from_us)) {
      before->until_us = stay.until_us;
    } else {
      merged.push_back(stay);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(gpu_us), static_cast<std::int64_t>(totals.gpu_us)) << "stays have the GPU-time that jobs had";
  std::string text;
  for (const Stay& one : merged)
    text += fmt::format("stay {} {} {:x} {} {}\n", one.job, stays.nodes()[static_cast<std::size_t>(one.node)].name, one.gpus, one.from_us,
                        one.until_us);
  return text;
}

template <class Simulate>
std::string outcomes(const Simulate& simulate, const Trace& trace, const Snapshot& cluster, SimulationSettings settings) {
  std::vector<std::string> rows(trace.jobs.size());
  JobsOf jobs(trace);
  Series series(facts_of(trace));
  settings.series = &series;
  Stays stays;
  settings.stays = &stays;
  settings.name_nodes = true;
  const SimulationTotals totals = simulate(Replayed{trace.profiles, facts_of(trace), jobs}, cluster, settings,
                                           [&](const JobOutcome& job) { rows[static_cast<std::size_t>(job.job)] += row_of(job); });
  std::string text;
  for (const std::string& row : rows) text += row;
  text += fmt::format("last end {}, release {}, GPU-time {}\n", totals.last_end_us, totals.last_release_us,
                      static_cast<std::int64_t>(totals.gpu_up_us));
  series.finish(totals.last_end_us);
  for (const Sample& sample : series.samples())
    text += fmt::format("{} {} {}\n", sample.from_us, sample.until_us, fmt::join(sample.micro, " "));
  return text + stays_text(stays, totals);
}

/// The policies whose keys a simulation by counts can keep.
const std::vector<std::string>& counted_policies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const std::string& name : test::queue_policy_names()) {
      const core::PolicyEntry& entry = core::find_policy(name);
      const auto policy = entry.make({});
      if (entry.class_rule || entry.consolidation != nullptr) continue;
      const bool rests = policy->rests_while_waiting() && (!entry.preemptive || policy->rises_only_at_changes());
      if (rests || policy->follows_from_columns()) found.push_back(name);
    }
    return found;
  }();
  return names;
}

/// Empty where a simulation by counts does not apply.
std::optional<std::string> outcomes_by_counts(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  bool by_counts = true;
  const auto counts = [&](const auto&... all) {
    std::optional<SimulationTotals> totals = simulate_counts(all...);
    by_counts = totals.has_value();
    return totals.value_or(SimulationTotals{});
  };
  std::string got = outcomes(counts, trace, cluster, settings);
  if (!by_counts) return std::nullopt;
  return got;
}

std::string outcomes_by_engine(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  return outcomes(replay_plans, trace, cluster, settings);
}

}  // namespace

TEST(SimulationByCounts, IsTheOneWithPlansAndNoneWithHardDeadlines) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const World world{random.percent(30), random.percent(20), random.percent(5)};
    Trace trace = random_trace(random, world);
    const Snapshot cluster = random_cluster(random, world);
    SimulationSettings settings;
    settings.request.policy = random.of(counted_policies());
    settings.request.params = {{"packing", random.of<const char*>({"count", "emptiest", "topology", "topology"})},
                               {"discipline", random.of<const char*>({"strict", "greedy", "greedy", "easy", "easy", "easy"})}};
    settings.request.seed = seed;
    if (core::find_policy(settings.request.policy).make({})->follows_from_columns())
      settings.request.params[1].second = random.of<const char*>({"strict", "greedy", "greedy"});
    if (settings.request.policy == "gittins")
      settings.request.params.emplace_back("delta_gpu_s", random.of<const char*>({"1", "60", "400"}));
    if (settings.request.policy == "themis") {
      settings.request.params.emplace_back("lease_s", random.of<const char*>({"31", "45.5", "120"}));
      settings.request.params.emplace_back("f", random.of<const char*>({"0", "0.5", "0.8", "1"}));
      settings.request.params.emplace_back("leases", random.of<const char*>({"own", "common"}));
    }
    if (settings.request.policy == "las") settings.request.params.emplace_back("thresholds_gpu_s", "20,50,200");
    settings.estimates = random.of<const char*>({"oracle", "oracle", "rolling", "noise:40", "noise:100", "none"});
    settings.overheads = random_overheads(random);
    const bool grace = random.percent(10);
    trace.jobs.back().grace_us = grace ? 20 * kSecond : 0;
    const std::string what = fmt::format("seed {} {} {} {} {} {}", seed, settings.request.policy, settings.request.params[0].second,
                                         settings.request.params[1].second, settings.estimates, settings.overheads.name);

    const std::optional<std::string> got = outcomes_by_counts(trace, cluster, settings);

    // Beside a reservation jobs that may be displaced are looked at with plans.
    // So are those of which one has a grace.
    const bool displaces = core::find_policy(settings.request.policy).preemptive;
    const bool by_plans = displaces && (grace || settings.request.params[1].second == "easy");
    ASSERT_EQ(got.has_value(), !world.hard_deadlines && !by_plans) << what;
    if (got.has_value()) {
      ASSERT_EQ(*got, outcomes_by_engine(trace, cluster, settings)) << what;
    }
  }
}

// Under packing `count` without inner groups a job takes the first GPUs, and plans are kept.
TEST(SimulationByCounts, IsTheOneWithPlansUnderConservativeBackfill) {
  for (std::uint64_t seed = 1; seed <= 2000; seed += test::parity_stride()) {
    Random random(seed);
    const World world{random.percent(30), random.percent(20), random.percent(5)};
    Trace trace = random_trace(random, world);
    if (random.percent(50)) crowd(random, world, trace);
    Snapshot cluster = random_cluster(random, world);
    // Nodes whose GPUs are in two words of a set.
    for (Node& node : cluster.nodes) node.gpus = seed % 4 == 0 && node.gpu_list.empty() ? 13 : node.gpus;
    SimulationSettings settings;
    settings.request.policy = random.of<const char*>({"fifo", "fifo", "sjf", "edf"});
    settings.request.params = {{"packing", random.of<const char*>({"count", "count", "topology", "emptiest"})},
                               {"discipline", "conservative"}};
    settings.request.seed = seed;
    settings.estimates = random.of<const char*>({"oracle", "oracle", "rolling", "noise:40", "noise:100", "none"});
    settings.overheads = random_overheads(random);
    const std::string what = fmt::format("seed {} {} {} {} {}", seed, settings.request.policy, settings.request.params[0].second,
                                         settings.estimates, settings.overheads.name);

    const std::optional<std::string> got = outcomes_by_counts(trace, cluster, settings);

    ASSERT_EQ(got.has_value(), !world.hard_deadlines) << what;
    if (got.has_value()) {
      ASSERT_EQ(*got, outcomes_by_engine(trace, cluster, settings)) << what;
    }
  }
}

// Every decision is made where another program asks the engine for it.
TEST(SimulationByPlans, LeavesOutDecisionsThatChangeNothing) {
  std::map<std::string, std::int64_t> left_out;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const World world{random.percent(30), random.percent(20), false};
    const Trace trace = random_trace(random, world);
    const Snapshot cluster = random_cluster(random, world);
    SimulationSettings settings;
    settings.request.policy = random.of<const char*>({"price", "price", "price", "srsf", "las", "fifo", "themis", "gittins"});
    settings.request.seed = seed;
    if (settings.request.policy == "price" && random.percent(50)) {
      settings.request.params = {{"objective", random.of<const char*>({"goodput", "throughput", "cost", "sruf", "finish_time_fairness"})}};
    }
    settings.estimates = random.of<const char*>({"oracle", "rolling", "noise:40", "none"});
    settings.overheads = random_overheads(random);
    settings.elastic = random.percent(30);
    settings.round_us = random.percent(20) ? 20 * kSecond : 0;
    if (random.percent(40)) settings.failures.node_us = 3'000 * kSecond;
    if (random.percent(70)) settings.failures.repair_us = 50 * kSecond;
    if (random.percent(20)) settings.failures.crash_gpu_us = 3'000 * kSecond;
    std::int64_t decisions = 0;
    const auto counted = [&](const auto& t, const Snapshot& c, const SimulationSettings& s, const auto& done) {
      const SimulationTotals totals = replay_plans(t, c, s, done);
      decisions = totals.decisions;
      return totals;
    };
    const std::string got = outcomes(counted, trace, cluster, settings);
    left_out[settings.request.policy] -= decisions;
    SimulationSettings all = settings;
    Engine engine;
    PolicyState kept;
    all.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>&) { engine.decide(state, kept, settings.request, plan); };
    const std::string want = outcomes(counted, trace, cluster, all);
    left_out[settings.request.policy] += decisions;
    ASSERT_EQ(got, want) << "seed " << seed << ' ' << settings.request.policy;
  }
  for (const auto& [policy, decisions] : left_out) EXPECT_EQ(decisions > 100, policy != "themis") << policy;
}

// In one pool a large job displaces three jobs. The one whose GPUs it did not need would keep them, and is behind another of the
// three. That one takes them in the same decision, and so runs on without a break.
TEST(SimulationByCounts, ADisplacedJobDisplacesAtOnce) {
  Snapshot cluster = io::uniform_cluster(2, 18);
  cluster.nodes[0].virtual_clusters = {"a"};
  cluster.nodes[1].virtual_clusters = {"b"};
  Trace trace;
  trace.name = "t";
  const auto add = [&](const char* id, const char* pool, TimeUs submit_s, TimeUs run_s, std::int32_t gpus) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = id;
    job.virtual_cluster = pool;
    job.submit_us = submit_s * kSecond;
    job.run_us = run_s * kSecond;
    job.gpus = gpus;
  };
  add("1", "a", 0, 100, 9);
  add("2", "a", 0, 200, 5);
  add("3", "a", 0, 300, 4);
  add("4", "a", 10, 50, 13);
  add("5", "b", 20, 1, 1);
  SimulationSettings settings;
  settings.request.policy = "srtf";
  settings.request.params = {{"packing", "count"}};
  settings.overheads = named_overheads("none");

  const std::optional<std::string> got = outcomes_by_counts(trace, cluster, settings);

  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, outcomes_by_engine(trace, cluster, settings));
  EXPECT_NE(got->find("1 end 0 200000000 start 0 held 200000000"), std::string::npos) << *got;
}

// The first blocked job, of pool a, has the only reservation. A small job of pool b that came later and is long passes a blocked one.
// Once the job of pool a has started, that of pool b is the first blocked one. Then long jobs of pool b wait.
TEST(SimulationByCounts, OneReservationHoldsForAllPools) {
  Snapshot cluster = io::uniform_cluster(2, 4);
  cluster.nodes[0].virtual_clusters = {"a"};
  cluster.nodes[1].virtual_clusters = {"b"};
  Trace trace;
  trace.name = "t";
  const auto add = [&](const char* id, const char* pool, TimeUs submit_s, TimeUs run_s, std::int32_t gpus) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = id;
    job.virtual_cluster = pool;
    job.submit_us = submit_s * kSecond;
    job.run_us = run_s * kSecond;
    job.gpus = gpus;
  };
  add("0", "a", 0, 50, 4);
  add("1", "b", 0, 90, 2);
  add("2", "a", 1, 10, 4);    // reserved from 50 on
  add("3", "b", 2, 10, 4);    // blocked, and without a reservation until 50
  add("4", "b", 3, 1000, 1);  // passes it
  add("5", "b", 60, 1000, 1);
  SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"packing", "count"}, {"discipline", "easy"}};
  settings.overheads = named_overheads("none");

  const std::optional<std::string> got = outcomes_by_counts(trace, cluster, settings);

  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, outcomes_by_engine(trace, cluster, settings));
  EXPECT_NE(got->find("4 end 0 1003000000 start 3000000"), std::string::npos) << *got;
  EXPECT_NE(got->find("5 end 0 2013000000 start 1013000000"), std::string::npos) << *got;
}

// Three of five GPUs are free until 100 s. Three jobs want all five, and one of two GPUs that came at 50 s has room now and would delay
// them: a look for each of the four. A short job that comes before them in order is one look more, and the four reservations stand.
TEST(SimulationByCounts, ReservationsThatStandAreNotLookedForAgain) {
  const auto made_and_kept = [](bool short_job) {
    Trace trace;
    const auto add = [&](TimeUs submit_s, TimeUs run_s, std::int32_t gpus) {
      TraceJob& job = trace.jobs.emplace_back();
      job.id = std::to_string(trace.jobs.size());
      job.submit_us = submit_s * kSecond;
      job.run_us = run_s * kSecond;
      job.gpus = gpus;
    };
    add(0, 100, 2);
    for (const TimeUs j : {1, 2, 3}) add(j, 1000 + j, 5);
    add(50, 3000, 2);
    if (short_job) add(60, 20, 1);
    SimulationSettings settings;
    settings.request.policy = "sjf";
    settings.request.params = {{"packing", "count"}, {"discipline", "conservative"}};
    settings.overheads = named_overheads("none");
    JobsOf jobs(trace);
    const std::optional<SimulationTotals> totals =
        simulate_counts(Replayed{trace.profiles, facts_of(trace), jobs}, io::uniform_cluster(1, 5), settings, [](const auto&...) {});
    return std::vector{totals.value().reservations_made, totals.value().reservations_kept};
  };
  EXPECT_EQ(made_and_kept(false), (std::vector<std::int64_t>{4, 0}));
  EXPECT_EQ(made_and_kept(true), (std::vector<std::int64_t>{5, 4}));
}

}  // namespace berth::sim::simulation_test
