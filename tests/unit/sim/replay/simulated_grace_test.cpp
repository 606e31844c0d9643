// Jobs that displace others wait until these have stopped. All times are worked out by hand.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::sim::simulated_grace_test {
namespace {

TraceJob with_grace(std::int64_t grace_s, TraceJob one) {
  one.grace_us = grace_s * kSecond;
  return one;
}

SimulationSettings srtf() {
  SimulationSettings settings;
  settings.request.policy = "srtf";
  settings.request.params = {{"packing", "count"}};
  return settings;
}

// The only node is away from 20 s to 25 s.
SimulationSettings srtf_with_a_failure() {
  SimulationSettings settings = srtf();
  ClusterEvent& failure = settings.events.events.emplace_back();
  failure.what = ClusterEvent::What::kFail;
  failure.node = io::uniform_cluster(1, 4).nodes[0].id;
  failure.at_us = 20 * kSecond;
  failure.until_us = 25 * kSecond;
  return settings;
}

struct Ran {
  std::string rows;  // "id start-end" in seconds, in order of the end
  std::map<std::string, JobOutcome> jobs;
};

Ran run(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  Ran ran;
  simulate(trace, cluster, settings, [&](const JobOutcome& one) {
    ran.rows += fmt::format("{} {}-{} ", one.traced->id, one.start_us / kSecond, one.end_us / kSecond);
    ran.jobs[one.traced->id] = one;
  });
  return ran;
}

// On one node.
std::string ends(std::vector<TraceJob> jobs, std::int32_t gpus = 4, const SimulationSettings& settings = srtf()) {
  return run(trace_of(std::move(jobs)), io::uniform_cluster(1, gpus), settings).rows;
}

}  // namespace

// a has all GPUs, is displaced at 10 s with 90 s left, and has until 40 s to stop.
TEST(SimulatedGrace, AJobThatDisplacesAnotherWaitsUntilItHasStopped) {
  EXPECT_EQ(ends({job("a", 0, 100, 4), job("b", 10, 10, 4)}), "b 10-20 a 0-110 ");
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("b", 10, 10, 4)}), "b 10-50 a 0-140 ");
  EXPECT_EQ(ends({job("a", 0, 100, 4), with_grace(30, job("b", 10, 10, 4))}), "b 10-20 a 0-110 ") << "b is not displaced";
}

// b waits 30 s and starts for 5 s; a pays 7 s for its restart.
TEST(SimulatedGrace, TheCostOfTheStartFollows) {
  SimulationSettings settings = srtf();
  settings.overheads.general.start_us = 5 * kSecond;
  settings.overheads.general.costs.restart_us = 7 * kSecond;

  const Ran ran = run(trace_of({with_grace(30, job("a", 0, 105, 4)), job("b", 10, 10, 4)}), io::uniform_cluster(1, 4), settings);

  EXPECT_EQ(ran.rows, "b 10-55 a 0-162 ");
  const JobOutcome& b = ran.jobs.at("b");
  EXPECT_EQ(b.held_us, 45 * kSecond);
  EXPECT_EQ(b.overhead_us, 35 * kSecond);
  EXPECT_EQ(static_cast<TimeUs>(b.lost_gpu_us[static_cast<std::size_t>(Loss::kRestart)]), 4 * 35 * kSecond);
}

TEST(SimulatedGrace, TheLongestGraceOfSeveralJobsCounts) {
  const std::vector<TraceJob> two{with_grace(30, job("a", 0, 100, 4)), with_grace(50, job("c", 0, 200, 4))};
  std::vector<TraceJob> one_for_both = two, one_for_each = two;
  one_for_both.push_back(job("b", 10, 10, 8));
  one_for_each.push_back(job("b", 10, 10, 4));
  one_for_each.push_back(job("d", 10, 20, 4));

  EXPECT_EQ(ends(one_for_both, 8), "b 10-70 a 0-160 c 0-260 ");
  std::vector<TraceJob> longest_first{with_grace(50, job("a", 0, 100, 4)), with_grace(30, job("c", 0, 200, 4)), job("b", 10, 10, 8)};
  EXPECT_EQ(ends(longest_first, 8), "b 10-70 a 0-160 c 0-260 ");
  // b displaces c, which has most left, and d then a. At 60 s a goes on where d was, with 90 s left, and c at 70 s with 190 s.
  EXPECT_EQ(ends(one_for_each, 8), "d 10-60 b 10-70 a 0-150 c 0-260 ");
}

