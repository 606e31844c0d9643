#include "bench/plan_search/cells.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "bench/plan_search/contenders.hpp"
#include "bench/support/answer.hpp"

namespace berth::bench {
namespace {

double missing_percent(std::int64_t value, std::int64_t most) {
  // A bound is above 0; the best known value need not be.
  if (most <= 0) return value >= most ? 0 : 100;
  return 100 * (1 - static_cast<double>(value) / static_cast<double>(most));
}

std::optional<std::int64_t> value_at(const SearchAttempt& one, double ms) {
  std::optional<std::int64_t> value;
  if (ms > 1'000 * one.until_s) return value;
  for (const ReachedValue& step : one.reached) {
    if (1'000 * step.seconds <= ms) value = step.value;
  }
  return value;
}

/// One contender's attempts and the known values of the instances, in their order.
class Gaps {
 public:
  Gaps(const std::vector<SearchAttempt>& attempts, const SearchFacts* facts) : attempts_(attempts), facts_(facts) {}

  void set(SearchRow& row, const std::vector<double>& times_ms) const {
    if (!attempts_.back().why.empty()) {  // one failure excludes all instances
      row.note = attempts_.back().why;
      row.bound_gap_at.resize(times_ms.size());
      row.best_gap_at.resize(times_ms.size());
      return;
    }
    row.plans = static_cast<std::int64_t>(attempts_.size());
    row.last_ms = over([](const SearchAttempt& a, const SearchFacts&) { return 1'000 * a.reached.back().seconds; });
    row.generations = over([](const SearchAttempt& a, const SearchFacts&) { return static_cast<double>(a.generations); });
    row.bound_gap = over([](const SearchAttempt& a, const SearchFacts& f) { return missing_percent(a.reached.back().value, f.bound); });
    row.best_gap = over([](const SearchAttempt& a, const SearchFacts& f) { return missing_percent(a.reached.back().value, f.best); });
    for (const double ms : times_ms) {
      const bool all = std::all_of(attempts_.begin(), attempts_.end(), [&](const SearchAttempt& a) { return value_at(a, ms).has_value(); });
      row.bound_gap_at.emplace_back();
      row.best_gap_at.emplace_back();
      if (!all) continue;
      row.bound_gap_at.back() =
          over([&](const SearchAttempt& a, const SearchFacts& f) { return missing_percent(*value_at(a, ms), f.bound); });
      row.best_gap_at.back() =
          over([&](const SearchAttempt& a, const SearchFacts& f) { return missing_percent(*value_at(a, ms), f.best); });
    }
  }

 private:
  template <class Of>
  MedianRange over(const Of& of) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < attempts_.size(); ++i) values.push_back(of(attempts_[i], facts_[i]));
    return spread_of(std::move(values));
  }

  const std::vector<SearchAttempt>& attempts_;
  const SearchFacts* facts_;
};

double longest_ms(const SearchAxes& axes) { return std::max(axes.budget_ms, axes.long_ms); }

SearchAttempt ended_with(const ReachedValue& last) {
  SearchAttempt one;
  one.reached.push_back(last);
  return one;
}

using BestKnown = std::map<std::string, std::int64_t>;  // by the snapshot's hash, of the ablation's kind

SearchResult run_cell(const SearchAxes& axes, const SearchCluster& cluster, const SearchKind& kind, std::int64_t gpus) {
  SearchResult cell;
  cell.times_ms = search_times_ms(longest_ms(axes));
  std::vector<std::string> names;
  for (const std::string& name : search_contenders()) {
    if (takes_part(name, kind, gpus)) names.push_back(name);
  }
  std::vector<std::vector<SearchAttempt>> attempts(names.size());  // of each instance
  for (std::int64_t seed = 1; seed <= axes.seeds; ++seed) {
    const std::unique_ptr<SearchInstance> instance = make_search_instance(cluster, kind, gpus, seed);
    SearchFacts facts{cluster.name, kind.name, gpus, seed, instance->hash, instance->by.bound.bound, INT64_MIN, ""};
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (!attempts[c].empty() && !attempts[c].back().why.empty()) continue;  // it will fail on the others, too
      attempts[c].push_back(attempt(*instance, kind, names[c], axes));
      const SearchAttempt& made = attempts[c].back();
      for (const ReachedValue& step : made.reached) {
        if (!made.is_plan || step.value <= facts.best) continue;
        facts.best = step.value;
        facts.best_by = names[c];
      }
    }
    // GLPK's optimum is exact to 1e-7.
    const bool solved = instance->solved && instance->solved->ended;
    require(!solved || static_cast<double>(facts.best) <= static_cast<double>(instance->solved->value) * (1 + 1e-6),
            "a plan has a greater value than the best choice");
    cell.facts.push_back(std::move(facts));
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    SearchRow row;
    row.section = "search";
    row.cluster = cluster.name;
    row.kind = kind.name;
    row.gpus = gpus;
    row.jobs = search_jobs(gpus);
    row.contender = names[c];
    if (has_budget(names[c])) row.budget_ms = search_budget_ms(axes, names[c], kind.name, gpus);
    Gaps(attempts[c], cell.facts.data()).set(row, cell.times_ms);
    cell.rows.push_back(std::move(row));
  }
  return cell;
}

/// Equal time for all: the benefit of each part of the search. The first row is `price`, from which all start.
SearchResult run_ablation(const SearchAxes& axes, const SearchCluster& cluster, const SearchKind& kind, const BestKnown& known) {
  const std::vector<SearchVariant> variants = search_variants();
  SearchResult cell;
  std::vector<std::vector<SearchAttempt>> attempts(variants.size() + 1);
  std::vector<SearchFacts> facts;  // once for each plan of a variant
  for (std::int64_t seed = 1; seed <= axes.seeds; ++seed) {
    const std::unique_ptr<SearchInstance> instance = make_search_instance(cluster, kind, axes.ablation_gpus, seed);
    const auto found = known.find(instance->hash);
    SearchFacts of{
        cluster.name, kind.name, axes.ablation_gpus, seed, instance->hash, instance->by.bound.bound, instance->by.bound.value, ""};
    if (found != known.end()) of.best = std::max(of.best, found->second);
    for (std::int64_t s = 1; s <= axes.ablation_seeds; ++s) {
      attempts[0].push_back(ended_with({0, instance->by.bound.value}));
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const std::int64_t value = value_of_variant(*instance, kind, variants[v], static_cast<std::uint64_t>(s), axes.ablation_ms);
        attempts[v + 1].push_back(ended_with({axes.ablation_ms / 1'000, value}));
        of.best = std::max(of.best, value);
      }
    }
    for (std::int64_t s = 1; s <= axes.ablation_seeds; ++s) facts.push_back(of);
  }
  for (std::size_t v = 0; v < attempts.size(); ++v) {
    SearchRow row;
    row.section = "ablation";
    row.cluster = cluster.name;
    row.kind = kind.name;
    row.gpus = axes.ablation_gpus;
    row.jobs = search_jobs(axes.ablation_gpus);
    row.contender = v == 0 ? "price" : variants[v - 1].name;
    Gaps(attempts[v], facts.data()).set(row, {});
    cell.rows.push_back(std::move(row));
  }
  return cell;
}

bool among(const std::vector<std::string>& names, const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); }

}  // namespace

SearchResult run_search(const SearchAxes& axes, const CellDone& done) {
  SearchResult all;
  all.times_ms = search_times_ms(longest_ms(axes));
  std::map<std::string, BestKnown> known;  // by cluster
  const auto add = [&](const SearchResult& cell) {
    done(cell);
    all.rows.insert(all.rows.end(), cell.rows.begin(), cell.rows.end());
    all.facts.insert(all.facts.end(), cell.facts.begin(), cell.facts.end());
  };
  const SearchKind& coupled = kSearchKinds[1];
  for (const SearchCluster& cluster : kSearchClusters) {
    if (!among(axes.clusters, cluster.name)) continue;
    for (const SearchKind& kind : kSearchKinds) {
      if (!among(axes.kinds, kind.name)) continue;
      for (const std::int64_t gpus : axes.gpus) {
        if (kind.only_gpus != 0 && kind.only_gpus != gpus) continue;
        const SearchResult cell = run_cell(axes, cluster, kind, gpus);
        add(cell);
        for (const SearchFacts& facts : cell.facts) {
          if (facts.kind == coupled.name) known[cluster.name][facts.hash] = facts.best;
        }
      }
    }
    if (axes.ablation) add(run_ablation(axes, cluster, coupled, known[cluster.name]));
  }
  return all;
}

}  // namespace berth::bench
