#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/state.hpp"
#include "host/backend/backend.hpp"

namespace berth::bench {

/// Columns for requests on the problem of a state, independent of the engine.
struct PassColumns {
  explicit PassColumns(const ClusterState& state);

  std::vector<std::int32_t> waiting;           // indices of waiting jobs, in order of submission
  std::vector<TimeUs> option_run;              // [options]
  std::vector<std::uint8_t> none;              // [waiting] zeros
  std::vector<std::int32_t> preemption_class;  // [n_jobs] zeros

  /// A pass over `order`, which is at most as long as `waiting` and must stay: discipline `greedy`, no job is
  /// displaced.
  kernel::PlaceRequest request(TimeUs now, const std::vector<std::int32_t>& order) const;
};

/// Owns the output columns of one pass. Rows of entries are not touched before a pass writes them.
class OwnedPlaceResult {
 public:
  OwnedPlaceResult(std::size_t n, std::int32_t max_entries);
  kernel::PlaceResult view();
  std::vector<kernel::Outcome> outcome;
  std::vector<std::int32_t> option, entry_begin, entry_end, displaced_by;
  std::vector<TimeUs> reserve_at;
  std::unique_ptr<kernel::PlacedRow[]> entries;
  std::int32_t max_entries;
  std::int32_t n_entries = 0;
};

/// Same outcomes, options and entries.
bool same_pass(const OwnedPlaceResult& a, const OwnedPlaceResult& b);

}  // namespace berth::bench
