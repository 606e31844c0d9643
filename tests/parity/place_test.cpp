#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "berth/kernel/place/place.hpp"
#include "tests/support/parity/backends.hpp"
#include "tests/support/problem_builder.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/result_buffers.hpp"
#include "tests/support/thread_group.hpp"

namespace berth::test::place_test {
namespace {

/// Sizes of a problem by seed: a few nodes and jobs to hundreds, so that blocks are both wider and narrower than the
/// work.
RandomSpec spec_of(std::uint64_t seed) {
  constexpr std::int32_t kNodes[] = {1, 3, 12, 31, 33, 64, 65, 130};
  constexpr std::int32_t kJobs[] = {0, 1, 24, 31, 32, 33, 90, 257};
  RandomSpec spec;
  spec.nodes = kNodes[seed % 8];
  spec.jobs = kJobs[seed / 8 % 8];
  return spec;
}

std::string named(std::uint64_t seed, const RandomSpec& spec) {
  return "seed " + std::to_string(seed) + ", " + std::to_string(spec.nodes) + " nodes, " + std::to_string(spec.jobs) + " jobs";
}

class PlaceOnBackend : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Built, PlaceOnBackend, testing::ValuesIn(built_backends()), [](const auto& one) { return one.param; });

TEST_P(PlaceOnBackend, EqualsReference) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 256; seed += parity_stride()) {
    const RandomSpec spec = spec_of(seed);
    const Problem problem = random_problem(seed, spec);
    const PassCase pass = random_pass(seed, problem);

    const ResultBuffers want = place(*reference, problem, pass);
    const ResultBuffers got = place(backend(), problem, pass);

    ASSERT_EQ(diff(want, got), "") << named(seed, spec);
  }
}

TEST_P(PlaceOnBackend, ConservativePassesEqualReference) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 192; seed += parity_stride()) {
    const RandomSpec spec = spec_of(seed);
    const Problem problem = random_problem(seed, spec);
    const PassCase pass = random_conservative_pass(seed, problem);

    const ResultBuffers want = place(*reference, problem, pass);
    const ResultBuffers got = place(backend(), problem, pass);

    ASSERT_EQ(diff(want, got), "") << named(seed, spec);
  }
}

TEST_P(PlaceOnBackend, EasyPassesNearLimitsEqualReference) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < 256; seed += parity_stride()) {
    const RandomSpec spec = spec_of(seed);
    const Problem problem = random_problem_near_limits(seed, spec);
    const PassCase pass = random_easy_pass(seed, problem);

    const ResultBuffers want = place(*reference, problem, pass);
    const ResultBuffers got = place(backend(), problem, pass);

    ASSERT_EQ(diff(want, got), "") << named(seed, spec);
  }
}

/// Different passes over one problem at once: each gives the result of a single pass.
void expect_batch_equals_reference(core::PlacementBackend& backend, std::uint64_t seed, std::size_t n) {
  const auto reference = core::make_reference_backend();
  const Problem problem = random_problem(seed, spec_of(seed));
  const kernel::ProblemView view = problem.view();
  std::vector<PassCase> passes;
  for (std::size_t i = 0; i < n; ++i) passes.push_back(random_pass(1000 * seed + i, problem));
  std::vector<ResultBuffers> got;
  for (const PassCase& pass : passes) got.emplace_back(problem, pass);
  std::vector<core::PlaceTask> scenarios;
  std::vector<kernel::PlaceResult> results;
  for (std::size_t i = 0; i < n; ++i) {
    scenarios.push_back(passes[i].view());
    results.push_back(got[i].view());
  }

  backend.place_batch(view, scenarios, results);

  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(diff(place(*reference, problem, passes[i]), got[i]), "") << named(seed, spec_of(seed)) << ", pass " << i;
  }
}

TEST_P(PlaceOnBackend, AFewPassesEqualReference) { expect_batch_equals_reference(backend(), 20, 6); }

TEST_P(PlaceOnBackend, ManyPassesEqualReference) {
  for (const std::uint64_t seed : {3u, 20u, 45u}) ASSERT_NO_FATAL_FAILURE(expect_batch_equals_reference(backend(), seed, 150));
}

TEST_P(PlaceOnBackend, AnswersAnEmptyBatch) { backend().place_batch(random_problem(1).view(), {}, {}); }

