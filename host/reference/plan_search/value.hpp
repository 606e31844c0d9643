#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plan_search/columns.hpp"
#include "host/reference/base/state.hpp"

/// Section 1 of docs/ones-plus.md: the holding of a job, and its value.
namespace berth::reference {

/// An option with places, or none.
struct PlanSearchHolding {
  std::int32_t option = kernel::kNone;
  bool home = false;
  std::vector<kernel::PlacedRow> entries;
};

/// The current option of a running job, at its current place.
PlanSearchHolding plan_search_home(const kernel::PlanSearchView& view, std::int32_t job);
/// Resources of nodes that a holding uses: at home what is held, elsewhere what the demand states.
std::vector<Piece> plan_search_pieces(const kernel::PlanSearchView& view, std::int32_t job, const PlanSearchHolding& holding);

/// The locality class of a gang on these nodes; not every view distinguishes classes.
std::int32_t plan_search_class(const kernel::PlanSearchView& view, const std::vector<kernel::PlacedRow>& entries);
/// 0 for no holding.
std::int64_t plan_search_value(const kernel::PlanSearchView& view, std::int32_t job, const PlanSearchHolding& holding);
/// Loss of score by the idle GPUs of a node.
std::int64_t plan_search_loss(const kernel::PlanSearchView& view, const State& state, std::int32_t node);

}  // namespace berth::reference
