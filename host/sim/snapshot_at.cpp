#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "berth/error.hpp"
#include "host/sim/replay.hpp"
#include "host/sim/run_history.hpp"

namespace berth::sim {
namespace {

constexpr std::array<std::pair<std::string_view, EstimateSource>, 3> kSources{
    {{"history-mean", EstimateSource::kHistoryMean}, {"none", EstimateSource::kNone}, {"oracle", EstimateSource::kOracle}}};

/// Which demands beside GPUs the nodes can answer for. The replay did not count cores and memory, so on nodes that model them its running
/// jobs might hold more than there is; there the demands are left out.
struct Unmodelled {
  bool cpu = true, memory = true;
  explicit Unmodelled(const Snapshot& cluster) {
    for (const Node& node : cluster.nodes) {
      cpu = cpu && node.cpu_milli == kUnlimited;
      memory = memory && node.memory_bytes == kUnlimited;
    }
  }
};

std::int64_t per_gpu(std::int64_t whole, std::int32_t gpus) { return (whole + gpus - 1) / gpus; }

/// What is known of a job when it is submitted.
Job submitted(const TraceJob& from, const Unmodelled& unmodelled) {
  Job job;
  job.id = from.id;
  job.user = from.user;
  job.virtual_cluster = from.virtual_cluster;
  job.submit_us = from.submit_us;
  job.time_limit_us = from.time_limit_us;
  job.deadline.at_us = from.deadline_us;
  Shape shape;
  shape.id = from.gpu_type.empty() ? fmt::format("{}", from.gpus) : fmt::format("{}x{}", from.gpus, from.gpu_type);  // as `gpus: N` expands
  shape.gpu_type = from.gpu_type;
  shape.gpus = from.gpus;
  shape.local_batch = from.batch > 0 ? static_cast<std::int32_t>(per_gpu(from.batch, from.gpus)) : 0;
  job.shapes.push_back(std::move(shape));
  if (unmodelled.cpu) job.constraints.cpu_milli_per_gpu = per_gpu(from.cpu_milli, from.gpus);
  if (unmodelled.memory) job.constraints.memory_bytes_per_gpu = per_gpu(from.memory_bytes, from.gpus);
  job.profile.model = from.model;
  return job;
}

void set_running(Job& job, const ReplayRunning& running, const Snapshot& cluster, TimeUs at) {
  job.state = JobState::kRunning;
  job.last_assignment_us = running.start_us;
  job.progress.run_us = at - running.start_us;
  job.progress.work_done = job.progress.run_us;  // an opaque profile does one second of work a second: millionths are microseconds
  const __int128 attained = static_cast<__int128>(job.progress.run_us) * job.shapes.front().gpus;
  job.progress.attained_gpu_us = static_cast<std::int64_t>(std::min<__int128>(attained, kScoreCeiling));
  job.allocation.shape = job.shapes.front().id;
  std::int32_t member = 0;
  for (const TakenGpus& taken : running.gpus) {
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

}  // namespace

EstimateSource estimate_source(std::string_view name) {
  for (const auto& [known, source] : kSources) {
    if (known == name) return source;
  }
  throw InvalidArgument(fmt::format("unknown source of estimates '{}'; known: history-mean, none, oracle", name));
}

std::string_view name(EstimateSource source) { return kSources.at(static_cast<std::size_t>(source)).first; }

Snapshot snapshot_at(const Trace& trace, const Snapshot& cluster, TimeUs at, EstimateSource estimates) {
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
    history.add(job.user, job.gpus, job.run_us);
    snapshot.history.push_back({job.id, job.user, job.virtual_cluster, job.gpus, job.submit_us, job.run_us, job.status});
  }
  history.finish();

  const Unmodelled unmodelled(cluster);
  const auto with_estimate = [&](std::int32_t j, TimeUs ran_us) {
    Job job = submitted(job_of(j), unmodelled);
    if (estimates == EstimateSource::kHistoryMean) job.estimate = history.estimate(job.user, job.shapes.front().gpus, ran_us);
    if (estimates == EstimateSource::kOracle) {
      job.estimate.run_us = job_of(j).run_us;
      job.estimate.source = "oracle";
    }
    return job;
  };
  auto running = replay.running.begin();
  auto waiting = replay.waiting.begin();
  while (running != replay.running.end() || waiting != replay.waiting.end()) {  // merged: by (submit, id)
    if (waiting == replay.waiting.end() || (running != replay.running.end() && running->job < *waiting)) {
      Job job = with_estimate(running->job, at - running->start_us);
      set_running(job, *running++, cluster, at);
      snapshot.jobs.push_back(std::move(job));
    } else {
      snapshot.jobs.push_back(with_estimate(*waiting++, 0));
    }
  }
  const auto is_import = [](const auto& field) { return field.first == "x_import"; };
  snapshot.x.erase(std::remove_if(snapshot.x.begin(), snapshot.x.end(), is_import), snapshot.x.end());  // of the cluster's own file
  snapshot.x.emplace_back("x_import", fmt::format(R"({{"replay":"fifo, head of line, whole nodes","estimates":"{}","declined":{}}})",
                                                  name(estimates), replay.declined.size()));
  return snapshot;
}

}  // namespace berth::sim
