#include "host/core/policy_api/objective.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/policy_api/flow_time.hpp"
#include "host/core/policy_api/sia_shapes.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Objective;

constexpr ObjectiveInfo kObjectives[] = {
    {.name = "cost",
     .rule = "speed for each unit of money that the GPUs cost",
     .source = "Gavel (OSDI'20), cost policy",
     .objective = Objective::kCost},
    {.name = "finish_time_fairness",
     .rule = "run time saved over waiting, as a part of the job's run time alone",
     .source = "Themis (NSDI'20), Gavel; the sum is ours",
     .objective = Objective::kFinishTimeFairness},
    {.name = "flow_time",
     .rule = "flow time of all jobs that a job's speed saves",
     .source = "heSRPT (Berg, Vesilo and Harchol-Balter 2020), extended to shapes: ours",
     .objective = Objective::kFlowTime},
    {.name = "goodput",
     .rule = "power mean of speed x statistical efficiency",
     .source = "Pollux (OSDI'21)",
     .objective = Objective::kGoodput},
    {.name = "sia",
     .rule = "speed x statistical efficiency over the least of the job's shapes, to the power -0.5",
     .source = "Sia (SOSP'23)",
     .objective = Objective::kSia},
    {.name = "sruf",
     .rule = "smallest remaining GPU-time of what runs",
     .source = "ONES (SC'21); its fill rule as a reward for each GPU at work is ours",
     .objective = Objective::kSruf},
    {.name = "throughput",
     .rule = "speed over that of the requested shape",
     .source = "Gavel (OSDI'20), max-sum-throughput",
     .objective = Objective::kThroughput},
};

constexpr std::int64_t kMostSpeed = 1'000'000 * kernel::kSpeedUnit;

// efficiency(M) over efficiency(M0) = 1, M0 the batch of the requested shape: (phi + M0) / (phi + M), phi = M0 v / q.
// Pollux (OSDI'21), AdaptDL's goodput; exact in integers: (v + q) / (v + q M / M0).
std::int64_t efficient(const Job& job, const Shape& shape, std::int64_t speed) {
  const Wide q = job.progress.grad_sqr_micro, v = job.progress.grad_var_micro;
  if (q <= 0 || v < 0) return speed;
  const Shape& first = job.shapes.front();
  const Wide asked = Wide{first.local_batch} * first.gpus;
  const Wide batch = Wide{shape.local_batch} * shape.gpus;
  if (asked <= 0 || batch <= 0) return speed;
  return saturate(speed * (v + q) / (v + q * batch / asked));
}

// In kSpeedUnit. Where no rate is known of the options that a job has, all are equally fast.
std::int64_t speed_in(const JobRecord& record, std::int32_t option, std::int64_t reference, bool efficiently) {
  const std::int64_t rate = record.option_rate[to_index(option)];
  if (reference > 0 && rate <= 0) return 0;
  const std::int64_t speed = reference == 0 ? kernel::kSpeedUnit : mul_div(rate, kernel::kSpeedUnit, reference);
  const Shape& shape = record.job->shapes[to_index(record.options[to_index(option)].shape)];
  // What is known to be slow is not unknown.
  return std::clamp<std::int64_t>(efficiently ? efficient(*record.job, shape, speed) : speed, 1, kMostSpeed);
}

TimeUs run_at(std::int64_t speed, TimeUs alone) {
  // Nearly always it fits, and a division of 64 bits is much faster.
  const bool fits = alone <= INT64_MAX / kernel::kSpeedUnit;
  return std::clamp<TimeUs>(fits ? alone * kernel::kSpeedUnit / speed : mul_div(alone, kernel::kSpeedUnit, speed), 1, kMaxTimeUs);
}

// 0: no rate of the options is known. @param considered  [options] 0: does not count; empty: all count
std::int64_t reference_rate(const StateImpl& s, std::int32_t job, std::span<const ChoiceOption> options,
                            std::span<const std::uint8_t> considered) {
  const JobRecord& record = s.jobs[to_index(job)];
  std::int64_t best = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (considered.empty() || considered[i] != 0) best = std::max(best, record.option_rate[to_index(options[i].option)]);
  }
  for (std::size_t o = 0; best > 0 && o < record.options.size(); ++o) {
    if (record.options[o].shape == 0 && record.option_rate[o] > 0) return record.option_rate[o];
  }
  return best;
}

