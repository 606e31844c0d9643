// The reason of a job that requests an unknown name states that name.
#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"

namespace berth::unknown_names_test {
namespace {

// Nodes a and b of 4 GPUs in virtual cluster vc, a with fast disks. There is no type B.
std::string reason_of(const std::string& job) {
  const ClusterState state =
      io::parse_state(R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [{"id": "A"}, {"id": "B"}], "nodes": [
      {"id": "a", "gpu_type": "A", "gpus": 4, "virtual_clusters": ["vc"], "labels": {"disk": "fast"}},
      {"id": "b", "gpu_type": "A", "gpus": 4, "virtual_clusters": ["vc"]}], "jobs": [{"id": "j", "submit_s": 0, )" +
                      job + "}]}");
  const Plan plan = Engine().decide(state, Request{});
  const Reason& reason = plan.decisions.at(0).reason;
  return render_reason(state, reason, plan.decisions[0].job) + (reason.certified ? "" : " (waits)");
}

}  // namespace

TEST(UnknownNames, AVirtualClusterThatNoNodeServes) {
  EXPECT_EQ(reason_of(R"("gpus": 4, "virtual_cluster": "nope")"), "needs 4 GPUs; no node serves virtual cluster nope");
}

TEST(UnknownNames, RequiredNodesThatAreNotThere) {
  EXPECT_EQ(reason_of(R"("gpus": 1, "virtual_cluster": "vc", "constraints": {"required_nodes": ["c"]})"),
            "needs 1 GPU; its required node c is unknown");
  EXPECT_EQ(
      reason_of(R"("gpus": 8, "virtual_cluster": "vc", "constraints": {"required_nodes": ["a", "c", "d", "e"]})"),
      "needs 8 GPUs of one type (such as A); the nodes that its constraints allow have 4; its required node c and 2 others are unknown");
}

TEST(UnknownNames, LabelsThatNoNodeHas) {
  EXPECT_EQ(reason_of(R"("gpus": 2, "virtual_cluster": "vc", "constraints": {"labels": {"disk": ["slow", "none"]}})"),
            "needs 2 GPUs; no node has the label disk=slow|none");
}

TEST(UnknownNames, AGpuTypeOfNoNode) {
  EXPECT_EQ(reason_of(R"("gpus": 2, "types": ["B"], "virtual_cluster": "vc")"), "needs B GPUs; the cluster has none");
}

// One member finds its node; that the other one waits for ever is not certified.
TEST(UnknownNames, AreNamedWhereTheJobWaits) {
  const std::string apart = R"("shapes": [{"id": "s", "gpus": 2, "groups": [{"name": "g", "members": 2, "spread": {"level": "node",
      "max_per_domain": 1}}]}], "virtual_cluster": "vc", "constraints": {"required_nodes": ["a", "c"]})";
  EXPECT_EQ(reason_of(apart),
            "needs 2 GPUs of one type (such as A), 1 on each of 2 nodes; 1 node that it may use has room; its required node "
            "c is unknown (waits)");
}

TEST(UnknownNames, KnownNamesAreNot) {
  EXPECT_EQ(
      reason_of(
          R"("gpus": 8, "types": ["A"], "virtual_cluster": "vc", "constraints": {"required_nodes": ["a"], "labels": {"disk": ["fast", "none"]}})"),
      "needs 8 A GPUs; the nodes that its constraints allow have 4");
}

}  // namespace berth::unknown_names_test
