#pragma once

#include <cstdint>

#include "berth/kernel/plan_terms.hpp"
#include "berth/kernel/problem.hpp"

/// What `ones-plus` evolves: whole plans with places. docs/ones-plus.md has the exact meaning.
namespace berth::kernel {

inline constexpr std::int32_t kMostPlusPopulation = 4096;
inline constexpr std::int32_t kMostPlusSteps = 4096;  // nobody who cancels waits for more
inline constexpr std::int32_t kMostPlusMoved = 8;     // jobs in the way of one
inline constexpr std::int32_t kPlusOffers = 4;        // of what a step has left idle
inline constexpr std::int32_t kPlusForced = 2;        // steps that are taken for better or worse by who is no more than his mate

/// What the operators of a search are called; a set of them has bit 1 << operator.
enum class PlusOperator : std::int32_t { kGrow, kMakeRoom, kOffer, kMate, kMutate, kMigrate };

/// Jobs stand by rank, and the rows (shapes) of one job together.
struct PlusView {
  ProblemView problem;  // none of the jobs below holds anything in it
  TimeUs now;
  Packing packing;
  std::int32_t max_tries;

  std::int32_t n_jobs;
  const std::int32_t* slot;       // [n_jobs] of the problem
  const std::int32_t* row_begin;  // [n_jobs + 1]
  const std::int32_t* demand;     // [rows] of the problem
  const TimeUs* run;              // [rows] predicted, kNever: not known
  std::int32_t n_classes;         // of how a gang may lie: see plus_class
  const std::int64_t* worth;      // [rows * n_classes]
  // Rows worth something, the best beyond the prices first.
  const std::int32_t* rank_begin;  // [n_jobs + 1]
  const std::int32_t* ranked;      // rows
  const std::int32_t* want;        // [n_jobs] the best beyond the prices, kNone: none is worth them
  const std::int32_t* turn;        // [n_jobs] in this order they are given what is idle

  // Running jobs: where they lie is `held` in the problem.
  const std::int32_t* current;      // [n_jobs] the row in which it runs, kNone: waits
  const std::int64_t* moved_worth;  // [n_jobs * n_classes] in that row, elsewhere

  const std::int64_t* fragment;  // [n_types * (kMaxGpusPerNode + 1)] lost by a node with so many idle GPUs; null: nothing is

  // Rooms: whole nodes, and domains that may be emptied.
  const std::int32_t* type_begin;  // [n_types + 1]
  const std::int32_t* type_node;   // nodes of each type, by rank
  const std::int32_t* room;        // [domains] GPUs that are free, or held by the jobs above
  const std::int32_t* node_room;   // [nodes] the same

  std::int32_t n_blocks;      // of nodes: what one parent gives as a whole
  const std::int32_t* block;  // [nodes]
};

/// How far and by which means to search. `population` individuals on each of `islands`.
struct PlusRequest {
  std::uint64_t seed;
  std::int32_t population;  // 1, or even
  std::int32_t islands;
  std::int32_t steps;        // of each individual in a generation
  std::int32_t migration;    // every so many generations mates come from the next island
  std::int32_t generations;  // at most
  std::uint32_t operators;   // set of PlusOperator

  // What the search begins with. The first plan has places; all individuals without genes are copies of it.
  const std::int32_t* row;          // [n_jobs] kNone: has nothing
  const std::int32_t* entry_begin;  // [n_jobs + 1]
  const PlacedRow* entries;
  // Individuals built from shapes alone: see plus_gene_at.
  std::int32_t n_genes;       // below the number of individuals
  const std::int32_t* gene;   // [n_genes * n_jobs] rows, kNone: has nothing
  const std::int32_t* order;  // [n_genes * n_jobs] jobs in the order in which they are placed
};

/// Output columns; the caller provides them.
struct PlusResult {
  std::int32_t* row;          // [n_jobs] of the best plan
  std::int32_t* entry_begin;  // [n_jobs]
  std::int32_t* entry_end;    // [n_jobs]
  PlacedRow* entries;         // [GPUs]
  std::int64_t* score;        // [generations + 1] of the best: at first, and after each generation
  std::int32_t* gene;         // [islands * n_jobs] the rows of the best of each
  std::int32_t* generations;  // [1] made
};

/// Purposes of random numbers, apart from those of ONES.
enum class PlusDraw : std::uint32_t { kStep = 16, kMate = 17 };

BERTH_HD inline bool has_operator(std::uint32_t set, PlusOperator one) { return (set >> static_cast<std::int32_t>(one) & 1U) != 0; }

/// Which individual is built from a gene: each island gets one in turn, from its last individual on. Never the first of all.
BERTH_HD inline std::int32_t plus_gene_at(const PlusRequest& r, std::int32_t gene) {
  return (gene + 1) % r.islands * r.population + r.population - 1 - gene / r.islands;
}

BERTH_HD inline std::int32_t plus_individuals(const PlusRequest& r) { return r.population * r.islands; }

}  // namespace berth::kernel
