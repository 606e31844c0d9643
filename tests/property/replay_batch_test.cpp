// Replays in a batch are simulations: the same instants, costs and counts of each job, on every backend.

#include "host/sim/batch/replay_batch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <optional>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/sim/counts/count_simulation.hpp"
#include "tests/property/random_worlds.hpp"

namespace berth::sim::replay_batch_test {
namespace {

using test::Random;

std::string row_of(TimeUs start, TimeUs end, TimeUs held, TimeUs restarting, TimeUs moving, std::int32_t starts, std::int32_t preemptions,
                   std::int32_t moves) {
  return fmt::format("start {} end {} held {} restarting {} moving {} starts {} preempted {} moved {}", start, end, held, restarting,
                     moving, starts, preemptions, moves);
}

/// Sums over jobs.
struct Sums {
  std::int64_t completed = 0, rejected = 0, starts = 0, preemptions = 0, moves = 0, jct_us = 0, wait_us = 0;
};

std::string total_row(const SimulationTotals& totals, const Sums& sums) {
  return fmt::format(
      "first {} last {} release {} gpus {} gpu-time {} up {} decisions {} completed {} rejected {} starts {} preempted {} "
      "moved {} jct {} wait {}",
      totals.first_submit_us, totals.last_end_us, totals.last_release_us, totals.gpus, static_cast<std::int64_t>(totals.gpu_us),
      static_cast<std::int64_t>(totals.gpu_up_us), totals.decisions, sums.completed, sums.rejected, sums.starts, sums.preemptions,
      sums.moves, sums.jct_us, sums.wait_us);
}

std::vector<std::string> rows_of(const ReplayOutcome& outcome) {
  std::vector<std::string> rows;
  const ReplayedJobs& jobs = outcome.jobs;
  for (std::size_t j = 0; j < jobs.end_us.size(); ++j) {
    rows.push_back(row_of(jobs.start_us[j], jobs.end_us[j], jobs.held_us[j], jobs.restarting_us[j], jobs.moving_us[j], jobs.starts[j],
                          jobs.preemptions[j], jobs.moves[j]));
  }
  rows.push_back(total_row(outcome.totals, {outcome.completed, outcome.rejected, outcome.starts, outcome.preemptions, outcome.moves,
                                            static_cast<std::int64_t>(outcome.jct_us), static_cast<std::int64_t>(outcome.wait_us)}));
  return rows;
}

/// The same by `simulate_counts`; nothing where it does not apply.
std::optional<std::vector<std::string>> simulated(const Trace& trace, const Overheads& overheads, const ReplaySpec& spec) {
  Trace changed = trace;
  for (std::size_t j = 0; j < spec.run_us.size(); ++j) changed.jobs[j].run_us = spec.run_us[j];
  SimulationSettings settings;
  settings.request.policy = spec.policy;
  settings.request.params = spec.params;
  settings.request.seed = spec.seed;
  settings.estimates = spec.estimates;
  settings.overheads = overheads;
  std::vector<std::string> rows(trace.jobs.size());
  JobsOf jobs(changed);
  Sums sums;
  const std::optional<SimulationTotals> totals =
      simulate_counts({changed.profiles, facts_of(changed), jobs}, *spec.cluster, settings, [&](const JobOutcome& job) {
        const auto lost = [&](Loss loss) {
          return static_cast<TimeUs>(job.lost_gpu_us[static_cast<std::size_t>(loss)]) / job.traced->gpus;
        };
        const bool completed = job.end == JobOutcome::End::kCompleted;
        ++(completed ? sums.completed : sums.rejected);
        sums.starts += job.starts;
        sums.preemptions += job.preemptions;
        sums.moves += job.moves;
        sums.jct_us += completed ? job.jct_us() : 0;
        sums.wait_us += completed ? job.waited_us() : 0;
        rows[to_index(job.job)] =
            row_of(job.start_us, job.end_us, job.held_us, lost(Loss::kRestart), lost(Loss::kMove), job.starts, job.preemptions, job.moves);
      });
  if (!totals) return std::nullopt;
  rows.push_back(total_row(*totals, sums));
  return rows;
}

std::vector<TimeUs> random_runs(Random& random, const Trace& trace) {
  std::vector<TimeUs> runs;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) runs.push_back(random.within(0, 200) * kSecond / 2);
  return runs;
}

ReplaySpec random_spec(Random& random, std::uint64_t seed) {
  ReplaySpec spec;
  spec.policy = random.of<const char*>({"fifo", "sjf", "edf", "srtf", "srtf", "srsf", "las", "las", "las"});
  spec.params = {{"packing", random.of<const char*>({"count", "count", "count", "topology", "emptiest"})},
                 {"discipline", random.of<const char*>({"strict", "greedy", "greedy"})}};
  if (spec.policy == "las") {
    spec.params.emplace_back("thresholds_gpu_s", random.of<const char*>({"20,50,200", "7.5", "1,2,3,4,5,6,100,1000"}));
  }
  if (spec.policy == "sjf") spec.params.emplace_back("form", random.of<const char*>({"helios", "tiresias"}));
  spec.estimates = random.of<const char*>({"oracle", "oracle", "reactive", "rolling", "noise:40", "noise:100", "none"});
  spec.seed = seed;
  return spec;
}

}  // namespace

