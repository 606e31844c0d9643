#include "host/sim/counts/running_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/core/policy_api/chosen_policy.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::running_order_test {
namespace {

// srsf: keys of running jobs fall, those of larger jobs faster.
TEST(RunningOrder, ReadFromItsEndIsTheOrderByTheKeysOfNow) {
  test::Random random(1);
  core::ChosenPolicy chosen;
  chosen.choose("srsf", {});
  JobKeys keys(*chosen.policy, true);
  const TraceJob traced;
  CountedJobs jobs;
  RunningOrder order;
  std::vector<std::int32_t> running;
  for (TimeUs now = 0; now < 3'000; ++now) {
    for (int change = random.below(3); change > 0; --change) {
      if (running.size() > 20) {
        const auto gone = running.begin() + random.below(static_cast<std::int32_t>(running.size()));
        order.remove(jobs, *gone);
        jobs.free(*gone);
        running.erase(gone);
      }
      const std::int32_t job_index = jobs.add();
      CountedJob& job = jobs[job_index];
      job.traced = &traced;
      job.estimate = job.left = random.within(1, 2'000);
      job.gpus = random.within(1, 8);
      job.rank = static_cast<std::int32_t>(now) * 4 + change;
      job.held_from = job.working_from = now;
      job.running = true;
      order.add(jobs, {keys.key(job, now), job.rank, job_index});
      running.push_back(job_index);
    }
    if (!running.empty() && random.percent(30)) {
      const std::int32_t job_index = running[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(running.size())))];
      jobs[job_index].left = random.within(1, 4'000);
      order.move(jobs, {keys.key(jobs[job_index], now), jobs[job_index].rank, job_index});
    }
    std::vector<JobPlace> want;
    for (const std::int32_t job_index : running) want.push_back({keys.key(jobs[job_index], now), jobs[job_index].rank, job_index});
    std::sort(want.begin(), want.end());
    const std::size_t deep = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(want.size()) + 1));

    ASSERT_EQ(order.size(), want.size());
    for (std::size_t i = 0; i < deep; ++i) ASSERT_EQ(order.at_end(i, jobs, keys, now).job, want[want.size() - 1 - i].job) << now;
    std::vector<JobPlace> end;
    order.read_end(deep, end);
    for (std::size_t i = 0; i < deep; ++i) ASSERT_EQ(end[i].job, want[want.size() - deep + i].job) << now;
    ASSERT_FALSE(order.end() < (want.empty() ? kNoJob : want.back())) << now;
  }
}

}  // namespace
}  // namespace berth::sim::running_order_test
