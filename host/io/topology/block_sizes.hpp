#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::io {

/// Slurm's BlockSizes for N blocks of these sizes, the smallest of which is D: D * 2^i for i from 0 to floor(log2 N).
/// Empty blocks do not count.
std::vector<std::int64_t> inferred_block_sizes(const std::vector<std::int64_t>& blocks);
/// The same where blocks are parts of larger domains: the largest block, and the least power of two times it that is at
/// least the largest domain.
std::vector<std::int64_t> inferred_block_sizes(const std::vector<std::int64_t>& blocks, const std::vector<std::int64_t>& domains);

/// What is wrong with BlockSizes: not ascending, or not the first times a power of two. Empty when nothing is.
std::string block_sizes_problem(const std::vector<std::int64_t>& sizes);

}  // namespace berth::io
