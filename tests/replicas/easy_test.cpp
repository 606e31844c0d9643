#include "tests/replicas/easy.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/replicas/backfill_jobs.hpp"

namespace berth::test::easy_test {

// Jobs 2 and 3 leave processors 0 to 3 free until 10, and 4 to 7 come free then. Job 4 needs five, and job 5 three for long.
TEST(EasyReplica, PromisesANumberOfProcessorsOrCertainOnes) {
  const std::vector<EasyJob> jobs{{0, 1, 1, 4}, {0, 10, 10, 4}, {0, 100, 100, 4}, {1, 10, 10, 5}, {1, 1000, 1000, 3}};

  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kNumber), (std::vector<std::int64_t>{0, 0, 0, 10, 1}));
  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kProcessors), (std::vector<std::int64_t>{0, 0, 0, 10, 10}));
}

TEST(EasyReplica, StartsEveryJobWhenBerthDoes) { expect_starts_of_berth("easy", replay_easy); }

TEST(EasyReplica, StartsTheFirstJobsOfVenusWhenBerthDoes) { expect_starts_of_berth_on_venus("easy", replay_easy); }

}  // namespace berth::test::easy_test
