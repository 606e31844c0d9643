#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"

#include "berth/kernel/base/plan_terms.hpp"
#include "berth/kernel/base/problem.hpp"

/// What `ones-plus` evolves: whole plans with places. docs/ones-plus.md has the exact definition.
namespace berth::kernel {

inline constexpr std::int32_t kSizesPerNode = kMaxGpusPerNode + 1;
inline constexpr std::int32_t kMostPlanSearchPopulation = 4096;
inline constexpr std::int32_t kMostPlanSearchSteps = 4096;  // bounds the time until a cancel takes effect
inline constexpr std::int32_t kMostPlanSearchMoved = 8;     // maximum of jobs moved to make room for one
inline constexpr std::int32_t kPlanSearchOffers = 4;        // of GPUs that a step leaves idle
inline constexpr std::int32_t kPlanSearchForced = 2;        // steps accepted at any value, by an individual no better than its parent

/// The operators of a search; a set of them has bit 1 << operator.
enum class PlanSearchOperator : std::int32_t { kGrow, kMakeRoom, kOffer, kCrossover, kMutate, kMigrate };

/// Jobs are in rank order, and the options of one job are contiguous.
struct PlanSearchView {
  ProblemView problem;  // without the allocations of the jobs below
  TimeUs now;
  Packing packing;
  std::int32_t max_tries;

  std::int32_t n_jobs;
  const std::int32_t* problem_job;   // [n_jobs] index of the job in the problem
  const std::int32_t* option_begin;  // [n_jobs + 1]
  const std::int32_t* demand;        // [options] of the problem
  const TimeUs* run;                 // [options] predicted, kNever: not known
  std::int32_t n_classes;            // number of locality classes of a gang: see plan_search_class
  const std::int64_t* placed_value;  // [options * n_classes] of the option at a place of this class
  // Options with a positive value, highest value above the prices first.
  const std::int32_t* rank_begin;  // [n_jobs + 1]
  const std::int32_t* ranked;      // options
  const std::int32_t* preferred;   // [n_jobs] the option with the highest value above the prices, kNone: none is above them
  const std::int32_t* fill_order;  // [n_jobs] order in which jobs receive idle GPUs

  // Running jobs: `held` in the problem has their places.
  const std::int32_t* current;      // [n_jobs] the option in which it runs, kNone: waits
  const std::int64_t* moved_value;  // [n_jobs * n_classes] value of that option at another place

  const std::int64_t* fragment;  // [n_types * (kMaxGpusPerNode + 1)] loss of a node with N idle GPUs; null: none

  // Rooms: whole nodes, and domains that may be emptied.
  const std::int32_t* type_begin;  // [n_types + 1]
  const std::int32_t* type_node;   // nodes of each type, by rank
  const std::int32_t* room;        // [domains] GPUs that are free or held by the jobs above
  const std::int32_t* node_room;   // [nodes] the same

  std::int32_t n_blocks;      // of nodes: the unit of crossover
  const std::int32_t* block;  // [nodes]
};

/// Extent and operators of the search. Each of `islands` has `population` individuals.
struct PlanSearchRequest {
  std::uint64_t seed;
  std::int32_t population;  // 1, or even
  std::int32_t islands;
  std::int32_t steps;        // of each individual per generation
  std::int32_t migration;    // after every N generations parents come from the next island
  std::int32_t generations;  // maximum number of generations
  std::uint32_t operators;   // set of PlanSearchOperator

