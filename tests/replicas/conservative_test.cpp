#include "tests/replicas/conservative.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/replicas/backfill_jobs.hpp"

namespace berth::test::conservative_test {

// Job 4 gets processors 0 and 1 at 20. Processor 0 is free from 10 until then, and 2 from 20 on: job 5 fits in no single one of them.
TEST(ConservativeReplica, PromisesANumberOfProcessorsOrCertainOnes) {
  const std::vector<EasyJob> jobs{{0, 10, 10, 1}, {0, 20, 20, 2}, {0, 100, 100, 1}, {1, 10, 10, 2}, {2, 15, 15, 1}};

  EXPECT_EQ(replay_conservative(jobs, 4, EasyPromise::kNumber), (std::vector<std::int64_t>{0, 0, 0, 20, 10}));
  EXPECT_EQ(replay_conservative(jobs, 4, EasyPromise::kProcessors), (std::vector<std::int64_t>{0, 0, 0, 20, 20}));
}

// Job 3 is the second that waits. EASY promises it nothing, and job 4 goes past it. Job 5 ends before the others begin.
TEST(ConservativeReplica, PromisesToEveryJob) {
  const std::vector<EasyJob> jobs{{0, 10, 10, 2}, {1, 10, 10, 3}, {2, 10, 10, 4}, {3, 30, 30, 1}, {3, 7, 7, 1}};

  for (const EasyPromise promise : {EasyPromise::kNumber, EasyPromise::kProcessors}) {
    EXPECT_EQ(replay_conservative(jobs, 4, promise), (std::vector<std::int64_t>{0, 10, 20, 30, 3}));
    EXPECT_EQ(replay_easy(jobs, 4, promise), (std::vector<std::int64_t>{0, 10, 33, 3, 3}));
  }
}

// Job 1 ends at 5, and all that wait move forward in their order.
TEST(ConservativeReplica, PlansAgainWhenAJobEndsEarly) {
  const std::vector<EasyJob> jobs{{0, 5, 10, 4}, {1, 10, 10, 3}, {2, 10, 10, 4}, {3, 10, 10, 1}};

  EXPECT_EQ(replay_conservative(jobs, 4, EasyPromise::kProcessors), (std::vector<std::int64_t>{0, 5, 15, 5}));
}

TEST(ConservativeReplica, StartsEveryJobWhenBerthDoes) { expect_starts_of_berth("conservative", replay_conservative); }

TEST(ConservativeReplica, StartsTheFirstJobsOfVenusWhenBerthDoes) { expect_starts_of_berth_on_venus("conservative", replay_conservative); }

}  // namespace berth::test::conservative_test
