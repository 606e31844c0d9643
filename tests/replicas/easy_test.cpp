#include "tests/replicas/easy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "tests/replicas/backfill_jobs.hpp"
#include "tests/support/random.hpp"
#include "tests/support/traces.hpp"

namespace berth::test {

// Jobs 2 and 3 leave processors 0 to 3 free until 10, and 4 to 7 come free then. Job 4 needs five, and job 5 three for long.
TEST(EasyReplica, PromisesANumberOfProcessorsOrCertainOnes) {
  const std::vector<EasyJob> jobs{{0, 1, 1, 4}, {0, 10, 10, 4}, {0, 100, 100, 4}, {1, 10, 10, 5}, {1, 1000, 1000, 3}};

  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kNumber), (std::vector<std::int64_t>{0, 0, 0, 10, 1}));
  EXPECT_EQ(replay_easy(jobs, 12, EasyPromise::kProcessors), (std::vector<std::int64_t>{0, 0, 0, 10, 10}));
}

TEST(EasyReplica, StartsEveryJobWhenBerthDoes) {
  std::int64_t differ_from_number = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const Trace trace = random_backfill_trace(random);
    const std::int64_t nodes = random.within(1, 9), gpus = random.of<std::int64_t>({1, 2, 4, 8});
    const bool oracle = random.percent(50);
    const std::vector<EasyJob> jobs = easy_jobs(trace, oracle);
    const std::vector<std::int64_t> got = starts_of_berth(trace, "easy", nodes, gpus, oracle ? "oracle" : "none");

    ASSERT_EQ(got, replay_easy(jobs, nodes * gpus, EasyPromise::kProcessors)) << "seed " << seed;
    differ_from_number += got == replay_easy(jobs, nodes * gpus, EasyPromise::kNumber) ? 0 : 1;
  }
  EXPECT_GT(differ_from_number, 0);  // the two promises are not the same
}

TEST(EasyReplica, StartsTheFirstJobsOfVenusWhenBerthDoes) {
  const std::string file = trace_file("helios/helios_venus_gpujobs_clamp48h.csv.gz");
  if (file.empty()) GTEST_SKIP() << "helios/ is not here";
  Trace trace = io::import_files("helios-venus", {file}).trace;
  trace.jobs.resize(20'000);

  EXPECT_EQ(starts_of_berth(trace, "easy", 75, 8, "oracle"), replay_easy(easy_jobs(trace, true), 600, EasyPromise::kProcessors));
}

}  // namespace berth::test
