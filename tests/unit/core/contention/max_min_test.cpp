#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/core/contention/max_min_certificate.hpp"
#include "host/core/contention/max_min_rates.hpp"
#include "host/core/network/traffic.hpp"

namespace berth::core::max_min_test {
namespace {

using Levels = std::vector<std::int64_t>;

MaxMinFlow over(const std::vector<std::int32_t>& links, std::int32_t weight = 1, std::int64_t demand = kNoDemand) {
  MaxMinFlow flow;
  for (const std::int32_t link : links) flow.links.push_back({link, kWholePart});
  flow.weight = weight;
  flow.demand = demand;
  return flow;
}

// Bytes per second.
std::vector<double> rates(const std::vector<std::int64_t>& capacity, const std::vector<MaxMinFlow>& flows) {
  const Levels levels = max_min_levels(capacity, flows);
  EXPECT_EQ(max_min_violation(capacity, flows, levels), "");
  std::vector<double> rates;
  for (std::size_t f = 0; f < flows.size(); ++f)
    rates.push_back(static_cast<double>(levels[f] * flows[f].weight) / static_cast<double>(kRatesPerByte));
  return rates;
}

TEST(MaxMin, FourFlowsOnThreeLinks) {
  EXPECT_EQ(rates({10, 12, 3}, {over({0}), over({0, 1}), over({1}), over({1, 2})}), (std::vector<double>{5.5, 4.5, 4.5, 3.0}));
}

TEST(MaxMin, WeightsShareALink) { EXPECT_EQ(rates({12}, {over({0}, 1), over({0}, 3)}), (std::vector<double>{3, 9})); }

TEST(MaxMin, ADemandLeavesTheRest) { EXPECT_EQ(rates({12}, {over({0}, 1, 2), over({0}), over({0})}), (std::vector<double>{2, 5, 5})); }

TEST(MaxMin, AFlowWithoutLinksHasItsDemand) { EXPECT_EQ(rates({12}, {over({}, 1, 7)}), std::vector<double>{7}); }

TEST(MaxMin, AFailedLinkGivesNothing) { EXPECT_EQ(rates({0, 12}, {over({0, 1}), over({1})}), (std::vector<double>{0, 12})); }

// The first gang sends half as much over link 1: alone there it would have 20.
TEST(MaxMin, AGangUsesLinksInProportionToItsBytes) {
  const MaxMinFlow gang = flow_of(std::vector<LinkBytes>{{0, 100}, {1, 50}});
  EXPECT_EQ(gang.links, (std::vector<LinkPart>{{0, kWholePart}, {1, kWholePart / 2}}));
  EXPECT_EQ(rates({100, 12}, {gang, over({1})}), (std::vector<double>{8, 8}));
}

// 10 bytes among 3: 3,413 levels of 1/1024 byte each, and one level of 10,240 is left over.
TEST(MaxMin, LevelsAreRoundedDown) {
  EXPECT_EQ(max_min_levels(std::vector<std::int64_t>{10}, std::vector<MaxMinFlow>(3, over({0}))), (Levels{3413, 3413, 3413}));
}

TEST(MaxMin, InputOutOfRangeIsRejected) {
  MaxMinRates rates({10, 10});
  MaxMinFlow small = over({0});
  small.links[0].part = kWholePart - 1;
  MaxMinFlow twice = over({0, 0}), nothing = over({0, 1});
  nothing.links[1].part = 0;
  for (const MaxMinFlow& flow : {over({}), over({2}), over({-1}), over({0}, 0), over({0}, kMostFlowWeight + 1), over({0}, 1, -1),
                                 over({0}, 1, kMostLinkRate + 1), small, twice, nothing}) {
    EXPECT_THROW(rates.add(0, flow), InvalidArgument);
  }
  EXPECT_THROW(MaxMinRates({-1}), InvalidArgument);
  EXPECT_THROW(MaxMinRates({kMostLinkRate + 1}), InvalidArgument);
}

TEST(MaxMin, TheLargestValuesDoNotOverflow) {
  std::vector<MaxMinFlow> flows(1'000, over({0, 1}, kMostFlowWeight));
  flows.push_back(over({1}, 1, kMostLinkRate - 1));
  const std::vector<std::int64_t> capacity{kMostLinkRate, kMostLinkRate};
  const Levels levels = max_min_levels(capacity, flows);
  EXPECT_EQ(max_min_violation(capacity, flows, levels), "");
  // A weight of 1 of 1,000 x 2^20 + 1.
  EXPECT_EQ(levels.back(), kMostLinkRate * kRatesPerByte / (std::int64_t{1'000} * kMostFlowWeight + 1));
}

TEST(MaxMinCertificate, NamesWhatIsWrong) {
  const std::vector<std::int64_t> capacity{10, 12, 3};
  const std::vector<MaxMinFlow> flows{over({0}), over({0, 1}), over({1}), over({1, 2})};
  const Levels right = max_min_levels(capacity, flows);
  Levels more = right, less = right;
  more[0] += 1;
  less[3] -= 1;
  EXPECT_EQ(max_min_violation(capacity, flows, more), "link 0 carries more than its capacity");
  EXPECT_EQ(max_min_violation(capacity, flows, less), "flow 3 could have more");
  // Of 10,240 levels for three flows one is left over, and none of them may have it.
  EXPECT_EQ(max_min_violation(std::vector<std::int64_t>{10}, std::vector<MaxMinFlow>(3, over({0})), Levels{3413, 3413, 3414}),
            "on link 0 a flow has what was left over at a lower level");
  EXPECT_EQ(max_min_violation(std::vector<std::int64_t>{10}, std::vector<MaxMinFlow>{over({0}, 1, 4)}, Levels{4097}),
            "flow 0 has more than its demand");
}

class RandomFlows {
 public:
  explicit RandomFlows(std::uint64_t seed) : random_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  // Small figures, so that levels meet.
  std::int64_t capacity() { return below(8) == 0 ? 0 : below(2) == 0 ? 1 + below(12) : 1 + below(1'000'000); }
  MaxMinFlow flow(std::int32_t links) {
    MaxMinFlow flow;
    const std::int64_t most = below(4) == 0 ? 0 : 1 + below(6);
    for (std::int32_t link = 0; link < links; ++link)
      if (below(links) < most) flow.links.push_back({link, below(2) == 0 ? kWholePart : static_cast<std::int32_t>(1 + below(kWholePart))});
    if (!flow.links.empty()) flow.links[static_cast<std::size_t>(below(static_cast<std::int64_t>(flow.links.size())))].part = kWholePart;
    flow.weight = static_cast<std::int32_t>(below(2) == 0 ? 1 : 1 + below(5));
    if (flow.links.empty() || below(4) == 0) flow.demand = below(10);
    return flow;
  }

 private:
  std::mt19937_64 random_;
};

// The order of flows and of links does not matter.
TEST(MaxMin, DoesNotDependOnTheOrderOfItsInput) {
  RandomFlows random(1);
  for (int round = 0; round < 200; ++round) {
    const auto links = static_cast<std::int32_t>(1 + random.below(8));
    std::vector<std::int64_t> capacity;
    for (std::int32_t l = 0; l < links; ++l) capacity.push_back(random.capacity());
    std::vector<MaxMinFlow> flows;
    for (std::int64_t f = random.below(12); f >= 0; --f) flows.push_back(random.flow(links));
    std::vector<std::size_t> flow_at(flows.size()), link_at(capacity.size());
    std::iota(flow_at.begin(), flow_at.end(), 0);
    std::iota(link_at.begin(), link_at.end(), 0);
    for (auto* order : {&flow_at, &link_at})
      for (std::size_t i = order->size(); i > 1; --i)
        std::swap((*order)[i - 1], (*order)[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
    std::vector<std::int64_t> other_capacity(capacity.size());
    for (std::size_t l = 0; l < capacity.size(); ++l) other_capacity[link_at[l]] = capacity[l];
    std::vector<MaxMinFlow> other(flows.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
      MaxMinFlow& to = other[flow_at[f]] = flows[f];
      for (LinkPart& row : to.links) row.link = static_cast<std::int32_t>(link_at[static_cast<std::size_t>(row.link)]);
      std::sort(to.links.begin(), to.links.end(), [](const LinkPart& a, const LinkPart& b) { return a.link < b.link; });
    }
    const Levels levels = max_min_levels(capacity, flows), other_levels = max_min_levels(other_capacity, other);
    EXPECT_EQ(max_min_violation(capacity, flows, levels), "") << round;
    for (std::size_t f = 0; f < flows.size(); ++f) EXPECT_EQ(other_levels[flow_at[f]], levels[f]) << round << " " << f;
  }
}

// 10,000 flows come or go, one to three at a time. The rates are those from nothing, and the changed flows are reported.
TEST(MaxMinRates, AreThoseFromNothingAfterEveryChange) {
  int settled = 0, from_nothing = 0, changes = 0;
  for (std::uint64_t seed = 0; changes < 10'000; ++seed) {
    RandomFlows random(seed);
    const auto links = static_cast<std::int32_t>(1 + random.below(30)), most = static_cast<std::int32_t>(1 + random.below(60));
    std::vector<std::int64_t> capacity;
    for (std::int32_t l = 0; l < links; ++l) capacity.push_back(random.capacity());
    MaxMinRates rates(capacity);
    std::map<std::int32_t, MaxMinFlow> there;
    std::map<std::int32_t, std::int64_t> before;
    for (int round = 0; round < 200; ++round) {
      for (std::int64_t times = random.below(3); times >= 0; --times, ++changes) {
        const auto id = static_cast<std::int32_t>(random.below(most));
        if (there.erase(id) != 0) {
          rates.remove(id);
        } else {
          rates.add(id, there[id] = random.flow(links));
        }
      }
      const std::span<const std::int32_t> changed = rates.settle();
      (rates.links_settled() == links ? from_nothing : settled) += 1;
      std::vector<MaxMinFlow> flows;
      for (const auto& [id, flow] : there) flows.push_back(flow);
      const Levels levels = max_min_levels(capacity, flows);
      ASSERT_EQ(max_min_violation(capacity, flows, levels), "") << seed << " " << round;
      std::map<std::int32_t, std::int64_t> now;
      std::size_t at = 0;
      for (const auto& [id, flow] : there) {
        ASSERT_EQ(rates.level(id), levels[at]) << seed << " " << round << " " << id;
        ASSERT_EQ(rates.rate(id), levels[at] * flow.weight);
        now[id] = levels[at++];
      }
      for (std::int32_t id = 0; id < most; ++id) {
        const auto old = before.find(id), fresh = now.find(id);
        const bool same = (old == before.end()) == (fresh == now.end()) && (old == before.end() || old->second == fresh->second);
        ASSERT_EQ(std::binary_search(changed.begin(), changed.end(), id), !same) << seed << " " << round << " " << id;
      }
      before = now;
    }
  }
  EXPECT_GT(settled, 1'000);
  EXPECT_GT(from_nothing, 10);
}

}  // namespace
}  // namespace berth::core::max_min_test
