#include "host/backend/backend.hpp"

#include <algorithm>

#include "berth/kernel/place/workspace.hpp"

namespace berth::core {

std::int32_t entry_bound(const kernel::ProblemView& p, kernel::Discipline discipline) {
  const std::int64_t pieces = kernel::most_pieces(p);
  std::int64_t by_jobs = 0;
  std::int64_t largest = 0;
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const std::int64_t entries = kernel::entries_of_job(p, j, pieces);
    by_jobs += entries;
    largest = std::max(largest, entries);
  }
  // A job has entries only once, placed or reserved. A placed job keeps its GPUs; the one reservation of EASY may
  // overlap others, and any number of those of conservative backfill.
  const bool overlap = discipline == kernel::Discipline::kConservative;
  return static_cast<std::int32_t>(std::min<std::int64_t>(overlap ? by_jobs : std::min(by_jobs, pieces + largest), INT32_MAX));
}

}  // namespace berth::core
