#include "host/core/policy_api/flow_time.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kExponent = 24;  // 1 / (1 - p), where speeds are GPUs^p
constexpr std::ptrdiff_t kMostPriorities = 10;
// Eighths of the weight of the jobs with less work that every rank counts, for those that come and change later.
constexpr std::int64_t kAhead = 1, kAheadOfUnknown = 3;
constexpr std::int64_t kUnknownWork = 60 * kSecond;         // of a job of which nothing is known, at least
constexpr std::int64_t kWholePart = std::int64_t{1} << 60;  // of a part of 1

// Quantiles 1/8, 3/8, 5/8 and 7/8 of the work left, over its median.
struct Quantile {
  std::int64_t numerator, denominator;
};
// log-uniform from 1/2 to 2.
constexpr Quantile kOfEstimate[] = {{595, 1000}, {841, 1000}, {1189, 1000}, {1682, 1000}};
// log-logistic with shape 1/2: what has run for long goes on for long.
constexpr Quantile kOfAttained[] = {{1, 49}, {9, 25}, {25, 9}, {49, 1}};

// The work that one GPU does in a second: that of the smallest shape, for each of its GPUs. 0: no rate is known.
struct OneGpu {
  std::int64_t rate, gpus;
};

OneGpu one_gpu(const StateImpl& s, const JobRecord& record) {
  OneGpu one{0, 1};
  for (std::size_t o = 0; o < record.options.size(); ++o) {
    const std::int64_t gpus = std::max<std::int64_t>(1, s.demands.rows()[to_index(record.options[o].demand)].gpus);
    const std::int64_t rate = record.option_rate[o];
    if (rate <= 0) continue;
    if (one.rate == 0 || std::pair(gpus, -rate) < std::pair(one.gpus, -one.rate)) one = {rate, gpus};
  }
  return one;
}

// What takes `amount` at a rate, in the time of one GPU. The quotient saturates first: times and rates may have 121 bits.
std::int64_t in_one_gpu(std::int64_t amount, std::int64_t at, const OneGpu& one) {
  return one.rate == 0 || at == 0 ? saturating_mul(amount, one.gpus) : saturating_mul(saturate(Wide{amount} * at / one.rate), one.gpus);
}

}  // namespace

WorkLeft work_left(const StateImpl& s, std::int32_t job_index, std::int64_t reference) {
  const Job& job = *s.jobs[to_index(job_index)].job;
  const OneGpu one = one_gpu(s, s.jobs[to_index(job_index)]);
  if (job.progress.work_total > 0) {
    const std::int64_t work = s.work_left_now(job_index);
    return {std::max<std::int64_t>(1, in_one_gpu(work, kSecond, one)), WorkSource::kExact};
  }
  const std::int64_t had = s.attained_now(job_index);
  const TimeUs estimate = job.estimate.run_us != kNever ? job.estimate.run_us : job.time_limit_us;
  if (estimate == kNever) return {std::max<std::int64_t>(kUnknownWork, had / 2), WorkSource::kAttained};
  // Of the estimate is left what has not been run, by time or by GPU-time, whichever says more.
  const std::int64_t by_time = in_one_gpu(std::max<TimeUs>(0, estimate - s.run_now(job_index)), reference, one);
  const std::int64_t by_gpu_time = in_one_gpu(estimate, reference, one) - had;
  const std::int64_t left = std::max<std::int64_t>({1, by_time, by_gpu_time});
  return left > had / 4 ? WorkLeft{left, WorkSource::kEstimate} : WorkLeft{std::max<std::int64_t>(1, had / 2), WorkSource::kAttained};
}

TimeUs run_of(const WorkLeft& work, const StateImpl& s, std::int32_t job_index, std::int64_t reference) {
  const OneGpu one = one_gpu(s, s.jobs[to_index(job_index)]);
  const Wide run =
      one.rate == 0 || reference == 0 ? Wide{work.one_gpu_us} / one.gpus : Wide{work.one_gpu_us} * one.rate / one.gpus / reference;
  return std::clamp<TimeUs>(saturate(run), 1, kMaxTimeUs);
}

void PriorityFactors::set(std::span<const std::int32_t> priorities) {
  present_.clear();
  for (const std::int32_t priority : priorities) {
    if (present_.empty() || present_.back() != priority) present_.push_back(priority);
  }
  std::sort(present_.begin(), present_.end());
  present_.erase(std::unique(present_.begin(), present_.end()), present_.end());
}

