#pragma once

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/score/columns.hpp"
#include "host/cpu/score_table.hpp"

namespace berth::cpu {

/// Finds the k best (option, domain) pairs of every job of the request (docs/placement.md section 9), on CPU threads.
///
///  @param table     Scratch; reusing it saves allocations.
/// @param threads   >= 1; does not change the answer.
/// @param collapse  Whether equal nodes, domains and options are scored once; does not change the answer.
/// @param out       [n * k] Out.
void score(ScoreTable& table, const kernel::ProblemView& problem, const kernel::ScoreQuery& request, int threads, Collapse collapse,
           kernel::CandidateRow* out);

/// The second half of `score`: turns the k best places of every demand into the candidates of every job.
/// @param best  [demands * k]
void write_candidates(const ScoreTable& table, int threads, std::int32_t n_jobs, const kernel::BestPlace* best, kernel::CandidateRow* out);

}  // namespace berth::cpu
