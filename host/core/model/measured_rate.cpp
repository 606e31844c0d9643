#include "host/core/model/measured_rate.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

constexpr int kNoMatch = -1;

// 0: named and equal, 1: the point holds for any, kNoMatch: named and different.
int distance(const std::string& named, std::string_view wanted) {
  if (named.empty()) return 1;
  return named == wanted ? 0 : kNoMatch;
}

// Smaller is more specific: GPU type before batch before span. A shape without a batch accepts a point of any batch.
int mismatch(const RatePoint& point, const Shape& shape, std::string_view gpu_type, std::string_view span) {
  const int type = distance(point.gpu_type, gpu_type);
  const int where = distance(point.span, span);
  const int batch = point.local_batch == shape.local_batch ? 0 : point.local_batch == 0 ? 1 : shape.local_batch == 0 ? 2 : kNoMatch;
  return type == kNoMatch || where == kNoMatch || batch == kNoMatch ? kNoMatch : type * 6 + batch * 2 + where;
}

// Observations do not name their GPU type. It is that of the shape in which the job runs; otherwise they count only
// while nothing in the job distinguishes types.
bool observed_on(const Job& job, std::string_view gpu_type) {
  for (const Shape& shape : job.shapes) {
    if (shape.id == job.allocation.shape && !job.allocation.entries.empty()) return shape.gpu_type.empty() || shape.gpu_type == gpu_type;
  }
  for (const Shape& shape : job.shapes) {
    if (shape.gpu_type != job.shapes.front().gpu_type) return false;
  }
  return job.shapes.empty() || job.shapes.front().gpu_type.empty() || job.shapes.front().gpu_type == gpu_type;
}

void put(std::vector<Seen>& seen, Seen one) {
  const auto at = std::lower_bound(seen.begin(), seen.end(), one, [](const Seen& a, const Seen& b) { return a.gpus < b.gpus; });
  if (at != seen.end() && at->gpus == one.gpus) {
    at->rate = one.rate;
  } else {
    seen.insert(at, one);
  }
}

std::int64_t mean_of_last_five(const std::vector<std::int64_t>& rates) {
  const std::size_t n = std::min<std::size_t>(rates.size(), 5);
  Wide sum = 0;
  for (std::size_t i = rates.size() - n; i < rates.size(); ++i) sum += rates[i];
  return saturate(sum / static_cast<std::int64_t>(n));
}

// Memory is kept between calls.
std::span<const Seen> seen_by(const Job& job, const Shape& shape, std::string_view gpu_type, std::string_view span) {
  thread_local std::vector<std::pair<int, const RatePoint*>> points;
  thread_local std::vector<Seen> seen;
  points.clear();
  seen.clear();
  for (const RatePoint& point : job.profile.points) {
    const int far = mismatch(point, shape, gpu_type, span);
    if (far != kNoMatch && point.gpus > 0) points.emplace_back(far, &point);
  }
  // The best point of each count comes last; ties: the smaller batch, then the earlier point.
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second->local_batch, a.second) < std::tie(b.first, b.second->local_batch, b.second);
  });
  for (auto point = points.rbegin(); point != points.rend(); ++point) put(seen, {point->second->gpus, point->second->rate});
  if (observed_on(job, gpu_type)) {
    for (const ObservedRate& observed : job.progress.observed) {
      if (observed.gpus > 0 && !observed.rates.empty()) put(seen, {observed.gpus, mean_of_last_five(observed.rates)});
    }
  }
  return seen;
}

// The same for one count alone; none: it was not observed.
std::optional<std::int64_t> seen_at(const Job& job, const Shape& shape, std::int32_t gpus, std::string_view gpu_type,
                                    std::string_view span) {
  if (gpus <= 0) return std::nullopt;
  const std::vector<ObservedRate>& observed = job.progress.observed;
  const auto last =
      std::find_if(observed.rbegin(), observed.rend(), [&](const ObservedRate& one) { return one.gpus == gpus && !one.rates.empty(); });
  if (last != observed.rend() && observed_on(job, gpu_type)) return mean_of_last_five(last->rates);
  const RatePoint* best = nullptr;
  int least = 0;
  for (const RatePoint& point : job.profile.points) {
    if (point.gpus != gpus) continue;
    const int far = mismatch(point, shape, gpu_type, span);
    if (far == kNoMatch || (best != nullptr && std::pair(far, point.local_batch) >= std::pair(least, best->local_batch))) continue;
    best = &point;
    least = far;
  }
  return best == nullptr ? std::nullopt : std::optional(best->rate);
}

}  // namespace

std::int64_t interpolated_rate(std::span<const Seen> seen, std::int32_t gpus) {
  if (seen.empty()) return 0;
  Seen left{0, 0}, right = seen.front();
  for (std::size_t i = 1; i < seen.size() && right.gpus < gpus; ++i) {
    left = right;
    right = seen[i];
  }
  const Wide rise = (Wide{right.rate} - left.rate) * (gpus - left.gpus);
  return std::max<std::int64_t>(1, saturate(left.rate + floor_div(rise, right.gpus - left.gpus)));
}

std::int64_t measured_rate(const Job& job, const Shape& shape, std::int32_t gpus, std::string_view gpu_type, std::string_view span) {
  // Mostly the count itself was observed, and its neighbours do not matter.
  if (const std::optional<std::int64_t> rate = seen_at(job, shape, gpus, gpu_type, span)) return std::max<std::int64_t>(1, *rate);
  return interpolated_rate(seen_by(job, shape, gpu_type, span), gpus);
}

}  // namespace berth::core
