#include "host/policy/search/ones_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_view.hpp"
#include "host/policy/queue/beta_quantiles.hpp"

namespace berth::policy {
namespace {

constexpr std::int64_t kUnknownRate = 1'000'000;  // of one unit of work a second

constexpr std::int64_t kGrowth = 4;  // multiple of the requested GPUs

std::int32_t index_of(const core::ShapeQuestion& q, std::int32_t job) { return q.options[to_index(q.problem.option_begin[job])].job; }

std::int64_t epochs_of(const StateView& s, std::int32_t job, TimeUs epoch) {
  const Progress& progress = s.jobs()[to_index(job)].job->progress;
  if (progress.epochs_done_micro > 0) return progress.epochs_done_micro;
  if (progress.dataset_size > 0) return core::mul_div(progress.samples_done, kOnesEpoch, progress.dataset_size);
  return core::mul_div(s.run_now(job), kOnesEpoch, epoch);
}

std::int64_t work_done(const StateView& s, std::int32_t job) {
  const Progress& progress = s.jobs()[to_index(job)].job->progress;
  const std::int64_t left = s.work_left_now(job);
  std::int64_t done = 0;
  if (progress.work_total > 0 && left != INT64_MAX) {
    done = progress.work_total - left;
  } else if (progress.work_done > 0) {
    done = progress.work_done;
  } else {
    done = core::mul_div(s.run_now(job), s.job().rate[to_index(job)], kSecond);
  }
  return std::clamp<std::int64_t>(done, 0, kernel::kMostOnesWork);
}

constexpr std::pair<const char*, std::vector<std::int64_t> OnesMemory::*> kOnesColumns[] = {
    {"most", &OnesMemory::most}, {"saved", &OnesMemory::saved}, {"scheduled", &OnesMemory::scheduled}, {"first", &OnesMemory::first}};

std::int32_t within(std::int64_t gpus, std::int32_t n_gpus) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus, 0, n_gpus)); }

}  // namespace

void OnesQuestion::set(const core::ShapeQuestion& q, const OnesSettings& settings) {
  set_type(q, settings);
  add_steps(q);
  if (n_gpus_ > kernel::kMaxOnesGpus || jobs_.size() > kernel::kMostOnesJobs) {
    throw InvalidArgument(fmt::format("ones evolves at most {} jobs on {} GPUs; there are {} on {}", kernel::kMostOnesJobs,
                                      kernel::kMaxOnesGpus, jobs_.size(), n_gpus_));
  }
  by_id_.clear();
  fresh_.clear();
  start_.clear();
  for (OnesJob& one : jobs_) {
    const std::int32_t job = index_of(q, one.job);
    by_id_.emplace_back(&q.state.jobs()[to_index(job)].job->id, static_cast<std::int32_t>(by_id_.size()));
    one.requested = q.state.jobs()[to_index(job)].job->shapes.front().gpus;
    one.epochs = epochs_of(q.state, job, settings.epoch);
    one.run = q.state.run_now(job);
    one.fresh = one.fresh || (settings.fresh > 0 ? one.run < settings.fresh : one.epochs < 2 * kOnesEpoch);
    one.clock = settings.gate > 0 ? core::mul_div(one.run, kOnesEpoch, settings.gate) : one.epochs;
    fresh_.push_back(one.fresh ? 1 : 0);
    start_.push_back(one.gpus > 0 ? one.gpus : one.least);
  }
  core::sort_by_id(by_id_);
  recall(q.kept);
  set_limits(q, settings);
  set_progress(q, settings);
  set_deployed();
}

void OnesQuestion::set_type(const core::ShapeQuestion& q, const OnesSettings& settings) {
  type_ = -1;
  std::pair<std::int64_t, std::int64_t> most{};  // number of jobs that could run on it, its GPUs
  for (std::int32_t t = 0; t < q.problem.n_types; ++t) {
    std::pair<std::int64_t, std::int64_t> here{0, q.problem.capacity[t]};
    for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
      const std::int32_t* const begin = q.problem.type + q.problem.option_begin[j];
      const std::int32_t* const end = q.problem.type + q.problem.option_begin[j + 1];
      here.first += std::find(begin, end, t) == end ? 0 : 1;
    }
    const bool named = settings.gpu_type == q.state.gpu_types()[to_index(t)].id;
    if (settings.gpu_type.empty() ? type_ < 0 || here > most : named) {
      type_ = t;
      most = here;
    }
  }
  if (type_ < 0 && !settings.gpu_type.empty()) {
    throw InvalidArgument(fmt::format("parameter 'gpu_type' of policy 'ones': the cluster has no GPUs of type '{}'", settings.gpu_type));
  }
  n_gpus_ = type_ < 0 ? 0 : static_cast<std::int32_t>(std::min<std::int64_t>(q.problem.capacity[type_], INT32_MAX));
}

