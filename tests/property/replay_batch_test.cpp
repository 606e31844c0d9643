// Replays in a batch are simulations: the same instants, costs and counts of each job, on every backend.

#include "host/sim/batch/replay_batch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>

#include "berth/kernel/base/to_index.hpp"
#include "host/sim/counts/count_simulation.hpp"
#include "tests/property/random_worlds.hpp"

namespace berth::sim {
namespace {

using test::Random;

std::string row_of(TimeUs start, TimeUs end, TimeUs held, TimeUs restarting, TimeUs moving, std::int32_t starts, std::int32_t preemptions,
                   std::int32_t moves) {
  return fmt::format("start {} end {} held {} restarting {} moving {} starts {} preempted {} moved {}", start, end, held, restarting,
                     moving, starts, preemptions, moves);
}

std::string total_row(const SimulationTotals& totals) {
  return fmt::format("first {} last {} release {} gpus {} gpu-time {} up {} decisions {}", totals.first_submit_us, totals.last_end_us,
                     totals.last_release_us, totals.gpus, static_cast<std::int64_t>(totals.gpu_us),
                     static_cast<std::int64_t>(totals.gpu_up_us), totals.decisions);
}

std::vector<std::string> rows_of(const ReplayOutcome& outcome) {
  std::vector<std::string> rows;
  const ReplayedJobs& jobs = outcome.jobs;
  for (std::size_t j = 0; j < jobs.end_us.size(); ++j) {
    rows.push_back(row_of(jobs.start_us[j], jobs.end_us[j], jobs.held_us[j], jobs.restarting_us[j], jobs.moving_us[j], jobs.starts[j],
                          jobs.preemptions[j], jobs.moves[j]));
  }
  rows.push_back(total_row(outcome.totals));
  return rows;
}

/// The same by `simulate_counts`; nothing where it does not apply.
std::optional<std::vector<std::string>> simulated(const Trace& trace, const Overheads& overheads, const ReplaySpec& spec) {
  Trace as_told = trace;
  for (std::size_t j = 0; j < spec.run_us.size(); ++j) as_told.jobs[j].run_us = spec.run_us[j];
  SimulationSettings settings;
  settings.request.policy = spec.policy;
  settings.request.params = spec.params;
  settings.request.seed = spec.seed;
  settings.estimates = spec.estimates;
  settings.overheads = overheads;
  std::vector<std::string> rows(trace.jobs.size());
  JobsOf jobs(as_told);
  const std::optional<SimulationTotals> totals =
      simulate_counts({as_told.profiles, facts_of(as_told), jobs}, *spec.cluster, settings, [&](const JobOutcome& job) {
        const auto lost = [&](Loss loss) {
          return static_cast<TimeUs>(job.lost_gpu_us[static_cast<std::size_t>(loss)]) / job.traced->gpus;
        };
        rows[to_index(job.job)] =
            row_of(job.start_us, job.end_us, job.held_us, lost(Loss::kRestart), lost(Loss::kMove), job.starts, job.preemptions, job.moves);
      });
  if (!totals) return std::nullopt;
  rows.push_back(total_row(*totals));
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
  spec.estimates = random.of<const char*>({"oracle", "oracle", "noise:40", "noise:100", "none"});
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

}  // namespace berth::sim
