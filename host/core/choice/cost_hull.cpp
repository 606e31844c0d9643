#include "host/core/choice/cost_hull.hpp"

namespace berth::core {
namespace {

// Cap on the waiting time of a job relative to its need: beyond it 1 - waited x level has no significant digits left.
constexpr double kMostWaited = 1e6;

}  // namespace

void CostHull::begin(const ShareProblem& p) {
  problem_ = &p;
  n_types_ = static_cast<std::size_t>(p.n_types);
  by_speed_.clear();
  jobs_.clear();
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const std::size_t row = static_cast<std::size_t>(j) * n_types_;
    const std::size_t first = by_speed_.size();
    for (std::size_t t = 0; t < n_types_; ++t) {
      if (p.speed[row + t] > 0) by_speed_.push_back(static_cast<std::int32_t>(t));
    }
    if (by_speed_.size() == first) continue;  // it can run nowhere
    std::sort(by_speed_.begin() + static_cast<std::ptrdiff_t>(first), by_speed_.end(), [&](std::int32_t a, std::int32_t b) {
      const double fast = p.speed[row + static_cast<std::size_t>(a)], faster = p.speed[row + static_cast<std::size_t>(b)];
      return fast != faster ? fast < faster : a < b;
    });
    const double top = p.speed[row + static_cast<std::size_t>(by_speed_.back())], need = p.need[static_cast<std::size_t>(j)];
    const double waited = std::min(p.waited[static_cast<std::size_t>(j)], kMostWaited * need / top);
    jobs_.push_back({j, need, waited, first, by_speed_.size(), 0, 0});
    const double level = top / (need + waited * top);
    highest_ = jobs_.size() == 1 ? level : std::min(highest_, level);
  }
  for (Job& job : jobs_) {
    job.need *= highest_;
    job.waited *= highest_;
  }
}

void CostHull::set(const std::vector<double>& price) {
  corners_.clear();
  for (Job& job : jobs_) {
    const std::size_t row = static_cast<std::size_t>(job.job) * n_types_;
    job.first = corners_.size();
    corners_.push_back({0, 0, -1});
    for (std::size_t i = job.types_begin; i < job.types_end; ++i) {
      const auto t = static_cast<std::size_t>(by_speed_[i]);
      const Corner next{problem_->speed[row + t], price[t] * problem_->gpus[row + t] / problem_->capacity[t], by_speed_[i]};
      if (corners_.back().speed == next.speed) {
        if (corners_.back().cost <= next.cost) continue;
        corners_.pop_back();
      }
      while (!below(job.first, next)) corners_.pop_back();
      corners_.push_back(next);
    }
    job.last = corners_.size();
  }
}

// Newton's method from above on a convex function.
double CostHull::level(double from) const {
  double z = from;
  for (int i = 0; i < 60; ++i) {
    double cost = 0, slope = 0;
    for (const Job& job : jobs_) {
      const double left = 1 - job.waited * z;
      const double speed = job.need * z / left;
      const Corner& to = corners_[above(job, speed)];
      const Corner& start = (&to)[-1];
      const double each = (to.cost - start.cost) / (to.speed - start.speed);
      cost += start.cost + (speed - start.speed) * each;
      slope += each * job.need / (left * left);
    }
    if (cost <= 1 + 1e-12 || slope <= 0) return z;
    z -= (cost - 1) / slope;
  }
  return z;
}

// Whether the last corner stays on the hull once `next`, which is faster, follows.
bool CostHull::below(std::size_t first, const Corner& next) const {
  if (corners_.size() == first + 1) return true;
  const Corner& last = corners_.back();
  const Corner& before = corners_[corners_.size() - 2];
  return (last.cost - before.cost) * (next.speed - last.speed) < (next.cost - last.cost) * (last.speed - before.speed);
}

// The first corner of a job with at least that speed, or the last one.
std::size_t CostHull::above(const Job& job, double speed) const {
  std::size_t i = job.first + 1;
  while (i + 1 < job.last && corners_[i].speed < speed) ++i;
  return i;
}

}  // namespace berth::core
