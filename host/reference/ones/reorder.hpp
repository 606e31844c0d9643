#pragma once

#include <cstdint>
#include <vector>

namespace berth::reference {

/// GPUs [first, first + count) of a job; count 0: none.
struct OnesBlock {
  std::int32_t first = 0;
  std::int32_t count = 0;
};
using OnesBlockList = std::vector<OnesBlock>;  // by job
using OnesCounts = std::vector<std::int32_t>;  // GPUs by job

/// The cost of docs/ones.md, section 6: GPUs that a job gets where another job is deployed.
std::int64_t ones_cost(const OnesBlockList& deployed, const OnesBlockList& blocks);

/// Section 6: disjoint blocks with these counts, near the deployed ones. The counts need at most `n_gpus` GPUs.
OnesBlockList reorder_ones(std::int32_t n_gpus, const OnesBlockList& deployed, const OnesCounts& counts);

}  // namespace berth::reference
