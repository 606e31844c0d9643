#pragma once

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/score/columns.hpp"

namespace berth::reference {

/// Section 9 of docs/placement.md.
/// @param out  [n * k] Out.
void score(const kernel::ProblemView& p, const kernel::ScoreQuery& request, kernel::CandidateRow* out);

}  // namespace berth::reference
