#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/state.hpp"
#include "host/core/backend.hpp"

namespace berth::bench {

/// Columns that requests on the problem of a state need, apart from the engine.
struct WalkColumns {
  explicit WalkColumns(const ClusterState& state);

  std::vector<std::int32_t> waiting;           // slots of waiting jobs, in order of submission
  std::vector<TimeUs> option_run;              // [options]
  std::vector<std::uint8_t> none;              // [waiting] zeros
  std::vector<std::int32_t> preemption_class;  // [n_jobs] zeros

  /// A walk over `order`, which is at most as long as `waiting` and must stay: head of line may be passed, nobody is displaced.
  kernel::PlaceRequest request(TimeUs now, const std::vector<std::int32_t>& order) const;
};

/// Owns the output columns of one walk. Rows of entries are not touched before a walk writes them.
class WalkOutput {
 public:
  WalkOutput(std::size_t n, std::int32_t max_entries);
  kernel::PlaceResult view();
  std::vector<kernel::Outcome> outcome;
  std::vector<std::int32_t> option, entry_begin, entry_end, displaced_by;
  std::unique_ptr<kernel::PlacedRow[]> entries;
  std::int32_t max_entries;
  std::int32_t n_entries = 0;
  TimeUs reserve_at = kNever;
};

/// Same outcomes, options and entries.
bool same_walk(const WalkOutput& a, const WalkOutput& b);

}  // namespace berth::bench
