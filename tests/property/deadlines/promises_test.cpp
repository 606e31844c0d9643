// A promised deadline is met while nothing fails and no job needs longer than it said, whatever else comes and however GPUs are spread.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "host/core/model/deadline_steps.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::promises_test {
namespace {

using test::Random;

// BERTH_PROMISE_WORLDS: how many in each test.
int worlds(int usual) {
  const char* const wanted = std::getenv("BERTH_PROMISE_WORLDS");  // NOLINT(concurrency-mt-unsafe): one thread
  return wanted == nullptr ? usual : std::atoi(wanted);
}

Trace jobs_with_deadlines(Random& random) {
  Trace trace;
  trace.name = "promises";
  const std::int32_t jobs = random.within(1, 60);
  const std::int32_t pace = random.of<std::int32_t>({1, 5, 20, 60});  // from idle to far too many
  TimeUs at = 0;
  for (std::int32_t j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:03}", j);
    job.submit_us = at;
    const TimeUs unit = random.percent(20) ? 1'234'567 : kSecond;
    job.run_us = random.within(1, 100) * unit;
    job.gpus = random.of<std::int32_t>({1, 1, 1, 2, 3, 4, 8, 13});
    if (random.percent(80)) {
      const TimeUs times = random.of<TimeUs>({1, 2, 2, 3, 5});
      job.deadline_us = at + job.run_us * times + random.of<TimeUs>({-kSecond, 0, 1'000, 40 * kSecond});
      job.deadline_hard = random.percent(60);
      job.deadline_value = random.of<std::int64_t>({0, 1, 10, 1'000});
      if (!job.deadline_hard && job.deadline_value > 1 && job.deadline_us >= at && random.percent(70)) {
        DeadlineStep step{job.deadline_us, job.deadline_value};
        for (std::int32_t steps = random.within(1, 3); steps > 0; --steps) {
          step.at_us += random.of<TimeUs>({1'000, kSecond, 30 * kSecond, 100 * kSecond});
          step.value /= 2;
          job.deadline_later.push_back(step);
        }
      }
    }
    if (random.percent(15)) {  // needs places
      Shape shape;
      shape.id = "s";
      Group group;
      group.name = "g";
      group.gpus_per_member = random.of<std::int32_t>({1, 2, 4});
      group.members_min = group.members_want = group.members_max = random.within(1, 3);
      job.gpus = shape.gpus = group.gpus_per_member * group.members_want;
      shape.groups = {group};
      job.shapes = {shape};
    }
    trace.jobs.push_back(std::move(job));
    const TimeUs unit_between = random.of<TimeUs>({kSecond, 777'777});
    at += random.within(0, pace) * unit_between;
  }
  return trace;
}

// The end of the step that was promised; -1: the promise was broken.
TimeUs promised_step(const JobOutcome& job) {
  const Deadline deadline = core::deadline_of(*job.traced);
  const std::int32_t step = job.promised_us == kNever ? -1 : core::step_index(deadline, job.promised_us);
  return step < 0 ? -1 : core::step_at(deadline, step);
}

SimulationSettings promising(Random& random) {
  SimulationSettings settings;
  settings.request.policy = random.of<const char*>({"edf-admission", "genie", "chronus"});
  const auto param = [&](const char* name, const char* value) { settings.request.params.emplace_back(name, value); };
  param("laid_again", random.of<const char*>({"0", "128"}));
  param("unpromised", random.of<const char*>({"run", "run", "reject"}));
  param("packing", random.of<const char*>({"topology", "count", "emptiest", "consolidate"}));
  if (settings.request.policy == "chronus") {
    param("lease_s", random.of<const char*>({"1", "7", "10", "60"}));
    param("asked", random.of<const char*>({"once", "lease"}));
    param("early", random.of<const char*>({"class", "last"}));
  } else {
    param("expected", random.of<const char*>({"0", "0", "1", "0.3"}));
  }
  settings.overheads.name = "some";
  if (random.percent(60)) {
    Costs& costs = settings.overheads.general.costs;
    costs.restart_us = random.within(0, 20) * kSecond;
    costs.checkpoint_save_us = random.within(0, 3) * kSecond;
    costs.checkpoint_restore_us = random.within(0, 3) * 333'333;
  }
  return settings;
}

}  // namespace

TEST(Promises, AreKept) {
  Random random(28);
  std::int64_t promised = 0, tight = 0, later = 0;
  for (int world = 0; world < worlds(1'500); ++world) {
    const Trace trace = jobs_with_deadlines(random);
    const std::int32_t nodes = random.within(1, 4);
    const Snapshot cluster = io::uniform_cluster(nodes, random.of<std::int64_t>({2, 4, 8}));
    const SimulationSettings settings = promising(random);
    simulate(trace, cluster, settings, [&](const JobOutcome& job) {
      if (job.admission != JobOutcome::Admission::kPromised) return;
      ++promised;
      ASSERT_EQ(job.end, JobOutcome::End::kCompleted) << world << " " << job.traced->id;
      ASSERT_LE(job.end_us, promised_step(job)) << world << " " << settings.request.policy << " " << job.traced->id;
      if (promised_step(job) - job.end_us < kSecond) ++tight;
      if (promised_step(job) > job.traced->deadline_us) ++later;
    });
    if (HasFatalFailure()) return;
  }
  // Both kinds occur: the laws are not empty.
  EXPECT_GT(promised, 5'000);
  EXPECT_GT(tight, 200);
  EXPECT_GT(later, 100);
}

// Jobs that run longer than they said lose their own promises only.
TEST(Promises, OfHonestJobsOutliveJobsThatRunLonger) {
  Random random(29);
  std::int64_t broken = 0, kept = 0;
  for (int world = 0; world < worlds(600); ++world) {
    const Trace trace = jobs_with_deadlines(random);
    const std::int32_t nodes = random.within(1, 4);
    const Snapshot cluster = io::uniform_cluster(nodes, random.of<std::int64_t>({2, 4, 8}));
    SimulationSettings settings = promising(random);
    settings.estimates = "noise:60";
    settings.overheads = {};  // such jobs report run time only, which would count the time of changes as work
    settings.request.seed = static_cast<std::uint64_t>(world);
    const Estimator estimator(settings.estimates, settings.request.seed);
    simulate(trace, cluster, settings, [&](const JobOutcome& job) {
      if (job.admission != JobOutcome::Admission::kPromised) return;
      if (estimator.run_time(*job.traced, job.job) < job.traced->run_us) {
        broken += job.end == JobOutcome::End::kCompleted && job.end_us <= promised_step(job) ? 0 : 1;
        return;
      }
      ++kept;
      ASSERT_EQ(job.end, JobOutcome::End::kCompleted) << world << " " << job.traced->id;
      ASSERT_LE(job.end_us, promised_step(job)) << world << " " << settings.request.policy << " " << job.traced->id;
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(broken, 100);
  EXPECT_GT(kept, 1'000);
}

// Shares of elastic jobs. Where they cannot all be laid again, what was planned before is kept.
TEST(Promises, OfSharesAreKeptWhereChangesCostNothing) {
  Random random(30);
  std::int64_t promised = 0, tight = 0, later = 0;
  for (int world = 0; world < worlds(3'000); ++world) {
    Trace trace = jobs_with_deadlines(random);
    Profile profile;
    profile.kind = ProfileKind::kTable;
    profile.unit = "steps";
    for (const std::int32_t gpus : {1, 2, 4, 8}) profile.points.push_back({"", gpus, 0, "", 1'000'000 * gpus / (1 + gpus / 3)});
    trace.profiles = {{"p", profile}};
    for (TraceJob& job : trace.jobs) {
      job.shapes.clear();
      if (random.percent(20)) continue;  // rigid
      job.gpus = random.of<std::int32_t>({1, 2, 4});
      job.profile = "p";
      job.work = job.run_us;
      job.elastic = true;
    }
    const std::int32_t nodes = random.within(1, 3);
    const Snapshot cluster = io::uniform_cluster(nodes, random.of<std::int64_t>({4, 8}));
    SimulationSettings settings;
    settings.request.policy = "elasticflow";
    settings.request.params = {{"spare", random.of<const char*>({"work", "work", "allowance"})}};
    settings.elastic = true;
    simulate(trace, cluster, settings, [&](const JobOutcome& job) {
      if (job.admission != JobOutcome::Admission::kPromised) return;
      ++promised;
      ASSERT_EQ(job.end, JobOutcome::End::kCompleted) << world << " " << job.traced->id;
      ASSERT_LE(job.end_us, promised_step(job)) << world << " " << job.traced->id;
      if (promised_step(job) - job.end_us < 10 * kSecond) ++tight;
      if (promised_step(job) > job.traced->deadline_us) ++later;
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(promised, 5'000);
  EXPECT_GT(tight, 100);
  EXPECT_GT(later, 100);
}

}  // namespace berth::sim::promises_test
