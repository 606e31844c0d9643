#include "host/core/contention/max_min_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

struct LevelWeight {
  std::int64_t level;
  Wide weight;
};

// What holds of one link.
struct LinkFacts {
  std::int64_t highest = -1;
  bool is_full = false, is_saturated = false, is_overtaken = false;
};

LinkFacts facts_of(Wide capacity, std::vector<LevelWeight>& on) {
  LinkFacts facts;
  std::sort(on.begin(), on.end(), [](const LevelWeight& a, const LevelWeight& b) { return a.level < b.level; });
  Wide used = 0, above = 0;
  for (const LevelWeight& one : on) {
    used += one.weight * one.level;
    above += one.weight;
  }
  facts.is_full = used > capacity;
  if (on.empty()) return facts;
  facts.highest = on.back().level;
  Wide below = 0;  // used by flows of lower levels
  for (std::size_t i = 0; i < on.size();) {
    const std::int64_t level = on[i].level;
    const bool more_fits = below + above * (level + 1) <= capacity;  // one level more of this and all higher flows
    if (level == facts.highest) {
      facts.is_saturated = !more_fits;
    } else if (!more_fits) {
      facts.is_overtaken = true;
    }
    for (; i < on.size() && on[i].level == level; ++i) {
      below += on[i].weight * level;
      above -= on[i].weight;
    }
  }
  return facts;
}

}  // namespace

std::string max_min_violation(std::span<const std::int64_t> capacity, std::span<const MaxMinFlow> flows,
                              std::span<const std::int64_t> levels) {
  std::vector<std::vector<LevelWeight>> on(capacity.size());
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (levels[f] < 0 || levels[f] > flows[f].demand_level()) return fmt::format("flow {} has more than its demand", f);
    for (const LinkPart& row : flows[f].links) on[to_index(row.link)].push_back({levels[f], Wide{row.part} * flows[f].weight});
  }
  std::vector<LinkFacts> facts;
  for (std::size_t l = 0; l < capacity.size(); ++l) {
    facts.push_back(facts_of(Wide{capacity[l]} * (kRatesPerByte * kWholePart), on[l]));
    if (facts.back().is_full) return fmt::format("link {} carries more than its capacity", l);
    if (facts.back().is_overtaken) return fmt::format("on link {} a flow has what was left over at a lower level", l);
  }
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const auto holds_it = [&](const LinkPart& row) {
      const LinkFacts& link = facts[to_index(row.link)];
      return link.is_saturated && link.highest == levels[f];
    };
    if (levels[f] < flows[f].demand_level() && std::none_of(flows[f].links.begin(), flows[f].links.end(), holds_it))
      return fmt::format("flow {} could have more", f);
  }
  return {};
}

}  // namespace berth::core
