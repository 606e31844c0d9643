// After a warm-up a decision takes nothing from the heap. Every operator new of the program is counted.

#include <gtest/gtest.h>

#include <execinfo.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> taken{0};

void* take(std::size_t n) {
  if (counting.load(std::memory_order_relaxed)) {
    taken.fetch_add(1, std::memory_order_relaxed);
    // BERTH_TRACE_ALLOCATIONS=1 says where, for whoever hunts one.
    static const bool trace = std::getenv("BERTH_TRACE_ALLOCATIONS") != nullptr;
    if (trace) {
      void* frames[12];
      counting.store(false);
      backtrace_symbols_fd(frames, backtrace(frames, 12), 2);
      counting.store(true);
    }
  }
  void* p = std::malloc(n == 0 ? 1 : n);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t n) { return take(n); }
void* operator new[](std::size_t n) { return take(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace berth {
namespace {

std::int64_t allocations(const std::string& policy) {
  sim::GenerateOptions o;
  o.nodes = 24;
  o.jobs = 80;
  o.seed = 5;
  o.outage_ppm = 0;
  const ClusterState state(sim::generate(o));
  Engine engine;
  Request request;
  request.policy = policy;
  request.backend = Backend::kCpu;
  PolicyState kept;
  Plan plan;
  for (int i = 0; i < 3; ++i) engine.decide(state, kept, request, plan);

  taken = 0;
  counting = true;
  engine.decide(state, kept, request, plan);
  counting = false;
  return taken;
}

class NoAllocation : public ::testing::TestWithParam<const char*> {};

TEST_P(NoAllocation, InADecisionAfterWarmUp) { EXPECT_EQ(allocations(GetParam()), 0); }

INSTANTIATE_TEST_SUITE_P(Policies, NoAllocation, ::testing::Values("fifo", "sjf", "srsf", "las", "gittins", "priority", "edf", "qssf"));

}  // namespace
}  // namespace berth
