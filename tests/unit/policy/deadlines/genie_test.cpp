// Shortest waiting allowance and earliest deadline: neither is always better, and promises rescue both.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"

namespace berth::genie_test {
namespace {

TraceJob due(const std::string& id, TimeUs at_s, TimeUs run_s) {
  TraceJob job;
  job.id = id;
  job.run_us = run_s * kSecond;
  job.deadline_us = at_s * kSecond;
  job.deadline_value = 1;
  return job;
}

// The jobs that end after their deadline, one blank after each.
std::string late(const std::vector<TraceJob>& jobs, std::int32_t gpus, const std::string& policy,
                 std::vector<std::pair<std::string, std::string>> params = {}) {
  Trace trace;
  trace.name = "allowances";
  trace.jobs = jobs;
  sim::SimulationSettings settings;
  settings.request.policy = policy;
  settings.request.params = std::move(params);
  std::string late;
  sim::simulate(trace, io::uniform_cluster(1, gpus), settings, [&](const sim::JobOutcome& job) {
    if (job.end_us > job.traced->deadline_us) late += job.traced->id + " ";
  });
  return late;
}

const std::vector<TraceJob> kOneGpu{due("a", 10, 2), due("b", 12, 9)};
const std::vector<TraceJob> kTwoGpus{due("a", 2, 1), due("b", 2, 1), due("c", 3, 3)};

}  // namespace

// Allowances are 8 s and 3 s, so b would be first, and a end at 11 s.
TEST(Genie, OnOneGpuTheEarliestDeadlineIsRight) {
  EXPECT_EQ(late(kOneGpu, 1, "edf"), "");
  EXPECT_EQ(late(kOneGpu, 1, "genie"), "");
  EXPECT_EQ(late(kOneGpu, 1, "edf-admission"), "");
  // Without moved reservations b gets no promise, as that of a is from 8 s to 10 s. It runs all the same.
  EXPECT_EQ(late(kOneGpu, 1, "genie", {{"laid_again", "0"}}), "");
}

// By deadline a and b are first, and c ends at 4 s.
TEST(Genie, OnTwoGpusTheShortestAllowanceIsRight) {
  EXPECT_EQ(late(kTwoGpus, 2, "edf"), "c ");
  EXPECT_EQ(late(kTwoGpus, 2, "genie", {{"expected", "0"}}), "");
}

}  // namespace berth::genie_test
