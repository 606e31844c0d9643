#include "host/report/withheld.hpp"

#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"

namespace berth::report::withheld_test {
namespace {

// Nodes of 4 GPUs, at second 100.
ClusterState nodes(const std::string& list, const std::string& jobs = "") {
  return io::parse_state(R"({"schema": "berth.snapshot.v1", "now_s": 100, "gpu_types": [{"id": "A"}], "nodes": [)" + list +
                         R"(], "jobs": [)" + jobs + "]}");
}

std::string node(const std::string& id, const std::string& fields) { return R"({"id": ")" + id + R"(", "gpu_type": "A", )" + fields + "}"; }

// Runs on the first GPUs of node n.
std::string runs(const std::string& id, const std::string& gpus, int count) {
  return R"({"id": ")" + id + R"(", "submit_s": 0, "gpus": )" + std::to_string(count) +
         R"(, "state": "running", "allocation": {"shape": ")" + std::to_string(count) + R"(", "entries": [{"node": "n", "gpus": )" + gpus +
         "}]}}";
}

const char* const kTwoOfFourReleasing =
    R"("gpus": [{"index": 0, "state": "releasing"}, {"index": 1, "state": "releasing", "free_at_s": 200}, {"index": 2}, {"index": 3}])";

WithheldGpus withheld(const ClusterState& state) { return withheld_gpus(state, Engine().decide(state, Request{})); }

}  // namespace

TEST(Withheld, GpusBeingReleasedByNoJobOfTheStateAreHeldByOthers) {
  const WithheldGpus got = withheld(nodes(node("n", kTwoOfFourReleasing), runs("j", "[0]", 1)));

  EXPECT_EQ(got.held_by_others, 1) << "the other one serves its job still";
  EXPECT_EQ(got.failed, 0);
  EXPECT_EQ(got.closed, 0);
}

TEST(Withheld, FailedGpusAndAllOfFailedNodesAreCounted) {
  const std::string one = node("n", R"("gpus": [{"index": 0, "state": "failed"}, {"index": 1}])");
  const std::string all = node("m", std::string(R"("state": "failed", )") + kTwoOfFourReleasing);
  const WithheldGpus got = withheld(nodes(one + "," + all));

  EXPECT_EQ(got.failed, 5);
  EXPECT_EQ(got.held_by_others, 0);
  EXPECT_EQ(got.closed, 0);
}

TEST(Withheld, NodesThatTakeNoNewJobsCloseWhatTheirJobsLeave) {
  const std::string later = node("l", R"("gpus": 4, "available_from_s": 101)"), spare = node("s", R"("gpus": 4, "state": "spare")");
  const WithheldGpus got =
      withheld(nodes(node("n", R"("gpus": 4, "state": "drain")") + "," + later + "," + spare, runs("j", "[0, 1, 2]", 3)));

  EXPECT_EQ(got.closed, 1 + 4 + 4);
  EXPECT_EQ(got.failed + got.held_by_others, 0);
}

TEST(Withheld, WithTheGpusOfTheTotalsAllOfTheClusterIsCounted) {
  const ClusterState state =
      nodes(node("n", kTwoOfFourReleasing) + "," + node("m", R"("gpus": 4, "state": "failed")"), runs("j", "[0]", 1));
  const Plan plan = Engine().decide(state, Request{});
  const WithheldGpus got = withheld_gpus(state, plan);

  EXPECT_EQ(plan.totals.gpus + got.held_by_others + got.failed, 8);
}

}  // namespace berth::report::withheld_test
