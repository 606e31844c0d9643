#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/kernel/place/place.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/result_buffers.hpp"
#include "tests/support/thread_group.hpp"

/// Passes that place jobs by the bit sets of nodes next to the same passes without: where some node has an end, they do not.
namespace berth::test::flat_steps_test {
namespace {

/// Most demands are flat, and no node has an end. Several buckets fit in the threads of a group, or a bucket has more words than that.
Problem flat_problem(std::uint64_t seed, std::int32_t nodes) {
  RandomSpec spec;
  spec.nodes = nodes;
  spec.jobs = nodes < 100 ? 40 : 300;
  spec.until = false;
  spec.tree_percent = seed % 3 == 0 ? 20 : 0;
  spec.shares = seed % 4 == 0;
  spec.constraints = seed % 2 == 0;
  spec.max_gpus = seed % 5 == 0 ? 64 : 8;
  spec.running_percent = seed % 7 < 3 ? 0 : 40;
  return random_problem(seed, spec);
}

/// The columns of a state that count its free resources.
std::vector<std::int64_t> columns_of(const kernel::ProblemView& p, const kernel::PassState& s) {
  std::vector<std::int64_t> all;
  const auto add = [&](std::int64_t n, const auto* column) {
    for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::int64_t>(column[i]));
  };
  kernel::for_each_column(p, s.max_gpus, add, s);
  return all;
}

struct Ran {
  ResultBuffers result;
  std::vector<std::int64_t> state;
};

Ran run(const Problem& problem, const PassCase& pass, bool with_flat_steps, std::int32_t threads) {
  kernel::ProblemView view = problem.view();
  const core::PlaceTask task = pass.view();
  Ran ran{ResultBuffers(problem, pass), {}};
  const kernel::PlaceResult result = ran.result.view();
  view.has_until = with_flat_steps ? 0 : 1;  // all nodes stay: node_until is kNever
  std::vector<std::uint64_t> memory(kernel::place_workspace_bytes(view, task.request) / 8 + 3, 0xabababababababab);
  const std::size_t skip = reinterpret_cast<std::uintptr_t>(memory.data()) % 16 / 8;
  const kernel::PlaceWorkspace workspace = kernel::carve_workspace(memory.data() + skip, view, task.request);
  const auto body = [&](auto& group) {
    kernel::place(group, view, task.request, task.taken.data(), static_cast<std::int32_t>(task.taken.size()), workspace, result);
  };
  if (threads == 1) {
    kernel::SerialGroup group;
    body(group);
  } else {
    run_with_threads(threads, body);
  }
  ran.state = columns_of(view, workspace.now);
  return ran;
}

void expect_the_same(std::uint64_t seed, std::int32_t nodes, std::int32_t threads) {
  const Problem problem = flat_problem(seed, nodes);
  const PassCase pass = random_pass(seed, problem);

  const Ran with = run(problem, pass, true, threads);
  const Ran without = run(problem, pass, false, 1);

  const std::string name =
      "seed " + std::to_string(seed) + ", " + std::to_string(nodes) + " nodes, " + std::to_string(threads) + " threads";
  ASSERT_EQ(diff(without.result, with.result), "") << name;
  ASSERT_EQ(without.state, with.state) << name;
}

TEST(FlatSteps, OneThreadPlacesJobsAndLeavesTheStateAsTheGeneralSteps) {
  constexpr std::int32_t kNodes[] = {1, 5, 33, 64, 130, 700};
  for (std::uint64_t seed = 0; seed < 600; ++seed) ASSERT_NO_FATAL_FAILURE(expect_the_same(seed, kNodes[seed % 6], 1));
}

TEST(FlatSteps, AWarpDoesSoWithSeveralBucketsAtOnceAndWithMoreWordsThanThreads) {
  constexpr std::int32_t kNodes[] = {5, 64, 130, 700, 1'100, 2'100};
  for (std::uint64_t seed = 0; seed < 30; ++seed) ASSERT_NO_FATAL_FAILURE(expect_the_same(seed, kNodes[seed % 6], 32));
}

TEST(FlatSteps, SoDoGroupsThatAreNarrowerThanTheLevelsThatAreCounted) {
  constexpr std::int32_t kNodes[] = {5, 64, 130, 300};
  for (std::uint64_t seed = 0; seed < 24; ++seed) ASSERT_NO_FATAL_FAILURE(expect_the_same(seed, kNodes[seed % 4], seed % 2 == 0 ? 3 : 7));
}

}  // namespace
}  // namespace berth::test::flat_steps_test
