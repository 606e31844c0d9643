#pragma once

#include "berth/kernel/problem.hpp"
#include "berth/kernel/score.hpp"

namespace berth::reference {

/// Section 9 of docs/placement.md. out: [n * k].
void score_candidates(const kernel::ProblemView& p, const kernel::ScoreRequest& request, kernel::Candidate* out);

}  // namespace berth::reference
