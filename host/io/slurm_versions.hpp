#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/slurm_notes.hpp"

namespace berth::io {

/// Data parsers "v0.0.N" that are known: these numbers.
inline constexpr int kFirstSlurmParser = 38, kLastSlurmParser = 43;

/// N of "v0.0.N" (also "v0.0.N+complex") where it is known, else 0.
int slurm_parser_of(std::string_view version);

/// Rows that lack the same fields, which are not needed.
struct SlurmLack {
  std::vector<std::string_view> fields;
  std::int64_t rows = 0;
  std::string first;
};

/// Says what rows lack of the fields that this parser prints in every row: without them the plan may be another.
/// @param noun  "job", "node".
/// @param parser  0: not known; then of the fields that all known ones print.
void note_slurm_lacks(std::string_view noun, const std::vector<SlurmLack>& lacks, int parser, SlurmNotes& notes);

}  // namespace berth::io
