// JobRows by hand: what a job has, where it stands, and how much room many changes need.

#include "host/core/base/job_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core::job_rows_test {
namespace {

using Rows = std::vector<std::int64_t>;

Rows of(const JobRows<std::int64_t>& rows, std::int32_t job) { return {rows.of(job).begin(), rows.of(job).end()}; }

JobRows<std::int64_t> three_jobs() {
  JobRows<std::int64_t> rows;
  rows.resize(3);
  rows.set(0, Rows{1, 2});
  rows.set(1, Rows{3});
  rows.set(2, Rows{4, 5, 6});
  return rows;
}

TEST(JobRows, JobsStandInTheOrderInWhichTheyCame) {
  const JobRows<std::int64_t> rows = three_jobs();

  EXPECT_EQ(rows.rows(), (Rows{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(rows.begin(), (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(rows.end(), (std::vector<std::int32_t>{2, 3, 6}));
}

TEST(JobRows, ChangeOfOneJobLeavesTheOthersWhereTheyAre) {
  JobRows<std::int64_t> rows = three_jobs();

  rows.set(1, Rows{7, 8, 9, 10});

  EXPECT_EQ(of(rows, 0), (Rows{1, 2}));
  EXPECT_EQ(of(rows, 1), (Rows{7, 8, 9, 10}));
  EXPECT_EQ(of(rows, 2), (Rows{4, 5, 6}));
  EXPECT_EQ(rows.begin()[0], 0);
  EXPECT_EQ(rows.begin()[2], 3);
  EXPECT_EQ(rows.live(), 9U);
}

TEST(JobRows, SameNumberOfRowsStaysInPlace) {
  JobRows<std::int64_t> rows = three_jobs();

  rows.set(0, Rows{11, 12});

  EXPECT_EQ(rows.rows(), (Rows{11, 12, 3, 4, 5, 6}));
}

TEST(JobRows, RowsOfAJobThatLeftAreUsedAgain) {
  JobRows<std::int64_t> rows = three_jobs();

  rows.set(2, Rows{});
  rows.resize(5);
  rows.set(3, Rows{7, 8, 9});

  EXPECT_EQ(of(rows, 2), Rows{});
  EXPECT_EQ(of(rows, 3), (Rows{7, 8, 9}));
  EXPECT_EQ(rows.rows().size(), 6U);
  rows.set(4, Rows{10, 11, 12});
  EXPECT_EQ(of(rows, 3), (Rows{7, 8, 9})) << "only once";
}

TEST(JobRows, JobsBeyondTheNewCountLoseTheirRows) {
  JobRows<std::int64_t> rows = three_jobs();

  rows.resize(1);
  EXPECT_EQ(rows.live(), 2U);
  rows.resize(3);

  EXPECT_EQ(of(rows, 0), (Rows{1, 2}));
  EXPECT_EQ(of(rows, 1), Rows{});
  EXPECT_EQ(of(rows, 2), Rows{});
}

TEST(JobRows, NothingIsCompactedWhileLittleIsUnused) {
  JobRows<std::int64_t> rows = three_jobs();
  rows.set(0, Rows{});

  EXPECT_FALSE(rows.compact());

  EXPECT_EQ(rows.begin()[2], 3);
}

TEST(JobRows, CompactionKeepsTheRowsAndPutsTheJobsInOrder) {
  JobRows<std::int64_t> rows;
  rows.resize(2'000);
  for (std::size_t job = 0; job < 2'000; ++job) rows.set(1'999 - job, Rows(3, static_cast<std::int64_t>(1'999 - job)));
  for (std::size_t job = 500; job < 2'000; ++job) rows.set(job, Rows{});

  ASSERT_TRUE(rows.compact());

  EXPECT_EQ(rows.rows().size(), 1'500U);
  for (std::int32_t job = 0; job < 500; ++job) {
    EXPECT_EQ(rows.begin()[to_index(job)], 3 * job);
    EXPECT_EQ(of(rows, job), Rows(3, job));
  }
  rows.set(600, Rows{1, 2, 3});
  EXPECT_EQ(of(rows, 600), (Rows{1, 2, 3}));
  for (std::int32_t job = 0; job < 500; ++job) EXPECT_EQ(of(rows, job), Rows(3, job)) << "rows that were unused before are used again";
}

// The number of rows grows all the time, so that no rows can be used again.
TEST(JobRows, ManyJobsThatComeAndGoNeedNoMoreRoomThanTwiceTheirRows) {
  JobRows<std::int64_t> rows;
  const std::size_t jobs = 1'000;
  rows.resize(jobs);
  std::vector<std::size_t> size(jobs, 0);
  std::size_t live = 0;
  for (std::size_t i = 0; i < 200'000; ++i) {
    const std::size_t job = i * 7'919 % jobs;
    live -= size[job];
    size[job] = i % 3 == 0 ? 0 : 1 + i / 5'000;
    live += size[job];
    rows.set(job, Rows(size[job], static_cast<std::int64_t>(i)));
    rows.compact();
    ASSERT_EQ(rows.live(), live);
    ASSERT_LE(rows.rows().size(), 2 * live + 1'024 + size[job]);
  }
}

}  // namespace
}  // namespace berth::core::job_rows_test