// The shape with the fewest GPUs, so that other jobs fit too: for a job whose rates are known elsewhere only.
std::int32_t OnesQuestion::first_step(const core::ShapeQuestion& q, std::int32_t j) const {
  std::int32_t best = -1;
  for (std::int32_t k = q.problem.option_begin[j]; k < q.problem.option_begin[j + 1]; ++k) {
    if (q.problem.type[k] != type_ || q.problem.gpus[k] > n_gpus_) continue;
    if (best < 0 || q.problem.gpus[k] < q.problem.gpus[best]) best = k;
  }
  return best;
}

// A job whose GPUs are not an option keeps them, and they are not among these.
void OnesQuestion::add_steps(const core::ShapeQuestion& q) {
  jobs_.clear();
  others_.clear();
  step_begin_.assign(1, 0);
  step_gpus_.clear();
  step_row_.clear();
  step_rate_.clear();
  const auto known_rate = [&](std::int32_t k) {
    return q.state.jobs()[to_index(q.options[to_index(k)].job)].option_rate[to_index(q.options[to_index(k)].option)];
  };
  // A job of which no rate is known counts as equally fast in all its options.
  const auto rate = [&](std::int32_t j, std::int32_t k) {
    bool known = false;
    for (std::int32_t other = q.problem.option_begin[j]; other < q.problem.option_begin[j + 1]; ++other)
      known = known || known_rate(other) > 0;
    return known ? known_rate(k) : kUnknownRate;
  };
  const auto is_step = [&](std::int32_t j, std::int32_t k) {
    return q.problem.type[k] == type_ && q.problem.gpus[k] <= n_gpus_ && rate(j, k) > 0;
  };
  for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
    for (std::int32_t k = q.problem.option_begin[j]; k < q.problem.option_begin[j + 1]; ++k) {
      if (!q.options[to_index(k)].current || is_step(j, k)) continue;
      others_.push_back(j);
      if (q.problem.type[k] == type_) n_gpus_ -= q.problem.gpus[k];
    }
  }
  auto other = others_.begin();
  for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
    if (other != others_.end() && *other == j) {
      ++other;
      continue;
    }
    rows_.clear();
    std::int32_t has = 0;
    for (std::int32_t k = q.problem.option_begin[j]; k < q.problem.option_begin[j + 1]; ++k) {
      if (is_step(j, k)) rows_.push_back(k);
      if (q.options[to_index(k)].current) has = q.problem.gpus[k];
    }
    std::sort(rows_.begin(), rows_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::tuple(q.problem.gpus[a], !q.options[to_index(a)].current, -rate(j, a), a) <
             std::tuple(q.problem.gpus[b], !q.options[to_index(b)].current, -rate(j, b), b);
    });
    const bool unknown = rows_.empty();
    if (unknown) {
      const std::int32_t k = first_step(q, j);
      if (k < 0) continue;
      rows_.push_back(k);
    }
    jobs_.push_back({j, has, q.problem.gpus[rows_.front()], 0, 0, 0, 0, unknown});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int32_t k = rows_[i];
      if (i > 0 && q.problem.gpus[k] == step_gpus_.back()) continue;
      step_gpus_.push_back(q.problem.gpus[k]);
      step_row_.push_back(k);
      step_rate_.push_back(unknown ? kUnknownRate : rate(j, k));
    }
    step_begin_.push_back(static_cast<std::int32_t>(step_gpus_.size()));
  }
}

void OnesQuestion::recall(const PolicyState& kept) {
  for (const auto& [name, column] : kOnesColumns) {
    (memory_.*column).assign(jobs_.size(), -1);
    core::read_column(kept, name, by_id_, memory_.*column);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const OnesJob& one = jobs_[i];
    std::int64_t& most = memory_.most[i];
    most = std::max<std::int64_t>(std::min<std::int64_t>(most, n_gpus_), std::max(one.gpus, one.least));
    if (memory_.saved[i] < 1) memory_.saved[i] = one.least;
    // Epochs may decrease: a job restarted, or reports them for the first time.
    memory_.scheduled[i] = std::clamp<std::int64_t>(memory_.scheduled[i], 0, one.clock);
  }
}

