#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/files/import_notes.hpp"

namespace berth::io {

/// Known data parsers "v0.0.N" have these numbers N.
inline constexpr int kFirstSlurmParser = 38, kLastSlurmParser = 43;

/// N of "v0.0.N" (also "v0.0.N+complex") where it is known, else 0.
int slurm_parser_of(std::string_view version);

/// Rows with the same missing fields, none of them required.
struct SlurmLack {
  std::vector<std::string_view> fields;
  std::int64_t rows = 0;
  std::string first;
};

/// Notes the fields missing in rows that this parser writes in every row: without them the plan may differ.
/// @param noun    "job", "node".
/// @param parser  0: not known; then the fields that all known parsers write.
void note_slurm_lacks(std::string_view noun, const std::vector<SlurmLack>& lacks, int parser, ImportNotes& notes);

}  // namespace berth::io
