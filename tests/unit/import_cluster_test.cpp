#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/importers.hpp"

namespace berth::io {

TEST(ImportCluster, NodesByGpusNeedsNoFile) {
  const Snapshot cluster = cluster_from("12x8", {});

  ASSERT_EQ(cluster.nodes.size(), 12u);
  EXPECT_EQ(cluster.nodes[3].id, "n03");  // ids sort as numbers
  EXPECT_EQ(cluster.nodes[3].gpus, 8);
  EXPECT_EQ(cluster.gpu_types.size(), 1u);
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

TEST(ImportCluster, EveryImporterIsListedOnceInOrder) {
  for (std::size_t i = 1; i < importers().size(); ++i) EXPECT_LT(importers()[i - 1].name, importers()[i].name);
  EXPECT_THROW(import_files("nosuch", {"f"}), InvalidArgument);
}

}  // namespace berth::io
