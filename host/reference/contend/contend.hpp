#pragma once

#include "berth/kernel/contend/columns.hpp"

namespace berth::reference {

/// Loads, scores of candidates and products of pairs as docs/contention.md defines them: every candidate, job and link.
void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result);

}  // namespace berth::reference
