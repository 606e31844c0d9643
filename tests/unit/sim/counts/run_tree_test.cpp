#include "host/sim/counts/run_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::sim::run_tree_test {
namespace {

/// The same as a plain list.
struct RunList {
  struct Job {
    JobPlace place;
    TimeUs run;
  };
  std::vector<Job> jobs;  // by place

  void insert(const JobPlace& place, TimeUs run) {
    const auto behind = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return place < job.place; });
    jobs.insert(behind, {place, run});
  }
  std::int32_t first_behind(const JobPlace& place, TimeUs longest) const {
    for (const Job& job : jobs) {
      if (place < job.place && job.run <= longest) return job.place.job;
    }
    return -1;
  }
};

}  // namespace

TEST(RunTree, FindsTheFirstJobThatIsShortEnough) {
  RunTree tree;
  for (const std::int32_t job : {0, 1, 2}) tree.insert({10, job, job}, 30 - 10 * job);

  EXPECT_EQ(tree.first().job, 0);
  EXPECT_EQ(tree.first_behind(kNoJob, 20).job, 1);
  EXPECT_EQ(tree.first_behind({10, 1, 1}, 20).job, 2);
  EXPECT_EQ(tree.first_behind(kNoJob, 9).job, -1);
}

TEST(RunTree, FindsJobsOfUnknownRunTimeWhereAnyWillDo) {
  RunTree tree;
  tree.insert({5, 0, 0}, kNever);

  EXPECT_EQ(tree.first_behind(kNoJob, kNever - 1).job, -1);
  EXPECT_EQ(tree.first_behind(kNoJob, kNever).job, 0);
}

TEST(RunTree, IsAListThroughManyChanges) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    test::Random random(seed);
    RunTree tree;
    RunList list;
    for (std::int32_t step = 0; step < 400; ++step) {
      if (list.jobs.empty() || random.percent(60)) {
        const JobPlace place{random.within(0, 20), step, step};
        const TimeUs run = random.percent(10) ? kNever : random.within(1, 50);
        tree.insert(place, run);
        list.insert(place, run);
      } else {
        const std::int32_t i = random.below(static_cast<std::int32_t>(list.jobs.size()));
        tree.erase(list.jobs[static_cast<std::size_t>(i)].place);
        list.jobs.erase(list.jobs.begin() + i);
      }
      const JobPlace behind{random.within(0, 20), random.below(400), 0};
      const TimeUs longest = random.percent(10) ? kNever : random.within(0, 50);
      ASSERT_EQ(tree.empty(), list.jobs.empty()) << "seed " << seed << " step " << step;
      ASSERT_EQ(tree.first().job, list.first_behind(kNoJob, kNever)) << "seed " << seed << " step " << step;
      ASSERT_EQ(tree.first_behind(behind, longest).job, list.first_behind(behind, longest)) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace berth::sim::run_tree_test