  // Start of the search. The first plan has places; all other individuals without a start are copies of it.
  const std::int32_t* option;       // [n_jobs] kNone: no GPUs
  const std::int32_t* entry_begin;  // [n_jobs + 1]
  const PlacedRow* entries;
  // Individuals built from shapes alone: see plan_search_start_at.
  std::int32_t n_starts;             // below the number of individuals
  const std::int32_t* start_option;  // [n_starts * n_jobs] options, kNone: no GPUs
  const std::int32_t* start_order;   // [n_starts * n_jobs] jobs in the order in which they are placed
};

/// Output columns; the caller provides them.
struct PlanSearchResult {
  std::int32_t* option;         // [n_jobs] of the best plan
  std::int32_t* entry_begin;    // [n_jobs]
  std::int32_t* entry_end;      // [n_jobs]
  PlacedRow* entries;           // [GPUs]
  std::int64_t* score;          // [generations + 1] best score: at the start, and after each generation
  std::int32_t* island_option;  // [islands * n_jobs] options of the best individual of each island
  std::int32_t* generations;    // [1] generations done
};

/// Purposes of random numbers, distinct from those of ONES.
enum class PlanSearchDraw : std::uint32_t { kStep = 16, kCrossover = 17 };

BERTH_HD inline bool has_operator(std::uint32_t set, PlanSearchOperator one) { return (set >> static_cast<std::int32_t>(one) & 1U) != 0; }

/// The individual that is built from a start. Islands receive starts in turn, from their last individual on; the very first never.
BERTH_HD inline std::int32_t plan_search_start_at(const PlanSearchRequest& r, std::int32_t start) {
  return (start + 1) % r.islands * r.population + r.population - 1 - start / r.islands;
}

BERTH_HD inline std::int32_t plan_search_individuals(const PlanSearchRequest& r) { return r.population * r.islands; }

// for_each_column: see base/columns.hpp. `v` is the problem whose sizes count.

/// All but those of `problem`.
template <class Visit, ViewOf<PlanSearchView>... Views>
void for_each_column(const PlanSearchView& v, Visit&& visit, Views&... views) {
  const std::int64_t jobs = v.n_jobs, nodes = v.problem.n_nodes, types = v.problem.n_types, options = v.option_begin[v.n_jobs];
  visit(jobs, views.problem_job...);
  visit(jobs + 1, views.option_begin...);
  visit(options, views.demand...);
  visit(options, views.run...);
  visit(options * v.n_classes, views.placed_value...);
  visit(jobs + 1, views.rank_begin...);
  visit(std::int64_t{v.rank_begin[v.n_jobs]}, views.ranked...);
  visit(jobs, views.preferred...);
  visit(jobs, views.fill_order...);
  visit(jobs, views.current...);
  visit(jobs * v.n_classes, views.moved_value...);
  visit(types * kSizesPerNode, views.fragment...);
  visit(types + 1, views.type_begin...);
  visit(std::int64_t{v.type_begin[v.problem.n_types]}, views.type_node...);
  visit(std::int64_t{v.problem.domains.n_domains}, views.room...);
  visit(nodes, views.node_room...);
  visit(nodes, views.block...);
}
static_assert(sizeof(PlanSearchView) == 840, "PlanSearchView changed: list its new columns above, then change this number");

/// `r` is the request whose sizes count.
template <class Visit, ViewOf<PlanSearchRequest>... Views>
void for_each_column(const PlanSearchView& v, const PlanSearchRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t jobs = v.n_jobs, starts = std::int64_t{r.n_starts} * v.n_jobs;
  visit(jobs, views.option...);
  visit(jobs + 1, views.entry_begin...);
  visit(std::int64_t{r.entry_begin[v.n_jobs]}, views.entries...);
  visit(starts, views.start_option...);
  visit(starts, views.start_order...);
}
static_assert(sizeof(PlanSearchRequest) == 80, "PlanSearchRequest changed: list its new columns above, then change this number");

/// `entries` and `generations`: how many there are, or may be.
template <class Visit, ViewOf<PlanSearchResult>... Views>
void for_each_column(const PlanSearchView& v, const PlanSearchRequest& r, std::int64_t entries, std::int64_t generations, Visit&& visit,
                     Views&... views) {
  const std::int64_t jobs = v.n_jobs, one = 1;
  visit(jobs, views.option...);
  visit(jobs, views.entry_begin...);
  visit(jobs, views.entry_end...);
  visit(entries, views.entries...);
  visit(generations + 1, views.score...);
  visit(std::int64_t{r.islands} * jobs, views.island_option...);
  visit(one, views.generations...);
}
static_assert(sizeof(PlanSearchResult) == 56, "PlanSearchResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