void OnesQuestion::set_limits(const core::ShapeQuestion& q, const OnesSettings& settings) {
  limit_.assign(jobs_.size(), 0);
  most_.assign(jobs_.size(), 0);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const OnesJob& one = jobs_[i];
    std::int64_t& most = memory_.most[i];
    if (one.fresh) continue;
    std::int64_t limit = memory_.saved[i];
    if (one.gpus > 0) {
      if (fit(static_cast<std::int32_t>(i), most) <= one.gpus) most = std::min<std::int64_t>(n_gpus_, 2 * most);
      limit = std::max<std::int64_t>(one.least, std::min(most, kGrowth * one.requested));
    }
    limit_[i] = within(limit, n_gpus_);
    most_[i] = within(most, n_gpus_);
  }
  if (settings.shrink) shrink_largest(q);
}

// Among jobs with at least half of all GPUs, shrinks the largest, if it has run for longer than most.
void OnesQuestion::shrink_largest(const core::ShapeQuestion& q) {
  std::size_t largest = jobs_.size();
  run_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const OnesJob& one = jobs_[i];
    if (one.gpus > 0 || one.run > 0) run_.push_back(one.run);
    if (one.gpus > 0 && !one.fresh && (largest == jobs_.size() || one.gpus > jobs_[largest].gpus)) largest = i;
  }
  if (largest == jobs_.size() || jobs_[largest].gpus < n_gpus_ / 2) return;
  for (const FinishedJob& one : q.state.history()) run_.push_back(one.run_us);
  const auto middle = run_.begin() + static_cast<std::ptrdiff_t>((run_.size() - 1) / 2);
  std::nth_element(run_.begin(), middle, run_.end());
  const OnesJob& job = jobs_[largest];
  const TimeUs median = *middle;
  if (job.run <= median) return;
  std::int64_t limit = std::max<std::int64_t>(1, core::mul_div(2 * job.gpus, median, job.run + median));
  limit += limit % 2;
  limit_[largest] = within(std::max<std::int64_t>(limit, job.least), n_gpus_);
}

void OnesQuestion::set_progress(const core::ShapeQuestion& q, const OnesSettings& settings) {
  progress_.resize(jobs_.size() * kernel::kOnesQuantiles);
  work_.assign(jobs_.size(), 0);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const OnesJob& one = jobs_[i];
    if (one.fresh) continue;
    const std::int32_t job = index_of(q, one.job);
    work_[i] = work_done(q.state, job);
    const std::int64_t left = q.state.work_left_now(job);
    // A job may leave its start early, by `fresh_s`; the distribution needs an epoch.
    const double epochs = std::max(1.0, static_cast<double>(one.epochs) / static_cast<double>(kOnesEpoch));
    const Progress& progress = q.state.jobs()[to_index(job)].job->progress;
    double more = 1;
    if (settings.model && progress.dataset_size > 0) {
      more = progress_beta(*settings.model, progress_features({progress.dataset_size, one.epochs, progress.initial_loss_micro,
                                                               progress.loss_micro, progress.accuracy_ppm}));
    } else if (left != INT64_MAX && work_[i] > 0) {
      more = std::max(1.0, epochs * static_cast<double>(left) / static_cast<double>(work_[i]));
    }
    beta_quantiles(epochs, more, std::span(progress_).subspan(i * kernel::kOnesQuantiles, kernel::kOnesQuantiles));
  }
}

// Each job near its former block; jobs without a known block come last.
void OnesQuestion::set_deployed() {
  deployed_first_.assign(jobs_.size(), 0);
  deployed_count_.assign(jobs_.size(), 0);
  order_.clear();
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].gpus == 0) continue;
    order_.push_back(static_cast<std::int32_t>(i));
    rest += jobs_[i].gpus;
  }
  const auto first = [&](std::int32_t i) { return memory_.first[to_index(i)] < 0 ? INT64_MAX : memory_.first[to_index(i)]; };
  std::sort(order_.begin(), order_.end(),
            [&](std::int32_t a, std::int32_t b) { return std::tuple(first(a), a) < std::tuple(first(b), b); });
  std::int64_t x = 0;
  for (const std::int32_t i : order_) {
    const std::int64_t wanted = memory_.first[to_index(i)] < 0 ? x : std::max(x, memory_.first[to_index(i)]);
    deployed_first_[to_index(i)] = static_cast<std::int32_t>(std::min(wanted, n_gpus_ - rest));
    deployed_count_[to_index(i)] = jobs_[to_index(i)].gpus;
    x = deployed_first_[to_index(i)] + deployed_count_[to_index(i)];
    rest -= deployed_count_[to_index(i)];
  }
}

