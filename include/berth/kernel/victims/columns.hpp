#pragma once

#include <cstdint>

#include "berth/kernel/base/columns.hpp"
#include "berth/kernel/base/problem.hpp"

/// Input and output of the operation `victims` (docs/victims.md): which running jobs leave so that a job fits into a domain.
namespace berth::kernel {

/// Costs, and cores and memory that a running job holds, count as this at most. So no sum over the jobs of a node overflows.
inline constexpr std::int64_t kMostVictimCost = std::int64_t{1} << 56;
/// GPUs of a node, and so the number of jobs that hold whole GPUs of it.
inline constexpr std::int32_t kMostVictimGpus = 64;

struct VictimsRequest {
  std::int32_t n;                          // questions
  std::int32_t n_candidates;               // rows of the candidates' columns
  std::int32_t n_chosen;                   // rows of VictimsResult::chosen
  const std::int32_t* demand;              // [n] row of the problem's demands: one flat group of whole GPUs, without segment and spread
  const std::int32_t* topology;            // [n] topology of the domain; kNone: the domain is a node
  const std::int32_t* domain;              // [n] row of the problem's domains, kNone: the whole cluster; or the rank of a node
  const TimeUs* ends;                      // [n] when the job would end, kNever: not known
  const std::int32_t* candidate_begin;     // [n] candidates of each question, in order of preference. Questions may share them
  const std::int32_t* candidate_end;       // [n]
  const std::int32_t* chosen_begin;        // [n] first of its rows of VictimsResult::chosen, one for each candidate; not shared
  const std::int32_t* candidate_job;       // [n_candidates] index of a running job, once in a question
  const std::int32_t* candidate_priority;  // [n_candidates] jobs of low priority leave first
  const std::int64_t* candidate_cost;      // [n_candidates] at least 0
};

enum class VictimsOutcome : std::int32_t {
  kFits,    // no job has to leave
  kNoRoom,  // it would not fit if all candidates left
  kChosen,  // it fits if the chosen jobs leave
};

/// Output columns; the caller provides them.
struct VictimsResult {
  VictimsOutcome* outcome;  // [n]
  std::int32_t* priority;   // [n] highest priority of a chosen job; 0 where none is chosen
  std::int64_t* cost;       // [n] sum of the costs of the chosen jobs, saturated
  std::int32_t* count;      // [n] number of chosen jobs
  std::int64_t* members;    // [n] members that fit if all candidates leave; kFits: those that fit now
  std::uint8_t* chosen;     // [n_chosen] 1: leaves. Rows of no question become 0
};

// for_each_column: see columns.hpp.

template <class Visit, ViewOf<VictimsRequest>... Views>
void for_each_column(const VictimsRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t n = r.n, candidates = r.n_candidates;
  visit(n, views.demand...);
  visit(n, views.topology...);
  visit(n, views.domain...);
  visit(n, views.ends...);
  visit(n, views.candidate_begin...);
  visit(n, views.candidate_end...);
  visit(n, views.chosen_begin...);
  visit(candidates, views.candidate_job...);
  visit(candidates, views.candidate_priority...);
  visit(candidates, views.candidate_cost...);
}
static_assert(sizeof(VictimsRequest) == 96, "VictimsRequest changed: list its new columns above, then change this number");

template <class Visit, ViewOf<VictimsResult>... Views>
void for_each_column(const VictimsRequest& r, Visit&& visit, Views&... views) {
  const std::int64_t n = r.n;
  visit(n, views.outcome...);
  visit(n, views.priority...);
  visit(n, views.cost...);
  visit(n, views.count...);
  visit(n, views.members...);
  visit(std::int64_t{r.n_chosen}, views.chosen...);
}
static_assert(sizeof(VictimsResult) == 48, "VictimsResult changed: list its new columns above, then change this number");

}  // namespace berth::kernel
