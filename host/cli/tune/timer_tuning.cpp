#include "host/cli/tune/timer_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/request.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/sim/generate/changed_trace.hpp"

namespace berth::cli {
namespace {

constexpr const char* kTunedPolicy = "dally-manual";

[[noreturn]] void refuse_option(const char* option, const char* why) {
  throw InvalidArgument(fmt::format("--timers-by-demand: replays do not know {}; leave it out", fmt::format("{} ({})", option, why)));
}

void check_options(const SearchOptions& options, std::int64_t seeds) {
  if (options.run.estimates != "oracle" && options.run.estimates != "reactive") refuse_option("--estimates", "jobs report their work");
  if (!options.run.round.empty()) refuse_option("--round", "decisions are made at events");
  if (options.run.elastic) refuse_option("--elastic", "jobs keep their GPU count");
  if (options.iterations.fidelity != "rate" && options.iterations.fidelity != "tiers")
    refuse_option("--fidelity", "rate and tiers are known");
  if (!options.world.events.empty()) refuse_option("--events", "nothing fails");
  if (!options.world.failures.empty()) refuse_option("--failures", "nothing fails");
  if (!options.warm_up.empty()) refuse_option("--warm-up", "all jobs of the window count");
  if (options.jobs.virtual_clusters != "nodes") refuse_option("--virtual-clusters", "there are no queues");
  if (seeds != 1) refuse_option("--seeds", "nothing is drawn in a run");
}

std::int64_t metric_value(const DayMetric& metric, const sim::DelayOutcome& outcome, std::span<const std::int64_t> submit) {
  std::vector<std::int64_t> values;
  for (std::size_t j = 0; j < outcome.end_us.size(); ++j) {
    if (outcome.end_us[j] == kNever) continue;
    const TimeUs jct = outcome.end_us[j] - submit[j];
    const results::CompletedJob job{submit[j], jct, jct - outcome.held_us[j], outcome.start_us[j] - submit[j]};
    values.push_back(metric.of(job, submit.front()));
  }
  if (values.empty()) return 0;
  if (metric.percent == 0) {
    __int128 sum = 0;
    for (const std::int64_t value : values) sum += value;
    return static_cast<std::int64_t>(sum / static_cast<__int128>(values.size()));
  }
  const auto rank = (metric.percent * std::ssize(values) + 99) / 100 - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[to_index(rank)];
}

}  // namespace

TimerTask timer_task(const SearchOptions& options, std::int64_t seeds) {
  const std::string name = options.policy.substr(0, options.policy.find('@'));
  if (name != "dally")
    throw InvalidArgument(fmt::format("--timers-by-demand: it finds timers instead of those of 'dally', not of '{}'", echoed(name)));
  check_options(options, seeds);
  RequestOptions request;
  request.params = options.params;
  if (!options.placement.empty()) request.params.push_back("packing=" + options.placement);
  const std::vector<Request> requests = make_requests(request, {options.policy});
  const PolicyInfo& info = core::find_policy(kTunedPolicy).info;
  TimerTask task;
  task.policy = kTunedPolicy;
  core::Params params;
  const auto find = [&](const std::string& name_of) {
    return std::find_if(info.params.begin(), info.params.end(), [&](const PolicyParam& one) { return one.name == name_of; });
  };
  const auto set = [&](const std::string& param, const std::string& value) {
    params.emplace_back(param, value);
    task.policy += fmt::format("@{}={}", param, value);
  };
  set("lease_end", "keep");  // as replays have it
  for (const auto& [param, value] : requests.front().params) {
    if (param == "history") continue;  // of the tuner
    if (param == "lease_end" && value == "keep") continue;
    const auto known = find(param);
    const bool leases = param == "lease_s" || param == "leases";
    if (known == info.params.end() || param == "lease_end" || (!leases && value != known->default_value))
      throw InvalidArgument(fmt::format("--timers-by-demand: replays do not know {}={}; leave it out", param, echoed(value)));
    set(param, value);
    if (param == "leases") task.leases.common = value == "common";
  }
  task.leases.lease_us = core::pass_rules(core::find_policy(kTunedPolicy), params).delays->lease_us;
  return task;
}

ParamDomain timer_domain() {
  ParamDomain domain;
  domain.name = "timers";
  for (const std::int64_t leases : sim::timer_grid())
    domain.choices.push_back(leases == kNever ? "never" : fmt::format("{}", leases / 1'000'000));
  return domain;
}

TimerResult find_timers(const TimerTask& task, const SweepWorld& world, const DayMetric& metric, std::uint64_t seed,
                        std::int64_t most_decisions, const std::function<bool(std::int64_t)>& proceed) {
  const Trace& trace = world.jobs->trace();
  const std::vector<std::int64_t> classes = sim::demand_classes(trace);
  std::deque<sim::DelayProblem> problems;
  problems.emplace_back(trace, world.cluster, world.settings.overheads, classes);
  sim::TraceChanges blocks;
  const TimeUs span = trace.jobs.empty() ? 0 : trace.jobs.back().submit_us - trace.jobs.front().submit_us;
  blocks.block_us = block_days(span / kDayUs) * kDayUs;
  for (std::int64_t n = 0; n < task.resamples && span >= 2 * blocks.block_us; ++n) {
    const Trace drawn = sim::changed_trace(trace, blocks, problems.front().gpus(), (seed >> 1) + static_cast<std::uint64_t>(n));
    problems.emplace_back(drawn, world.cluster, world.settings.overheads, classes);
  }
  std::vector<const sim::DelayProblem*> each;
  each.reserve(problems.size());
  for (const sim::DelayProblem& one : problems) each.push_back(&one);
  sim::DelaySearch search;
  search.leases = task.leases;
  search.leases.most_decisions = most_decisions;
  search.settings = task.settings;
  search.seed = seed;
  search.with_jobs = true;
  search.value = [&](const sim::DelayProblem& problem, const sim::DelayOutcome& outcome) {
    const kernel::DelayReplayView view = problem.view();
    return metric_value(metric, outcome, {view.submit, to_index(view.n_jobs)});
  };
  search.proceed = proceed;
  TimerResult result;
  sim::DelaySearchResult found;
  core::Backends().run(task.backend, task.threads, result.note,
                       [&](core::PlacementBackend& backend) { found = sim::search_timers(each, search, backend); });
  result.settings = found.settings;
  result.lost = found.lost;
  if (found.best) result.timers = sim::timers_text(classes, found.best->times, task.leases.lease_us);
  return result;
}

}  // namespace berth::cli
