#include "host/forecast/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kMostDays = 28;

// Of a clock whose time 0 is a Thursday, as 1970-01-01 is.
bool is_weekend(TimeUs at) {
  const std::int64_t day = ((at >= 0 ? at / kDay : (at - kDay + 1) / kDay) % 7 + 7) % 7;
  return day == 2 || day == 3;
}

}  // namespace

PastArrivals::PastArrivals(const JobHistory& history, const RunTimes& times, TimeUs now) : now_(now), clock_(history.clock_us) {
  TimeUs first = now;
  for (const PastJob& job : history.jobs) {
    if (job.submit_us < now) first = std::min(first, job.submit_us);
  }
  const std::int64_t days = std::min(kMostDays, (now - first) / kDay);
  const TimeUs from = days > 0 ? now - days * kDay : first;
  std::map<RunTraits, std::int32_t> laws;
  for (const PastJob& job : history.jobs) {
    if (job.submit_us < from || job.submit_us >= now) continue;
    RunTraits traits = traits_of(job);
    const auto [law, fresh] = laws.try_emplace(traits, static_cast<std::int32_t>(laws_.size()));
    if (fresh) laws_.push_back(run_law(times, traits, 0));
    jobs_.push_back({&job, law->second, job.end_us() <= now});
  }
  std::stable_sort(jobs_.begin(), jobs_.end(), [](const Arrival& a, const Arrival& b) { return a.job->submit_us < b.job->submit_us; });
  // A history of less than a day is one block, which comes again and again.
  for (std::int64_t day = 1; day <= std::max<std::int64_t>(1, days); ++day) {
    Day one;
    one.from_us = days > 0 ? now - day * kDay : from;
    const TimeUs to = days > 0 ? one.from_us + kDay : now;
    const auto at = [&](TimeUs t) {
      return static_cast<std::size_t>(
          std::lower_bound(jobs_.begin(), jobs_.end(), t, [](const Arrival& a, TimeUs b) { return a.job->submit_us < b; }) - jobs_.begin());
    };
    one.begin = at(one.from_us);
    one.end = at(to);
    one.weekend = is_weekend(clock_ + one.from_us);
    by_kind_[one.weekend ? 1 : 0].push_back(days_.size());
    days_.push_back(one);
  }
}

std::int64_t PastArrivals::load_ppm(std::int64_t gpus) const {
  double used = 0;
  for (const Arrival& one : jobs_) used += static_cast<double>(one.job->run_us) * one.job->gpus;
  const double all = static_cast<double>(span_us()) * static_cast<double>(gpus);
  return all <= 0 ? 0 : static_cast<std::int64_t>(std::min(1e6 * used / all, 1e15));
}

std::vector<TraceJob> PastArrivals::kinds() const {
  std::set<std::tuple<std::string, std::string, std::string, std::int32_t>> seen;
  std::vector<TraceJob> out;
  for (const Arrival& one : jobs_) {
    const PastJob& past = *one.job;
    if (!seen.insert({past.queue, past.virtual_cluster, past.gpu_type, past.gpus}).second) continue;
    TraceJob job;
    job.id = fmt::format("kind {}", out.size());
    job.queue = past.queue;
    job.virtual_cluster = past.virtual_cluster;
    job.gpu_type = past.gpu_type;
    job.gpus = past.gpus;
    job.run_us = 1;
    out.push_back(std::move(job));
  }
  return out;
}

void Arrivals::begin(std::uint64_t seed, std::int32_t future, TimeUs until) {
  seed_ = seed;
  future_ = future;
  until_ = until;
  day_ = count_ = 0;
  day_from_ = past_.now_;
  at_ = end_ = 0;
  if (!past_.empty()) begin_day();
}

// Each day of the future is a past day of its kind: the one that begins now, 24 hours later, and so on.
void Arrivals::begin_day() {
  ItemDraws draws(seed_, RandomStream::kFutureArrivals, (static_cast<std::uint64_t>(future_) << 32) + static_cast<std::uint64_t>(day_++));
  const std::vector<std::size_t>& alike = past_.by_kind_[is_weekend(past_.clock_ + day_from_) ? 1 : 0];
  const std::vector<std::size_t>& other = past_.by_kind_[is_weekend(past_.clock_ + day_from_) ? 0 : 1];
  const std::vector<std::size_t>& days = alike.empty() ? other : alike;
  const PastArrivals::Day& day = past_.days_[days[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(days.size())))]];
  at_ = day.begin;
  end_ = day.end;
  shift_ = day_from_ - day.from_us;
  const TimeUs length = day.from_us + kDay > past_.now_ ? past_.now_ - day.from_us : kDay;
  day_from_ += std::max<TimeUs>(kSecond, length);
}

bool Arrivals::next(RunDraws& draws, TraceJob& job) {
  if (past_.empty()) return false;
  while (at_ == end_) {
    if (day_from_ > until_) return false;
    begin_day();
  }
  const PastArrivals::Arrival& one = past_.jobs_[at_++];
  const PastJob& past = *one.job;
  const TimeUs submit = past.submit_us + shift_;
  if (submit > until_) {
    at_ = end_;
    day_from_ = until_ + 1;
    return false;
  }
  job = TraceJob{};
  job.id = fmt::format("+{}", ++count_);
  job.user = past.user;
  job.queue = past.queue;
  job.virtual_cluster = past.virtual_cluster;
  job.gpu_type = past.gpu_type;
  job.gpus = past.gpus;
  job.priority = past.priority;
  job.submit_us = std::max(submit, past_.now_ + 1);
  job.time_limit_us = past.time_limit_us;
  job.run_us =
      one.ended ? past.run_us : draws.draw(past_.laws_[to_index(one.law)], (std::uint64_t{1} << 30) + static_cast<std::uint64_t>(count_));
  estimate_ = past.estimate_us;
  return true;
}

}  // namespace berth::sim
