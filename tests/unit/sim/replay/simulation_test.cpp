#include "host/sim/simulation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/measures/figures.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulation_test {
namespace {

SimulationSettings under(const std::string& policy, std::vector<std::pair<std::string, std::string>> params = {}) {
  SimulationSettings settings;
  settings.request.policy = policy;
  settings.request.params = std::move(params);
  return settings;
}

struct Ran {
  SimulationTotals totals;
  SimulationFigures figures;
  std::string rows;  // "id start-end" in seconds, in order of the end
};

Ran run(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  Ran ran;
  FiguresOf figures;
  ran.totals = simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    figures.add(one);
    const std::string& id = trace.jobs[static_cast<std::size_t>(one.job)].id;
    if (one.end == JobOutcome::End::kRejected) ran.rows += fmt::format("{} rejected ", id);
    if (one.end == JobOutcome::End::kUnfinished) ran.rows += fmt::format("{} unfinished ", id);
    if (one.end == JobOutcome::End::kCompleted) ran.rows += fmt::format("{} {}-{} ", id, one.start_us / kSecond, one.end_us / kSecond);
  });
  ran.figures = figures.finish(ran.totals);
  return ran;
}

// 2 nodes x 4 GPUs: b requests 8 and comes before c.
const std::vector<TraceJob> kThree{job("a", 0, 10, 6), job("b", 1, 20, 8), job("c", 2, 5, 2)};

}  // namespace

TEST(Simulation, TheHeadOfTheLineHoldsUpAllBehindIt) {
  EXPECT_EQ(run(trace_of(kThree), io::uniform_cluster(2, 4), under("fifo")).rows, "a 0-10 b 10-30 c 30-35 ");
  EXPECT_EQ(run(trace_of(kThree), io::uniform_cluster(2, 4), under("fifo", {{"discipline", "greedy"}})).rows, "c 2-7 a 0-10 b 10-30 ");
}

// One GPU of each node is free. It decides again when c has waited for one node for long enough.
TEST(Simulation, AJobWaitsForALevelAsLongAsItStates) {
  Trace trace = trace_of({job("a", 0, 1'000, 3), job("b", 0, 1'000, 3), job("c", 10, 100, 2)});
  trace.jobs[2].longest_wait = {{{TopologyKind::kSwitch, "node"}, 50 * kSecond}};
  for (const char* const policy : {"fifo", "sjf", "qssf", "dally-nowait"}) {
    EXPECT_EQ(run(trace, io::uniform_cluster(2, 4), under(policy, {{"discipline", "greedy"}})).rows, "c 60-160 a 0-1000 b 0-1000 ")
        << policy;
  }
}

TEST(Simulation, AJobThatWaitsForAnUnknownLevelIsRejected) {
  Trace trace = trace_of({job("a", 0, 10, 3), job("b", 0, 10, 3)});
  trace.jobs[1].longest_wait = {{{TopologyKind::kSwitch, "rack"}, 50 * kSecond}};
  std::string reason;
  simulate(trace, io::uniform_cluster(2, 4), under("fifo"), [&](const JobOutcome& one) {
    EXPECT_EQ(one.end == JobOutcome::End::kRejected, one.job == 1);
    if (one.job == 1) reason = one.reason;
  });
  EXPECT_EQ(reason, "the job waits for one rack, and the cluster's topology switch has no such level");
}

// The cluster of 2 nodes never has 4 GPUs of one node for c. Its wait would end beyond the largest time, and the run ends without that.
TEST(Simulation, AWaitThatEndsBeyondTheLargestTimeIsNone) {
  Trace trace = trace_of({job("a", 0, 50, 3), job("b", 0, 50, 3), job("c", 10, 100, 4)});
  trace.jobs[2].longest_wait = {{{TopologyKind::kSwitch, "node"}, kMaxTimeUs - 1}};
  Snapshot cluster = io::uniform_cluster(2, 4);
  for (Node& node : cluster.nodes) {
    for (std::int32_t g = 0; g < 4; ++g) node.gpu_list.push_back({g, g < 3 ? GpuState::kOk : GpuState::kFailed, kNever, -1});
  }
  EXPECT_EQ(run(trace, cluster, under("fifo", {{"discipline", "greedy"}})).rows, "a 0-50 b 0-50 c unfinished ");
}

