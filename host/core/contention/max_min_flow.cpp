#include "host/core/contention/max_min_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/network/traffic.hpp"

namespace berth::core {
namespace {

// The flows of each link, as rows of one array.
struct FlowsOfLinks {
  std::vector<std::size_t> begin;
  std::vector<std::int32_t> flow;

  FlowsOfLinks(std::size_t links, std::span<const MaxMinFlow> flows) : begin(links + 1, 0) {
    for (const MaxMinFlow& one : flows)
      for (const LinkPart& row : one.links) ++begin[to_index(row.link) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    flow.resize(begin.back());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const LinkPart& row : flows[f].links) flow[next[to_index(row.link)]++] = static_cast<std::int32_t>(f);
  }
};

class Filling {
 public:
  Filling(std::span<const std::int64_t> capacity, std::span<const MaxMinFlow> flows)
      : flows_(flows), on_(capacity.size(), flows), left_(capacity.size()), unfrozen_(capacity.size(), 0), level_(flows.size(), kNoLevel) {
    for (std::size_t l = 0; l < capacity.size(); ++l) left_[l] = Wide{capacity[l]} * (kRatesPerByte * kWholePart);
    for (const MaxMinFlow& flow : flows)
      for (const LinkPart& row : flow.links) unfrozen_[to_index(row.link)] += Wide{row.part} * flow.weight;
  }

  std::vector<std::int64_t> run() {
    for (std::size_t l = 0; l < left_.size(); ++l)
      if (unfrozen_[l] > 0) queue_.push({level_of(l), l});
    for (std::size_t f = 0; f < flows_.size(); ++f)
      if (flows_[f].demand_level() < kNoLevel) demands_.push_back({flows_[f].demand_level(), f});
    std::sort(demands_.begin(), demands_.end());
    std::size_t demand = 0;
    while (!queue_.empty() || demand < demands_.size()) {
      const std::int64_t at =
          std::min(queue_.empty() ? kNoLevel : queue_.top().first, demand < demands_.size() ? demands_[demand].first : kNoLevel);
      saturated_.clear();
      while (!queue_.empty() && queue_.top().first == at) check_top();
      if (saturated_.empty() && (demand == demands_.size() || demands_[demand].first != at)) continue;
      // All that is saturated was found before anything freezes at this level.
      for (const std::size_t link : saturated_)
        for (std::size_t i = on_.begin[link]; i < on_.begin[link + 1]; ++i) freeze(to_index(on_.flow[i]), at);
      for (; demand < demands_.size() && demands_[demand].first == at; ++demand) freeze(demands_[demand].second, at);
    }
    return std::move(level_);
  }

 private:
  using Event = std::pair<std::int64_t, std::size_t>;

  std::int64_t level_of(std::size_t link) const {
    return static_cast<std::int64_t>(std::min<Wide>(left_[link] / unfrozen_[link], kNoLevel));
  }
  // Levels of links only rise while flows freeze, so what the queue holds is a lower bound.
  void check_top() {
    const auto [at, link] = queue_.top();
    queue_.pop();
    if (unfrozen_[link] == 0) return;
    const std::int64_t level = level_of(link);
    if (level == at) {
      saturated_.push_back(link);
    } else if (level < kNoLevel) {
      queue_.push({level, link});
    }
  }
  void freeze(std::size_t f, std::int64_t level) {
    if (level_[f] != kNoLevel) return;
    level_[f] = level;
    for (const LinkPart& row : flows_[f].links) {
      const Wide weight = Wide{row.part} * flows_[f].weight;
      unfrozen_[to_index(row.link)] -= weight;
      left_[to_index(row.link)] -= weight * level;
    }
  }

  std::span<const MaxMinFlow> flows_;
  FlowsOfLinks on_;
  std::vector<Wide> left_, unfrozen_;  // [links] capacity that no frozen flow uses; part x weight of flows that are not frozen
  std::vector<std::int64_t> level_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::vector<Event> demands_;
  std::vector<std::size_t> saturated_;
};

}  // namespace

MaxMinFlow flow_of(std::span<const LinkBytes> rows) {
  MaxMinFlow flow;
  std::int64_t most = 0;
  for (const LinkBytes& row : rows) most = std::max(most, row.bytes);
  for (const LinkBytes& row : rows)
    flow.links.push_back({row.link, static_cast<std::int32_t>((Wide{row.bytes} * kWholePart + most - 1) / most)});
  return flow;
}

void check_flow(const MaxMinFlow& flow, std::size_t links) {
  if (flow.weight < 1 || flow.weight > kMostFlowWeight)
    throw InvalidArgument(fmt::format("a flow's weight is from 1 to {}, found {}", kMostFlowWeight, flow.weight));
  if (flow.demand < 0 || flow.demand > kMostLinkRate)
    throw InvalidArgument(fmt::format("a flow's demand is from 0 to {} bytes a second, found {}", kMostLinkRate, flow.demand));
  if (flow.links.empty() && flow.demand == kNoDemand) throw InvalidArgument("a flow without links needs a demand");
  std::int32_t last = -1, most = 0;
  for (const LinkPart& row : flow.links) {
    if (row.link <= last || to_index(row.link) >= links)
      throw InvalidArgument(fmt::format("links of a flow ascend and are below {}, found {} after {}", links, row.link, last));
    if (row.part < 1 || row.part > kWholePart)
      throw InvalidArgument(fmt::format("the part of link {} is from 1 to {}, found {}", row.link, kWholePart, row.part));
    last = row.link;
    most = std::max(most, row.part);
  }
  if (!flow.links.empty() && most != kWholePart)
    throw InvalidArgument(fmt::format("the largest part of a flow is {}, found {}", kWholePart, most));
}

void check_capacities(std::span<const std::int64_t> bytes_per_s) {
  for (std::size_t l = 0; l < bytes_per_s.size(); ++l)
    if (bytes_per_s[l] < 0 || bytes_per_s[l] > kMostLinkRate)
      throw InvalidArgument(
          fmt::format("the capacity of link {} is from 0 to {} bytes a second, found {}", l, kMostLinkRate, bytes_per_s[l]));
}

std::vector<std::int64_t> max_min_levels(std::span<const std::int64_t> capacity, std::span<const MaxMinFlow> flows) {
  return Filling(capacity, flows).run();
}

}  // namespace berth::core