TEST(ReplayBatch, IsEachSimulation) {
  std::int64_t replayed = 0, moved = 0, displaced = 0;
  const auto cpu = core::make_cpu_backend(1);
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const test::World world{random.percent(30), random.percent(20), random.percent(5)};
    Trace trace = test::random_trace(random, world);
    if (random.percent(50)) test::crowd(random, world, trace);
    const Overheads overheads = test::random_overheads(random);
    std::deque<Snapshot> clusters;
    std::deque<std::vector<TimeUs>> runs;
    std::vector<ReplaySpec> specs;
    for (std::int32_t i = random.within(1, 8); i > 0; --i) {
      ReplaySpec& spec = specs.emplace_back(random_spec(random, seed + to_index(i)));
      if (clusters.empty() || random.percent(50)) clusters.push_back(test::random_cluster(random, world));
      spec.cluster = &clusters.back();
      if (random.percent(30)) spec.run_us = runs.emplace_back(random_runs(random, trace));
    }

    const std::vector<ReplayOutcome> got = replay_batch(trace, overheads, specs, *cpu, true);

    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!got[i].why_not.empty()) continue;
      const auto want = simulated(trace, overheads, specs[i]);
      ASSERT_TRUE(want.has_value());
      ASSERT_EQ(rows_of(got[i]), *want) << "seed " << seed << " spec " << i << " " << specs[i].policy << " " << specs[i].params[0].second
                                        << " " << specs[i].params[1].second << " " << specs[i].estimates;
      ++replayed;
      moved += got[i].moves;
      displaced += got[i].preemptions;
    }
  }
  EXPECT_GT(replayed, 1500);
  EXPECT_GT(moved, 1000);
  EXPECT_GT(displaced, 10000);
}

TEST(ReplayBatch, RefusesWhatSimulateRefuses) {
  Random random(1);
  const Trace trace = test::random_trace(random, {});
  const Snapshot cluster = io::uniform_cluster(2, 8);
  const auto cpu = core::make_cpu_backend(1);
  const auto refused = [&](const auto& change) {
    ReplaySpec spec;
    spec.policy = "fifo";
    spec.cluster = &cluster;
    change(spec);
    EXPECT_THROW(replay_batch(trace, {}, {&spec, 1}, *cpu, false), InvalidArgument);
  };
  const std::vector<TimeUs> too_many(trace.jobs.size() + 1, kSecond), negative(trace.jobs.size(), -1);
  refused([](ReplaySpec& spec) { spec.cluster = nullptr; });
  refused([](ReplaySpec& spec) { spec.estimates = "noise:500"; });
  refused([](ReplaySpec& spec) { spec.policy = "fif"; });
  refused([](ReplaySpec& spec) { spec.params = {{"discipline", "eazy"}}; });
  refused([&](ReplaySpec& spec) { spec.run_us = negative; });
  refused([&](ReplaySpec& spec) { spec.run_us = too_many; });
}

TEST(ReplayBatch, LeavesJobsThatHaveAGraceToSimulate) {
  Random random(3);
  Trace trace = test::random_trace(random, {});
  trace.jobs.back().grace_us = kSecond;
  const Snapshot cluster = io::uniform_cluster(2, 8);
  std::vector<ReplaySpec> specs(2);
  for (ReplaySpec& spec : specs) {
    spec.policy = &spec == specs.data() ? "srtf" : "fifo";
    spec.params = {{"packing", "count"}};
    spec.cluster = &cluster;
  }

  const std::vector<ReplayOutcome> got = replay_batch(trace, {}, specs, *core::make_cpu_backend(1), false);

  EXPECT_EQ(got[0].why_not, "jobs that may be displaced have a grace_s to stop");
  EXPECT_EQ(got[1].why_not, "") << "no job is displaced";
}

TEST(ReplayBatch, StopsAllThreads) {
  Random random(2);
  const Trace trace = test::random_trace(random, {});
  const Snapshot cluster = io::uniform_cluster(2, 8);
  std::vector<ReplaySpec> specs(40);
  for (ReplaySpec& spec : specs) {
    spec.policy = "fifo";
    spec.cluster = &cluster;
  }
  const std::atomic<bool> cancelled{true};
  core::StopToken stop;
  stop.cancelled = &cancelled;

  const std::vector<ReplayOutcome> got = replay_batch(trace, {}, specs, *core::make_cpu_backend(4), false, &stop);

  for (const ReplayOutcome& one : got) EXPECT_TRUE(one.totals.interrupted);
  EXPECT_TRUE(stop.by_cancel);
}

TEST(ReplayBatch, OfNoJobsHasNoDecisions) {
  const Snapshot cluster = io::uniform_cluster(2, 8);
  ReplaySpec spec;
  spec.policy = "las";
  spec.params = {{"packing", "count"}};
  spec.cluster = &cluster;

  const std::vector<ReplayOutcome> got = replay_batch({}, {}, {&spec, 1}, *core::make_cpu_backend(1), true);

  EXPECT_EQ(got[0].why_not, "");
  EXPECT_EQ(got[0].totals.decisions, 0);
  EXPECT_EQ(got[0].completed, 0);
}

}  // namespace berth::sim::replay_batch_test
