// Legal quotas that are probably slips: docs/quotas.md, "What is refused".
#include "host/core/quota/queue_notes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/state.hpp"

namespace berth::test::queue_notes_test {
namespace {

using Notes = std::vector<std::string>;

// Two nodes of 8 GPUs of type H, and a type A without nodes.
class QueueNotesTest : public ::testing::Test {
 protected:
  QueueNotesTest() {
    s_.gpu_types.resize(2);
    s_.gpu_types[0].id = "H";
    s_.gpu_types[1].id = "A";
    for (const char* id : {"n0", "n1"}) {
      Node& node = s_.nodes.emplace_back();
      node.id = id;
      node.gpu_type = "H";
      node.gpus = 8;
    }
  }

  Quota& add(const std::string& id, const std::string& parent, const std::string& type, std::int64_t guarantee,
             std::int64_t limit = kUnlimited) {
    Queue& queue = s_.queues.emplace_back();
    queue.id = id;
    queue.parent = parent;
    queue.quotas = {{type, guarantee, limit, kUnlimited}};
    return queue.quotas[0];
  }
  Notes notes() const { return core::queue_notes(ClusterState(s_)); }

  Snapshot s_;
};

}  // namespace

TEST_F(QueueNotesTest, QuotasThatFitHaveNone) {
  add("p", "", "*", 16, 16);
  add("a", "p", "*", 8, 16).lending = 4;
  add("b", "p", "*", 8).borrowing = 0;
  add("h", "b", "H", 4, 4);
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(QueueNotesTest, AGuaranteeOfATypeAboveALimitOfAllTypes) {
  add("own", "", "H", 4);
  s_.queues.back().quotas.push_back({"*", 0, 2, kUnlimited});
  add("p", "", "*", 0, 2);
  add("q", "p", "*", 0);
  add("r", "q", "H", 4);
  add("s", "p", "H", 3);
  add("fits", "p", "H", 2);
  EXPECT_EQ(notes(), (Notes{"queue own: has a guarantee of 4 H GPUs; it has a limit of 2 GPUs",
                            "queue p: has a limit of 2 GPUs; guarantees of the queues below it add up to 9",
                            "queue s: has a guarantee of 3 H GPUs; its parent p has a limit of 2 GPUs",
                            "queue r: has a guarantee of 4 H GPUs; above it p has a limit of 2 GPUs"}));
}

TEST_F(QueueNotesTest, GuaranteesOfTypesThatAddUpToMoreThanTheLimitOfAll) {
  s_.nodes[1].gpu_type = "A";
  add("a", "", "H", 4);
  s_.queues.back().quotas.push_back({"A", 5, kUnlimited, kUnlimited});
  s_.queues.back().quotas.push_back({"*", 0, 8, kUnlimited});
  EXPECT_EQ(notes(), Notes{"queue a: has a limit of 8 GPUs; its guarantees of GPU types add up to 9"});
  s_.queues.back().quotas.back().limit = 9;
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(QueueNotesTest, AQuotaOfATypeWithoutNodes) {
  add("a", "", "A", 100, 2);
  add("b", "", "A", 100);
  EXPECT_EQ(notes(), (Notes{"queue a: has a quota of A GPUs; no node has one", "queue b: has a quota of A GPUs; no node has one"}));
}

TEST_F(QueueNotesTest, AGuaranteeAboveTheCluster) {
  s_.nodes[0].state = NodeState::kDrain;
  add("a", "", "H", 16);
  EXPECT_EQ(notes(), Notes{});
  s_.queues[0].quotas[0].guarantee = 17;
  EXPECT_EQ(notes(), Notes{"queue a: has a guarantee of 17 H GPUs; the cluster has 16"});
}

TEST_F(QueueNotesTest, ALimitBelowTheGuarantee) {
  add("a", "", "*", 8, 7);
  EXPECT_EQ(notes(), Notes{"queue a: has a guarantee of 8 GPUs, and a limit of 7: it never has more than the limit"});
}

TEST_F(QueueNotesTest, AGuaranteeAboveThatOfTheParentOrItsLimit) {
  add("p", "", "*", 4);
  add("q", "p", "*", 6);
  EXPECT_EQ(notes(), Notes{"queue q: has a guarantee of 6 GPUs; its parent p has one of 4"});
  s_.queues[0].quotas[0].borrowing = 1;
  EXPECT_EQ(notes(), Notes{"queue q: has a guarantee of 6 GPUs; its parent p has a limit of 5"});
  s_.queues[0].quotas[0].guarantee = 0;
  s_.queues[0].quotas[0].borrowing = kUnlimited;
  EXPECT_EQ(notes(), Notes{}) << "the parent has the sum of its children's";
  add("r", "", "*", 0, 5);
  s_.queues[0].parent = "r";
  EXPECT_EQ(notes(), Notes{"queue q: has a guarantee of 6 GPUs; above it r has a limit of 5"});
}

TEST_F(QueueNotesTest, GuaranteesAboveTheOneOverThem) {
  add("p", "", "*", 12);
  add("a", "p", "*", 8);
  add("b", "p", "*", 8);
  EXPECT_EQ(notes(), Notes{"queue p: has a guarantee of 12 GPUs; those of the queues below it add up to 16"});
}

TEST_F(QueueNotesTest, GuaranteesAboveTheLimitOverThem) {
  add("p", "", "*", 0, 12);
  add("a", "p", "*", 8);
  add("b", "p", "*", 8);
  EXPECT_EQ(notes(), Notes{"queue p: has a limit of 12 GPUs; guarantees of the queues below it add up to 16"});
}

TEST_F(QueueNotesTest, LendingWithoutALimitAbove) {
  add("p", "", "*", 0);
  add("a", "p", "*", 8).lending = 3;
  EXPECT_EQ(notes(), Notes{"queue a: lends 3 of 8 GPUs, which has no effect: no queue above it has a limit of them"});
  s_.queues[0].quotas[0].limit = 8;
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(QueueNotesTest, GuaranteesOfAllQueuesAboveTheCluster) {
  add("a", "", "H", 9);
  add("p", "", "*", 0);
  add("b", "p", "H", 9);
  EXPECT_EQ(notes(), Notes{"guarantees of the queues without a parent add up to 18 H GPUs; the cluster has 16"});
  s_.queues = {};
  add("a", "", "H", 9);
  add("b", "", "*", 8);
  EXPECT_EQ(notes(), Notes{"guarantees of the queues without a parent add up to 17 GPUs; the cluster has 16"});
}

}  // namespace berth::test::queue_notes_test
