#include "berth/kernel/replay/replay.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/support/parity/backends.hpp"
#include "tests/support/random_replay.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::replay_test {
namespace {

/// By seed: from no jobs to more than fit one level of a set; pools of a few GPUs to more than two warps have lanes.
RandomReplaySpec spec_of(std::uint64_t seed) {
  constexpr std::int32_t kJobs[] = {0, 1, 2, 33, 64, 65, 150, 300};
  constexpr std::int32_t kGpus[] = {1, 8, 32, 33, 100};
  return {kJobs[seed % 8], kGpus[seed / 8 % 5], static_cast<std::int32_t>(seed % 7) + 1};
}

class ReplayOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, ReplayOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(ReplayOnBackend, EqualsReference) {
  const auto reference = core::make_reference_backend();
  std::int64_t displaced = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 240; seed += parity_stride()) {
    const ReplayCase one(seed, spec_of(seed));
    const std::vector<ReplayBuffers> want = replay(*reference, one), got = replay(backend(), one);
    for (std::int32_t i = 0; i < one.replays(); ++i) {
      ASSERT_EQ(got[static_cast<std::size_t>(i)], want[static_cast<std::size_t>(i)]) << "seed " << seed << " replay " << i;
      displaced += want[static_cast<std::size_t>(i)].totals.preemptions;
      moved += want[static_cast<std::size_t>(i)].totals.moves;
    }
  }
  if (parity_stride() > 1) return;  // too few to count
  EXPECT_GT(displaced, 400);
  EXPECT_GT(moved, 40);
}

TEST_P(ReplayOnBackend, WithoutColumnsOfJobsEqualsReference) {
  const ReplayCase one(95, {150, 33, 40});
  const std::vector<ReplayBuffers> want = replay(*core::make_reference_backend(), one);
  std::vector<core::ReplayTask> tasks;
  std::vector<kernel::ReplayTotals> totals(want.size());
  std::vector<kernel::ReplayResult> results;
  for (std::int32_t i = 0; i < one.replays(); ++i) {
    tasks.push_back({one.request(i), nullptr});
    kernel::ReplayResult& result = results.emplace_back();
    result.totals = &totals[static_cast<std::size_t>(i)];
  }

  backend().replay(one.view(), tasks, results);

  for (std::size_t i = 0; i < want.size(); ++i) {
    ReplayBuffers got = want[i];
    got.totals = totals[i];
    ASSERT_EQ(got, want[i]) << "replay " << i;
  }
}

/// A group of threads, as a warp of a GPU.
TEST(ReplayOnBlock, EqualsReference) {
  const auto reference = core::make_reference_backend();
  for (const std::int32_t threads : {2, 7, 32}) {
    const std::uint64_t last = threads == 32 ? 24 : 40;
    for (std::uint64_t seed = 0; seed < last; seed += threads == 32 ? 5 : 1) {
      RandomReplaySpec spec = spec_of(seed);
      spec.jobs = std::min(spec.jobs, 65);
      spec.replays = 1;
      const ReplayCase one(seed, spec);
      const kernel::ReplayView view = one.view();
      const kernel::ReplayRequest request = one.request(0);
      kernel::ReplayWorkspace ws{};
      std::vector<std::max_align_t> memory(
          kernel::carve_replay_workspace(nullptr, view, kernel::gpus_of(view, request), true, ws) / sizeof(std::max_align_t) + 1);
      kernel::carve_replay_workspace(memory.data(), view, kernel::gpus_of(view, request), true, ws);
      ReplayBuffers got(view.n_jobs);
      const kernel::ReplayResult result = got.view();
      run_with_threads(threads, [&](auto& group) { kernel::replay(group, view, request, ws, result); });
      ASSERT_EQ(got, replay(*reference, one).front()) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

TEST_P(ReplayOnBackend, SaysWhichJobWouldEndTooLate) {
  const ReplayCase one(3, {33, 8, 3});
  const kernel::ReplayView view = one.view();
  const auto fits = [&](std::int32_t job) {
    return view.line_gpus[view.line[job]] <= one.request(0).capacity[view.line_pool[view.line[job]]];
  };
  std::int32_t late = 20;
  while (!fits(late)) ++late;
  std::vector<std::int64_t> run(33, 1);
  run[static_cast<std::size_t>(late)] = kMaxTimeUs;
  std::vector<kernel::ReplayTotals> totals(2);
  std::vector<core::ReplayTask> tasks;
  std::vector<kernel::ReplayResult> results(2);
  for (std::size_t i = 0; i < 2; ++i) {
    core::ReplayTask& task = tasks.emplace_back(core::ReplayTask{one.request(0), nullptr});
    task.request.kind = kernel::ReplayKey::kFixed;
    task.request.run = run.data();
    results[i].totals = &totals[i];
  }

  backend().replay(view, tasks, results);

  EXPECT_EQ(totals[1].too_late, late);
}

}  // namespace
}  // namespace berth::test::replay_test
