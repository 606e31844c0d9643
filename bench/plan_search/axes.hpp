#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"

/// Axes of the search benchmark. Options change them; with BERTH_BENCH_SMOKE=1 in the environment they shrink.
namespace berth::bench {

/// ones-plus on one thread, and on all.
inline constexpr const char* kPlus[] = {"ones-plus", "ones-plus-all"};

/// The best choice of options, without places: a bound; and its plan by the scheduling pass.
inline constexpr const char* kSolved[] = {"exact-choice", "exact"};

/// The objective value of a plan: a sum of the values of options alone, or less the losses by places.
struct SearchKind {
  const char* name;
  const char* objective;
  const char* terms;
  std::int64_t only_gpus;  // 0: at all sizes
};
inline constexpr SearchKind kSearchKinds[] = {{"separable", "goodput", "restart", 0},
                                              {"coupled", "flow_time", "migration,restart,span", 0},
                                              {"coupled-goodput", "goodput", "migration,restart,span", 256}};

/// Clusters generated as by `berth generate`.
struct SearchCluster {
  const char* name;
  std::int32_t gpus_per_node;
  bool nvl72_llm;  // else: Helios on a tree
};
inline constexpr SearchCluster kSearchClusters[] = {{"nvl72", 4, true}, {"helios", 8, false}};

inline constexpr std::int64_t kLongFromGpus = 16'384;
inline std::int64_t search_jobs(std::int64_t gpus) { return gpus >= kLongFromGpus ? gpus / 2 : gpus * 5 / 8; }
inline constexpr std::int64_t kPolluxMostGpus = 256;
inline constexpr std::int64_t kPolluxPublished = 100;  // generations
inline constexpr double kPolluxMost_s = 10;
inline constexpr std::int64_t kOnesMostGpus = 16'384;
inline constexpr std::int64_t kSolverMostGpus = 4'096;
inline constexpr std::int64_t kCheckedMostGpus = 16'384;
inline constexpr double kSlow_s = 1;  // slower decisions are timed once

/// Times in milliseconds of the gaps, up to the longest budget; the tables show 1, 3 and their multiples by ten.
inline std::vector<double> search_times_ms(double budget_ms) {
  std::vector<double> times;
  for (double decade = 1; decade <= budget_ms; decade *= 10) {
    for (const double part : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0}) {
      if (decade * part <= budget_ms) times.push_back(decade * part);
    }
  }
  return times;
}

/// The ablation: parameters of ones-plus, besides the kind's.
struct SearchVariant {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;
  bool again = false;  // after a decision of the same length on the same state, whose population is kept
};
inline std::vector<SearchVariant> search_variants() {
  const std::vector<std::string> operators{"grow", "make_room", "offer", "crossover", "mutate", "migrate"};
  std::vector<SearchVariant> variants{{"all", {}, false}};
  for (const std::string& left_out : operators) {
    std::string rest;
    for (const std::string& one : operators) {
      if (one != left_out) rest += (rest.empty() ? "" : ",") + one;
    }
    variants.push_back({"without " + left_out, {{"operators", rest}}, false});
  }
  variants.push_back({"grow and make_room alone", {{"operators", "grow,make_room"}}, false});
  variants.push_back({"population=1", {{"population", "1"}}, false});
  variants.push_back({"population=1 islands=1", {{"population", "1"}, {"islands", "1"}}, false});
  variants.push_back({"seeds=none", {{"seeds", "none"}}, false});
  variants.push_back({"seeds=fill", {{"seeds", "fill"}}, false});
  variants.push_back({"seeds=kept, again", {{"seeds", "kept"}}, true});
  return variants;
}

/// What to run: the command's options.
struct SearchAxes {
  std::vector<std::int64_t> gpus =
      smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{64, 256, 1'024, 4'096, 16'384, 65'536};
  std::vector<std::string> clusters = {"nvl72", "helios"};
  std::vector<std::string> kinds = {"separable", "coupled", "coupled-goodput"};
  std::int64_t seeds = full_or_smoke(10, 2);  // of instances: 1, 2, ...
  double budget_ms = smoke() ? 10 : 1'000;    // of each search
  double long_ms = smoke() ? 20 : 10'000;     // for searches that may take longer: `search_budget_ms`
  double solver_s = smoke() ? 2 : 10;         // for the relaxation, and again for the integer program
  // The ablation: coupled, on one thread.
  bool ablation = true;
  std::int64_t ablation_gpus = full_or_smoke(256, 64);
  std::int64_t ablation_seeds = full_or_smoke(3, 1);  // of the search, for each instance
  double ablation_ms = smoke() ? 5 : 100;
};

inline bool has_budget(std::string_view contender) {
  return contender == "ones" || contender == "elastic-pollux" || contender == kPlus[0] || contender == kPlus[1];
}
/// Time limit of a search. It is longer for `elastic-pollux` where `ones-plus` is to beat it in a hundredth of its
/// time. It is longer for `ones-plus` where `price` needs about a second. On all threads it is half of that, on the
/// largest clusters only.
inline double search_budget_ms(const SearchAxes& axes, std::string_view contender, std::string_view kind, std::int64_t gpus) {
  const bool pollux = contender == "elastic-pollux" && kind == "coupled" && gpus == kPolluxMostGpus;
  const bool plus = contender == kPlus[0] && gpus >= kLongFromGpus;
  const bool plan_search_all = contender == kPlus[1] && gpus > kLongFromGpus;
  return std::max(axes.budget_ms, pollux || plus ? axes.long_ms : plan_search_all ? axes.long_ms / 2 : 0);
}

}  // namespace berth::bench
