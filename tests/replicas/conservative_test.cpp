#include "tests/replicas/conservative.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "tests/replicas/backfill_jobs.hpp"
#include "tests/support/random.hpp"
#include "tests/support/traces.hpp"

namespace berth::test {

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

TEST(ConservativeReplica, StartsEveryJobWhenBerthDoes) {
  std::int64_t differ_from_number = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Trace trace = random_backfill_trace(random);
    const std::int64_t nodes = random.within(1, 9), gpus = random.of<std::int64_t>({1, 2, 4, 8});
    const bool oracle = random.percent(50);
    const std::vector<EasyJob> jobs = easy_jobs(trace, oracle);
    const std::vector<std::int64_t> got = starts_of_berth(trace, "conservative", nodes, gpus, oracle ? "oracle" : "none");

    ASSERT_EQ(got, replay_conservative(jobs, nodes * gpus, EasyPromise::kProcessors)) << "seed " << seed;
    differ_from_number += got == replay_conservative(jobs, nodes * gpus, EasyPromise::kNumber) ? 0 : 1;
  }
  EXPECT_GT(differ_from_number, 0);  // the two promises are not the same
}

TEST(ConservativeReplica, StartsTheFirstJobsOfVenusWhenBerthDoes) {
  const std::string file = trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
  if (file.empty()) GTEST_SKIP() << "helios/ is not here";
  Trace trace = io::import_files("helios-venus", {file}).trace;
  trace.jobs.resize(20'000);

  EXPECT_EQ(starts_of_berth(trace, "conservative", 75, 8, "oracle"),
            replay_conservative(easy_jobs(trace, true), 600, EasyPromise::kProcessors));
}

}  // namespace berth::test
