// Promised deadlines are met where jobs share GPUs by predicted interference, whatever joins them: parameter `sharing`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::shared_promises_test {
namespace {

using test::Random;

// BERTH_PROMISE_WORLDS: how many in each test.
int worlds(int usual) {
  const char* const wanted = std::getenv("BERTH_PROMISE_WORLDS");  // NOLINT(concurrency-mt-unsafe): one thread
  return wanted == nullptr ? usual : std::atoi(wanted);
}

// Some pairs of the models are not measured.
void put_models(Random& random, Trace& trace) {
  const std::vector<std::string> models{"m0", "m1", "m2", "m3"};
  for (const std::string& model : models) {
    Profile profile;
    profile.model = model;
    for (const std::string& other : models) {
      if (random.percent(15)) continue;
      const std::int64_t least = random.of<std::int64_t>({300'000, 700'000, 850'000});
      profile.colocation.emplace_back(other, least + random.below(static_cast<std::int32_t>(1'000'001 - least)));
    }
    trace.profiles.emplace_back(model, profile);
  }
}

Trace jobs_on_shares(Random& random) {
  Trace trace;
  trace.name = "shares";
  put_models(random, trace);
  const std::int32_t jobs = random.within(1, 50);
  const std::int32_t pace = random.of<std::int32_t>({1, 5, 20, 60});  // from idle to far too many
  const std::int32_t whole = random.of<std::int32_t>({0, 20, 60});    // per cent
  TimeUs at = 0;
  for (std::int32_t j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:03}", j);
    job.submit_us = at;
    const TimeUs unit = random.percent(20) ? 1'234'567 : kSecond;
    job.run_us = random.within(1, 100) * unit;
    job.gpus = random.of<std::int32_t>({1, 1, 1, 2, 3, 4});
    if (!random.percent(whole)) {
      job.model = job.profile = random.of<std::string>({"m0", "m1", "m2", "m3"});
      job.work = job.run_us;  // a unit takes a second alone
      Shape shape;
      shape.id = "s";
      shape.gpus = job.gpus;
      shape.share_ppm = random.of<std::int32_t>({200'000, 330'000, 500'000, 500'000, 700'000});
      job.shapes = {shape};
      if (random.percent(25)) {  // or on whole GPUs
        shape.id = "w";
        shape.share_ppm = kWholeGpu;
        job.shapes.insert(random.percent(50) ? job.shapes.begin() : job.shapes.end(), shape);
      }
    }
    if (random.percent(70)) {
      const TimeUs times = random.of<TimeUs>({1, 2, 2, 3, 5});
      job.deadline_us = at + job.run_us * times + random.of<TimeUs>({-kSecond, 0, 1'000, 40 * kSecond});
      job.deadline_hard = random.percent(60);
      job.deadline_value = random.of<std::int64_t>({0, 1, 10, 1'000});
    }
    trace.jobs.push_back(std::move(job));
    const TimeUs unit_between = random.of<TimeUs>({kSecond, 777'777});
    at += random.within(0, pace) * unit_between;
  }
  return trace;
}

Snapshot cluster_of(Random& random) {
  const std::int32_t nodes = random.within(1, 4);
  Snapshot cluster = io::uniform_cluster(nodes, random.of<std::int64_t>({1, 2, 4, 8}));
  const bool mixed = random.percent(20);
  for (Node& node : cluster.nodes) node.sharing = !mixed || random.percent(50);
  return cluster;
}

SimulationSettings sharing(Random& random) {
  SimulationSettings settings;
  settings.request.policy = random.of<const char*>({"edf-admission", "genie"});
  const auto param = [&](const char* name, const char* value) { settings.request.params.emplace_back(name, value); };
  param("sharing", random.of<const char*>({"0.5", "0.75", "0.8", "0.9", "1"}));
  param("laid_again", random.of<const char*>({"0", "128"}));
  param("unpromised", random.of<const char*>({"run", "run", "reject"}));
  param("packing", random.of<const char*>({"topology", "count", "emptiest"}));
  param("expected", random.of<const char*>({"0", "0", "1"}));
  param("shape", random.of<const char*>({"requested", "requested", "largest", "least_gpu_time"}));
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

TEST(SharedPromises, AreKept) {
  Random random(40);
  std::int64_t promised = 0, of_shares = 0, slowed = 0;
  for (int world = 0; world < worlds(1'500); ++world) {
    const Trace trace = jobs_on_shares(random);
    const Snapshot cluster = cluster_of(random);
    const SimulationSettings settings = sharing(random);
    simulate(trace, cluster, settings, [&](const JobOutcome& job) {
      const bool shares = !job.traced->shapes.empty();
      if (shares && job.held_us - job.overhead_us > job.traced->run_us + kSecond / 10) ++slowed;
      if (job.admission != JobOutcome::Admission::kPromised) return;
      ++promised;
      of_shares += shares ? 1 : 0;
      ASSERT_EQ(job.end, JobOutcome::End::kCompleted) << world << " " << job.traced->id;
      ASSERT_LE(job.end_us, job.traced->deadline_us) << world << " " << settings.request.policy << " " << job.traced->id;
    });
    if (HasFatalFailure()) return;
  }
  // All kinds occur: the laws are not empty.
  EXPECT_GT(promised, 5'000);
  EXPECT_GT(of_shares, 2'000);
  EXPECT_GT(slowed, 500);
}

}  // namespace berth::sim::shared_promises_test