// large waits for h, which it may not displace, and is reserved at 1,000. small displaces the job of the lower class beside it at
// once, whether or not it ends before.
TEST(Simulation, ASmallUrgentJobIsNotHeldUpByALargeOneThatIsReserved) {
  for (const std::int64_t run_s : {500, 5'000}) {
    Trace trace = trace_of(
        {job("h", 0, 1'000, 8), job("low", 0, 10'000, 4), job("rest", 0, 20'000, 4), job("large", 10, 100, 8), job("small", 20, run_s, 4)});
    trace.jobs[0].preemption_class = trace.jobs[3].preemption_class = trace.jobs[4].preemption_class = 1;
    for (std::size_t j : {0U, 3U, 4U}) trace.jobs[j].priority = 1;
    trace.jobs[2].preemption_class = 2;
    const std::string rows = run(trace, io::uniform_cluster(2, 8), under("priority")).rows;
    EXPECT_NE(rows.find(fmt::format("small 20-{} ", 20 + run_s)), std::string::npos) << rows;
    EXPECT_NE(rows.find("large 1000-1100 "), std::string::npos) << rows;
  }
}

// d displaces a and b. By count c, the last of all, has no GPU then, and b runs on: it ends 100 s sooner.
TEST(Simulation, AdmissionByCountsLetsNoJobOfAWorseRankRun) {
  const Trace trace = trace_of({job("a", 0, 1'000, 8), job("b", 1, 2'000, 4), job("c", 2, 3'000, 1), job("d", 3, 100, 9)});
  const Snapshot cluster = io::uniform_cluster(1, 13);

  EXPECT_EQ(run(trace, cluster, under("srtf", {{"admission", "count"}})).rows, "d 3-103 a 0-1100 b 1-2001 c 2-3102 ");
}

// b has 10 s and a 90 left when it arrives: a continues for its 90 s from 20 s on.
TEST(Simulation, ADisplacedJobKeepsItsWorkAndPaysForStartingAgain) {
  const Trace trace = trace_of({job("a", 0, 100, 4), job("b", 10, 10, 4)});
  const Snapshot cluster = io::uniform_cluster(1, 4);
  SimulationSettings settings = under("srtf");

  EXPECT_EQ(run(trace, cluster, settings).rows, "b 10-20 a 0-110 ");
  settings.overheads = named_overheads("default");
  const Ran ran = run(trace, cluster, settings);
  EXPECT_EQ(ran.rows, "b 10-20 a 0-140 ");
  EXPECT_EQ(ran.figures.preemptions, 1);
  EXPECT_EQ(ran.figures.overhead_ppm, 30 * 1'000'000 / 140);  // 30 s of the 130 + 10 in which jobs had GPUs
}

// In the state a job works from its start on; 30 s of it were the cost of the restart. A job with 20 s left is not
// displaced by one that needs 25.
TEST(Simulation, PoliciesSeeTheWorkThatIsLeftAfterOverheads) {
  const Trace trace = trace_of({job("a", 0, 100, 4), job("b", 10, 10, 4), job("c", 60, 75, 4)});
  SimulationSettings settings = under("srtf");
  settings.overheads = named_overheads("default");

  // a works again from 50 s on, and has 80 s left when c arrives with 75.
  EXPECT_EQ(run(trace, io::uniform_cluster(1, 4), settings).rows, "b 10-20 c 60-135 a 0-245 ");
}

TEST(Simulation, LasSinksAJobWhileItRuns) {
  const Trace trace = trace_of({job("a", 0, 100, 4), job("b", 10, 30, 4)});

  // a has used 4 x 20 GPU-seconds at 20 s and is one level below b then; b sinks at 40 s, and the earlier one comes first again.
  EXPECT_EQ(run(trace, io::uniform_cluster(1, 4), under("las", {{"thresholds_gpu_s", "80"}})).rows, "a 0-120 b 20-130 ");
}

// Either is worse off than the other after a lease without GPUs: at 1,200 s a has (1,200 + 1,800) / 6,000, and b (1,100
// + 3,000) / 6,000.
TEST(Simulation, UnderThemisLeasesGoRound) {
  const Trace trace = trace_of({job("a", 0, 3'000, 4), job("b", 100, 3'000, 4)});

  const Ran ran = run(trace, io::uniform_cluster(1, 4), under("themis"));

  EXPECT_EQ(ran.rows, "a 0-5400 b 1200-6000 ");
  EXPECT_EQ(ran.figures.preemptions, 4);
}

// A round ends every 60 s. a leaves at 60 s for b, which comes first as it waited since the previous round; c arrived
// with b and is next.
TEST(Simulation, UnderGandivaJobsShareInTimeSlices) {
  const Trace trace = trace_of({job("a", 0, 100, 4), job("b", 10, 90, 4), job("c", 20, 60, 4)});

  const Ran ran = run(trace, io::uniform_cluster(1, 4), under("gandiva"));

  EXPECT_EQ(ran.rows, "c 120-180 a 0-220 b 60-250 ");
  EXPECT_EQ(ran.figures.preemptions, 2);
}

// Jobs of one GPU request more than twice the capacity; four GPUs at once are free only at the end of a round.
TEST(Simulation, UnderGandivaNoGangWaitsForEver) {
  std::vector<TraceJob> jobs{job("gang", 5, 60, 4)};
  for (int i = 0; i < 60; ++i) jobs.push_back(job(fmt::format("s{:02}", i), i * 10, 100, 1));
  std::sort(jobs.begin(), jobs.end(), [](const TraceJob& a, const TraceJob& b) { return a.submit_us < b.submit_us; });

  EXPECT_EQ(run(trace_of(jobs), io::uniform_cluster(1, 4), under("gandiva")).rows.substr(0, 12), "gang 60-120 ");
}

TEST(Simulation, TimeSlicesInWhichNoJobProgressesAreRefused) {
  SimulationSettings settings = under("gandiva", {{"quantum_s", "30"}});
  const Trace trace = trace_of({job("a", 0, 100, 4)});
  const auto refusal = [&] {
    try {
      run(trace, io::uniform_cluster(1, 4), settings);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(), "accepted");
  settings.overheads = named_overheads("default");
  EXPECT_EQ(refusal(),
            "policy 'gandiva': time slices of 30 s are not longer than the 30 s that a resumption costs: no job would make progress");
  settings.overheads = {};
  settings.overheads.models.push_back({"gpt", {}});
  settings.overheads.models[0].second.costs.checkpoint_restore_us = 40 * kSecond;
  EXPECT_EQ(
      refusal(),
      "policy 'gandiva': time slices of 30 s are not longer than the 40 s that a resumption costs jobs of the model 'gpt': no job would "
      "make progress");
  settings.request.params = {{"quantum_s", "40.000001"}};
  EXPECT_EQ(refusal(), "accepted");
  settings.request = under("themis", {{"lease_s", "40"}}).request;
  EXPECT_NE(refusal(), "accepted");
}

TEST(Simulation, UnderAlloxNoJobIsDisplacedAndTheShortestIsNext) {
  const Trace trace = trace_of({job("a", 0, 100, 4), job("b", 1, 50, 4), job("c", 2, 10, 4)});

  const Ran ran = run(trace, io::uniform_cluster(1, 4), under("allox"));

  EXPECT_EQ(ran.rows, "a 0-100 c 100-110 b 110-160 ");
  EXPECT_EQ(ran.figures.preemptions, 0);
}

TEST(Simulation, UnderTiresiasSkewedModelsWaitForANode) {
  Trace trace = trace_of({job("a", 0, 10, 3), job("b", 0, 20, 3), job("c", 1, 5, 2), job("d", 2, 5, 2)});
  trace.jobs[2].model = "vgg19";
  trace.jobs[3].model = "resnet50";
  for (const char* packing : {"topology", "count", "consolidate"}) {
    const bool cut = std::string(packing) == "consolidate";  // then d waits for a node like all others
    EXPECT_EQ(run(trace, io::uniform_cluster(2, 4), under("tiresias", {{"packing", packing}})).rows,
              cut ? "a 0-10 c 10-15 d 10-15 b 0-20 " : "d 2-7 a 0-10 c 10-15 b 0-20 ");
  }
}

TEST(Simulation, RoundsDecideAtTheirMultiplesOnly) {
  SimulationSettings settings = under("fifo");
  settings.round_us = 60 * kSecond;

  const Trace trace = trace_of({job("a", 0, 10, 4), job("b", 1, 70, 4), job("c", 5, 10, 4)});
  const Ran rounds = run(trace, io::uniform_cluster(1, 4), settings);
  settings.events_too = true;
  const Ran both = run(trace, io::uniform_cluster(1, 4), settings);

  EXPECT_EQ(rounds.rows, "a 0-10 b 60-130 c 180-190 ");
  EXPECT_EQ(both.rows, "a 0-10 b 10-80 c 80-90 ");
  EXPECT_EQ(both.totals.decisions, 6) << "at 0, 1, 5, 10, 60 and 80 s; at 90 s none waits";
}

TEST(Simulation, AJobThatNeverFitsIsRejectedAndTheRestGoesOn) {
  const Ran ran = run(trace_of({job("a", 0, 10, 9), job("b", 1, 20, 4)}), io::uniform_cluster(2, 4), under("fifo"));

  EXPECT_EQ(ran.rows, "a rejected b 1-21 ");
  EXPECT_EQ(ran.figures.rejected, 1);
}

TEST(Simulation, NodesThatComeLaterAreWaitedFor) {
  Snapshot cluster = io::uniform_cluster(2, 4);
  cluster.nodes[1].available_from_us = 50 * kSecond;

  EXPECT_EQ(run(trace_of({job("a", 0, 10, 4), job("b", 1, 20, 8)}), cluster, under("fifo")).rows, "a 0-10 b 50-70 ");
}

// At 10 s it is too late for b, and c after it starts; also where only counts decide where jobs run.
TEST(Simulation, AJobWhoseHardDeadlineGoesOutOfReachBlocksNoOther) {
  std::vector<TraceJob> jobs{job("a", 0, 50, 1), job("b", 0, 50, 2), job("c", 1, 5, 1)};
  jobs[1].deadline_us = 60 * kSecond;
  jobs[1].deadline_hard = true;

  EXPECT_EQ(run(trace_of(jobs), io::uniform_cluster(1, 2), under("fifo", {{"packing", "count"}})).rows, "b rejected c 10-15 a 0-50 ");
  EXPECT_EQ(run(trace_of(jobs), io::uniform_cluster(1, 2), under("srtf", {{"discipline", "strict"}})).rows, "c 1-6 b rejected a 0-50 ");
}

TEST(Simulation, FiguresAddUp) {
  const Ran ran = run(trace_of(kThree), io::uniform_cluster(2, 4), under("fifo"));

  EXPECT_EQ(ran.figures.completed, 3);
  EXPECT_EQ(ran.figures.jct_us.mean, (10 + 29 + 33) * kSecond / 3);
  EXPECT_EQ(ran.figures.jct_us.p50, 29 * kSecond);
  EXPECT_EQ(ran.figures.wait_us.max, 28 * kSecond);
  EXPECT_EQ(ran.figures.makespan_us, 35 * kSecond);
  EXPECT_EQ(ran.figures.gpu_utilisation_ppm, 1'000'000LL * (60 + 160 + 10) / (8 * 35));
}

TEST(Simulation, NoJobsMakeNoFigures) {
  const Ran ran = run(trace_of({}), io::uniform_cluster(1, 4), under("fifo"));

  EXPECT_EQ(ran.rows, "");
  EXPECT_EQ(ran.figures.makespan_us, 0);
  EXPECT_EQ(ran.figures.jct_us.max, 0);
}

TEST(Simulation, RefusesWhatItDoesNotKnow) {
  const Trace trace = trace_of(kThree);
  const Snapshot cluster = io::uniform_cluster(1, 4);
  SimulationSettings settings = under("fifo");
  settings.estimates = "noise:101";
  EXPECT_THROW(run(trace, cluster, settings), InvalidArgument);
  settings.estimates = "hearsay";
  EXPECT_THROW(run(trace, cluster, settings), InvalidArgument);
  settings.estimates = "none";
  EXPECT_THROW(named_overheads("some"), InvalidArgument);
  EXPECT_THROW(run(trace_of({job("b", 5, 1, 1), job("a", 4, 1, 1)}), cluster, under("fifo")), InvalidArgument);
  EXPECT_THROW(run(trace_of({job("b", 5, 1, 1), job("a", 4, 1, 1)}), cluster, under("fifo", {{"packing", "count"}})), InvalidArgument);
  EXPECT_THROW(run(trace_of({job("b", 5, kMaxTimeUs / kSecond, 1)}), cluster, under("fifo")), InvalidArgument);
}

TEST(Estimator, RollingKnowsOnlyFinishedJobs) {
  Estimator rolling("rolling", 1);
  EXPECT_EQ(rolling.of(job("x", 0, 7, 1, "u"), 0).run_us, kNever);
  rolling.finished(job("a", 0, 0, 1, "u"), 10);
  rolling.finished(job("b", 0, 0, 2, "u"), 21);
  rolling.finished(job("c", 0, 0, 2, "v"), 31);

  EXPECT_EQ(rolling.of(job("x", 0, 7, 1, "u"), 0).run_us, 15) << "of the user";
  EXPECT_EQ(rolling.of(job("x", 0, 7, 2, "w"), 0).run_us, 26) << "of the GPU count";
  EXPECT_EQ(rolling.of(job("x", 0, 7, 4, ""), 0).run_us, 20) << "of all";
}

TEST(Estimator, NoiseStaysWithinItsBounds) {
  const Estimator noise("noise:20", 3);
  TimeUs least = kNever, most = 0;
  for (std::int64_t place = 0; place < 1'000; ++place) {
    const TimeUs run_us = noise.of(job("x", 0, 100, 1), place).run_us;
    least = std::min(least, run_us);
    most = std::max(most, run_us);
  }
  EXPECT_GE(least, 80 * kSecond);
  EXPECT_LT(least, 81 * kSecond);
  EXPECT_LE(most, 120 * kSecond);
  EXPECT_GT(most, 119 * kSecond);
}

TEST(Simulation, AJobOfAnUnknownGpuTypeIsRejectedAndTheRunGoesOn) {
  for (const char* discipline : {"strict", "easy"}) {
    TraceJob odd = job("b", 1, 10, 1), large = job("c", 2, 10, 9);
    odd.gpu_type = "X9";
    SimulationSettings settings;
    settings.request.policy = "fifo";
    settings.request.params = {{"discipline", discipline}};
    std::string rows;
    simulate(trace_of({job("a", 0, 10, 8), odd, large, job("d", 3, 10, 8)}), io::uniform_cluster(1, 8), settings,
             [&](const JobOutcome& one) {
               rows += one.traced->id + " " + kEndNames[static_cast<int>(one.end)] + " " + std::to_string(one.end_us / kSecond) + "; ";
               EXPECT_EQ(one.reason.empty(), one.end == JobOutcome::End::kCompleted);
             });
    EXPECT_EQ(rows, "b rejected 1; c rejected 2; a completed 10; d completed 20; ") << discipline;
  }
}

}  // namespace berth::sim::simulation_test
