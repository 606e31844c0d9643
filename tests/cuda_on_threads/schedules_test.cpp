#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "berth/kernel/plan_search/workspace.hpp"
#include "host/core/backend/backends.hpp"
#include "tests/cuda_on_threads/operations.hpp"
#include "tests/cuda_on_threads/stand_in.hpp"
#include "tests/support/parity/parity_stride.hpp"
#include "tests/support/random_plan_search.hpp"
#include "tests/support/report_counts.hpp"
#include "tests/support/result_buffers.hpp"

/// Answers do not depend on when streams do their work, on the order of threads and blocks, on memory or on other engines.
namespace berth::cuda_on_threads::schedules_test {
namespace {

/// The operation by a new backend, on the GPU. Everything is freed after it.
void expect_on_gpu(const Operation& operation) {
  {
    core::Backends backends;
    std::string note;
    EXPECT_STREQ(
        backends.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& backend) { EXPECT_EQ(operation.difference(backend), ""); }),
        "cuda")
        << note;
  }
  EXPECT_EQ(in_use(), "");
  EXPECT_STREQ(stand_in().misuse(), "");
}

TEST(CudaOnThreads, AnyScheduleGivesTheSameAnswer) {
  Counts all{};
  for (const Order order : {Order::kAscending, Order::kDescending, Order::kRandom}) {
    for (const Lateness lateness : {Lateness::kLate, Lateness::kEager, Lateness::kRandom}) {
      for (std::uint64_t seed = 0; seed < (order == Order::kRandom ? 3U : 1U); ++seed) {
        SCOPED_TRACE(testing::Message() << "order " << static_cast<int>(order) << ", lateness " << static_cast<int>(lateness) << ", seed "
                                        << seed);
        Settings settings;
        settings.order = order;
        settings.lateness = lateness;
        settings.seed = seed;
        settings.late_pageable = seed % 2 == 0 ? 1 : 0;
        set(settings);
        for (const Operation& operation : operations()) expect_on_gpu(operation);
        const Counts now = counts();
        all.launches += now.launches;
        all.graph_launches += now.graph_launches;
        all.kernels = now.kernels;
      }
    }
  }
  test::report_counts(std::to_string(all.kernels) + " different kernels, " + std::to_string(all.launches) + " launches, of these " +
                      std::to_string(all.graph_launches) + " launches of a graph; by kernel:\n" + stand_in().kernels());
}

/// Each `__global__` function of cuda/ is among the kernels that the operations launch.
TEST(CudaOnThreads, EveryKernelRuns) {
  set({});
  for (const Operation& operation : operations()) expect_on_gpu(operation);
  const std::string launched = stand_in().kernels();

  for (const char* kernel : {"best_kernel", "begin_kernel", "candidate_kernel", "copy_kernel", "cross_kernel", "delay_replay_kernel",
                             "first_kernel", "for_each_n_kernel", "improve_kernel", "pack_entries_kernel", "place_kernel", "price_kernel",
                             "probe_kernel", "replay_kernel", "report_kernel", "score_kernel", "survivor_kernel"}) {
    EXPECT_NE(launched.find(kernel), std::string::npos) << kernel << " was not launched; launched:\n" << launched;
  }
}

// Down to a slice that holds nothing: as many decisions as possible on the GPU, the others on the CPU with the cause.
TEST(CudaOnThreads, MemoryOfAnySizeGivesTheSameAnswer) {
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    int on_gpu = 0, on_cpu = 0;
    for (std::int64_t kilobytes = 1; kilobytes < 8192; kilobytes += kilobytes / 3 + 1) {
      for (const std::int64_t taken : {std::int64_t{0}, kilobytes << 9}) {
        SCOPED_TRACE(testing::Message() << kilobytes << " KiB, " << taken << " bytes taken");
        Settings settings;
        settings.memory = kilobytes << 10;
        settings.taken = taken;
        settings.multiprocessors = 1;
        set(settings);
        core::Backends backends;
        std::string note;
        const std::string backend =
            backends.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& one) { EXPECT_EQ(operation.difference(one), ""); });
        (backend == "cuda" ? on_gpu : on_cpu) += 1;
        EXPECT_EQ(backend == "cuda", note.empty());
        if (backend == "cpu") {
          EXPECT_NE(note.find("out of memory"), std::string::npos) << note;
        }
      }
    }
    EXPECT_GT(on_gpu, 5);
    EXPECT_GT(on_cpu, 5);
    EXPECT_EQ(in_use(), "");
  }
}

// Bits of random numbers that fill 48 KiB of shared memory, and the block's own.
TEST(CudaOnThreads, SharedMemoryHoldsTheBlocksOwnToo) {
  Settings settings;
  set(settings);
  for (const std::int32_t gpus : {376'000, 385'000, 393'216, 393'217}) expect_on_gpu(ones_of(gpus));
}

