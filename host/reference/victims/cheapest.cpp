#include "host/reference/victims/cheapest.hpp"

#include <algorithm>
#include <optional>

namespace berth::reference {
namespace {

bool is_cheaper(const CheapSet& a, const CheapSet& b) {
  if (a.cost != b.cost) return a.cost < b.cost;
  if (a.places.size() != b.places.size()) return a.places.size() < b.places.size();
  return a.places < b.places;
}

CheapSet with_place(CheapSet set, std::int64_t cost, std::size_t place) {
  set.cost += cost;
  set.places.push_back(place);
  return set;
}

/// Tries all sets.
CheapSet of_all_sets(const std::vector<Freed>& list, std::int64_t gpus) {
  std::optional<CheapSet> best;
  for (std::uint32_t bits = 0; bits < std::uint32_t{1} << list.size(); ++bits) {
    CheapSet set;
    std::int64_t freed = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      set = with_place(std::move(set), list[i].cost, i);
      freed += list[i].gpus;
    }
    if (freed >= gpus && (!best || is_cheaper(set, *best))) best = set;
  }
  return best.value_or(CheapSet{});
}

/// Keeps the cheapest set for each number of GPUs; the last entry is for that many and more.
CheapSet of_best_sets(const std::vector<Freed>& list, std::int64_t gpus) {
  std::vector<std::optional<CheapSet>> best(static_cast<std::size_t>(gpus) + 1);
  best[0] = CheapSet{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto next = best;
    for (std::int64_t freed = 0; freed <= gpus; ++freed) {
      const auto& from = best[static_cast<std::size_t>(freed)];
      if (!from) continue;
      auto& to = next[static_cast<std::size_t>(std::min(gpus, freed + list[i].gpus))];
      CheapSet set = with_place(*from, list[i].cost, i);
      if (!to || is_cheaper(set, *to)) to = std::move(set);
    }
    best = std::move(next);
  }
  return best.back().value_or(CheapSet{});
}

}  // namespace

CheapSet cheapest_by_gpus(const std::vector<Freed>& list, std::int64_t gpus) {
  constexpr std::size_t kFew = 9;
  return list.size() <= kFew ? of_all_sets(list, gpus) : of_best_sets(list, gpus);
}

}  // namespace berth::reference
