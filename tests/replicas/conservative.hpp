#pragma once

#include <cstdint>
#include <vector>

#include "tests/replicas/easy.hpp"

namespace berth::test {

/// Conservative backfilling, written from its definition in Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
/// It shares nothing with Berth's own. tests/replicas/README.md says what the rules are.
/// @param jobs  By submission.
/// @returns the start of each job; -1: it never starts.
std::vector<std::int64_t> replay_conservative(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise);

}  // namespace berth::test