// b has two of a's GPUs. The other two are given to e at 20 s, and a uses them until 40 s.
TEST(SimulatedGrace, GpusThatAreGivenAwayLaterAreUsedUntilThen) {
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("b", 10, 10, 2), job("e", 20, 5, 2)}), "e 20-45 b 10-50 a 0-140 ");
}

// c displaces b. At 20 s b still waits for a's GPUs until 40 s. At 50 s it works on them, with 40 s left, and has 25 s to stop.
TEST(SimulatedGrace, AJobThatWaitsForItsGpusHasNothingToStop) {
  const std::vector<TraceJob> two{with_grace(30, job("a", 0, 100, 4)), with_grace(25, job("b", 10, 50, 4))};
  std::vector<TraceJob> early = two, late = two;
  early.push_back(job("c", 20, 5, 4));
  late.push_back(job("c", 50, 5, 4));

  EXPECT_EQ(ends(early), "c 20-45 b 10-95 a 0-185 ");
  EXPECT_EQ(ends(late), "c 50-80 b 10-120 a 0-210 ");
}

// f ends at 12 s, and a gets its GPUs. It has not stopped on its own before 40 s.
TEST(SimulatedGrace, ADisplacedJobStartsAgainWhenItHasStopped) {
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("f", 0, 12, 4), job("b", 10, 50, 4)}, 8), "f 0-12 b 10-90 a 0-130 ");
}

// b begins at 40 s and has 35 s left at 45 s: c needs less. It would have 5 s left if it had begun at 10 s.
TEST(SimulatedGrace, PoliciesSeeTheWorkThatIsLeft) {
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("b", 10, 40, 4), job("c", 45, 20, 4)}), "c 45-65 b 10-100 a 0-190 ");
}

// 4 needs 13 of 18 GPUs: those of 1, and 4 of 2. So 2 moves, in the same decision, to those of 3. It begins there when 3 has stopped,
// after 40 s, and 4 when 1 has, after 20 s. 2 itself moves, and has no grace.
TEST(SimulatedGrace, AJobThatMovesToGpusOfADisplacedOneWaits) {
  const Ran ran = run(trace_of({with_grace(20, job("1", 0, 100, 9)), with_grace(25, job("2", 0, 200, 5)),
                                with_grace(40, job("3", 0, 300, 4)), job("4", 10, 50, 13)}),
                      io::uniform_cluster(1, 18), srtf());

  EXPECT_EQ(ran.rows, "4 10-80 1 0-170 2 0-240 3 0-370 ");
  EXPECT_EQ(ran.jobs.at("2").moves, 1);
  EXPECT_EQ(static_cast<TimeUs>(ran.jobs.at("2").lost_gpu_us[static_cast<std::size_t>(Loss::kMove)]), 5 * 40 * kSecond);
}

// The node fails at 20 s and is back at 25 s. b, which waits for a until 40 s, waits on.
TEST(SimulatedGrace, AFailureDoesNotShortenIt) {
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("b", 10, 10, 4)}, 4, srtf_with_a_failure()), "b 10-50 a 0-140 ");
}

// The same without b. a loses what it has done, and starts again at once.
TEST(SimulatedGrace, AJobThatHasLostGpusHasNothingToStop) {
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4))}, 4, srtf_with_a_failure()), "a 0-125 ");
}

TEST(SimulatedGrace, TimeSlicesAreLongerThanIt) {
  SimulationSettings settings;
  settings.request.policy = "themis";
  settings.request.params = {{"lease_s", "60"}};
  settings.overheads.general.costs.restart_us = 20 * kSecond;
  EXPECT_NE(ends({with_grace(39, job("a", 0, 100, 4))}, 4, settings), "");
  try {
    ends({with_grace(40, job("a", 0, 100, 4))}, 4, settings);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "policy 'themis': time slices of 60 s are not longer than the 60 s that a resumption costs with the longest "
                 "grace_s: no job would make progress");
  }
}

// Where no job is displaced, counts suffice.
TEST(SimulatedGrace, ChangesNothingWhereNoJobIsDisplaced) {
  SimulationSettings settings = srtf();
  settings.request.policy = "fifo";
  EXPECT_EQ(ends({with_grace(30, job("a", 0, 100, 4)), job("b", 10, 10, 4)}, 4, settings), "a 0-100 b 100-110 ");
}

}  // namespace berth::sim::simulated_grace_test
