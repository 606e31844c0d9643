#pragma once

#include <cstdint>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/base/row_buffer.hpp"

namespace berth::core {

/// Owns the output columns of one scheduling pass. Memory is kept between passes.
struct PassResult {
  std::vector<kernel::Outcome> outcome;
  std::vector<std::int32_t> option, entry_begin, entry_end, displaced_by;
  RowBuffer<kernel::PlacedRow> entries;
  std::int32_t n_entries = 0;
  std::vector<TimeUs> reserve_at;

  /// Columns for a pass of `n` positions over a problem of that `entry_bound`.
  kernel::PlaceResult prepare(std::int32_t n, std::int32_t bound) {
    const auto rows = static_cast<std::size_t>(n);
    outcome.resize(rows);
    for (auto* column : {&option, &entry_begin, &entry_end, &displaced_by}) column->resize(rows);
    // A reservation may name GPUs that other jobs of the plan get first.
    entries.make_room(2 * static_cast<std::size_t>(bound));
    n_entries = 0;
    reserve_at.resize(rows);
    return columns();
  }
  /// The columns of the last `prepare`. Valid until the next one, and until this result is moved.
  kernel::PlaceResult columns() {
    return {outcome.data(),
            option.data(),
            entry_begin.data(),
            entry_end.data(),
            displaced_by.data(),
            entries.data(),
            static_cast<std::int32_t>(entries.size()),
            &n_entries,
            reserve_at.data()};
  }
};

}  // namespace berth::core
