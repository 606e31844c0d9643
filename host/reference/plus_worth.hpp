#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/plus.hpp"
#include "host/reference/state.hpp"

/// Section 1 of docs/ones-plus.md: what a job has, and what that is worth.
namespace berth::reference {

/// A row with places, or nothing.
struct PlusHolding {
  std::int32_t row = kernel::kNone;
  bool home = false;
  std::vector<kernel::PlacedRow> entries;
};

/// The row in which a running job runs, where it runs.
PlusHolding plus_home(const kernel::PlusView& view, std::int32_t job);
/// What it takes of nodes: at home what is held, elsewhere what the demand says.
std::vector<Piece> plus_pieces(const kernel::PlusView& view, std::int32_t job, const PlusHolding& holding);

/// How a gang on these nodes lies; not every view tells classes apart.
std::int32_t plus_class(const kernel::PlusView& view, const std::vector<kernel::PlacedRow>& entries);
/// 0 for nothing.
std::int64_t plus_worth(const kernel::PlusView& view, std::int32_t job, const PlusHolding& holding);
/// What the idle GPUs of a node take from the score.
std::int64_t plus_loss(const kernel::PlusView& view, const State& state, std::int32_t node);

}  // namespace berth::reference
