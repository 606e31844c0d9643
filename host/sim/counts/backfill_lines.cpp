#include "host/sim/counts/backfill_lines.hpp"

#include <algorithm>

namespace berth::sim {
BackfillLines::Line& BackfillLines::line_of(Pool& pool, std::int32_t gpus) {
  const auto by_gpus = [](const Line& line, std::int32_t than) { return line.gpus < than; };
  const auto at = std::lower_bound(pool.lines.begin(), pool.lines.end(), gpus, by_gpus);
  if (at != pool.lines.end() && at->gpus == gpus) return *at;
  return *pool.lines.insert(at, {gpus, kNoJob, {}});
}

void BackfillLines::push(const CountedJob& job, const JobPlace& place, TimeUs run) {
  Pool& pool = pools_[to_index(job.pool)];
  Line& line = line_of(pool, job.gpus);
  line.jobs.insert(place, run);
  line.first = earlier(line.first, place);
  pool.first = earlier(pool.first, place);
  ++pool.jobs;
  ++jobs_;
}

void BackfillLines::erase(const CountedJob& job, const JobPlace& place) {
  Pool& pool = pools_[to_index(job.pool)];
  Line& line = line_of(pool, job.gpus);
  line.jobs.erase(place);
  line.first = line.jobs.first();
  pool.first = kNoJob;
  for (const Line& one : pool.lines) pool.first = earlier(pool.first, one.first);
  --pool.jobs;
  --jobs_;
}

JobPlace BackfillLines::first() const {
  JobPlace first = kNoJob;
  for (const Pool& pool : pools_) first = earlier(first, pool.first);
  return first;
}

JobPlace BackfillLines::first(std::int32_t pool, const Room& room) const {
  JobPlace first = kNoJob;
  for (const Line& line : pools_[to_index(pool)].lines) {
    if (line.gpus > room.free) break;
    if (line.first.job < 0) continue;
    const TimeUs longest = line.gpus <= room.beside ? kNever : room.longest;
    const bool at_once = longest == kNever && room.behind < line.first;
    first = earlier(first, at_once ? line.first : line.jobs.first_behind(room.behind, longest));
  }
  return first;
}

std::int32_t BackfillLines::take_any() {
  for (Pool& pool : pools_) {
    for (Line& line : pool.lines) {
      if (line.jobs.empty()) continue;
      const JobPlace place = line.jobs.first();
      line.jobs.erase(place);
      return place.job;
    }
  }
  return -1;
}

}  // namespace berth::sim
