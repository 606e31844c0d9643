// Jobs of a snapshot report the same epochs as in a simulation at that instant.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "berth/engine.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/replay/replay.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::import_epochs_test {
namespace {

using test::Random;

constexpr std::int32_t kNodeGpus = 4;

Profile measured(std::int64_t on_one_node_micro, std::int64_t across_micro) {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  profile.points.push_back({"", kNodeGpus, 0, "", on_one_node_micro});
  if (across_micro > 0) profile.points.push_back({"", 2 * kNodeGpus, 0, "", across_micro});
  return profile;
}

// Jobs of whole nodes, which start at the same instants for every placement.
// Their work is stated as time, or as work, with rates that change, or with a profile that was not measured at their size.
Trace random_trainings(Random& random) {
  Trace trace;
  trace.name = "t";
  trace.profiles = {{"fast", measured(2'345'678, 3'456'789)}, {"single", measured(1'234'567, 0)}, {"slow", measured(1'111'111, 1'999'999)}};
  TimeUs at = 0;
  for (std::int32_t j = 0; j < 30; ++j) {
    TraceJob& job = trace.jobs.emplace_back();
    job.id = fmt::format("j{:03}", j);
    job.submit_us = at;
    job.gpus = random.percent(50) ? kNodeGpus : 2 * kNodeGpus;
    job.run_us = random.within(1, 300) * 1'234'567;
    if (random.percent(60)) {
      job.profile = random.of<const char*>({"fast", "single", "slow"});
      job.work = random.within(2, 500) * 999'999LL;
      if (job.profile != "single" && random.percent(50)) job.phases = {{job.work / 3 + 1, job.profile == "fast" ? "slow" : "fast", 0}};
    }
    if (random.percent(80)) {
      job.epochs_micro = random.within(1, 40) * 750'000LL;
      if (!job.phases.empty() && random.percent(50))
        job.phases[0].epochs_micro = random.within(1, static_cast<std::int32_t>(job.epochs_micro) - 1);
      job.dataset_size = random.percent(80) ? random.within(1, 100'000) : 0;
    }
    at += random.within(0, 60) * kSecond;
  }
  return trace;
}

/// The progress that running jobs report when the job "now" arrives.
std::map<std::string, Progress> told_now(Trace trace, const Snapshot& cluster, TimeUs now) {
  TraceJob& last = trace.jobs.emplace_back();
  last.id = "now";
  last.submit_us = now;
  last.run_us = kSecond;
  const auto before = [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); };
  std::sort(trace.jobs.begin(), trace.jobs.end(), before);
  std::map<std::string, Progress> told;
  Engine engine;
  PolicyState memory;
  SimulationSettings settings;
  settings.estimates = "none";
  settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>&) {
    Request fifo;
    fifo.policy = "fifo";
    engine.decide(state, memory, fifo, plan);
    for (const TraceJob& job : trace.jobs) {
      const std::int32_t job_index = state.now() == now ? state.find_job(job.id) : -1;
      if (job_index >= 0 && state.job(job_index)->state == JobState::kRunning) told[job.id] = state.job(job_index)->progress;
    }
  };
  simulate(trace, cluster, settings, [](const JobOutcome&) {});
  return told;
}

}  // namespace

TEST(ImportEpochs, ASnapshotReportsWhatASimulationDoes) {
  const Snapshot cluster = io::uniform_cluster(4, kNodeGpus);
  int reported = 0, in_later_phases = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Trace trace = random_trainings(random);
    const TimeUs now = random.within(1, 1'500) * 1'000'001LL;

    const Snapshot snapshot = snapshot_at(trace, cluster, now, EstimateSource::kNone);

    const std::map<std::string, Progress> told = told_now(trace, cluster, now);
    for (const Job& job : snapshot.jobs) {
      SCOPED_TRACE(fmt::format("seed {}, job {}", seed, job.id));
      const bool running = job.state == JobState::kRunning;
      ASSERT_EQ(told.count(job.id), running ? 1U : 0U);
      const Progress there = running ? told.at(job.id) : Progress{};
      EXPECT_EQ(job.progress.epochs_done_micro, there.epochs_done_micro);
      EXPECT_EQ(job.progress.samples_done, there.samples_done);
      EXPECT_EQ(job.progress.dataset_size, there.dataset_size);
      EXPECT_EQ(job.progress.initial_loss_micro, 0);
      reported += there.epochs_done_micro > 0 ? 1 : 0;
      const auto traced = std::find_if(trace.jobs.begin(), trace.jobs.end(), [&](const TraceJob& one) { return one.id == job.id; });
      if (!traced->phases.empty() && there.epochs_done_micro > traced->epochs_micro / 2) ++in_later_phases;
    }
  }
  EXPECT_GT(reported, 60);
  EXPECT_GT(in_later_phases, 5);
}

}  // namespace berth::sim::import_epochs_test
