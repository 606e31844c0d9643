#include "host/reference/place/reservation.hpp"

#include <algorithm>
#include <tuple>

namespace berth::reference {

using kernel::kNone;
using kernel::ProblemView;

std::optional<std::int32_t> smallest_prefix(std::int32_t count, const std::function<bool(std::int32_t)>& fits) {
  if (count == 0) return std::nullopt;
  std::int32_t low = 0;
  std::int32_t high = 1;
  while (!fits(high)) {
    if (high == count) return std::nullopt;
    low = high;
    high = static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{high} * 2, count));
  }
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

std::vector<TimedRelease> events_of(const kernel::PlaceRequest& request, const std::vector<bool>& displaced,
                                    const std::vector<Started>& started) {
  std::vector<TimedRelease> events;
  for (std::int32_t r = 0; r < request.n_releases; ++r) {
    const kernel::ReleaseRow& row = request.releases[r];
    if (row.at == kNever) continue;
    if (row.job != kNone && displaced[static_cast<std::size_t>(row.job)]) continue;
    events.push_back({row.at, row.job, row.job == kNone ? row.node : kNone, row.mask, nullptr});
  }
  for (const Started& one : started) {
    if (one.at != kNever) events.push_back({one.at, one.job, kNone, 0, &one});
  }
  const auto rank = [&](const TimedRelease& e) { return e.job == kNone ? kNone : request.job_rank[static_cast<std::size_t>(e.job)]; };
  std::stable_sort(events.begin(), events.end(), [&](const TimedRelease& a, const TimedRelease& b) {
    return std::make_tuple(a.at, rank(a), a.node) < std::make_tuple(b.at, rank(b), b.node);
  });
  return events;
}

void happen(const ProblemView& p, State& s, const TimedRelease& event) {
  if (event.job == kNone) {
    s.free[static_cast<std::size_t>(event.node)] |= event.mask;
  } else if (event.started == nullptr) {
    release_job(p, s, event.job);
  } else {
    const Started& job = *event.started;
    for (const kernel::PlacedRow& row : job.entries) give(p, s, piece_of(p.groups[job.demand->group_begin + row.group], row));
    charge_quota(p, s, p.job_queue[job.job], job.demand->gpu_type, -job.demand->quota);
  }
}

State without_reserved(const ProblemView& p, const State& now, const State& later, const std::vector<kernel::PlacedRow>& reserved) {
  State s = now;
  s.queue_used = later.queue_used;
  for (std::size_t n = 0; n < s.free.size(); ++n) {
    s.cpu[n] = std::min(now.cpu[n], later.cpu[n]);
    s.memory[n] = std::min(now.memory[n], later.memory[n]);
  }
  for (const kernel::PlacedRow& row : reserved) {
    s.free[static_cast<std::size_t>(row.node)] &= ~row.mask;
    for (std::int32_t g = 0; g < 64; ++g) {
      if ((row.mask >> g & 1) != 0) s.used_ppm[static_cast<std::size_t>(p.gpu_begin[row.node] + g)] = kWholeGpu;  // no room for shares
    }
  }
  return s;
}

}  // namespace berth::reference
