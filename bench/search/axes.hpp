#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"

/// Axes of the search benchmark. Options change them; with BERTH_BENCH_SMOKE=1 in the environment they shrink.
namespace berth::bench {

/// ones-plus on one thread, and on all.
inline constexpr const char* kPlus[] = {"ones-plus", "ones-plus-all"};

/// What a plan is worth: a sum of what shapes are worth alone, or with what places take from it.
struct SearchKind {
  const char* name;
  const char* objective;
  const char* terms;
  std::int64_t only_gpus;  // 0: at all sizes
};
inline constexpr SearchKind kSearchKinds[] = {{"separable", "goodput", "restart", 0},
                                              {"coupled", "jct", "migration,restart,span", 0},
                                              {"coupled-goodput", "goodput", "migration,restart,span", 256}};

/// Clusters as `berth generate` makes them.
struct SearchCluster {
  const char* name;
  std::int32_t gpus_per_node;
  bool nvl72_llm;  // else: Helios on a tree
};
inline constexpr SearchCluster kSearchClusters[] = {{"nvl72", 4, true}, {"helios", 8, false}};

inline std::int64_t search_jobs(std::int64_t gpus) { return gpus >= 16'384 ? gpus / 2 : gpus * 5 / 8; }
inline constexpr std::int64_t kPolluxMostGpus = 256;
inline constexpr std::int64_t kPolluxPublished = 100;  // generations
inline constexpr double kPolluxMost_s = 10;

/// Milliseconds at which the gaps are asked for, up to the budget; the tables show 1, 3 and their multiples by ten.
inline std::vector<double> search_times_ms(double budget_ms) {
  std::vector<double> times;
  for (double decade = 1; decade <= budget_ms; decade *= 10) {
    for (const double part : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0}) {
      if (decade * part <= budget_ms) times.push_back(decade * part);
    }
  }
  return times;
}

/// The ablation: parameters of ones-plus, beside the kind's.
struct SearchVariant {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;
  bool again = false;  // after a decision of as long on the same state, whose population is kept
};
inline std::vector<SearchVariant> search_variants() {
  const std::vector<std::string> operators{"grow", "make_room", "offer", "mate", "mutate", "migrate"};
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
  variants.push_back({"seeds=greedy", {{"seeds", "greedy"}}, false});
  variants.push_back({"seeds=kept, again", {{"seeds", "kept"}}, true});
  return variants;
}

/// What to run: the command's options.
struct SearchAxes {
  std::vector<std::int64_t> gpus = smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{64, 256, 1'024, 4'096, 16'384};
  std::vector<std::string> clusters = {"nvl72", "helios"};
  std::vector<std::string> kinds = {"separable", "coupled", "coupled-goodput"};
  std::int64_t seeds = full_or_smoke(10, 2);  // of instances: 1, 2, ...
  double budget_ms = smoke() ? 10 : 1'000;    // of each search
  // The ablation: coupled, on one thread.
  bool ablation = true;
  std::int64_t ablation_gpus = full_or_smoke(256, 64);
  std::int64_t ablation_seeds = full_or_smoke(3, 1);  // of the search, for each instance
  double ablation_ms = smoke() ? 5 : 100;
};

}  // namespace berth::bench
