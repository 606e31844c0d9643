#pragma once

#include <string>
#include <vector>

#include "tests/support/problem_builder.hpp"
#include "tests/support/result_buffers.hpp"

namespace berth::test {

/// The result of the oracle.
inline ResultBuffers solve(const Problem& problem, const PassCase& pass) { return place(*core::make_reference_backend(), problem, pass); }
inline ResultBuffers solve(const Problem& problem) { return solve(problem, pass_over(problem)); }

/// "placed 0:3 2:1": outcome, then node:members of each entry; "g1" precedes the entries of group 1.
inline std::string brief(const ResultBuffers& result, std::size_t i) {
  std::string text = to_string(result.outcome[i]);
  std::int32_t group = 0;
  for (const kernel::PlacedRow& row : result.entries_of(i)) {
    if (row.group != group) text.append(" g").append(std::to_string(row.group));
    group = row.group;
    text.append(" ").append(std::to_string(row.node)).append(":").append(std::to_string(row.members));
  }
  return text;
}

inline std::vector<std::string> brief(const ResultBuffers& result) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < result.outcome.size(); ++i) lines.push_back(brief(result, i));
  return lines;
}

inline std::vector<std::uint64_t> masks(const ResultBuffers& result, std::size_t i) {
  std::vector<std::uint64_t> masks;
  for (const kernel::PlacedRow& row : result.entries_of(i)) masks.push_back(row.mask);
  return masks;
}

using Lines = std::vector<std::string>;

}  // namespace berth::test
