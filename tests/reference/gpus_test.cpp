#include <gtest/gtest.h>

#include "tests/reference/solve.hpp"

/// GPUs inside a node, and shares of GPUs: sections 1 and 4 of docs/placement.md.
namespace berth::test::gpus_test {

using Masks = std::vector<std::uint64_t>;

// GPUs 0-3 and 4-7 are inner groups, GPU 0 is busy: 3 and 4 are free.
NodeSpec two_sockets() { return {.gpus = 8, .inner = {0x0f, 0xf0}, .busy = 0x01}; }

TEST(Gpus, TightestInnerGroupThatHoldsThem) {
  ProblemBuilder b;
  b.node(two_sockets());
  b.gang(1, 3);
  b.gang(2, 1);
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(masks(result, 0), (Masks{0x0e}));
  EXPECT_EQ(masks(result, 1), (Masks{0x30}));
}

TEST(Gpus, LargestInnerGroupIsEmptiedFirst) {
  ProblemBuilder b;
  b.node(two_sockets());
  b.gang(1, 5);

  EXPECT_EQ(masks(solve(b.build()), 0), (Masks{0xf2}));  // 4-7, then the lowest of 1-3
}

TEST(Gpus, GpusOutsideInnerGroupsComeLast) {
  ProblemBuilder b;
  b.node({.gpus = 4, .inner = {0b1100}});
  b.gang(1, 3);
  b.gang(1, 1);  // no inner group has a free GPU

  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(masks(result, 0), (Masks{0b1101}));
  EXPECT_EQ(masks(result, 1), (Masks{0b0010}));
}

// GPU 1 is half used: two quarters fit there, the third opens GPU 0.
TEST(Gpus, SharesFillTheSharedGpuFirst) {
  ProblemBuilder b;
  b.node({.gpus = 2, .sharing = true});
  const int running = b.gang(1);
  b.hold(running, {.node = 0, .mask = 0b10, .share_ppm = 500'000});
  b.ask({.members = 3, .share_ppm = 250'000});
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(brief(result, 1), "placed 0:1 0:1 0:1");
  EXPECT_EQ(masks(result, 1), (Masks{0b10, 0b10, 0b01}));
  EXPECT_EQ(result.entries_of(1)[2].member, 2);
}

// GPU 0 has room for 1 more third, GPU 1 for 2: the one with the least room comes first.
TEST(Gpus, ShareGoesToTheFullestGpuThatHoldsIt) {
  ProblemBuilder b;
  b.node({.gpus = 3, .sharing = true});
  b.hold(b.gang(1), {.node = 0, .mask = 0b001, .share_ppm = 100'000});
  b.hold(b.gang(1), {.node = 0, .mask = 0b010, .share_ppm = 600'000});
  b.ask({.members = 4, .share_ppm = 300'000});  // rooms 3, 1, 3

  EXPECT_EQ(masks(solve(b.build()), 2), (Masks{0b010, 0b001, 0b001, 0b001}));
}

// A GPU that is being released keeps its share, and accepts no other.
TEST(Gpus, NoShareGoesToAGpuThatIsBeingReleased) {
  ProblemBuilder b;
  b.node({.gpus = 2, .sharing = true, .busy = 0b01});
  b.hold(b.gang(1), {.node = 0, .mask = 0b01, .share_ppm = 250'000});
  b.ask({.members = 3, .share_ppm = 250'000});
  b.ask({.members = 2, .share_ppm = 250'000});

  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(masks(result, 1), (Masks{0b10, 0b10, 0b10}));
  EXPECT_EQ(brief(result, 2), "waits");
}

// Both GPUs hold one member of 0.6: the shared one comes before the whole one, though it is not the lowest.
TEST(Gpus, SharedGpuComesBeforeAnEquallyRoomyFreeOne) {
  ProblemBuilder b;
  b.node({.gpus = 2, .sharing = true});
  b.hold(b.gang(1), {.node = 0, .mask = 0b10, .share_ppm = 300'000});
  b.ask({.share_ppm = 600'000});

  EXPECT_EQ(masks(solve(b.build()), 1), (Masks{0b10}));
}

TEST(Gpus, MemoryOfAGpuLimitsShares) {
  ProblemBuilder b;
  b.type(40);
  b.node({.gpus = 1, .sharing = true});
  b.hold(b.gang(1), {.node = 0, .mask = 1, .share_ppm = 100'000, .gpu_memory = 25});
  b.ask({.share_ppm = 100'000, .gpu_memory = 16});
  b.ask({.share_ppm = 100'000, .gpu_memory = 15});
  b.ask({.share_ppm = 100'000, .gpu_memory = 1});
  b.ask({.share_ppm = 100'000});

  EXPECT_EQ(brief(solve(b.build())), (Lines{"kept", "waits", "placed 0:1", "waits", "placed 0:1"}));
}

TEST(Gpus, SharesNeedANodeThatHostsThem) {
  ProblemBuilder b;
  b.node({.gpus = 2});
  b.ask({.share_ppm = 500'000});

  EXPECT_EQ(brief(solve(b.build()), 0), "waits");
}

// A shared GPU is not a whole GPU for other jobs.
TEST(Gpus, WholeGpusLeaveSharedOnesAlone) {
  ProblemBuilder b;
  b.node({.gpus = 2, .sharing = true});
  b.ask({.share_ppm = 500'000});
  b.gang(1, 2);
  b.gang(1, 1);
  const ResultBuffers result = solve(b.build());

  EXPECT_EQ(brief(result), (Lines{"placed 0:1", "waits", "placed 0:1"}));
  EXPECT_EQ(masks(result, 2), (Masks{0b10}));
}

}  // namespace berth::test::gpus_test
