#include "berth/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/engine/waiting_order.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/state_view.hpp"
#include "host/forecast/forecast_times.hpp"
#include "host/forecast/futures.hpp"
#include "host/forecast/present.hpp"

namespace berth {
namespace {

std::string queue_of(const Job& job) { return job.queue.empty() ? job.virtual_cluster : job.queue; }

/// The jobs that are asked about. @throws InvalidArgument for one that is unknown or runs
std::set<std::int32_t> asked_jobs(const ClusterState& state, const std::vector<std::string>& ids) {
  std::set<std::int32_t> asked;
  for (const std::string& id : ids) {
    const std::int32_t job = state.find_job(id);
    if (job < 0) {
      std::vector<std::string_view> names;
      for (std::int32_t j = 0; j < state.job_index_end(); ++j) {
        if (state.job(j) != nullptr) names.push_back(state.job(j)->id);
      }
      throw InvalidArgument(fmt::format("no job '{}'{}", id.substr(0, 80), core::did_you_mean(id, names)));
    }
    if (state.job(job)->state == JobState::kRunning)
      throw InvalidArgument(fmt::format("job '{}' runs: only waiting jobs have a start to predict", id.substr(0, 80)));
    asked.insert(job);
  }
  return asked;
}

/// The same policy with discipline `conservative`; fifo where it has none.
Request by_limits(const ForecastRequest& asked, std::vector<std::string>& notes) {
  Request request = asked.request;
  const auto& params = core::find_policy(request.policy).info.params;
  if (std::none_of(params.begin(), params.end(), [](const PolicyParam& one) { return one.name == "discipline"; })) {
    notes.push_back(fmt::format("policy {} reserves nothing: starts by limits are those of fifo", request.policy));
    request.policy = "fifo";
    request.params.clear();
  }
  // No job joins others where starts are reserved.
  if (std::erase_if(request.params, [](const auto& p) { return p.first == "sharing" && p.second != "none"; }) > 0)
    notes.push_back("starts by limits are those without 'sharing'");
  std::erase_if(request.params, [](const auto& p) { return p.first == "discipline"; });
  request.params.emplace_back("discipline", "conservative");
  request.changes_only = false;
  request.progress = nullptr;
  return request;
}

/// What may be wrong with a history, for this state.
void doubt(const sim::Present& present, const JobHistory& history, const sim::Learned& learned, std::vector<std::string>& notes) {
  constexpr TimeUs kHour = 3'600 * kSecond;
  if (const TimeUs span = learned.arrivals.span_us(); span < sim::kDay && learned.arrivals.count() > 0)
    notes.push_back(
        fmt::format("the history covers {}, which comes again and again: a week tells days from nights", core::rough_duration(span)));
  std::set<std::string_view> known;
  for (const PastJob& job : history.jobs) known.insert({job.user, job.queue, job.virtual_cluster});
  known.erase(std::string_view());
  bool named = false, found = known.empty();
  for (const sim::PresentJob& one : present.jobs) {
    for (const std::string* name : {&one.job.user, &one.job.queue, &one.job.virtual_cluster}) {
      named = named || !name->empty();
      found = found || known.count(*name) != 0;
    }
  }
  if (named && !found) notes.emplace_back("the history has no user and no queue of these jobs: is it of another cluster?");
  std::int64_t gpus = 0;
  for (const Node& node : present.cluster->nodes) gpus += node.gpus;
  constexpr std::int64_t kFull = 1'500'000;  // millionths
  if (const std::int64_t load = learned.arrivals.load_ppm(gpus); load > kFull && learned.arrivals.span_us() > kHour)
    notes.push_back(fmt::format("jobs of the history ask for {:.1f} times the {} of the nodes that take jobs: queues of futures grow",
                                static_cast<double>(load) / 1e6, core::counted(gpus, "GPU")));
}

}  // namespace

Forecast forecast(const ClusterState& state, const JobHistory& history, const ForecastRequest& asked) {
  for (const ForecastLevels& levels : asked.levels) {
    constexpr std::int32_t kMostLevel = 100'000'000;
    if (levels.low_ppm < -kMostLevel || levels.high_ppm > kMostLevel || levels.low_ppm >= levels.high_ppm || levels.low_ppm > 1'000'000 ||
        levels.high_ppm < 0)
      throw InvalidArgument("levels: expected low < high, low at most 1 and high at least 0");
  }
  if (asked.node_failures && (asked.node_failures->mean_us < 0 || asked.node_failures->repair_us < 1))
    throw InvalidArgument("node_failures: expected a mean of 0 or more, and a repair above 0");
  if (asked.futures < 0) throw InvalidArgument("futures: expected 0 or more");
  const std::set<std::int32_t> wanted = asked_jobs(state, asked.jobs);
  Forecast out;
  out.revision = state.revision();
  out.now_us = state.now();
  out.policy = asked.request.policy;
  out.params = asked.request.params;
  out.seed = asked.request.seed;
  out.levels = asked.levels;
  out.notes = history.notes;

  // What the policy decides now, and the schedule in which no job ends before its limit.
  Engine engine;
  PolicyState memory = asked.policy_state;
  Request now = asked.request;
  now.changes_only = false;
  now.progress = nullptr;
  Plan plan, schedule;
  engine.decide(state, memory, now, plan);
  const Request limits = by_limits(asked, out.notes);
  PolicyState none;
  if (limits.policy == asked.request.policy) none = asked.policy_state;
  engine.decide(state, none, limits, schedule);
  std::unordered_map<std::int32_t, const Decision*> decided, scheduled;
  for (const Decision& d : plan.decisions) decided[d.job] = &d;
  for (const Decision& d : schedule.decisions) scheduled[d.job] = &d;

  std::vector<std::int32_t> rows;  // jobs of the answer
  std::map<std::string, std::pair<std::int32_t, std::int64_t>> ahead;
  std::int32_t all_ahead = 0;
  for (const std::int32_t job : core::waiting_order(state, asked.request, asked.policy_state)) {
    const Job& described = *state.job(job);
    auto& [jobs, gpus] = ahead[queue_of(described)];
    const std::int32_t asks = described.shapes.front().gpus;
    if (wanted.empty() || wanted.count(job) != 0) {
      JobForecast row;
      row.job = described.id;
      row.queue = queue_of(described);
      row.gpus = asks;
      row.position = jobs + 1;
      row.jobs_ahead = jobs;
      row.gpus_ahead = gpus;
      row.all_ahead = all_ahead;
      const Decision& d = *decided.at(job);
      if (d.action == Action::kWait) row.reason = render_reason(state, d.reason, job);
      const Decision& by = *scheduled.at(job);
      if (by.action == Action::kStart || by.action == Action::kReserve) {
        row.start_by_limits_us = by.action == Action::kStart ? state.now() : by.start_us;
        row.end_by_limits_us = by.finish_us;
      }
      rows.push_back(job);
      out.jobs.push_back(std::move(row));
    }
    ++jobs;
    gpus += asks;
    ++all_ahead;
  }
  const std::size_t dated = out.jobs.size();
  for (const Decision& d : plan.decisions) {
    if (d.action != Action::kReject || !(wanted.empty() || wanted.count(d.job) != 0)) continue;
    const Job& described = *state.job(d.job);
    JobForecast row;
    row.job = described.id;
    row.queue = queue_of(described);
    row.gpus = described.shapes.front().gpus;
    row.rejected = true;
    row.reason = render_reason(state, d.reason, d.job);
    out.jobs.push_back(std::move(row));
  }

  sim::Learned learned(history, state.now());
  out.past_jobs = learned.times.jobs();
  out.past_arrivals = learned.arrivals.count();
  out.past_withdrawn = learned.withdrawals.count();
  out.past_failures = learned.failures.count();
  if (!history.jobs.empty()) out.past_from_us = history.jobs.front().submit_us;
  if (asked.futures == 0 || dated == 0) return out;
  if (history.jobs.empty()) {
    out.notes.emplace_back("there is no history to draw run times from, so there is only the start by limits");
    return out;
  }
  if (out.past_jobs < kLeastPastJobs) {
    out.notes.push_back(
        fmt::format("{} past jobs have ended: at least {} are needed to draw run times, so there is only the start by limits",
                    out.past_jobs, kLeastPastJobs));
    return out;
  }
  constexpr std::int64_t kMostInstants = 100'000'000;
  if (static_cast<std::int64_t>(asked.futures) * static_cast<std::int64_t>(rows.size()) > kMostInstants) {
    throw InvalidArgument(fmt::format("futures: {} of {} are more than {} starts and ends: ask for {} at most",
                                      core::counted(asked.futures, "future"), core::counted(static_cast<std::int64_t>(rows.size()), "job"),
                                      kMostInstants, kMostInstants / static_cast<std::int64_t>(rows.size())));
  }
  sim::PresentOf present(state, rows, asked.policy_state);
  sim::FutureSettings settings;
  settings.request = asked.request;
  settings.futures = asked.futures;
  settings.within_us = asked.within_us;
  settings.progress = asked.progress;
  const auto nodes = static_cast<std::int64_t>(present.present().cluster->nodes.size());
  settings.node_failures = asked.node_failures.value_or(NodeFailures{learned.failures.mean_us(nodes)});
  out.node_failures = settings.node_failures;
  constexpr TimeUs kLeastBetween = 10 * kSecond;
  if (out.node_failures.mean_us > 0 && out.node_failures.mean_us / std::max<std::int64_t>(1, nodes) < kLeastBetween)
    throw InvalidArgument(fmt::format("node_failures: a node of {} would fail more often than each 10 s", nodes));
  out.horizon_us = settings.horizon_us;
  for (const std::string& note : present.notes()) out.notes.push_back(note);
  doubt(present.present(), history, learned, out.notes);
  const sim::FutureTimes times = sim::simulate_futures(present.present(), learned, settings, out.by_counts);
  out.futures = times.futures;
  if (out.futures == 0)
    out.notes.emplace_back("no future was done in time, so there is only the start by limits: the policy takes long to decide");
  for (std::size_t row = 0; row < dated; ++row)
    sim::summarise(times, static_cast<std::int32_t>(row), state.now(), asked.levels, out.jobs[row]);
  return out;
}

}  // namespace berth