/// A job takes what its queue keeps, and GPUs of one that has its quota elsewhere: the limit above has no room for it in either case.
TEST_P(PlaceOnBackend, AJobWithinWhatItsQueueKeepsDisplaces) {
  ProblemBuilder b;
  b.rack("", {4});
  const int root = b.queue(kernel::kNone, {8});
  const int keeps = b.queue(root, {}, {5});
  const int lends = b.queue(root, {});
  b.gang(1, 4, keeps);
  b.hold(b.gang(1, 3, lends), {.node = 0, .mask = 7});
  const Problem problem = b.build();
  PassCase pass = pass_over(problem);
  pass.preemptive = true;

  const ResultBuffers got = place(backend(), problem, pass);

  EXPECT_EQ(got.outcome, (std::vector<kernel::Outcome>{kernel::Outcome::kPlaced, kernel::Outcome::kPreempted}));
  EXPECT_EQ(diff(place(*core::make_reference_backend(), problem, pass), got), "");
}

/// With EASY: the queue has room for the third job now, and none next to the reserved job. The victim is on a node that it may not use.
TEST_P(PlaceOnBackend, AVictimLeavesForALimitAlone) {
  ProblemBuilder b;
  b.rack("", {8, 4, 4});
  const int queue = b.queue(kernel::kNone, {15});
  b.hold(b.gang(1, 4), {.node = 0, .mask = 15});
  b.gang(1, 8, queue);
  b.job({b.demand({.groups = {{.gpus = 4}}, .nodes = {1}})}, queue);
  b.hold(b.gang(1, 4, queue), {.node = 2, .mask = 15});
  const Problem problem = b.build();
  PassCase pass = pass_over(problem);
  pass.discipline = kernel::Discipline::kEasy;
  pass.preemptive = true;
  pass.victim_ok = {0, 1, 1, 1};
  pass.option_run = {kNever, kNever, kNever, kNever};
  pass.releases = {{100 * kSecond, 0, kernel::kNone, 0}};

  const ResultBuffers got = place(backend(), problem, pass);

  EXPECT_EQ(got.outcome, (std::vector<kernel::Outcome>{kernel::Outcome::kKept, kernel::Outcome::kReserved, kernel::Outcome::kPlaced,
                                                       kernel::Outcome::kPreempted}));
  EXPECT_EQ(diff(place(*core::make_reference_backend(), problem, pass), got), "");
}

/// Data that a backend keeps from one call must not affect the next.
TEST_P(PlaceOnBackend, ForgetsTheProblemBefore) {
  const auto reference = core::make_reference_backend();
  Problem problem = random_problem(5, spec_of(28));
  const PassCase pass = random_pass(5, problem);
  place(backend(), problem, pass);
  for (std::size_t node = 0; node < problem.node_free.size(); node += 3) {
    problem.node_cpu[node] /= 2;
    problem.node_free[node] &= ~(problem.node_free[node] & (~problem.node_free[node] + 1));
  }

  const ResultBuffers got = place(backend(), problem, pass);

  EXPECT_EQ(diff(place(*reference, problem, pass), got), "");
}

class PlaceOnBlock : public testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, PlaceOnBlock, testing::Values(2, 7, 32), testing::PrintToStringParamName());

void expect_block_equals_reference(std::int32_t threads, std::uint64_t seeds, PassCase (*make)(std::uint64_t, const Problem&),
                                   Problem (*draw)(std::uint64_t, const RandomSpec&) = random_problem) {
  const auto reference = core::make_reference_backend();
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomSpec spec = spec_of(seed);
    const Problem problem = draw(seed, spec);
    const PassCase pass = make(seed, problem);
    const kernel::ProblemView view = problem.view();
    const core::PlaceTask scenario = pass.view();
    std::vector<std::uint64_t> memory(kernel::place_workspace_bytes(view, scenario.request) / 8 + 3, 0xabababababababab);
    // Aligned to 16, as the workspace requires.
    const std::size_t skip = reinterpret_cast<std::uintptr_t>(memory.data()) % 16 / 8;
    const kernel::PlaceWorkspace workspace = kernel::carve_workspace(memory.data() + skip, view, scenario.request);
    ResultBuffers got(problem, pass);
    const kernel::PlaceResult result = got.view();

    run_with_threads(threads, [&](auto& group) {
      kernel::place(group, view, scenario.request, scenario.taken.data(), static_cast<std::int32_t>(scenario.taken.size()), workspace,
                    result);
    });

    ASSERT_EQ(diff(place(*reference, problem, pass), got), "") << named(seed, spec);
  }
}

TEST_P(PlaceOnBlock, EqualsReference) { expect_block_equals_reference(GetParam(), 48, random_pass); }
TEST_P(PlaceOnBlock, EasyPassesNearLimitsEqualReference) {
  expect_block_equals_reference(GetParam(), 32, random_easy_pass, random_problem_near_limits);
}
TEST_P(PlaceOnBlock, ConservativePassesEqualReference) { expect_block_equals_reference(GetParam(), 32, random_conservative_pass); }

}  // namespace
}  // namespace berth::test::place_test
