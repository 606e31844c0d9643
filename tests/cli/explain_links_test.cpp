#include "tests/cli/command.hpp"

namespace berth::test::explain_links_test {
namespace {

const std::string kLinks = "explain --links --snapshot " + quoted(golden("shared-links"));

}  // namespace

// a, b and c share links; nothing is known of d; e and f wait.
TEST(CliExplainLinks, TablesAreExact) {
  const Answer answer = berth(kLinks);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, R"(3 gangs on 6 of 6 links with a bandwidth
unknown, as the profile states no gradient_bytes or no step: d

LINK                      GB/S  LOAD  GANGS
the uplink of rack p0/r0  10    75 %  a, b
the uplink of rack p0/r1  10    75 %  a, b
the NICs of node n0       10    75 %  a, c
the NICs of node n1       10    50 %  b, c
the NICs of node n2       10    50 %  a
the NICs of node n3       10    25 %  b

GANG  GPUS  STEP  SENDS  EXPECTED  MAX-MIN  INTENSITY  K      PRIORITY LEVEL
a     4     2 s   1 s    85.3 %    66.7 %   4          1      1
b     2     4 s   1 s    87.5 %    80 %     6          0.033  2
c     4     2 s   0.5 s  87.5 %    80 %     12         1      0

PAIR  SHARED LINKS  EXPECTED            MAX-MIN
a, b  2             a 85.3 %, b 87.5 %  a 66.7 %, b 80 %
a, c  1             a 85.3 %, c 87.5 %  a 66.7 %, c 80 %
b, c  1             b 93 %, c 93 %      b 80 %, c 80 %

SHARED LINK                          SCORE  BEST  SHIFT
the uplink of rack p0/r0 and 1 more  0.75   1     a 0 s, b 1 s
the NICs of node n0                  0.75   1     a 0 s, c 1 s
the NICs of node n1                  0.875  1     b 0 s, c 1 s
these gangs and links make a loop, so that no shifts keep all scores: a, b, c

a: vClos would reserve leaves p0/r0 p0/r1, spines 0, 2 links from each leaf to each spine
b: vClos would reserve leaves p0/r0 p0/r1, spines 0, 1 link from each leaf to each spine
e: waits; no virtual Clos has free leaves and links for it
)");
}

TEST(CliExplainLinks, JsonHasTheSameFigures) {
  const Answer answer = berth(kLinks + " --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, R"({"link":"the uplink of rack p0/r0","bytes_per_s":10000000000,"load":0.749985,"gangs":["a","b"]})"))
      << answer.out;
  EXPECT_TRUE(contains(answer.out, R"({"jobs":["a","b"],"shared_links":2,"overlap":0.249992,"speed":[0.853236,0.874629],)"
                                   R"("speed_max_min":[0.666672,0.800001]})"))
      << answer.out;
  EXPECT_TRUE(contains(answer.out, R"("unknown":["d"])")) << answer.out;
}

TEST(CliExplainLinks, APlanIsShownAsItWouldRun) {
  const Folder folder;
  const std::string plan = folder / "plan.json";
  ASSERT_EQ(berth("plan --policy fifo --snapshot " + quoted(golden("shared-links")) + " --out " + quoted(plan)).code, 0);
  const Answer planned = berth(kLinks + " --plan " + quoted(plan));
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_TRUE(contains(planned.out, "4 gangs on 6 of 6 links with a bandwidth\n")) << planned.out;
  EXPECT_TRUE(contains(planned.out, "\nf     3 ")) << "f starts on two nodes: " << planned.out;
  EXPECT_FALSE(contains(berth(kLinks).out, "\nf ")) << "f does not run";
}

TEST(CliExplainLinks, APictureIsWritten) {
  const Folder folder;
  const Answer answer = berth(kLinks + " --svg " + quoted(folder / "links.svg"));
  EXPECT_EQ(answer.code, 0) << answer.err;
  const std::string svg = content_of(folder / "links.svg");
  EXPECT_TRUE(contains(svg, "<title>the uplink of rack p0/r0: 75 %</title>")) << svg;
  EXPECT_TRUE(contains(svg, "<title>a by b: 15 %</title>")) << svg;
  EXPECT_EQ(berth(kLinks + " --svg -").out, svg);
}

// 2 x 2 / 4 of 10 GB leave a node in 1 s, after 1 s of computing. The hop to the other rack takes half of a second.
TEST(CliExplainLinks, AStepWaitsForTheHopsOfWhatGroupsState) {
  const Folder folder;
  std::string snapshot = content_of(golden("shared-links"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(snapshot.find(from), std::string::npos) << from;
    snapshot.replace(snapshot.find(from), from.size(), to);
  };
  replace(R"("id": "r0", )", R"("id": "r0", "latency_s": 0.5, )");
  replace(R"("gpus": 4}], "profile")",
          R"("groups": [{"name": "g", "members": 4, "communication": [{"kind": "ep", "bytes_per_step": 10000000000}]}]}], "profile")");
  replace(R"("entries": [{"node": "n0", "gpus": [0, 1]}, {"node": "n2",)",
          R"("entries": [{"group": "g", "node": "n0", "gpus": [0, 1]}, {"group": "g", "node": "n2",)");
  folder.write("snapshot.json", snapshot);
  const Answer answer = berth("explain --links --snapshot " + quoted(folder / "snapshot.json"));
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\na     4     2.5 s  1 s ")) << answer.out;
  // 1 s of 2.5 s, and 1 s of 5 s: two hops are in the step of b.
  EXPECT_TRUE(contains(answer.out, "\nthe uplink of rack p0/r0  10    60 %  a, b\n")) << answer.out;
}

TEST(CliExplainLinks, WhatCannotBeShownIsRefused) {
  const auto refused = [](const std::string& arguments, const std::string& why) {
    const Answer answer = berth("explain " + arguments);
    EXPECT_EQ(answer.code, 2) << arguments;
    EXPECT_TRUE(contains(answer.err, why)) << answer.err;
  };
  refused("--links --snapshot " + quoted(golden("racks")), "--links: the cluster states no bandwidth, neither of NICs nor of uplinks");
  refused("--snapshot " + quoted(golden("racks")), "--plan is required");
  refused("--json --snapshot " + quoted(golden("shared-links")), "--json needs --links or --queues");
  refused("--links --job a --snapshot " + quoted(golden("shared-links")), "--job excludes --links");
}

}  // namespace berth::test::explain_links_test
