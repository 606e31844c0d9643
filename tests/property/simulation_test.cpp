// A simulation by counts is the simulation that makes a plan for each decision: job by job the same instants, and over time the same
// series.

#include "host/sim/simulation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "host/io/importers.hpp"
#include "host/sim/count_simulation.hpp"
#include "host/sim/overheads.hpp"
#include "host/sim/series.hpp"
#include "tests/support/random.hpp"

namespace berth::sim {
namespace {

using test::Random;

Trace random_trace(Random& random, bool virtual_clusters) {
  Trace trace;
  trace.name = "t";
  const std::int32_t jobs = random.within(1, 60);
  const std::int32_t step = random.of<std::int32_t>({0, 1, 5, 50});
  TimeUs at = 0;
  for (std::int32_t j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:03}", j);
    job.user = fmt::format("u{}", random.below(4));
    if (virtual_clusters) job.virtual_cluster = random.of<const char*>({"a", "b", "c"});
    job.submit_us = at;
    job.run_us = random.within(1, 100) * (random.percent(20) ? 1'234'567 : kSecond);
    job.gpus = random.of<std::int32_t>({1, 1, 2, 3, 4, 8, 13});
    job.priority = random.below(3);
    trace.jobs.push_back(std::move(job));
    at += random.within(0, step) * kSecond;
  }
  return trace;
}

Snapshot random_cluster(Random& random, bool virtual_clusters) {
  Snapshot cluster = io::uniform_cluster(random.within(1, 6), random.of<std::int64_t>({1, 2, 4, 8}));
  for (Node& node : cluster.nodes) {
    if (virtual_clusters) node.virtual_clusters = {random.of<const char*>({"a", "b"})};
  }
  return cluster;
}

std::string row_of(const JobOutcome& o) {
  const bool declined = o.end == JobOutcome::End::kDeclined;
  return fmt::format("{} end {} {} start {} held {} overhead {} gpu {} lost {} {} starts {} preempted {} moved {}{}\n", o.job,
                     static_cast<int>(o.end), o.end_us, o.start_us, o.held_us, o.overhead_us, static_cast<std::int64_t>(o.gpu_us),
                     static_cast<std::int64_t>(o.lost_gpu_us[0]), static_cast<std::int64_t>(o.lost_gpu_us[1]), o.starts, o.preemptions,
                     o.moves, declined && o.reason.empty() ? " without a reason" : "");
}

template <class Simulate>
std::string outcomes(const Simulate& simulate, const Trace& trace, const Snapshot& cluster, SimulationSettings settings) {
  std::vector<std::string> rows(trace.jobs.size());
  JobsOf jobs(trace);
  Series series(trace);
  settings.series = &series;
  const SimulationTotals totals = simulate(Replayed{trace.profiles, facts_of(trace), jobs}, cluster, settings,
                                           [&](const JobOutcome& job) { rows[static_cast<std::size_t>(job.job)] += row_of(job); });
  std::string text;
  for (const std::string& row : rows) text += row;
  text += fmt::format("last end {}, release {}, GPU-time {}\n", totals.last_end_us, totals.last_release_us,
                      static_cast<std::int64_t>(totals.gpu_up_us));
  series.finish(totals.last_end_us);
  for (const Sample& sample : series.samples())
    text += fmt::format("{} {} {}\n", sample.from_us, sample.until_us, fmt::join(sample.micro, " "));
  return text;
}

}  // namespace

TEST(SimulationByCounts, IsTheOneWithPlans) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const bool virtual_clusters = random.percent(30);
    const Trace trace = random_trace(random, virtual_clusters);
    const Snapshot cluster = random_cluster(random, virtual_clusters);
    SimulationSettings settings;
    settings.request.policy = random.of<const char*>({"fifo", "sjf", "srtf", "srsf", "las", "edf", "gandiva"});
    settings.request.params = {{"packing", "count"}, {"discipline", random.of<const char*>({"hol", "skip", "skip"})}};
    settings.request.seed = seed;
    if (settings.request.policy == "las") settings.request.params.emplace_back("thresholds_gpu_s", "20,50,200");
    settings.estimates = random.of<const char*>({"oracle", "oracle", "rolling", "noise:40", "none"});
    settings.overheads = named_overheads(random.of<const char*>({"none", "default"}));
    if (settings.request.policy == "gandiva") {  // turns longer than what starting again costs
      settings.request.params.emplace_back("quantum_s",
                                           settings.overheads.name == "none" ? random.of<const char*>({"1", "7.5", "60"}) : "45.5");
    }
    const std::string what = fmt::format("seed {} {} {} {} {}", seed, settings.request.policy, settings.request.params[1].second,
                                         settings.estimates, settings.overheads.name);

    bool by_counts = true;
    const auto counts = [&](const auto&... all) {
      std::optional<SimulationTotals> totals = simulate_counts(all...);
      by_counts = totals.has_value();
      return totals.value_or(SimulationTotals{});
    };
    const std::string got = outcomes(counts, trace, cluster, settings);
    const std::string want = outcomes(simulate_by_engine, trace, cluster, settings);

    ASSERT_TRUE(by_counts) << what;
    ASSERT_EQ(got, want) << what;
  }
}

}  // namespace berth::sim