TEST(CudaOnThreads, APassWithABudgetStopsAtItsEnd) {
  set({});
  const test::Problem problem = test::random_problem(20);
  const test::PassCase pass = test::random_pass(20'000, problem);
  test::ResultBuffers on_gpu(problem, pass), on_cpu(problem, pass);
  const auto stopped_at = [&](core::PlacementBackend& backend, test::ResultBuffers& got) {
    core::StopToken stop;
    stop.deadline = std::chrono::steady_clock::time_point::min();  // it is over before the pass begins
    core::PlaceTask task = pass.view();
    task.stop_token = &stop;
    backend.place(problem.view(), task, got.view());
    return stop.stopped_at;
  };
  std::string why;

  EXPECT_EQ(stopped_at(*core::make_cuda_backend(why), on_gpu), 0) << why;

  EXPECT_EQ(stopped_at(*core::make_cpu_backend(1), on_cpu), 0);
  EXPECT_EQ(test::diff(on_cpu, on_gpu), "");
}

TEST(CudaOnThreads, AfterShortMemoryTheGpuIsUsedAgain) {
  Settings tight;
  tight.taken = tight.memory - 4096;
  set(tight);
  core::Backends backends;
  const Operation& operation = operations().front();
  const auto ask = [&] {
    std::string note;
    return std::string(
        backends.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& one) { EXPECT_EQ(operation.difference(one), ""); }));
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(), "cpu");
  EXPECT_EQ(in_use(), "");

  set({});

  EXPECT_EQ(ask(), "cuda");
}

TEST(CudaOnThreads, ASearchThatDoesNotFitKeepsIndividualsInTheHostsMemory) {
  const Operation operation = plan_search_of(32);
  std::int64_t least = 0, most = 0;
  for (std::int64_t kilobytes = 256; kilobytes <= 8192; kilobytes += kilobytes / 2) {
    Settings settings;
    settings.memory = kilobytes << 10;
    settings.multiprocessors = 1;
    settings.capability = 80;  // without steps in shared memory
    settings.order = kilobytes % 3 == 0 ? Order::kRandom : Order::kDescending;
    set(settings);
    core::Backends backends;
    std::string note;
    const std::string backend =
        backends.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& one) { EXPECT_EQ(operation.difference(one), ""); });
    if (backend == "cpu") continue;
    const std::int64_t pinned = counts().pinned_bytes;
    least = least == 0 ? pinned : std::min(least, pinned);
    most = std::max(most, pinned);
  }
  EXPECT_GT(most, 4 * least);  // from all in the host's memory to none
}

/// A search whose individuals need more shared memory than a step may use.
Operation search_of_large_individuals() {
  test::RandomPlanSearchSpec spec;
  spec.problem.nodes = 70;
  spec.problem.jobs = 600;
  const auto problem = std::make_shared<test::PlanSearchProblem>(test::random_plan_search(5, spec));
  EXPECT_GT(kernel::plan_search_individual_bytes(problem->view()), std::size_t{72} << 10);
  const auto how = std::make_shared<test::PlanSearching>(test::random_searching(5, *problem));
  how->islands = how->population = how->steps = how->generations = 1;
  how->n_starts = 0;
  return {"large plan_search", [=](core::PlacementBackend& backend) {
            test::PlanSearchBuffers got(*problem, *how);
            backend.plan_search({problem->view(), how->request(), nullptr}, got.view());
            return std::string();
          }};
}

// Between two generations of one search another engine searches, with individuals that take no shared memory.
TEST(CudaOnThreads, EnginesOfOneProcessDoNotChangeEachOthersLimits) {
  set({});
  core::Backends mine, others;
  const Operation large = search_of_large_individuals();
  test::RandomPlanSearchSpec spec;
  spec.problem.jobs = 60;
  spec.problem.nodes = 70;
  const test::PlanSearchProblem problem = test::random_plan_search(5, spec);
  ASSERT_LE(kernel::plan_search_individual_bytes(problem.view()), std::size_t{72} << 10);
  ASSERT_GT(kernel::plan_search_individual_bytes(problem.view()), std::size_t{48} << 10);
  test::PlanSearching how = test::random_searching(5, problem);
  how.islands = 1;
  how.population = 2;
  how.generations = 3;
  how.steps = 1;
  how.n_starts = 0;
  std::string note, others_note;
  bool asked = false;
  const std::function<bool(std::int64_t, std::int64_t)> progress = [&](std::int64_t, std::int64_t) {
    if (asked) return true;
    asked = true;
    EXPECT_STREQ(others.run(Backend::kCuda, 1, others_note, [&](core::PlacementBackend& one) { large.difference(one); }), "cuda");
    return true;
  };

  test::PlanSearchBuffers got(problem, how);
  const std::string backend = mine.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& one) {
    core::StopToken stop;
    stop.progress = &progress;
    one.plan_search({problem.view(), how.request(), &stop}, got.view());
  });

  EXPECT_TRUE(asked);
  EXPECT_EQ(backend, "cuda") << note;
}

TEST(CudaOnThreads, TwoThreadsWithAnEngineEachGetTheSameAnswers) {
  Settings settings;
  settings.lateness = Lateness::kRandom;
  set(settings);
  std::array<std::string, 2> wrong;
  std::vector<std::thread> threads;
  const int rounds = test::parity_stride() > 1 ? 1 : 2;
  for (std::string& text : wrong) {
    threads.emplace_back([&text, rounds] {
      for (int round = 0; round < rounds; ++round) {
        core::Backends backends;
        for (const Operation& operation : operations()) {
          std::string note;
          const std::string backend =
              backends.run(Backend::kCuda, 1, note, [&](core::PlacementBackend& one) { text += operation.difference(one); });
          if (backend != "cuda") text += note;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, (std::array<std::string, 2>{}));
  EXPECT_EQ(in_use(), "");
  EXPECT_STREQ(stand_in().misuse(), "");
}

}  // namespace
}  // namespace berth::cuda_on_threads::schedules_test
