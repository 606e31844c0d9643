#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "host/core/backend/backends.hpp"
#include "tests/cuda_on_threads/operations.hpp"
#include "tests/cuda_on_threads/stand_in.hpp"
#include "tests/support/report_counts.hpp"

/// Every call of the runtime fails in turn: the answer stays the reference's, the cause is reported, nothing leaks, and the
/// next decision uses the GPU again where that makes sense.
namespace berth::cuda_on_threads::faults_test {
namespace {

struct Answer {
  std::string difference, backend, note;
};

Answer ask(core::Backends& backends, const Operation& operation) {
  Answer answer;
  answer.backend = backends.run(Backend::kCuda, 1, answer.note,
                                [&](core::PlacementBackend& backend) { answer.difference = operation.difference(backend); });
  return answer;
}

constexpr int kOutOfMemory = 2, kUnavailable = 46, kIllegalAddress = 700, kUnknown = 999;

struct Fault {
  const char* name;
  Failure failure;
  int error;
  const char* text;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
constexpr Fault kFaults[] = {{"Once", Failure::kOnce, kUnknown, "unknown error"},
                             {"OutOfMemory", Failure::kOnce, kOutOfMemory, "out of memory"},
                             {"Sticky", Failure::kSticky, kIllegalAddress, "an illegal memory access"},
                             {"Disappears", Failure::kDisappears, kUnavailable, ""}};

class EveryCallFails : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(CudaOnThreads, EveryCallFails, testing::ValuesIn(kFaults), [](const auto& one) { return one.param.name; });

bool frees(const std::string& call) { return call.find("Free") != std::string::npos || call.find("Destroy") != std::string::npos; }

/// One failing call. Returns false when the operation makes fewer calls.
bool fail_one(const Fault& fault, const Operation& operation, std::int64_t number) {
  Settings settings;
  settings.failure = fault.failure;
  settings.failing_call = number;
  settings.error = fault.error;
  settings.lateness = number % 3 == 0 ? Lateness::kEager : Lateness::kLate;
  set(settings);
  const std::string before = in_use();  // what could not be freed earlier
  std::string failed;
  {
    core::Backends backends;
    const Answer first = ask(backends, operation);
    if (counts().failures == 0) return false;
    failed = stand_in().call(number);
    EXPECT_EQ(first.difference, "") << failed;
    if (first.backend == "cpu") {
      EXPECT_NE(first.note.find(fault.text), std::string::npos) << failed << ": " << first.note;
      EXPECT_NE(first.note, "") << failed;
    } else {
      EXPECT_EQ(first.note, "") << failed;
    }
    const Answer next = ask(backends, operation);
    EXPECT_EQ(next.difference, "") << failed;
    if (fault.failure == Failure::kOnce) {
      EXPECT_EQ(next.backend, "cuda") << failed << ": " << next.note;
    } else {
      EXPECT_EQ(next.backend, "cpu") << failed;
      EXPECT_NE(next.note, "") << failed;
    }
  }
  EXPECT_STREQ(stand_in().misuse(), "") << failed;
  if (fault.failure == Failure::kOnce && !frees(failed)) {
    EXPECT_EQ(in_use(), before) << failed;
  }
  return true;
}

TEST_P(EveryCallFails, AndTheAnswerStays) {
  const char* value = std::getenv("BERTH_FAULT_STRIDE");  // only every so manyth call, under sanitizers
  const std::int64_t stride = value == nullptr ? 1 : std::max(1, std::atoi(value));
  std::int64_t failures = 0;
  for (const Operation& operation : operations()) {
    SCOPED_TRACE(operation.name);
    std::int64_t number = 0;
    while (fail_one(GetParam(), operation, number)) {
      number += stride;
      ++failures;
      ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(number, 20);
  }
  test::report_counts(std::to_string(failures) + " injected failures");
  set({});
}

/// The number of the first call of a runtime function while a GPU is opened and an operation runs.
std::int64_t first_call(const char* function) {
  set({});
  {
    core::Backends backends;
    ask(backends, operations().front());
  }
  std::int64_t call = 0;
  while (std::string(stand_in().call(call)) != function) ++call;
  return call;
}

TEST(CudaOnThreads, AGpuThatFailsThreeTimesInARowIsNotOpenedAgainWhateverTheCpuDoesBetween) {
  Settings fails;
  fails.failing_call = first_call("cudaMemcpyAsync");
  fails.failure = Failure::kOnce;
  core::Backends backends;
  std::string note;
  for (int failure = 0; failure < 3; ++failure) {
    set(fails);
    EXPECT_STREQ(backends.run(Backend::kCuda, 1, note, [](core::PlacementBackend&) {}), "cuda") << failure;
    EXPECT_EQ(ask(backends, operations().front()).backend, "cpu") << failure;
  }
  set({});
  EXPECT_EQ(ask(backends, operations().front()).backend, "cpu");
}

TEST(CudaOnThreads, AGpuThatCannotBeListedOrOpenedForWantOfMemoryIsTriedAgain) {
  const std::int64_t opened = first_call("cudaMemcpyAsync");
  int failures = 0;
  for (std::int64_t call = 0; call < opened; ++call) {
    Settings fails;
    fails.failing_call = call;
    fails.failure = Failure::kOnce;
    fails.error = kOutOfMemory;
    core::Backends backends;
    bool short_memory = true;
    for (int failure = 0; failure < 4; ++failure) {
      set(fails);
      const Answer answer = ask(backends, operations().front());
      short_memory = short_memory && answer.backend == "cpu" && answer.note.find("out of memory") != std::string::npos;
    }
    set({});
    if (!short_memory) continue;  // the call does without
    ++failures;
    EXPECT_EQ(ask(backends, operations().front()).backend, "cuda") << "call " << call;
  }
  EXPECT_GT(failures, 5);
}

TEST(CudaOnThreads, MemoryOfAnOperationThatIsNotUsedIsGivenBack) {
  set({});
  core::Backends backends;
  const Operation& pass = operations().front();
  ASSERT_EQ(ask(backends, pass).backend, "cuda");
  const Counts before = counts();
  ASSERT_EQ(ask(backends, plan_search_of(64)).backend, "cuda");
  EXPECT_GT(counts().device_bytes, before.device_bytes + 10'000);

  for (int i = 0; i < 16; ++i) ASSERT_EQ(ask(backends, pass).backend, "cuda");

  EXPECT_EQ(counts().device_bytes, before.device_bytes);
  EXPECT_EQ(counts().pinned_bytes, before.pinned_bytes);
  EXPECT_EQ(counts().graphs, before.graphs);
}

/// In the child of a fork the stand-in ends the process at any call.
TEST(CudaOnThreads, AChildOfAForkGetsTheCpuWithTheReason) {
  set({});
  core::Backends backends;
  ASSERT_EQ(ask(backends, operations().front()).backend, "cuda");

  const pid_t child = fork();
  if (child == 0) {
    bool right = true;
    {
      core::Backends inherited = std::move(backends), own;
      for (core::Backends* each : {&inherited, &own}) {
        const Answer answer = ask(*each, operations().front());
        right = right && answer.difference.empty() && answer.backend == "cpu" && answer.note.find("forked") != std::string::npos;
      }
    }
    std::_Exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);

  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(ask(backends, operations().front()).backend, "cuda");
}

TEST(CudaOnThreads, WhatIsNoExceptionOfOursDoesNotEndTheProgram) {
  Settings settings;
  set(settings);
  {
    core::Backends backends;
    ask(backends, operations().front());
  }
  settings.failing_call = 0;
  while (std::string(stand_in().call(settings.failing_call)) != "cudaMemcpyAsync") ++settings.failing_call;
  settings.failure = Failure::kThrows;
  set(settings);
  core::Backends backends;

  const Answer answer = ask(backends, operations().front());

  EXPECT_EQ(answer.difference, "");
  EXPECT_EQ(answer.backend, "cpu");
  EXPECT_EQ(answer.note, "an unknown exception");
}

}  // namespace
}  // namespace berth::cuda_on_threads::faults_test
