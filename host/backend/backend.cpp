#include "host/backend/backend.hpp"

#include <algorithm>

#include "berth/kernel/place/workspace.hpp"

namespace berth::core {

namespace {

// A job has entries only once, placed or reserved. A placed job keeps its GPUs; the one reservation of EASY may overlap others, and any
// number of those of conservative backfill.
template <class JobAt>
std::int32_t bound_of(const kernel::ProblemView& p, kernel::Discipline discipline, std::int32_t n, JobAt job_at) {
  const std::int64_t pieces = kernel::most_pieces(p);
  std::int64_t by_jobs = 0;
  std::int64_t largest = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int64_t entries = kernel::entries_of_job(p, job_at(i), pieces);
    by_jobs += entries;
    largest = std::max(largest, entries);
  }
  const bool overlap = discipline == kernel::Discipline::kConservative;
  return static_cast<std::int32_t>(std::min<std::int64_t>(overlap ? by_jobs : std::min(by_jobs, pieces + largest), INT32_MAX));
}

}  // namespace

std::int32_t entry_bound(const kernel::ProblemView& p, kernel::Discipline discipline) {
  return bound_of(p, discipline, p.n_jobs, [](std::int32_t i) { return i; });
}

std::int32_t entry_bound(const kernel::ProblemView& p, const kernel::PlaceRequest& request) {
  return bound_of(p, request.discipline, request.n, [&](std::int32_t i) { return request.order[i]; });
}

}  // namespace berth::core
