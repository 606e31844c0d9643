#include "host/sim/generate/synthetic_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "berth/error.hpp"

namespace berth::sim::synthetic_jobs_test {
namespace {

SyntheticOptions some(Workload workload, std::int64_t jobs) {
  SyntheticOptions options;
  options.workload = workload;
  options.jobs = jobs;
  options.gpus = 1'000;
  return options;
}

}  // namespace

TEST(SyntheticJobs, ComeAsFastAsTheLoadAsksFor) {
  for (const Workload workload : {Workload::kPhilly, Workload::kHelios, Workload::kPai}) {
    SyntheticJobs jobs(some(workload, 400'000));
    __int128 gpu_us = 0;
    TimeUs last = 0;
    std::string last_id;
    for (const TraceJob* job = jobs.next(); job != nullptr; job = jobs.next()) {
      ASSERT_GE(job->submit_us, last);
      ASSERT_GT(job->id, last_id);
      ASSERT_GT(job->run_us, 0);
      last = job->submit_us;
      last_id = job->id;
      gpu_us += static_cast<__int128>(job->run_us) * job->gpus;
      jobs.release(*job);
    }

    // Run times have a standard deviation of about 7 times their mean: 0.011 of the load for N jobs. 4 of them.
    EXPECT_NEAR(static_cast<double>(gpu_us) / (1e3 * static_cast<double>(last)), 0.8, 0.8 * 4 * 0.011) << name(workload);
    EXPECT_EQ(last_id, "j00399999");
  }
}

TEST(SyntheticJobs, AreTheSameForTheSameSeed) {
  SyntheticOptions options = some(Workload::kHelios, 100);
  SyntheticJobs a(options), b(options);
  options.seed = 1;
  SyntheticJobs c(options);
  int others = 0;
  for (int j = 0; j < 100; ++j) {
    const TraceJob* one = a.next();
    EXPECT_EQ(*one, *b.next());
    others += *one == *c.next() ? 0 : 1;
  }

  EXPECT_GT(others, 90);
  EXPECT_EQ(a.next(), nullptr);
}

TEST(SyntheticJobs, WhatWasReleasedMakesRoom) {
  SyntheticJobs jobs(some(Workload::kHelios, 3));
  const TraceJob* first = jobs.next();
  const TraceJob* second = jobs.next();
  EXPECT_NE(first, second);
  jobs.release(*first);

  EXPECT_EQ(jobs.next(), first);
  EXPECT_EQ(second->id, "j00000001");
}

TEST(SyntheticJobs, RefuseWhatMakesNoSense) {
  EXPECT_THROW(SyntheticJobs(some(Workload::kPai, -1)), InvalidArgument);
  SyntheticOptions options = some(Workload::kPai, 1);
  options.load_ppm = 0;
  EXPECT_THROW(SyntheticJobs{options}, InvalidArgument);
  options = some(Workload::kPai, 1);
  options.gpus = 0;
  EXPECT_THROW(SyntheticJobs{options}, InvalidArgument);
}

}  // namespace berth::sim::synthetic_jobs_test
