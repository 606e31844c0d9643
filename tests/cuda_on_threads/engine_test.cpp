#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "berth/engine.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/cuda_on_threads/stand_in.hpp"

/// Whole decisions on the backend cuda: what the plan says of it, and what becomes of a decision in which a call fails.
namespace berth::cuda_on_threads::engine_test {
namespace {

ClusterState small_cluster() {
  sim::GenerateOptions options;
  options.nodes = 3;
  options.gpus_per_node = 4;
  options.jobs = 12;
  options.elastic = true;
  options.workload = sim::Workload::kLlm;
  options.fabric = sim::Fabric::kNvl72;
  options.seed = 3;
  return ClusterState(sim::generate(options));
}

/// Three operations that may run on the GPU: passes before and after a choice, and a search.
Request search_on(Backend backend) {
  Request request;
  request.policy = "ones-plus";
  request.backend = backend;
  request.max_iterations = 2;
  return request;
}

TEST(EngineOnCuda, WhereACallFailsInTheMiddleThePlanIsTheCpusAndTheNextDecisionUsesTheGpu) {
  set({});
  const ClusterState state = small_cluster();
  const Plan expected = Engine().decide(state, search_on(Backend::kCpu));
  ASSERT_EQ(Engine().decide(state, search_on(Backend::kCuda)).backend, "cuda");
  const std::int64_t calls = counts().calls;
  int failures = 0, answered_by_cpu = 0;
  const char* value = std::getenv("BERTH_FAULT_STRIDE");  // more than 1 under sanitizers
  const std::int64_t stride = value == nullptr || std::atoi(value) <= 1 ? 11 : 97;
  for (std::int64_t call = 0; call < calls; call += stride) {
    Settings settings;
    settings.failure = Failure::kOnce;
    settings.failing_call = call;
    set(settings);
    Engine engine;

    const Plan plan = engine.decide(state, search_on(Backend::kCuda));

    if (counts().failures == 0) break;
    ++failures;
    EXPECT_TRUE(same_plan(plan, expected)) << call;
    EXPECT_EQ(plan.backend == "cpu", !plan.backend_note.empty()) << call << plan.backend_note;
    if (plan.backend == "cpu") ++answered_by_cpu;
    const Plan next = engine.decide(state, search_on(Backend::kCuda));
    EXPECT_TRUE(same_plan(next, expected)) << call;
    EXPECT_EQ(next.backend, "cuda") << call << next.backend_note;
    EXPECT_EQ(next.backend_note, "") << call;
  }
  EXPECT_GT(failures, stride == 11 ? 10 : 1);
  EXPECT_GT(answered_by_cpu, failures / 2);
  EXPECT_STREQ(stand_in().misuse(), "");
}

/// A later operation of the decision succeeds on the CPU; the note of the first one stays.
TEST(EngineOnCuda, AFailureInTheFirstOperationIsSaidByThePlan) {
  set({});
  const ClusterState state = small_cluster();
  Settings settings;
  settings.failure = Failure::kOnce;
  ASSERT_EQ(Engine().decide(state, search_on(Backend::kCuda)).backend, "cuda");
  for (settings.failing_call = 0; std::string(stand_in().call(settings.failing_call)) != "cudaMemcpyAsync";) ++settings.failing_call;
  set(settings);

  const Plan plan = Engine().decide(state, search_on(Backend::kCuda));

  EXPECT_EQ(plan.backend, "cpu");
  EXPECT_NE(plan.backend_note.find("unknown error"), std::string::npos) << plan.backend_note;
}

TEST(EngineOnCuda, APassWithABudgetIsSaidToBeTheCpus) {
  set({});
  const ClusterState state = small_cluster();
  Engine engine;
  Request request;
  request.backend = Backend::kCuda;
  request.budget_us = 1'000'000'000;

  const Plan limited = engine.decide(state, request);
  request.budget_us = 0;
  const Plan free = engine.decide(state, request);

  EXPECT_EQ(limited.backend, "cpu");
  EXPECT_EQ(limited.backend_note, "a scheduling pass with a time budget or progress reports runs on the CPU: a kernel is not stopped");
  EXPECT_EQ(free.backend, "cuda");
  EXPECT_EQ(free.backend_note, "");
}

TEST(EngineOnCuda, AChoiceByPricesWhosePlacesTheGpuFindsIsTheGpus) {
  set({});
  Request request;
  request.policy = "price";
  request.backend = Backend::kCuda;

  const Plan plan = Engine().decide(small_cluster(), request);

  EXPECT_EQ(plan.backend, "cuda");
  EXPECT_EQ(plan.backend_note, "");
}

}  // namespace
}  // namespace berth::cuda_on_threads::engine_test