std::int64_t PriorityFactors::weight(const Job& job) const {
  const auto lower = std::lower_bound(present_.begin(), present_.end(), job.priority) - present_.begin();
  return saturating_mul(job.weight_ppm, std::int64_t{1} << std::min<std::ptrdiff_t>(kMostPriorities, lower));
}

// The mean over the quantiles.
std::int64_t FlowRanks::expected_weight_above(std::int64_t key, std::int64_t own, WorkSource source) const {
  Wide sum = 0;
  for (const Quantile& one : source == WorkSource::kEstimate ? kOfEstimate : kOfAttained) {
    const std::int64_t here = mul_div(key, one.numerator, one.denominator);
    const auto last = std::partition_point(sorted_.begin(), sorted_.end(), [here](const Keyed& other) { return other.key > here; });
    sum += before_[static_cast<std::size_t>(last - sorted_.begin())] - (key > here ? own : 0);
  }
  return static_cast<std::int64_t>(sum / 4);
}

void FlowRanks::set(std::span<const RankedJob> jobs, std::int64_t gpus) {
  gpus_ = std::max<std::int64_t>(1, gpus);
  sorted_.clear();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::int64_t weight = jobs[j].weight_ppm;
    const std::int64_t key = weight == 1'000'000 ? jobs[j].left.one_gpu_us : mul_div(jobs[j].left.one_gpu_us, 1'000'000, weight);
    sorted_.push_back({key, static_cast<std::int32_t>(j)});
  }
  std::sort(sorted_.begin(), sorted_.end(), [](const Keyed& a, const Keyed& b) { return std::tie(b.key, a.job) < std::tie(a.key, b.job); });
  before_.assign(1, 0);
  for (const Keyed& one : sorted_) before_.push_back(before_.back() + std::min(kMostWeight, jobs[to_index(one.job)].weight_ppm));
  rank_.resize(jobs.size());
  for (std::size_t first = 0, last = 0; first < sorted_.size(); first = last) {
    while (last < sorted_.size() && sorted_[last].key == sorted_[first].key) ++last;
    for (std::size_t i = first; i < last; ++i) {
      const RankedJob& job = jobs[to_index(sorted_[i].job)];
      const std::int64_t own = std::min(kMostWeight, job.weight_ppm);
      Rank& rank = rank_[to_index(sorted_[i].job)];
      rank = {before_[first], before_[last], own};
      if (job.left.source != WorkSource::kExact) {
        rank.from = expected_weight_above(sorted_[i].key, own, job.left.source);
        rank.to = rank.from + own;
      }
      const std::int64_t ahead = mul_div(before_.back() - rank.to, job.left.source == WorkSource::kAttained ? kAheadOfUnknown : kAhead, 8);
      rank.from += ahead;
      rank.to += ahead;
    }
  }
}

void FlowRanks::describe(std::size_t job, std::span<const kernel::ShapeTerms> shapes, kernel::JobTerms& terms) const {
  const Rank& rank = rank_[job];
  const auto times = [](std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(Wide{a} * b >> 60); };
  // 1 - (from / to)^24 is the part of all GPUs that heSRPT gives the jobs of this rank, where speeds are GPUs^(23/24).
  const auto part = static_cast<std::int64_t>((Wide{rank.from} << 60) / rank.to);
  const std::int64_t part4 = times(times(part, part), times(part, part)), part8 = times(part4, part4);
  const std::int64_t all = kWholePart - times(times(part8, part8), part8);
  const std::int64_t own = mul_div(all, rank.own, rank.to - rank.from);
  const std::int64_t share = saturate(Wide{own} * gpus_ >> 40);  // 2^-20 GPUs
  // The shape with the least (share + 23 GPUs) / speed.
  Wide cost = 0;
  terms.rank_speed = 0;
  for (const kernel::ShapeTerms& shape : shapes) {
    const std::int64_t speed = kernel::average_speed(terms, shape);
    if (speed <= 0) continue;
    const Wide here = Wide{share} + (Wide{(kExponent - 1) * shape.gpus} << 20);
    if (terms.rank_speed != 0 && here * terms.rank_speed >= cost * speed) continue;
    cost = here;
    terms.rank_speed = speed;
  }
  terms.rank_value = saturate(floor_div(Wide{rank.to} * cost, Wide{kExponent} << 20));
  if (terms.rank_speed == 0) terms.rank_speed = 1;
}

}  // namespace berth::core
