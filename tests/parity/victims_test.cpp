#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "berth/kernel/victims/victims.hpp"
#include "host/backend/check_victims.hpp"
#include "host/cpu/victims.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/thread_group.hpp"
#include "tests/support/victims/random_victims.hpp"

namespace berth::test::victims_test {
namespace {

/// By seed: no nodes, jobs or questions up to more than a warp has, small and large nodes, and gangs over most of the nodes.
RandomVictimsSpec victims_spec(std::uint64_t seed) {
  constexpr std::int32_t kNodes[] = {8, 1, 3, 31, 33, 12, 65};
  constexpr std::int32_t kJobs[] = {14, 40, 1, 33, 60, 24, 90, 0};
  constexpr std::int32_t kQuestions[] = {6, 1, 0, 33};
  RandomVictimsSpec spec;
  spec.nodes = kNodes[seed % 7];
  spec.jobs = kJobs[seed % 8] * (1 + spec.nodes / 12);
  spec.questions = spec.nodes > 12 ? 5 : kQuestions[seed / 7 % 4];
  spec.max_gpus = seed % 11 == 0 ? 64 : seed % 3 == 0 ? 4 : 8;
  spec.gang_percent = seed % 4 == 0 ? 90 : seed % 4 == 1 ? 0 : 40;
  spec.gang_nodes = seed % 6 == 0 ? spec.nodes + 1 : 4;
  spec.limits = seed % 2 == 0;
  return spec;
}

class VictimsOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, VictimsOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(VictimsOnBackend, EqualsReference) {
  const auto reference = core::make_reference_backend();
  std::int64_t outcomes[3] = {}, several = 0;
  for (std::uint64_t seed = 0; seed < 1400; seed += parity_stride()) {
    const VictimsCase one = random_victims(seed, victims_spec(seed));
    core::check_victims(one.problem.view(), one.request());
    const VictimsBuffers want = victims(*reference, one);
    ASSERT_EQ(victims(backend(), one), want) << "seed " << seed;
    for (const kernel::VictimsOutcome outcome : want.outcome) ++outcomes[static_cast<std::size_t>(outcome)];
    several += std::count_if(want.count.begin(), want.count.end(), [](std::int32_t count) { return count > 1; });
  }
  if (parity_stride() > 1) return;  // too few to count
  for (const std::int64_t count : outcomes) EXPECT_GT(count, 1'000);
  EXPECT_GT(several, 700);
}

/// Gangs that overlap on most nodes: sets have several of them.
TEST_P(VictimsOnBackend, EqualsReferenceWithOverlappingGangs) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 400; seed += parity_stride()) {
    RandomVictimsSpec spec;
    spec.nodes = 3 + static_cast<std::int32_t>(seed % 6);
    spec.jobs = 5 * spec.nodes;
    spec.gang_percent = 90;
    spec.gang_nodes = spec.nodes;
    spec.limits = seed % 5 == 0;
    const VictimsCase one = random_victims(10'000 + seed, spec);
    ASSERT_EQ(victims(backend(), one), victims(*reference, one)) << "seed " << seed;
  }
}

/// Cores lack where GPUs do not.
TEST_P(VictimsOnBackend, EqualsReferenceWithScarceCores) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 400; seed += parity_stride()) {
    RandomVictimsSpec spec;
    spec.nodes = 1 + static_cast<std::int32_t>(seed % 5);
    spec.jobs = 7 * spec.nodes;
    spec.gang_percent = 20;
    spec.scarce = true;
    const VictimsCase one = random_victims(20'000 + seed, spec);
    core::check_victims(one.problem.view(), one.request());
    ASSERT_EQ(victims(backend(), one), victims(*reference, one)) << "seed " << seed;
  }
}

/// Far more questions than a warp has threads, which share their candidates.
TEST_P(VictimsOnBackend, EqualsReferenceWithManyQuestions) {
  const auto reference = core::make_reference_backend();
  for (const std::int32_t questions : {31, 32, 257, 4099}) {
    RandomVictimsSpec spec;
    spec.questions = questions;
    const VictimsCase one = random_victims(static_cast<std::uint64_t>(questions), spec);
    ASSERT_EQ(victims(backend(), one), victims(*reference, one)) << questions << " questions";
    if (parity_stride() > 1 && questions > 31) return;
  }
}

/// A question of another problem must not see what is left of the one before.
TEST_P(VictimsOnBackend, ForgetsTheProblemBefore) {
  const auto reference = core::make_reference_backend();
  for (const std::uint64_t seed : {4U, 11U, 2U, 9U}) {
    RandomVictimsSpec spec;
    spec.nodes = seed % 2 == 0 ? 40 : 5;
    spec.jobs = 4 * spec.nodes;
    const VictimsCase one = random_victims(seed, spec);
    ASSERT_EQ(victims(backend(), one), victims(*reference, one)) << "seed " << seed;
  }
}

TEST_P(VictimsOnBackend, ASingleQuestionIsNotWorthAGpu) {
  const auto reference = core::make_reference_backend();
  RandomVictimsSpec spec;
  for (const std::int32_t questions : {1, 2}) {
    spec.questions = questions;
    const VictimsCase one = random_victims(5, spec);
    const std::int64_t on_gpu = backend().gpu_operations(), on_cpu = backend().cpu_operations();
    ASSERT_EQ(victims(backend(), one), victims(*reference, one));
    const bool cuda = GetParam() == "cuda";
    EXPECT_EQ(backend().gpu_operations() - on_gpu, cuda && questions > 1 ? 1 : 0);
    EXPECT_EQ(backend().cpu_operations() - on_cpu, cuda && questions == 1 ? 1 : 0);
  }
}

/// A group of threads, as a warp of a GPU, and of one.
TEST(VictimsOnBlock, EqualsReference) {
  const auto reference = core::make_reference_backend();
  for (const std::int32_t threads : {1, 2, 7, 32}) {
    for (std::uint64_t seed = 0; seed < 210; seed += threads == 1 ? 1 : threads == 32 ? 23 : 8) {
      const VictimsCase one = random_victims(seed, victims_spec(seed));
      const kernel::ProblemView view = one.problem.view();
      const kernel::VictimsRequest request = one.request();
      VictimsBuffers got(one);
      const kernel::VictimsResult result = got.view();
      std::fill(got.chosen.begin(), got.chosen.end(), std::uint8_t{0});
      std::vector<std::int64_t> rows;
      cpu::sum_victim_rows(view, request, rows);
      std::vector<std::int32_t> position[5];
      kernel::VictimsPositions positions{};
      for (int t = 0; t < 5; ++t) {
        position[t].resize(static_cast<std::size_t>(view.n_nodes));
        for (std::int32_t i = 0; i < view.n_nodes; ++i) kernel::VictimsPositionBody{view.topology[t].order, position[t].data()}(i);
        if (view.topology[t].ranked == 0) positions.position[t] = position[t].data();
      }
      for (std::int32_t q = 0; q < request.n; ++q) {
        const kernel::VictimsSizes sizes = kernel::victims_sizes(view, request, rows.data(), q, threads);
        kernel::VictimsWorkspace ws{};
        const std::size_t bytes = kernel::carve_victims_workspace(nullptr, sizes, threads, ws);
        std::vector<std::max_align_t> memory(bytes / sizeof(std::max_align_t) + 1);
        std::fill_n(reinterpret_cast<std::uint8_t*>(memory.data()), bytes, std::uint8_t{0xa5});
        kernel::carve_victims_workspace(reinterpret_cast<std::byte*>(memory.data()), sizes, threads, ws);
        const auto run = [&](auto& group) { kernel::victims(group, view, positions, request, q, ws, result); };
        if (threads == 1) {
          kernel::SerialGroup group;
          run(group);
        } else {
          run_with_threads(threads, run);
        }
      }
      ASSERT_EQ(got, victims(*reference, one)) << "seed " << seed << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace berth::test::victims_test
