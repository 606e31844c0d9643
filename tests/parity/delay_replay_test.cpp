#include "berth/kernel/delay_replay/delay_replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/support/delays/random_delay_replay.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::delay_replay_test {
namespace {

/// By seed: from no jobs to many, on one node to more than two warps have lanes.
RandomDelayReplaySpec delay_spec_of(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {0, 1, 2, 12, 33, 65, 150};
  constexpr std::int32_t kNodes[] = {1, 3, 9, 33, 70};
  return {kJobs[seed % 7], kNodes[seed / 7 % 5], static_cast<std::int32_t>(seed % 5) + 1};
}

class DelayReplayOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, DelayReplayOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(DelayReplayOnBackend, EqualsReference) {
  const auto reference = core::make_reference_backend();
  std::int64_t displaced = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 140; seed += parity_stride()) {
    const DelayReplayCase one(seed, delay_spec_of(seed));
    const std::vector<DelayReplayBuffers> want = delay_replay(*reference, one), got = delay_replay(backend(), one);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << "seed " << seed << " replay " << i;
      displaced += want[i].totals.preemptions;
      moved += want[i].totals.moves;
    }
  }
  if (parity_stride() > 1) return;  // too few to count
  EXPECT_GT(displaced, 1000);
  EXPECT_GT(moved, 20);
}

TEST_P(DelayReplayOnBackend, WithoutColumnsOfJobsEqualsReference) {
  const DelayReplayCase one(95, {150, 9, 20});
  const std::vector<DelayReplayBuffers> want = delay_replay(*core::make_reference_backend(), one);
  std::vector<core::DelayReplayTask> tasks;
  std::vector<kernel::DelayReplayTotals> totals(want.size());
  std::vector<kernel::DelayReplayResult> results;
  for (std::int32_t i = 0; i < one.replays(); ++i) {
    tasks.push_back({one.request(i), nullptr});
    results.emplace_back().totals = &totals[static_cast<std::size_t>(i)];
  }

  backend().delay_replay(one.view(), tasks, results);

  for (std::size_t i = 0; i < want.size(); ++i) {
    DelayReplayBuffers got = want[i];
    got.totals = totals[i];
    ASSERT_EQ(got, want[i]) << "replay " << i;
  }
}

/// A group of threads, as a warp of a GPU.
TEST(DelayReplayOnBlock, EqualsReference) {
  const auto reference = core::make_reference_backend();
  for (const std::int32_t threads : {2, 7, 32}) {
    const std::uint64_t last = threads == 32 ? 24 : 40;
    for (std::uint64_t seed = 0; seed < last; seed += threads == 32 ? 5 : 1) {
      RandomDelayReplaySpec spec = delay_spec_of(seed);
      spec.jobs = std::min(spec.jobs, 33);
      spec.replays = 1;
      const DelayReplayCase one(seed, spec);
      const kernel::DelayReplayView view = one.view();
      const kernel::DelayReplayRequest request = one.request(0);
      kernel::DelayReplayWorkspace ws{};
      const std::int64_t gpus = kernel::gpus_of(view);
      std::vector<std::max_align_t> memory(kernel::carve_delay_workspace(nullptr, view, gpus, ws) / sizeof(std::max_align_t) + 1);
      kernel::carve_delay_workspace(memory.data(), view, gpus, ws);
      DelayReplayBuffers got(view.n_jobs);
      const kernel::DelayReplayResult result = got.view();
      run_with_threads(threads, [&](auto& group) { kernel::delay_replay(group, view, request, ws, result); });
      ASSERT_EQ(got, delay_replay(*reference, one).front()) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::delay_replay_test
