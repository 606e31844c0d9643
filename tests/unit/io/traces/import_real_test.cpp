// Counts on the published files; docs/traces.md states their sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "host/core/base/civil_time.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"
#include "tests/support/traces.hpp"

namespace berth::io::import_real_test {
namespace {

const char* const kVenus = "helios/helios_venus_gpujobs_clamp48h.csv.gz";
const char* const kVenusQuotas = "helios/venus_cluster_gpu_number.csv";
const char* const kPhilly = "philly/philly.csv.gz";
const char* const kPai = "alibaba/pai2020_terminated_sub60k_clamp48h.csv.gz";

std::int64_t gpus_of(const Trace& trace, TimeUs from) {
  return std::accumulate(trace.jobs.begin(), trace.jobs.end(), std::int64_t{0},
                         [&](std::int64_t sum, const TraceJob& job) { return job.submit_us >= from ? sum + job.gpus : sum; });
}

std::int64_t clamped(const Trace& trace) {
  return std::count_if(trace.jobs.begin(), trace.jobs.end(), [](const TraceJob& job) { return job.clamped; });
}

}  // namespace

TEST(ImportReal, VenusCountsAreThePublishedOnes) {
  const std::string file = test::trace_file(kVenus);
  if (file.empty()) GTEST_SKIP() << kVenus << " is not here";

  const Trace trace = import_trace("helios-venus", {file});

  const TimeUs april = core::parse_instant("2020-04-01 00:00:00", trace.origin_iso);
  EXPECT_EQ(trace.jobs.size(), 125'303u);
  EXPECT_TRUE(trace.dropped.empty());
  EXPECT_EQ(std::count_if(trace.jobs.begin(), trace.jobs.end(), [&](const TraceJob& job) { return job.submit_us >= april; }), 125'214);
  EXPECT_EQ(gpus_of(trace, april), 843'064);
  EXPECT_EQ(clamped(trace), 2'379);
}

TEST(ImportReal, VenusReadsBackFromItsNormalForm) {
  const std::string file = test::trace_file(kVenus);
  if (file.empty()) GTEST_SKIP() << kVenus << " is not here";

  const Trace trace = import_trace("helios-venus", {file});

  EXPECT_EQ(parse_trace(to_json(trace)), trace);
}

TEST(ImportReal, VenusQuotasAreItsClusterOfTheDay) {
  const std::string file = test::trace_file(kVenus), quotas = test::trace_file(kVenusQuotas);
  if (file.empty() || quotas.empty()) GTEST_SKIP() << kVenus << " or " << kVenusQuotas << " is not here";

  EXPECT_EQ(import_files("helios-venus", {file, quotas}).cluster->nodes.size(), 968u / 8);
  EXPECT_EQ(import_files("helios-venus", {file, quotas}, {"2020-09-28 00:00:00"}).cluster->nodes.size(), 1'080u / 8);
}

TEST(ImportReal, PhillyCountsAreThePublishedOnes) {
  const std::string file = test::trace_file(kPhilly), machines = test::trace_file("philly/cluster_machine_list.csv"),
                    vcs = test::trace_file("philly/philly_vc_nodes.csv");
  if (file.empty() || machines.empty() || vcs.empty()) GTEST_SKIP() << kPhilly << " or its cluster is not here";

  const Imported imported = import_files("philly", {file, machines, vcs});

  EXPECT_EQ(imported.trace.jobs.size(), 82'247u);  // an empty line ends the file
  EXPECT_TRUE(imported.trace.dropped.empty());
  EXPECT_EQ(imported.trace.origin_iso, "2017-09-04T10:30:41");
  EXPECT_EQ(std::count_if(imported.trace.jobs.begin(), imported.trace.jobs.end(), [](const TraceJob& job) { return job.gpus == 1; }),
            76'627);
  EXPECT_EQ(imported.cluster->nodes.size(), 552u);
  EXPECT_EQ(std::count_if(imported.cluster->nodes.begin(), imported.cluster->nodes.end(),
                          [](const Node& node) { return !node.virtual_clusters.empty(); }),
            352);
}

TEST(ImportReal, PaiCountsAreThePublishedOnes) {
  const std::string file = test::trace_file(kPai);
  if (file.empty()) GTEST_SKIP() << kPai << " is not here";

  const Trace trace = import_trace("pai", {file});

  EXPECT_EQ(trace.jobs.size(), 60'105u);
  EXPECT_EQ(gpus_of(trace, 0), 298'635);
  EXPECT_EQ(clamped(trace), 90);
}

TEST(ImportReal, ASmallClusterQueuesAndEveryJobIsSomewhere) {
  const std::string file = test::trace_file(kVenus);
  if (file.empty()) GTEST_SKIP() << kVenus << " is not here";
  const Trace trace = import_trace("helios-venus", {file});
  const TimeUs at = core::parse_instant("2020-06-01 12:00:00", trace.origin_iso);

  const sim::Replay replay = sim::replay_fifo(trace, uniform_cluster(32, 8), at);

  const auto submitted = std::count_if(trace.jobs.begin(), trace.jobs.end(), [&](const TraceJob& job) { return job.submit_us <= at; });
  std::int64_t held = 0;
  for (const auto& one : replay.running) held += trace.jobs[static_cast<std::size_t>(one.job)].gpus;
  EXPECT_EQ(static_cast<std::int64_t>(replay.running.size() + replay.waiting.size() + replay.finished.size() + replay.rejected.size()),
            submitted);
  EXPECT_EQ(held + replay.free_gpus, 256);
  EXPECT_GT(replay.waiting.size(), 1'000u);
}

}  // namespace berth::io::import_real_test
