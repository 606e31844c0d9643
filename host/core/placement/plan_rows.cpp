#include "host/core/placement/plan_rows.hpp"

#include <algorithm>

#include <bit>

#include "host/core/state/state_impl.hpp"

namespace berth::core {

namespace {

// A MIG profile is a partition of the GPU; other shares use time slices.
bool is_time_shared(const Shape& shape, std::int32_t share_ppm) { return share_ppm < kWholeGpu && shape.mig_profile.empty(); }

}  // namespace

void count(Totals& t, Action action) {
  switch (action) {
    case Action::kStart:
      ++t.starts;
      break;
    case Action::kKeep:
      ++t.keeps;
      break;
    case Action::kResize:
    case Action::kMigrate:
      ++t.moves;
      break;
    case Action::kPreempt:
      ++t.preempts;
      break;
    case Action::kWait:
      ++t.waits;
      break;
    case Action::kReject:
      ++t.rejects;
      break;
    case Action::kReplace:
      ++t.replaces;
      break;
    case Action::kReserve:
      ++t.reserves;
      break;
  }
}

void append_placed(const StateImpl& s, const kernel::DemandRow& demand, const Shape& shape, std::span<const kernel::PlacedRow> rows,
                   std::vector<PlanEntry>& entries) {
  const std::size_t begin = entries.size();
  for (const kernel::PlacedRow& row : rows) {
    PlanEntry entry{row.node, 0, row.member, row.members, row.mask, row.share_ppm, is_time_shared(shape, row.share_ppm)};
    if (!shape.groups.empty()) entry.group = s.demands.shape_group()[static_cast<std::size_t>(demand.group_begin + row.group)];
    if (row.share_ppm == kWholeGpu) {
      // Members as the shape counts them, whatever the rows of a consolidated demand.
      entry.members =
          std::popcount(row.mask) / (shape.groups.empty() ? 1 : shape.groups[static_cast<std::size_t>(entry.group)].gpus_per_member);
      const bool follows = entries.size() > begin && entries.back().group == entry.group;
      entry.member = follows ? entries.back().member + entries.back().members : 0;
    }
    entries.push_back(entry);
  }
}

bool same_gpus(std::span<const kernel::PlacedRow> placed, std::span<const PlanEntry> held) {
  if (placed.size() != held.size()) return false;
  return std::all_of(placed.begin(), placed.end(), [&](const kernel::PlacedRow& one) {
    const auto as_held = [&](const PlanEntry& other) {
      return one.node == other.node && one.mask == other.gpus && one.share_ppm == other.share_ppm;
    };
    // Whole GPUs are in one row alone. Members with shares may be on one GPU: there must be as many of them.
    if (one.share_ppm == kWholeGpu) return std::any_of(held.begin(), held.end(), as_held);
    const auto as_placed = [&](const kernel::PlacedRow& other) {
      return one.node == other.node && one.mask == other.mask && one.share_ppm == other.share_ppm;
    };
    return std::count_if(held.begin(), held.end(), as_held) == std::count_if(placed.begin(), placed.end(), as_placed);
  });
}

}  // namespace berth::core
