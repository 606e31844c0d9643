// Virtual clusters as queues.

#include "host/io/traces/virtual_cluster_queues.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"

namespace berth::io::virtual_cluster_queues_test {
namespace {

Node node_of(const std::string& id, std::int32_t gpus, const std::string& virtual_cluster) {
  Node node;
  node.id = id;
  node.gpus = gpus;
  if (!virtual_cluster.empty()) node.virtual_clusters = {virtual_cluster};
  return node;
}

// a has 10 GPUs, b has 4; nobody has the node n3.
Imported with_sizes() {
  Imported imported;
  imported.cluster.emplace();
  imported.cluster->nodes = {node_of("n0", 8, "a"), node_of("n1", 2, "a"), node_of("n2", 4, "b"), node_of("n3", 8, "")};
  for (const char* name : {"a", "b", "c", ""}) {
    imported.trace.jobs.emplace_back().id = fmt::format("of-{}", name);
    imported.trace.jobs.back().virtual_cluster = name;
  }
  return imported;
}

std::string queues_of(const Snapshot& cluster) {
  std::string text;
  for (const Queue& queue : cluster.queues) {
    text += queue.id;
    for (const Quota& quota : queue.quotas) text += fmt::format(" {}:{}:{}", quota.gpu_type, quota.guarantee, quota.limit);
    text += "; ";
  }
  return text;
}

std::string why_not(VirtualClusterUse use, Imported imported, Snapshot cluster) {
  std::vector<std::string> notes;
  try {
    make_virtual_clusters_queues(use, imported, cluster, notes);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST(VirtualClusterQueues, HaveTheGpusOfTheirNodes) {
  Imported imported = with_sizes();
  Snapshot cluster = *imported.cluster;
  std::vector<std::string> notes;

  make_virtual_clusters_queues(VirtualClusterUse::kGuarantees, imported, cluster, notes);

  EXPECT_EQ(queues_of(cluster), "a *:10:-1; b *:4:-1; c; ");
  for (const Node& node : cluster.nodes) EXPECT_TRUE(node.virtual_clusters.empty());
  EXPECT_EQ(imported.trace.jobs[1].queue, "b");
  EXPECT_EQ(imported.trace.jobs[1].virtual_cluster, "b") << "for figures";
  EXPECT_EQ(imported.trace.jobs[3].queue, "");
  EXPECT_EQ(notes, (std::vector<std::string>{"1 virtual cluster of unknown size: without guarantee and limit",
                                             "1 job of no virtual cluster: of no queue"}));
}

TEST(VirtualClusterQueues, LimitsLeaveNothingToBorrow) {
  Imported imported = with_sizes();
  Snapshot cluster = *imported.cluster;
  std::vector<std::string> notes;

  make_virtual_clusters_queues(VirtualClusterUse::kLimits, imported, cluster, notes);

  EXPECT_EQ(queues_of(cluster), "a *:10:10; b *:4:4; c; ");
}

// Of 9 GPUs: 9 x 10 / 14 = 6 3/7, 9 x 4 / 14 = 2 4/7. The one that is left goes to b.
TEST(VirtualClusterQueues, ShareAnotherClusterInProportion) {
  Imported imported = with_sizes();
  Snapshot cluster = uniform_cluster(3, 3);
  std::vector<std::string> notes;

  make_virtual_clusters_queues(VirtualClusterUse::kGuarantees, imported, cluster, notes);

  EXPECT_EQ(queues_of(cluster), "a *:6:-1; b *:3:-1; c; ");
  EXPECT_EQ(notes.front(), "virtual clusters share the 9 GPUs of the cluster in proportion to those that the trace's files give them");
}

TEST(VirtualClusterQueues, AreNodesUnlessAskedFor) {
  Imported imported = with_sizes();
  Snapshot cluster = *imported.cluster;
  std::vector<std::string> notes;

  make_virtual_clusters_queues(VirtualClusterUse::kNodes, imported, cluster, notes);

  EXPECT_EQ(cluster, *with_sizes().cluster);
  EXPECT_EQ(imported.trace, with_sizes().trace);
  EXPECT_TRUE(notes.empty());
}

TEST(VirtualClusterQueues, SayWhatIsMissing) {
  constexpr auto kUse = VirtualClusterUse::kGuarantees;
  const Imported usual = with_sizes();
  const std::string option = "--virtual-clusters: ";

  Imported none = usual;
  for (TraceJob& job : none.trace.jobs) job.virtual_cluster.clear();
  EXPECT_EQ(why_not(kUse, none, *none.cluster), option + "the trace names no virtual clusters");

  Imported sizeless = usual;
  sizeless.cluster.reset();
  EXPECT_EQ(why_not(kUse, sizeless, uniform_cluster(1, 8)),
            option + "neither the cluster nor the files of the trace say which GPUs virtual clusters have");

  Imported queued = usual;
  queued.trace.jobs[0].queue = "q";
  EXPECT_EQ(why_not(kUse, queued, *queued.cluster), option + "job 'of-a' names a queue already");

  Snapshot with_queue = *usual.cluster;
  with_queue.queues.emplace_back().id = "q";
  EXPECT_EQ(why_not(kUse, usual, with_queue), option + "the cluster has queues already");

  Snapshot shared = *usual.cluster;
  shared.nodes[2].virtual_clusters.push_back("a");
  EXPECT_EQ(why_not(kUse, usual, shared), option + "node 'n2' belongs to several virtual clusters, so its GPUs are no quota of one");
  EXPECT_THROW(virtual_cluster_use("queues"), InvalidArgument);
}

}  // namespace berth::io::virtual_cluster_queues_test
