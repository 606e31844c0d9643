#include "host/core/state/span.hpp"

#include <gtest/gtest.h>

#include "berth/state.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::span_test {
namespace {

// n0 and n1 are one NVLink domain, n2 another one; n3 is in none.
Snapshot nvlink_domains() {
  Snapshot s = two_racks();
  s.gpu_types[0].nvlink_bytes_per_s = 450'000'000'000;
  constexpr auto kNvlink = static_cast<std::size_t>(TopologyKind::kNvlink);
  for (const char* id : {"v0", "v1"}) {
    s.domains.push_back(domain_of(id, "nvl", ""));
    s.domains.back().topology = TopologyKind::kNvlink;
  }
  s.nodes[0].domain[kNvlink] = s.nodes[1].domain[kNvlink] = "v0";
  s.nodes[2].domain[kNvlink] = "v1";
  for (Node& node : s.nodes) {
    node.nics = 1;
    node.nic_bytes_per_s = 12'000'000'000;
  }
  return s;
}

Job& synchronising(Snapshot& s, const std::string& id, std::int32_t gpus) {
  Job& job = add_job(s, id, gpus);
  job.profile.kind = ProfileKind::kClosedForm;
  job.profile.unit = "samples";
  job.profile.gradient_bytes = 1'000'000'000;
  job.profile.closed_form.step = {{"", 250'000, 500'000}};
  return job;
}

}  // namespace

TEST(TightestSpan, OfAGangThatFitsAnNvlinkDomainUsesNoNic) {
  Snapshot s = nvlink_domains();
  synchronising(s, "within", 16);
  synchronising(s, "beyond", 24);
  const ClusterState state(std::move(s));
  const StateImpl& impl = state.impl();

  EXPECT_TRUE(core::tightest_span(impl, 0, 16).one_nvlink_domain);
  EXPECT_FALSE(core::tightest_span(impl, 0, 17).one_nvlink_domain);
  EXPECT_FALSE(core::tightest_span(impl, 0, 8).one_nvlink_domain);  // one node
  EXPECT_FALSE(core::tightest_span(impl, 1, 8).one_nvlink_domain);  // a type without nodes
}

// 16 GPUs on n0 and n1, divided into members in three ways: the ring passes two nodes of eight.
TEST(Span, ANodeCountsOnceWhateverMembersAreOnIt) {
  Snapshot s = two_racks();
  synchronising(s, "one", 16).shapes[0].groups = {group_of("a", 2, 8)};
  synchronising(s, "two", 16).shapes[0].groups = {group_of("a", 2, 4), group_of("b", 2, 4)};
  synchronising(s, "with_spare", 16).shapes[0].groups = {group_of("a", 2, 8)};
  s.jobs[2].shapes[0].groups[0].spares = 1;
  const ClusterState state(std::move(s));
  constexpr std::uint64_t kLow = 0x0f, kHigh = 0xf0, kAll = 0xff;
  const std::vector<PlanEntry> one{{0, 0, 0, 1, kAll}, {1, 0, 1, 1, kAll}};
  const std::vector<PlanEntry> two{{0, 0, 0, 1, kLow}, {1, 0, 1, 1, kLow}, {0, 1, 0, 1, kHigh}, {1, 1, 1, 1, kHigh}};
  const std::vector<PlanEntry> with_spare{{0, 0, 0, 1, kAll}, {1, 0, 1, 1, kAll}, {2, 0, 2, 1, kAll}};
  const auto rate = [&](std::int32_t job, const std::vector<PlanEntry>& entries) {
    return core::placed_rate(state.impl(), *state.job(job), 0, entries);
  };
  EXPECT_GT(rate(0, one), 0);
  EXPECT_EQ(rate(1, two), rate(0, one));
  EXPECT_EQ(rate(2, with_spare), rate(0, one));
}

// The rate of a shape before placement equals its rate at the best place.
TEST(TightestSpan, GivesTheRateOfTheBestPlace) {
  Snapshot s = nvlink_domains();
  synchronising(s, "within", 16);
  const ClusterState state(std::move(s));
  const StateImpl& impl = state.impl();
  const Job& job = *state.job(0);
  const std::int64_t counted_on = core::option_rate(impl, job, job.shapes[0], 0, 16);

  EXPECT_EQ(core::placed_rate(impl, job, 0, flat({{0, 0xff}, {1, 0xff}})), counted_on);
  EXPECT_LT(core::placed_rate(impl, job, 0, flat({{2, 0xff}, {3, 0xff}})), counted_on);  // one of them is in a domain
}

TEST(TightestSpan, HoldsTheLargestBandwidthThatASnapshotMayState) {
  Snapshot s = two_racks();
  synchronising(s, "a", 16);
  const ClusterState unlimited(s);
  for (Node& node : s.nodes) {
    node.nics = INT32_MAX;
    node.nic_bytes_per_s = kMaxBytes;
  }
  const ClusterState state(std::move(s));
  const Job& job = *state.job(0);

  EXPECT_EQ(core::option_rate(state.impl(), job, job.shapes[0], 0, 16), core::option_rate(unlimited.impl(), job, job.shapes[0], 0, 16));
}

}  // namespace berth::test::span_test
