#include "host/sim/delay/delay_problem.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::delay_problem_test {
namespace {

constexpr std::int64_t kAllGpus[] = {1};

std::string refusal(const std::function<void(Trace&, Snapshot&, Overheads&)>& change) {
  Trace trace = trace_of({job("a", 0, 10, 2), job("b", 0, 10, 2)});
  Snapshot cluster = io::uniform_cluster(2, 4);
  Overheads overheads;
  change(trace, cluster, overheads);
  try {
    const DelayProblem problem(trace, cluster, overheads, kAllGpus);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(DelayProblem, RefusesWhatItWouldNotReplayAsTheSimulation) {
  EXPECT_EQ(refusal([](Trace&, Snapshot&, Overheads&) {}), "");
  const auto expect = [](const std::string& part, const std::function<void(Trace&, Snapshot&, Overheads&)>& change) {
    EXPECT_NE(refusal(change).find(part), std::string::npos) << part << ": " << refusal(change);
  };
  expect("job 'b' states how long", [](Trace& t, Snapshot&, Overheads&) {
    t.jobs[1].longest_wait = {{{TopologyKind::kSwitch, "node"}, 1}};
  });
  expect("job 'a' has a hard deadline", [](Trace& t, Snapshot&, Overheads&) { t.jobs[0].deadline_us = 5, t.jobs[0].deadline_hard = true; });
  expect("job 'a' trains by epochs", [](Trace& t, Snapshot&, Overheads&) { t.jobs[0].epochs_micro = 1'000'000; });
  expect("job 'a' asks for GPUs", [](Trace& t, Snapshot&, Overheads&) { t.jobs[0].gpu_type = "other"; });
  expect("asks for memory", [](Trace& t, Snapshot& c, Overheads&) { t.jobs[0].memory_bytes = 1, c.nodes[1].memory_bytes = 5; });
  expect("asks for cores", [](Trace& t, Snapshot& c, Overheads&) { t.jobs[0].cpu_milli = 1, c.nodes[1].cpu_milli = 5; });
  expect("not sorted", [](Trace& t, Snapshot&, Overheads&) { t.jobs[0].submit_us = 5; });
  expect("another bandwidth", [](Trace&, Snapshot& c, Overheads&) { c.nodes[1].nics = 1, c.nodes[1].nic_bytes_per_s = 7; });
  expect("virtual clusters", [](Trace&, Snapshot& c, Overheads&) { c.nodes[0].virtual_clusters = {"v"}; });
  expect("is not ready", [](Trace&, Snapshot& c, Overheads&) { c.nodes[1].state = NodeState::kDrain; });
  expect("comes or goes", [](Trace&, Snapshot& c, Overheads&) { c.nodes[1].available_until_us = 5; });
  expect("no nodes", [](Trace&, Snapshot& c, Overheads&) { c.nodes.clear(); });
  expect("save their state",
         [](Trace&, Snapshot&, Overheads& o) { o.general.costs.checkpoint_every_us = o.general.costs.checkpoint_save_us = 5; });
}

TEST(DelayProblem, RungsAreLevelsThatHoldMoreThanTheOneBelowAndNotAll) {
  const Trace trace = trace_of({job("a", 0, 10, 2)});
  EXPECT_EQ(DelayProblem(trace, io::uniform_cluster(2, 4), {}, kAllGpus).rungs(), 1);
  Snapshot racks = io::uniform_cluster(4, 4);
  for (const char* const id : {"r0", "r1"}) {
    Domain domain;
    domain.id = id;
    domain.level = "rack";
    racks.domains.push_back(domain);
  }
  for (std::size_t n = 0; n < 4; ++n) racks.nodes[n].domain[0] = n < 2 ? "r0" : "r1";
  const DelayProblem problem(trace, racks, {}, kAllGpus);
  EXPECT_EQ(problem.rungs(), 2);
  EXPECT_EQ(std::vector<std::int64_t>(problem.rung_gpus().begin(), problem.rung_gpus().end()), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(problem.gpus(), 16);
  racks.nodes[3].domain[0].clear();
  EXPECT_THROW(DelayProblem(trace, racks, {}, kAllGpus), InvalidArgument);
}

}  // namespace berth::sim::delay_problem_test