std::int32_t OnesQuestion::fit(std::int32_t job, std::int64_t gpus) const {
  std::int32_t fits = 0;
  for (std::int32_t k = step_begin_[to_index(job)]; k < step_begin_[to_index(job) + 1] && step_gpus_[to_index(k)] <= gpus; ++k)
    fits = step_gpus_[to_index(k)];
  return fits;
}

kernel::OnesView OnesQuestion::view(const OnesSettings& settings, std::uint64_t seed) const {
  return {n_gpus_,
          static_cast<std::int32_t>(jobs_.size()),
          settings.population,
          settings.theta_ppm,
          seed,
          settings.waiting,
          step_begin_.data(),
          step_gpus_.data(),
          step_rate_.data(),
          fresh_.data(),
          start_.data(),
          limit_.data(),
          most_.data(),
          work_.data(),
          progress_.data(),
          deployed_first_.data(),
          deployed_count_.data()};
}

// As published: all changes or none. What starts on GPUs that no job has deployed starts in any case.
bool OnesQuestion::gate_all(const std::int32_t* first, const std::int32_t* count) {
  bool all = true, changes = false;
  free_.assign(to_index(n_gpus_), 1);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    std::fill_n(free_.begin() + deployed_first_[i], deployed_count_[i], 0);
    if (jobs_[i].gpus == 0 || count[i] == jobs_[i].gpus) continue;
    changes = true;
    all = all && may_change(i);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto gpu = free_.begin() + first[i];
    const bool at_once = jobs_[i].gpus == 0 && count[i] > 0 && std::find(gpu, gpu + count[i], 0) == gpu + count[i];
    target_[i] = all || at_once ? count[i] : jobs_[i].gpus;
    memory_.first[i] = target_[i] == 0 ? -1 : all || at_once ? first[i] : deployed_first_[i];
  }
  return all && changes;
}

// Ours: jobs that may change give GPUs back; those that wait take what is idle by rank, then those that grow.
bool OnesQuestion::gate_each(const std::int32_t* first, const std::int32_t* count) {
  bool changes = false;
  std::int64_t idle = n_gpus_;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    target_[i] = jobs_[i].gpus > count[i] && may_change(i) ? count[i] : jobs_[i].gpus;
    idle -= target_[i];
    changes = changes || target_[i] != jobs_[i].gpus;
  }
  for (const bool waiting : {true, false}) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if ((jobs_[i].gpus == 0) != waiting || count[i] <= jobs_[i].gpus || (!waiting && !may_change(i))) continue;
      const std::int32_t gets = fit(static_cast<std::int32_t>(i), std::min<std::int64_t>(count[i], target_[i] + idle));
      if (gets <= target_[i]) continue;
      idle -= gets - target_[i];
      target_[i] = gets;
      changes = changes || !waiting;
    }
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const bool moves = jobs_[i].gpus == 0 || target_[i] == count[i];
    memory_.first[i] = target_[i] == 0 ? -1 : moves ? first[i] : deployed_first_[i];
  }
  return changes;
}

void OnesQuestion::deploy(const core::ShapeQuestion& q, const OnesSettings& settings, const std::int32_t* first, const std::int32_t* count,
                          std::span<std::int32_t> chosen) {
  for (const std::int32_t j : others_) {
    for (std::int32_t k = q.problem.option_begin[j]; k < q.problem.option_begin[j + 1]; ++k) {
      if (q.options[to_index(k)].current) chosen[to_index(j)] = k - q.problem.option_begin[j];
    }
  }
  target_.resize(jobs_.size());
  const bool changed = settings.gate_each ? gate_each(first, count) : gate_all(first, count);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const OnesJob& one = jobs_[i];
    const std::int32_t target = target_[i];
    if (target != one.gpus) memory_.scheduled[i] = one.clock;
    if (one.gpus > 0 && target == 0) memory_.saved[i] = memory_.most[i];
    if (changed && one.gpus == 0 && target == 0 && !one.fresh && memory_.saved[i] > one.least) {
      memory_.saved[i] = std::max<std::int64_t>(one.least, memory_.saved[i] / 2);
      memory_.most[i] = memory_.saved[i];
    }
    for (std::int32_t k = step_begin_[i]; k < step_begin_[i + 1]; ++k) {
      if (step_gpus_[to_index(k)] == target) chosen[to_index(one.job)] = step_row_[to_index(k)] - q.problem.option_begin[one.job];
    }
  }
}

void OnesQuestion::store(PolicyState& kept) const {
  for (const auto& [name, column] : kOnesColumns) core::write_column(kept, name, by_id_, memory_.*column);
}

}  // namespace berth::policy
