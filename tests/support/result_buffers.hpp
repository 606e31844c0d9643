#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/support/problem.hpp"

namespace berth::test {

/// Owns the output columns of one scheduling pass.
/// They start with invalid values, so that a column that a backend does not write is noticed.
struct ResultBuffers {
  ResultBuffers(const Problem& problem, const PassCase& pass);
  ResultBuffers(std::size_t n, std::int32_t max_entries);

  kernel::PlaceResult view();
  /// Rows of the job at position i.
  std::vector<kernel::PlacedRow> entries_of(std::size_t i) const;

  std::vector<kernel::Outcome> outcome;
  std::vector<std::int32_t> option, entry_begin, entry_end, displaced_by;
  std::vector<TimeUs> reserve_at;
  std::vector<kernel::PlacedRow> entries;
  std::int32_t n_entries = -7;
};

/// Same outcomes, options, victims, entries (except `pad`), reservations and count of jobs that ran out of tries.
bool operator==(const ResultBuffers& a, const ResultBuffers& b);

/// One line per difference, at most twenty; empty when equal.
std::string diff(const ResultBuffers& want, const ResultBuffers& got);

std::string to_string(kernel::Outcome outcome);
/// "g1 m2..3 n5 {0,1}": group, members, node, GPUs; "@250000" for a share.
std::string to_string(const kernel::PlacedRow& row);
void PrintTo(const ResultBuffers& result, std::ostream* out);

/// The k best candidates of every job, row by row.
std::vector<kernel::CandidateRow> score(core::PlacementBackend& backend, const Problem& problem, const kernel::ScoreQuery& request);
ResultBuffers place(core::PlacementBackend& backend, const Problem& problem, const PassCase& pass);

}  // namespace berth::test