TimeUs change_cost(const Costs& costs, bool running, bool current, bool restarted) {
  if (!running) return restarted ? restart_cost(costs) : 0;
  if (current) return 0;
  return resize_cost(costs);
}

// The mean time between the job's changes so far, as if it had had kAssumedChanges more, a horizon apart.
TimeUs time_until_change(TimeUs run, std::int32_t changes, TimeUs horizon) {
  constexpr std::int64_t kAssumedChanges = 4;
  return std::max<TimeUs>(1, saturating_add(run, saturating_mul(kAssumedChanges, horizon)) / (std::int64_t{changes} + kAssumedChanges));
}

// Whether the value of an option does not change with time alone.
bool is_timeless(const ChoiceSettings& settings) {
  const bool of_speed =
      settings.objective == Objective::kGoodput || settings.objective == Objective::kThroughput || settings.objective == Objective::kCost;
  return of_speed && !has_term(settings.terms, kernel::PlanTerm::kTardiness);
}

}  // namespace

std::span<const ObjectiveInfo> objectives() { return kObjectives; }

std::string_view objective_name(kernel::Objective objective) {
  for (const ObjectiveInfo& one : kObjectives) {
    if (one.objective == objective) return one.name;
  }
  return "";
}

// Sia divides by the lowest goodput of a job's row, over every configuration of the cluster, whichever jobs hold the
// GPUs now. Otherwise a job's value for fast GPUs would be lower only because its slow ones are taken. Finish-time
// fairness does the same with its reference.
std::int64_t ShapeValues::least_speed(const StateImpl& s, const ChoiceSettings& settings, const OptionsToValue& of_job,
                                      std::int64_t reference) {
  const std::span<const ChoiceOption> options = of_job.options;
  const std::int32_t job = options.front().job;
  const JobRecord& record = s.jobs[to_index(job)];
  all_.clear();
  std::size_t fits = 0;
  for (std::int32_t o = 0; o < static_cast<std::int32_t>(record.options.size()); ++o) {
    const kernel::DemandRow& demand = s.demands.rows()[to_index(record.options[to_index(o)].demand)];
    if (fits < options.size() && options[fits].option == o) {
      all_.push_back(options[fits++]);
    } else if (demand.gpus >= 1 && demand.gpus <= type_gpus_[to_index(demand.gpu_type)] &&
               of_job.impossible[to_index(of_job.all_begin[job] + o)] == 0) {
      all_.push_back({job, o, demand.gpu_type, static_cast<std::int32_t>(demand.gpus), false});
    }
  }
  considered_.assign(all_.size(), 1);
  if (settings.sia_shapes) mark_sia_shapes(s, job, s.job.running[to_index(job)] != 0 && of_job.lost[to_index(job)] == 0, all_, considered_);
  std::int64_t least = kMostSpeed;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const std::int64_t speed = speed_in(record, all_[i].option, reference, settings.objective == Objective::kSia);
    if (considered_[i] != 0 && speed > 0) least = std::min(least, speed);
  }
  return least;
}

/// @returns the options of the previous call
ShapeValues::ValuedOptions ShapeValues::begin_call(const ChoiceSettings& settings, std::size_t jobs,
                                                   std::span<const ChoiceOption> options) {
  const Rules rules{settings.objective, settings.power, settings.horizon, settings.terms, settings.sia_shapes};
  if (rules != rules_) before_.clear();
  rules_ = rules;
  ++call_;
  before_.resize(jobs);
  ValuedOptions previous = std::exchange(last_, std::move(spare_));
  last_.options.assign(options.begin(), options.end());
  last_.shapes.resize(options.size());
  last_.unshifted.resize(options.size());
  jobs_.clear();
  job_of_.resize(options.size());
  return previous;
}

/// Copies speed, cost and value of a job's options, if they are those of the previous call.
bool ShapeValues::copy_from_before(const ValuedOptions& previous, const Before& before, std::span<const ChoiceOption> options,
                                   std::size_t first) {
  const auto begin = static_cast<std::ptrdiff_t>(before.first), end = static_cast<std::ptrdiff_t>(before.last);
  if (!std::equal(options.begin(), options.end(), previous.options.begin() + begin, previous.options.begin() + end)) return false;
  std::copy(previous.shapes.begin() + begin, previous.shapes.begin() + end, last_.shapes.begin() + static_cast<std::ptrdiff_t>(first));
  std::copy(previous.unshifted.begin() + begin, previous.unshifted.begin() + end,
            last_.unshifted.begin() + static_cast<std::ptrdiff_t>(first));
  return true;
}

