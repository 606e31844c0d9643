#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/trace_phases.hpp"
#include "host/sim/base/trace_form.hpp"
#include "host/sim/replay/progress_reports.hpp"
#include "host/sim/replay/replay.hpp"
#include "host/sim/replay/run_history.hpp"
#include "host/sim/replay/submitted_job.hpp"

namespace berth::sim {
namespace {

constexpr std::array<std::pair<std::string_view, EstimateSource>, 3> kSources{
    {{"history-mean", EstimateSource::kHistoryMean}, {"none", EstimateSource::kNone}, {"oracle", EstimateSource::kOracle}}};

/// The progress of a job through its phases.
struct Reached {
  std::size_t phase = 0;
  std::int64_t left = 0;  ///< of its work
  bool known = false;     ///< the rates of its phases are known
};

Reached reached_by(const TraceJob& job, const TraceForms& forms, const ReplayRunning& running, TimeUs ran_us) {
  Reached reached{0, job.work, false};
  const std::vector<core::WorkLeg> legs = forms.legs(job, running.gpus);
  for (std::size_t phase = 0; phase < legs.size() && legs[phase].worked <= ran_us; ++phase) {
    reached = {phase, core::left_after(legs[phase], ran_us), true};
  }
  return reached;
}

void set_running(Job& job, const ReplayRunning& running, const TraceForms& forms, const TraceForm& form, const Snapshot& cluster,
                 TimeUs at) {
  job.state = JobState::kRunning;
  job.last_assignment_us = running.start_us;
  job.progress.run_us = at - running.start_us;
  // An opaque profile does one second of work per second, and millionths are microseconds. Other profiles without a rate give nothing.
  job.progress.work_done = job.profile.kind == ProfileKind::kOpaque
                               ? job.progress.run_us
                               : std::min(core::mul_div(forms.rate(form, running.gpus), job.progress.run_us, kSecond), kScoreCeiling);
  const __int128 attained = static_cast<__int128>(job.progress.run_us) * job.shapes.front().gpus;
  job.progress.attained_gpu_us = static_cast<std::int64_t>(std::min<__int128>(attained, kScoreCeiling));
  job.allocation.shape = job.shapes[forms.shape_on(form, running.gpus)].id;
  std::int32_t member = 0;
  for (const PooledGpus& taken : running.gpus) {
    AllocationEntry entry;
    entry.member = member;
    entry.node = cluster.nodes[static_cast<std::size_t>(taken.node)].id;
    for (std::int32_t gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
      if ((taken.mask >> gpu & 1) != 0) entry.gpus.push_back(gpu);
    }
    member += static_cast<std::int32_t>(entry.gpus.size());
    job.allocation.entries.push_back(std::move(entry));
  }
}

/// Sets the epochs that a running job reports, as in a simulation with `--progress epochs`.
void report_epochs(Job& job, const TraceJob& traced, const ReplayRunning& running, const TraceForms& forms, const TraceForm& form,
                   const Reached& reached, TimeUs ran_us) {
  const ProgressReports reports("epochs", 0);
  if (!reports.of(traced)) return;
  if (form.profile == nullptr || traced.work == 0) {
    reports.put(job.progress, traced, running.job, ran_us, traced.run_us);
    return;
  }
  // Without a measured rate its work takes the time stated in the trace.
  const std::int64_t measured = forms.rate(form, running.gpus);
  const std::int64_t rate = measured > 0 ? measured : std::max<std::int64_t>(1, core::mul_div(traced.work, kSecond, traced.run_us));
  const std::int64_t left = reached.known ? reached.left : core::left_after({0, traced.work, rate, 0}, ran_us);
  reports.put(job.progress, traced, running.job, traced.work - left, traced.work);
}

}  // namespace

EstimateSource estimate_source(std::string_view name) {
  for (const auto& [known, source] : kSources) {
    if (known == name) return source;
  }
  throw InvalidArgument(fmt::format("unknown source of estimates '{}'; known: history-mean, none, oracle", name));
}

std::string_view name(EstimateSource source) { return kSources.at(static_cast<std::size_t>(source)).first; }

Snapshot snapshot_at(const Trace& trace, const Snapshot& cluster, TimeUs at, EstimateSource estimates, bool elastic,
                     SnapshotAccount* account) {
  require_queues(facts_of(trace), cluster);
  const Replay replay = replay_fifo(trace, cluster, at);
  const auto job_of = [&](std::int32_t j) -> const TraceJob& { return trace.jobs[static_cast<std::size_t>(j)]; };
  Snapshot snapshot = cluster;
  snapshot.name = trace.name;
  snapshot.origin_iso = trace.origin_iso;
  snapshot.now_us = at;
  snapshot.reservations.clear();
  snapshot.history.clear();
  snapshot.jobs.clear();

  RunHistory history;
  for (const ReplayFinished& one : replay.finished) {
    const TraceJob& job = job_of(one.job);
    history.add(job.user, job.gpus, one.run_us);
    snapshot.history.push_back({job.id, job.user, job.virtual_cluster, job.gpus, job.submit_us, one.run_us, job.status});
  }
  history.finish();

  const Demanded demanded = Demanded::not_modelled(cluster);
  const TraceForms forms(trace.profiles, cluster, elastic);
  std::vector<std::int32_t> unmeasured;
  const auto with_estimate = [&](std::int32_t j, const TraceForm& form, TimeUs ran_us, const Reached& reached) {
    Job job = submitted_job(job_of(j), form, demanded);
    if (form.profile == nullptr && !job_of(j).profile.empty()) unmeasured.push_back(j);
    if (estimates == EstimateSource::kHistoryMean) job.estimate = history.estimate(job.user, job.shapes.front().gpus, ran_us);
    if (estimates == EstimateSource::kOracle) {
      job.estimate.run_us = job_of(j).run_us;
      job.estimate.source = "oracle";
      if (form.profile != nullptr) job.progress.work_total = job_of(j).work;
      if (form.profile != nullptr && !job_of(j).phases.empty()) {
        const TraceJob& traced = job_of(j);
        const std::int64_t left = left_at_present_rate(traced, reached.phase, reached.left, forms.asked_rates(traced));
        job.progress.work_total = std::min(core::saturating_add(traced.work - reached.left, left), kScoreCeiling);
      }
    }
    return job;
  };
  auto running = replay.running.begin();
  auto waiting = replay.waiting.begin();
  while (running != replay.running.end() || waiting != replay.waiting.end()) {  // merged: by (submit, id)
    if (waiting == replay.waiting.end() || (running != replay.running.end() && running->job < *waiting)) {
      const TraceJob& traced = job_of(running->job);
      const TimeUs ran_us = at - running->start_us;
      const Reached reached = traced.phases.empty() ? Reached{} : reached_by(traced, forms, *running, ran_us);
      const TraceForm form = forms.of(traced, reached.phase);
      Job job = with_estimate(running->job, form, ran_us, reached);
      set_running(job, *running, forms, form, cluster, at);
      if (reached.known) job.progress.work_done = traced.work - reached.left;
      report_epochs(job, traced, *running++, forms, form, reached, ran_us);
      snapshot.jobs.push_back(std::move(job));
    } else {
      snapshot.jobs.push_back(with_estimate(*waiting, forms.of(job_of(*waiting)), 0, {0, job_of(*waiting).work, false}));
      ++waiting;
    }
  }
  const auto is_import = [](const auto& field) { return field.first == "x_import"; };
  snapshot.x.erase(std::remove_if(snapshot.x.begin(), snapshot.x.end(), is_import), snapshot.x.end());  // fields of the cluster's own file
  std::string import = fmt::format(R"({{"replay":"fifo, head of line, whole nodes","estimates":"{}","rejected":{})", name(estimates),
                                   replay.rejected.size());
  // Jobs whose profile has none of the cluster's GPU types.
  if (!unmeasured.empty()) import += fmt::format(R"(,"without_profile":{})", unmeasured.size());
  snapshot.x.emplace_back("x_import", import + "}");
  if (account != nullptr) *account = {replay.rejected, std::move(unmeasured)};
  return snapshot;
}

}  // namespace berth::sim
