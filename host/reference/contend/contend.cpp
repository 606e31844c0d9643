#include "host/reference/contend/contend.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::reference {
namespace {

constexpr std::int64_t kWhole = 16'384;  // 1.0

std::size_t contend_index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A row with all links.
std::vector<std::int64_t> full_row(std::int32_t n_links, const std::int32_t* begin, const std::int32_t* link, const std::uint16_t* use,
                                   std::int32_t row) {
  std::vector<std::int64_t> full(contend_index(n_links), 0);
  for (std::int32_t i = begin[row]; i < begin[row + 1]; ++i) full[contend_index(link[i])] += use[i];
  return full;
}

class Contention {
 public:
  Contention(const kernel::ContendView& problem, const kernel::ContendRequest& request)
      : problem_(problem), request_(request), load_(contend_index(problem.n_links), 0) {
    for (std::int32_t j = 0; j < problem.n_jobs; ++j) {
      jobs_.push_back(full_row(problem.n_links, problem.job_begin, problem.job_link, problem.job_use, j));
      for (std::size_t l = 0; l < load_.size(); ++l) load_[l] += jobs_.back()[l];
    }
  }

  const std::vector<std::int64_t>& computed_load() const { return load_; }

  void candidate(std::int32_t i, const kernel::ContendResult& result) const {
    const std::vector<std::int64_t> uses = full_row(problem_.n_links, request_.begin, request_.link, request_.use, i);
    const std::int32_t excluded = request_.excluded == nullptr ? -1 : request_.excluded[i];
    loads(i, uses, excluded, result);
    pairs(i, uses, excluded, result);
  }

 private:
  void loads(std::int32_t i, const std::vector<std::int64_t>& uses, std::int32_t excluded, const kernel::ContendResult& result) const {
    std::int64_t sum = 0, most = 0, overload = 0;
    std::int32_t failed = 0, used = 0;
    for (std::size_t l = 0; l < uses.size(); ++l) {
      if (uses[l] == 0) continue;
      std::int64_t after = (problem_.load == nullptr ? load_[l] : problem_.load[l]) + uses[l];
      if (excluded >= 0) after -= jobs_[contend_index(excluded)][l];
      const std::int64_t capacity = problem_.capacity == nullptr ? kWhole : problem_.capacity[l];
      sum += after;
      most = used++ == 0 ? after : std::max(most, after);
      overload += std::max<std::int64_t>(0, after - capacity);
      if (capacity == 0) ++failed;
    }
    if (result.load_sum != nullptr) result.load_sum[i] = sum;
    if (result.load_max != nullptr) result.load_max[i] = most;
    if (result.overload != nullptr) result.overload[i] = overload;
    if (result.failed != nullptr) result.failed[i] = failed;
  }

  // Seven or fourteen bits of use x weight, to the nearest.
  std::int64_t left(std::int64_t use, std::size_t link) const {
    const std::int64_t weight = problem_.weight == nullptr ? kWhole : problem_.weight[link];
    const std::int64_t steps = request_.limbs == 1 ? 128 : 16'384;  // of 1.0
    const std::int64_t one = kWhole * kWhole / steps;
    return std::min(steps - 1, (use * weight + one / 2) / one);
  }

  static std::int64_t right(std::int64_t use) { return std::min<std::int64_t>(127, (use + 64) / 128); }

  void pairs(std::int32_t i, const std::vector<std::int64_t>& uses, std::int32_t excluded, const kernel::ContendResult& result) const {
    std::vector<std::int64_t> value(jobs_.size(), 0);
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (std::size_t l = 0; l < uses.size(); ++l) value[j] += left(uses[l], l) * right(jobs_[j][l]);
      if (static_cast<std::int32_t>(j) == excluded) value[j] = 0;
      sum += value[j] * (problem_.job_weight == nullptr ? 1 : problem_.job_weight[j]);
      if (result.pair_value != nullptr) {
        result.pair_value[contend_index(i) * jobs_.size() + j] = static_cast<std::int32_t>(value[j]);
      }
    }
    if (result.pair_sum != nullptr) result.pair_sum[i] = sum;
    std::vector<std::size_t> order;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (value[j] > 0) order.push_back(j);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value[a] > value[b]; });
    for (std::size_t r = 0; r < contend_index(request_.k); ++r) {
      const std::size_t at = contend_index(i) * contend_index(request_.k) + r;
      if (result.top_value != nullptr) result.top_value[at] = r < order.size() ? static_cast<std::int32_t>(value[order[r]]) : 0;
      if (result.top_job != nullptr) result.top_job[at] = r < order.size() ? static_cast<std::int32_t>(order[r]) : -1;
    }
  }

  const kernel::ContendView& problem_;
  const kernel::ContendRequest& request_;
  std::vector<std::vector<std::int64_t>> jobs_;  // [n_jobs][n_links]
  std::vector<std::int64_t> load_;
};

}  // namespace

void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) {
  const Contention contention(problem, request);
  if (result.load != nullptr) std::copy(contention.computed_load().begin(), contention.computed_load().end(), result.load);
  for (std::int32_t i = 0; i < request.n; ++i) contention.candidate(i, result);
}

}  // namespace berth::reference