void ShapeValues::set(const StateImpl& s, const ChoiceSettings& settings, const OptionsToValue& asked, std::vector<std::int64_t>& values) {
  const std::span<const ChoiceOption> options = asked.options;
  ValuedOptions previous = begin_call(settings, s.jobs.size(), options);
  kernel::ObjectiveTerms& terms = terms_;
  terms = {settings.objective, settings.power, std::max<TimeUs>(1, settings.horizon), 1, 0, 0};
  const bool restart = has_term(settings.terms, kernel::PlanTerm::kRestart);
  const bool timeless = is_timeless(settings), ranked = settings.objective == Objective::kFlowTime;
  ranked_jobs_.clear();
  job_priority_.clear();
  for (std::size_t i = 0; ranked && i < options.size(); ++i) job_priority_.push_back(s.job.priority[to_index(options[i].job)]);
  priorities_.set(job_priority_);
  std::int32_t most_gpus = 1;
  type_gpus_.assign(s.gpu_types.size(), 0);
  for (std::size_t n = 0; n < s.node.type.size(); ++n) type_gpus_[to_index(s.node.type[n])] += std::popcount(s.node.usable[n]);
  const bool efficiently = ranked || settings.objective == Objective::kGoodput || settings.objective == Objective::kSia;
  for (std::size_t first = 0, last = 0; first < options.size(); first = last) {
    const std::int32_t job_index = options[first].job;
    while (last < options.size() && options[last].job == job_index) ++last;
    const std::span<const ChoiceOption> own = options.subspan(first, last - first);
    const JobRecord& record = s.jobs[to_index(job_index)];
    const Job& job = *record.job;
    const bool running = s.job.running[to_index(job_index)] != 0 && asked.lost[to_index(job_index)] == 0;
    const TimeUs run_now = s.run_now(job_index);
    Before& before = before_[to_index(job_index)];
    const bool same = !settings.sia_shapes && before.call + 1 == call_ && before.version == record.version &&
                      before.restarted == (run_now > 0) && copy_from_before(previous, before, own, first);
    considered_.clear();
    if (settings.sia_shapes) mark_sia_shapes(s, job_index, running, own, considered_);
    const std::int64_t reference = same ? before.reference : reference_rate(s, job_index, own, considered_);
    before = {call_, record.version, first, last, reference, run_now > 0};
    const WorkLeft work = timeless ? WorkLeft{} : work_left(s, job_index, reference);
    const TimeUs known = work.source == WorkSource::kExact ? s.run_or_limit(job_index, reference) : run_of(work, s, job_index, reference);
    const TimeUs left = known == kNever ? terms.horizon : known;  // the rate is not known
    // Under `flow_time` weights are in the ranks.
    kernel::JobTerms of_job{ranked ? 1'000'000 : job.weight_ppm, 1, saturating_add(run_now, left)};
    for (std::size_t i = first; i < last; ++i) {
      const ChoiceOption& one = options[i];
      kernel::ShapeTerms& shape = last_.shapes[i];
      if (!same) {
        shape.gpus = one.gpus;
        shape.speed = considered_.empty() || considered_[i - first] != 0 ? speed_in(record, one.option, reference, efficiently) : 0;
        shape.cost = !restart ? 0 : change_cost(job.costs, running, one.current, run_now > 0);
        shape.hourly_price = std::max<std::int64_t>(1, s.gpu_types[to_index(one.type)].price_micro_per_hour / 1000);
      }
      shape.run = shape.speed == 0 ? left : run_at(shape.speed, left);
      if (shape.speed > 0) terms.longest = std::max(terms.longest, shape.run);
      most_gpus = std::max(most_gpus, one.gpus);
    }
    if (settings.objective == Objective::kSia || settings.objective == Objective::kFinishTimeFairness) {
      of_job.least_speed = least_speed(s, settings, {own, asked.all_begin, asked.impossible, asked.lost}, reference);
      for (std::size_t i = first; i < last; ++i) {
        if (last_.shapes[i].speed > 0) of_job.least_speed = std::min(of_job.least_speed, last_.shapes[i].speed);
      }
      of_job.slowest = run_at(of_job.least_speed, left);
    }
    of_job.age = std::max<TimeUs>(0, s.now - job.submit_us);
    of_job.restarts = job.progress.restarts;
    if (has_term(settings.terms, kernel::PlanTerm::kTardiness) && job.deadline.at_us != kNever) {
      of_job.due = s.job.deadline[to_index(job_index)] - s.now;
      of_job.late_if_waiting = std::max<TimeUs>(0, saturating_add(terms.horizon, left) - of_job.due);
    }
    if (ranked) {
      ranked_jobs_.push_back({work, priorities_.weight(job)});
      if (running) {
        of_job.stands = time_until_change(run_now, job.progress.restarts, terms.horizon);
      } else {
        // The first start takes as long as a restart does.
        if (restart && run_now == 0) of_job.first_start = job.costs.restart_us;
        of_job.mean_run = mean_over_median(work.source);
      }
    }
    std::fill_n(job_of_.begin() + static_cast<std::ptrdiff_t>(first), own.size(), static_cast<std::int32_t>(jobs_.size()));
    jobs_.push_back(of_job);
    for (std::size_t i = first; timeless && !same && i < last; ++i)
      last_.unshifted[i] = kernel::unshifted_value(terms, of_job, last_.shapes[i]);
  }
  if (ranked) rank_jobs(options);
  while (((Wide{most_gpus} * (terms.longest + 1)) >> terms.sruf_shift) > kernel::kMaxPriceValue) ++terms.sruf_shift;
  // Some of the other objectives compare with the longest of all.
  for (std::size_t i = 0; !timeless && i < options.size(); ++i)
    last_.unshifted[i] = kernel::unshifted_value(terms, job_of(i), last_.shapes[i]);
  spare_ = std::move(previous);
  add_up(s, settings, options, values);
}

