#include "host/policy/queue/queue_entries.hpp"

#include <algorithm>

namespace berth::policy {
namespace {

constexpr const char* kMoves = "las_moves";
// A place in one number: queue, whether it waits, and the number of the move. The moves to the front of those that wait count down.
constexpr int kLevelBit = 57, kWaitsBit = 56;
constexpr std::int64_t kMiddle = std::int64_t{1} << (kWaitsBit - 1);

std::int64_t place_at(std::int64_t level, bool waits, std::int64_t move) {
  return (level << kLevelBit) + (std::int64_t{waits ? 1 : 0} << kWaitsBit) + kMiddle + move;
}
std::int64_t level_at(std::int64_t place) { return place >> kLevelBit; }
bool waits_at(std::int64_t place) { return (place >> kWaitsBit & 1) != 0; }

}  // namespace

void QueueEntries::load(const PolicyState& state) {
  places_.load(state);
  const auto found = state.scalars.find(kMoves);
  moves_ = found == state.scalars.end() ? 0 : std::clamp<std::int64_t>(found->second, 0, kMiddle / 2);
}

void QueueEntries::store(PolicyState& state) const {
  places_.store(state);
  state.scalars[kMoves] = moves_;
}

void QueueEntries::places(const core::JobColumns& jobs, std::span<const std::int32_t> job_indices, std::span<std::int64_t> levels) {
  constexpr std::int64_t kNew = -1;
  started_.clear();
  stopped_.clear();
  entered_.clear();
  for (std::size_t row = 0; row < job_indices.size(); ++row) {
    const std::int32_t job = job_indices[row];
    const std::int64_t place = places_.get(*jobs.id[job], kNew);
    const bool runs = running_first_ && jobs.running[job] != 0;
    if (place < 0 && runs) {
      started_.push_back({place_at(levels[row], true, 0), row});  // nothing is known of its past
    } else if (place < 0 || level_at(place) != levels[row]) {
      entered_.push_back(row);
    } else if (runs && waits_at(place)) {
      started_.push_back({place, row});
    } else if (!runs && !waits_at(place)) {
      stopped_.push_back({place, row});
    } else {
      levels[row] = place;
    }
  }
  const auto put = [&](std::size_t row, std::int64_t place) {
    levels[row] = place;
    places_.set(*jobs.id[job_indices[row]], place);
  };
  // Rows are in the order of job ranks, as are jobs of equal places.
  const auto earlier = [](const Move& a, const Move& b) { return a.from < b.from; };
  std::stable_sort(started_.begin(), started_.end(), earlier);
  for (const Move& move : started_) put(move.row, place_at(levels[move.row], false, ++moves_));
  std::stable_sort(stopped_.begin(), stopped_.end(), earlier);
  for (auto move = stopped_.rbegin(); move != stopped_.rend(); ++move) put(move->row, place_at(levels[move->row], true, -(++moves_)));
  for (const std::size_t row : entered_) put(row, place_at(levels[row], true, ++moves_));
}

}  // namespace berth::policy
