// After a warm-up a decision takes nothing from the heap: every operator new of this program is counted. Text is apart, and so are
// deltas, which bring new descriptions.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/params.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> taken{0};

void* take_or_null(std::size_t n) noexcept {
  if (counting.load(std::memory_order_relaxed)) taken.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(n == 0 ? 1 : n);
}

void* take(std::size_t n) {
  void* p = take_or_null(n);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t n) { return take(n); }
void* operator new[](std::size_t n) { return take(n); }
// Of the same kind, so that what std::stable_sort borrows goes back where it came from.
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take_or_null(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take_or_null(n); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace berth::no_allocation_test {
namespace {

ClusterState cluster(sim::Workload workload, bool elastic = false) {
  sim::GenerateOptions o;
  o.nodes = 24;
  o.jobs = 120;
  o.seed = 5;
  o.workload = workload;
  o.elastic = elastic;
  o.outage_ppm = 0;  // mending writes lists
  return ClusterState(sim::generate(o));
}

/// Of one decision, after three of the same and a step of the clock.
std::int64_t allocations(ClusterState& state, const Request& request) {
  Engine engine;
  PolicyState kept;
  Plan plan;
  for (int i = 0; i < 3; ++i) engine.decide(state, kept, request, plan);
  state.apply(delta::SetTime{state.now() + kSecond});
  engine.decide(state, kept, request, plan);

  taken = 0;
  counting = true;
  engine.decide(state, kept, request, plan);
  counting = false;
  return taken;
}

Request ask(const std::string& policy, std::vector<std::pair<std::string, std::string>> params = {}) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  for (auto& one : test::short_search(policy)) request.params.push_back(std::move(one));
  request.backend = Backend::kCpu;
  return request;
}

// Each search starts its own threads. That takes an allocation for each and one for their list: none lives between decisions.
TEST(NoAllocationOnThreads, ButForStartingThem) {
  ClusterState state = cluster(sim::Workload::kLlm, true);
  for (const char* policy : {"ones", "ones-plus"}) {
    Request request = ask(policy);
    if (test::has_param(policy, "terms")) request.params.emplace_back("terms", "migration,restart,span");
    request.params.emplace_back("quotas", "limits");  // where guarantees take GPUs back, nothing is searched
    for (request.threads = 1; request.threads <= 3; ++request.threads) {
      EXPECT_EQ(allocations(state, request), request.threads == 1 ? 0 : request.threads) << policy << ", " << request.threads << " threads";
    }
  }
}

// dally adds a row to the policy state for each wait of a job that starts, and these clusters have such jobs in each decision. All others
// have to keep their memory.
bool may_allocate(const std::string& policy) { return policy == "dally"; }

class NoAllocation : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (may_allocate(GetParam())) GTEST_SKIP() << "allocates in each decision";
  }
};

TEST_P(NoAllocation, InADecisionAfterWarmUp) {
  ClusterState state = cluster(sim::Workload::kHelios);
  EXPECT_EQ(allocations(state, ask(GetParam())), 0);
}

TEST_P(NoAllocation, WithGroupTreesAndReservations) {
  ClusterState state = cluster(sim::Workload::kLlm);
  std::vector<std::pair<std::string, std::string>> easy{{"discipline", "easy"}};
  if (!test::has_param(GetParam(), "discipline")) easy.clear();
  EXPECT_EQ(allocations(state, ask(GetParam(), easy)), 0);
}

TEST_P(NoAllocation, WithElasticJobs) {
  ClusterState state = cluster(sim::Workload::kPhilly, true);
  EXPECT_EQ(allocations(state, ask(GetParam())), 0);
}

TEST_P(NoAllocation, WithEachPacking) {
  ClusterState state = cluster(sim::Workload::kHelios);
  for (const char* packing : {"count", "consolidate", "emptiest"}) {
    EXPECT_EQ(allocations(state, ask(GetParam(), {{"packing", packing}})), 0) << packing;
  }
}

TEST_P(NoAllocation, WithEveryPlanTerm) {
  if (!test::has_param(GetParam(), "terms")) GTEST_SKIP();
  ClusterState state = cluster(sim::Workload::kLlm, true);
  EXPECT_EQ(allocations(state, ask(GetParam(), {{"terms", "fragmentation,link_load,migration,restart,span,tardiness"}})), 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, NoAllocation, ::testing::ValuesIn(test::policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::no_allocation_test
