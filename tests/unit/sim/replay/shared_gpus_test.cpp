// Jobs on shares of one GPU slow each other down, as their profiles state.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::shared_gpus_test {
namespace {

using Table = std::vector<std::pair<std::string, std::int64_t>>;

// A job of one model, with `run_s` units of work that take a second each alone, on shares of GPUs.
TraceJob sharing(const std::string& id, const std::string& model, std::int64_t submit_s, std::int64_t run_s, std::int32_t gpus = 1,
                 std::int32_t share_ppm = 500'000) {
  TraceJob one = job(id, submit_s, run_s, gpus);
  one.model = one.profile = model;
  one.work = run_s * 1'000'000;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  shape.share_ppm = share_ppm;
  one.shapes = {shape};
  return one;
}

Snapshot cluster_of(std::int64_t nodes, std::int64_t gpus) {
  Snapshot cluster = io::uniform_cluster(nodes, gpus);
  for (Node& node : cluster.nodes) node.sharing = true;
  return cluster;
}

Trace with_tables(std::vector<TraceJob> jobs, const std::map<std::string, Table>& tables) {
  Trace trace = trace_of(std::move(jobs));
  for (const auto& [model, table] : tables) {
    Profile profile;
    profile.model = model;
    profile.colocation = table;
    trace.profiles.emplace_back(model, profile);
  }
  return trace;
}

std::map<std::string, TimeUs> ends(const Trace& trace, const Snapshot& cluster, const std::string& policy = "fifo") {
  SimulationSettings settings;
  settings.request.policy = policy;
  std::map<std::string, TimeUs> at;
  simulate(trace, cluster, settings, [&](const JobOutcome& one) { at[one.traced->id] = one.end_us; });
  return at;
}

const std::map<std::string, Table> kPair{{"a", {{"b", 800'000}}}, {"b", {{"a", 500'000}}}};

}  // namespace

TEST(SharedGpus, WithoutTablesJobsOnAGpuCostEachOtherNothing) {
  const auto at = ends(with_tables({sharing("x", "a", 0, 100), sharing("y", "b", 0, 100)}, {{"a", {}}, {"b", {}}}), cluster_of(1, 1));
  EXPECT_EQ(at.at("x"), 100 * kSecond);
  EXPECT_EQ(at.at("y"), 100 * kSecond);
}

// x keeps 80 %, and ends at 125 s. By then y has done 62.5 s of its work.
TEST(SharedGpus, EachKeepsItsFractionUntilTheOtherEnds) {
  const auto at = ends(with_tables({sharing("x", "a", 0, 100), sharing("y", "b", 0, 100)}, kPair), cluster_of(1, 1));
  EXPECT_EQ(at.at("x"), 125 * kSecond);
  EXPECT_EQ(at.at("y"), 162'500'000);
}

// x has done 60 s of its work when y comes, and needs 50 s for the other 40.
TEST(SharedGpus, AJobThatComesLaterSlowsTheOtherFromThenOn) {
  const auto at = ends(with_tables({sharing("x", "a", 0, 100), sharing("y", "b", 60, 100)}, kPair), cluster_of(1, 1));
  EXPECT_EQ(at.at("x"), 110 * kSecond);
  EXPECT_EQ(at.at("y"), 185 * kSecond);
}

TEST(SharedGpus, ThreeJobsMultiply) {
  const std::map<std::string, Table> tables{{"a", {{"b", 500'000}}}, {"b", {{"a", 1'000'000}, {"b", 1'000'000}}}};
  const std::vector<TraceJob> jobs{sharing("x", "a", 0, 100, 1, 300'000), sharing("y", "b", 0, 1'000, 1, 300'000),
                                   sharing("z", "b", 0, 1'000, 1, 300'000)};
  const auto at = ends(with_tables(jobs, tables), cluster_of(1, 1));
  EXPECT_EQ(at.at("x"), 400 * kSecond);
  EXPECT_EQ(at.at("y"), 1'000 * kSecond);
}

// Best fit puts y on one of the two GPUs of x: both of its members wait for the slower one.
TEST(SharedGpus, AGangRunsAtThePaceOfItsSlowestMember) {
  const auto at = ends(with_tables({sharing("x", "a", 0, 100, 2, 600'000), sharing("y", "b", 0, 10, 1, 400'000)}, kPair), cluster_of(1, 2));
  EXPECT_EQ(at.at("y"), 20 * kSecond);
  EXPECT_EQ(at.at("x"), 104 * kSecond);
}

TEST(SharedGpus, AModelThatIsNotListedCostsNothing) {
  const auto at =
      ends(with_tables({sharing("x", "a", 0, 100), sharing("y", "c", 0, 100)}, {{"a", {{"b", 500'000}}}, {"c", {}}}), cluster_of(1, 1));
  EXPECT_EQ(at.at("x"), 100 * kSecond);
}

TEST(SharedGpus, JobsOnDifferentGpusCostEachOtherNothing) {
  const auto at =
      ends(with_tables({sharing("x", "a", 0, 100, 1, 700'000), sharing("y", "b", 0, 100, 1, 700'000)}, kPair), cluster_of(1, 2));
  EXPECT_EQ(at.at("x"), 100 * kSecond);
  EXPECT_EQ(at.at("y"), 100 * kSecond);
}

// Both leave the GPU at 10 s for a job that needs all of it, and come back at 15 s. By 10 s x has done 8 s of its work.
TEST(SharedGpus, APreemptionEndsTheSlowdown) {
  TraceJob urgent = job("u", 10, 5, 1);
  std::vector<TraceJob> jobs{sharing("x", "a", 0, 20), sharing("y", "b", 0, 1'000), urgent};
  const auto at = ends(with_tables(jobs, kPair), cluster_of(1, 1), "srtf");
  EXPECT_EQ(at.at("u"), 15 * kSecond);
  EXPECT_EQ(at.at("x"), 30 * kSecond);
}

}  // namespace berth::sim::shared_gpus_test