// Sets the terms of `flow_time`.
void ShapeValues::rank_jobs(std::span<const ChoiceOption> options) {
  std::int64_t gpus = 0;
  for (const std::int64_t of_type : type_gpus_) gpus += of_type;
  ranks_.set(ranked_jobs_, gpus);
  const std::span<const kernel::ShapeTerms> shapes(last_.shapes);
  for (std::size_t first = 0, last = 0, j = 0; first < options.size(); first = last, ++j) {
    while (last < options.size() && options[last].job == options[first].job) ++last;
    ranks_.describe(j, shapes.subspan(first, last - first), jobs_[j]);
  }
}

// In the unit of a choice, with the losses by waiting and changing.
void ShapeValues::add_up(const StateImpl& s, const ChoiceSettings& settings, std::span<const ChoiceOption> options,
                         std::vector<std::int64_t>& values) {
  kernel::ObjectiveTerms& terms = terms_;
  std::int64_t most = 0;
  for (const std::int64_t value : last_.unshifted) most = std::max(most, value);
  while ((most >> terms.shift) > kernel::kMaxPriceValue) ++terms.shift;
  values.resize(options.size());
  for (std::size_t i = 0; i < options.size(); ++i) values[i] = kernel::in_choice(terms, last_.unshifted[i]);
  // A running job that waits loses the cost of saving, restarting and restoring. So each of its shapes gains this cost over
  // waiting. Its current shape gains one unit more, so that no job changes its shape without a benefit.
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!options[i].current) continue;
    kernel::ShapeTerms displaced = last_.shapes[i];
    displaced.cost = displace_cost(s.jobs[to_index(options[i].job)].job->costs);
    // Sia's program includes the cost of a change, not that of waiting.
    const bool counts = settings.objective != Objective::kSia && has_term(settings.terms, kernel::PlanTerm::kRestart);
    const std::int64_t loss = !counts ? 0 : values[i] - kernel::shape_value(terms, job_of(i), displaced);
    const auto capped = [](std::int64_t value) { return std::clamp(value, -kernel::kMaxPriceValue, kernel::kMaxPriceValue); };
    // Not options in which it cannot run: waiting would be no worse.
    const auto add = [&](std::size_t k) { values[k] = last_.shapes[k].speed > 0 ? capped(values[k] + loss) : values[k]; };
    for (std::size_t k = i; k < options.size() && options[k].job == options[i].job; ++k) add(k);
    for (std::size_t k = i; k > 0 && options[k - 1].job == options[i].job; --k) add(k - 1);
    values[i] = capped(values[i] + 1);
  }
}

std::int64_t ShapeValues::loss(std::size_t option, const kernel::ShapeTerms& instead) const {
  const auto value = [&](const kernel::ShapeTerms& shape) {
    return std::max<std::int64_t>(0, kernel::shape_value(terms_, job_of(option), shape));
  };
  return std::max<std::int64_t>(0, value(last_.shapes[option]) - value(instead));
}

}  // namespace berth::core
