#include "host/sim/counts/running_order.hpp"

#include <algorithm>
#include <cassert>

namespace berth::sim {

// A current key is at most the stored key. So a job that is last by its current key is last.
void RunningOrder::settle(std::size_t place, CountedJobs& jobs, JobKeys& keys) {
  JobPlace one = order_[place];
  CountedJob& job = jobs[one.job];
  one.key = job.key = keys.key(job, exact_at_);
  std::size_t to = place;
  for (; to > 0 && one < order_[to - 1]; --to) order_[to] = order_[to - 1];
  order_[to] = one;
  if (to == place) ++exact_;
}

// Number of entries before it, by bisection. Written so that compilers select instead of branch: half of the branches would be
// mispredicted.
std::size_t RunningOrder::place_of(const CountedJob& job) const {
  if (order_.empty()) return 0;
  const JobPlace place{job.key, job.rank, 0};
  std::size_t from = 0;
  for (std::size_t n = order_.size(); n > 1; n -= n / 2) {
    const std::size_t upper = from + n / 2;
    from = order_[upper - 1] < place ? upper : from;
  }
  return from + static_cast<std::size_t>(order_[from] < place);
}

void RunningOrder::add(CountedJobs& jobs, const JobPlace& place) {
  jobs[place.job].key = place.key;
  const std::size_t to = place_of(jobs[place.job]);
  exact_ = std::min(exact_, order_.size() - to);
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(to), place);
}

void RunningOrder::remove(CountedJobs& jobs, std::int32_t job) {
  const std::size_t from = place_of(jobs[job]);
  assert(from < order_.size() && order_[from].job == job);
  exact_ = std::min(exact_, order_.size() - 1 - from);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(from));
}

void RunningOrder::move(CountedJobs& jobs, const JobPlace& place) {
  const std::size_t from = place_of(jobs[place.job]);
  assert(from < order_.size() && order_[from].job == place.job);
  jobs[place.job].key = place.key;
  std::size_t to = place_of(jobs[place.job]);
  const auto old = order_.begin() + static_cast<std::ptrdiff_t>(from), fresh = order_.begin() + static_cast<std::ptrdiff_t>(to);
  if (to > from) {
    std::move(old + 1, fresh, old);
    --to;  // it was counted before itself
  } else {
    std::move_backward(fresh, old, old + 1);
  }
  order_[to] = place;
  exact_ = std::min(exact_, order_.size() - 1 - std::max(from, to));
}

void RunningOrder::order_again(CountedJobs& jobs, const std::vector<std::int64_t>& keys) {
  for (JobPlace& one : order_) one.key = jobs[one.job].key = keys[to_index(one.job)];
  std::sort(order_.begin(), order_.end());
  exact_ = 0;
}

void RunningOrder::replace_end(std::size_t n, const std::vector<JobPlace>& kept) {
  order_.resize(order_.size() - n);
  exact_ = exact_ - n + kept.size();
  order_.insert(order_.end(), kept.begin(), kept.end());
}

}  // namespace berth::sim
