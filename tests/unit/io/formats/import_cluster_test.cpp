#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/formats/cluster_json.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_cluster_test {

TEST(ImportCluster, NodesByGpusNeedsNoFile) {
  const Snapshot cluster = cluster_from("12x8", {});

  ASSERT_EQ(cluster.nodes.size(), 12u);
  EXPECT_EQ(cluster.nodes[3].id, "n03");  // ids sort as numbers
  EXPECT_EQ(cluster.nodes[3].gpus, 8);
  EXPECT_EQ(cluster.gpu_types.size(), 1u);
}

TEST(ImportCluster, PartsOfSeveralGpuTypesAreJoined) {
  const Snapshot cluster = cluster_from("2x4xV100+9x8xK80", {});

  ASSERT_EQ(cluster.nodes.size(), 11u);
  EXPECT_EQ(cluster.name, "2x4xV100+9x8xK80");
  EXPECT_EQ(cluster.nodes[1].gpu_type, "V100");
  EXPECT_EQ(cluster.nodes[2].id, "n02");
  EXPECT_EQ(cluster.nodes[2].gpus, 8);
  ASSERT_EQ(cluster.gpu_types.size(), 2u);
  EXPECT_EQ(cluster.gpu_types[1].id, "K80");
  EXPECT_NO_THROW(check_snapshot(cluster));
  EXPECT_THROW(cluster_from("2x4xV100+0x1", {}), InvalidArgument);
  EXPECT_THROW(cluster_from("4000000x4xV100+1x1", {}), InvalidArgument);
  for (const char* file : {"2x4x", "2x4xV.json", "2x4+", "2x4x8"}) EXPECT_THROW(cluster_from(file, {}), EnvironmentError) << file;
}

TEST(ImportCluster, SizesBeyondTheCapsAreRefused) {
  for (const char* bad : {"0x8", "1x0", "1x65", "4000001x1", "99999999999999999999x8"})
    EXPECT_THROW(cluster_from(bad, {}), InvalidArgument) << bad;
}

TEST(ImportCluster, WithoutASpecTheFilesMustDescribeIt) {
  Imported imported;
  EXPECT_THROW(cluster_from("", imported), InvalidArgument);

  imported.cluster = uniform_cluster(1, 4);

  EXPECT_EQ(cluster_from("", imported), uniform_cluster(1, 4));
  EXPECT_EQ(cluster_from("2x2", imported), uniform_cluster(2, 2));
}

TEST(ImportCluster, ClusterAndSnapshotFilesAreTakenWithoutTheirJobs) {
  const std::string nodes = R"("gpu_types":[{"id":"g"}],"nodes":[{"id":"a","gpu_type":"g","gpus":4}])";
  const std::string jobs = R"(,"now_s":7,"jobs":[{"id":"j","submit_s":0,"gpus":1}],"history":[{"id":"h"}])";
  const test::TempFile cluster(R"({"schema":"berth.cluster.v1",)" + nodes + "}", ".json"),
      snapshot(R"({"schema":"berth.snapshot.v1",)" + nodes + jobs + "}", ".json");

  const Snapshot of_cluster = cluster_from(cluster.path(), {}), of_snapshot = cluster_from(snapshot.path(), {});

  EXPECT_EQ(of_cluster.nodes.size(), 1u);
  EXPECT_EQ(of_cluster.nodes, of_snapshot.nodes);
  EXPECT_TRUE(of_snapshot.jobs.empty());
  EXPECT_TRUE(of_snapshot.history.empty());
}

TEST(ImportCluster, BadClusterFilesNameTheirPlace) {
  const std::string head = R"({"schema":"berth.cluster.v1","gpu_types":[{"id":"g"}],)";
  for (const std::string& bad :
       {head + R"("nodes":[{"id":"a","gpu_type":"x","gpus":4}]})", head + R"("nodes":[],"jobs":[]})", head + R"("nodes":[]} 1)",
        std::string(R"({"schema":"berth.cluster.v2"})"), std::string("[]"), std::string("{")}) {
    EXPECT_THROW(parse_cluster(bad), InputError) << bad;
  }
}

TEST(ImportCluster, EveryImporterIsListedOnceInOrder) {
  for (std::size_t i = 1; i < importers().size(); ++i) EXPECT_LT(importers()[i - 1].name, importers()[i].name);
  EXPECT_THROW(import_files("nosuch", {"f"}), InvalidArgument);
}

}  // namespace berth::io::import_cluster_test
