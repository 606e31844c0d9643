#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/export.hpp"
#include "berth/job.hpp"
#include "berth/profile.hpp"
#include "berth/units.hpp"

namespace berth {

/// A part of a job's work during which it runs at other rates, for example with another batch size.
struct TracePhase {
  std::int64_t from = 0;          ///< work done when the phase begins, in millionths of the unit of the job's profile
  std::string profile;            ///< name in `Trace::profiles`, with the same unit in all phases
  std::int32_t batch = 0;         ///< samples of one step over all GPUs; 0: not stated
  std::int64_t epochs_micro = 0;  ///< epochs done when the phase begins, in millionths, stated by all phases of a job or by none
  bool operator==(const TracePhase&) const = default;
};
inline constexpr std::int32_t kMaxPhases = 1000;  ///< per job

/// One job of a normalised trace, with its true run time, which never enters a snapshot.
struct TraceJob {
  std::string id;
  std::string user;
  std::string virtual_cluster;  ///< limits the job to nodes of this virtual cluster, where nodes name theirs
  std::string queue;            ///< queue whose quotas apply to the job, where the cluster has queues
  std::string model;
  std::string status;    ///< as in the source: "completed", "failed", ...; may be empty
  std::string gpu_type;  ///< empty: any
  TimeUs submit_us = 0;  ///< since the start of the trace
  TimeUs run_us = 0;     ///< useful execution time at the requested GPU count
  TimeUs deadline_us = kNever;
  bool deadline_hard = false;                ///< the job is useless after the deadline
  std::int64_t deadline_value = 0;           ///< value of meeting the deadline
  std::vector<DeadlineStep> deadline_later;  ///< as Deadline::later
  TimeUs time_limit_us = kNever;
  std::int32_t priority = 0;          ///< larger is more important
  std::int32_t preemption_class = 0;  ///< as Preemption::preemption_class
  TimeUs grace_us = 0;                ///< as Preemption::grace_us
  std::int64_t weight_ppm = 1'000'000;
  std::string profile;    ///< name in `Trace::profiles`, empty: none
  std::int64_t work = 0;  ///< millionths of the profile's unit; 0: not stated. `run_us` is the time it took where the source measured it
  std::vector<TracePhase>
      phases;            ///< phases after the first, sorted by `from`, with 0 < `from` < `work`; `profile` and `batch` describe the first
  bool elastic = false;  ///< may run at every GPU count for which its profile has a point
  std::vector<std::pair<LevelRef, TimeUs>> longest_wait;  ///< as Constraints::longest_wait
  std::vector<Shape> shapes;  ///< alternatives in which it may run, the requested one with `gpus` first; empty: a flat gang of `gpus`
  std::int32_t gpus = 1;
  std::int32_t batch = 0;         ///< samples of one step over all GPUs; 0: not stated
  std::int64_t cpu_milli = 0;     ///< per job; 0: not stated
  std::int64_t memory_bytes = 0;  ///< per job; 0: not stated
  std::int64_t epochs_micro = 0;  ///< epochs in millionths, of equal work within a phase that states them, else throughout; 0: not stated
  std::int64_t dataset_size = 0;  ///< samples per epoch; 0: not stated
  bool clamped = false;           ///< the publisher of the trace cut `run_us`
  Extensions x;
  bool operator==(const TraceJob&) const = default;
};

/// Number of rows of the source that did not become jobs, by cause ("gpus <= 0", ...).
using DropCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Profiles that jobs share, by name.
using TraceProfiles = std::vector<std::pair<std::string, Profile>>;

/// A `berth.trace.v1` document: what every importer writes.
struct Trace {
  std::string name;
  std::string source;          ///< importer and file
  std::string origin_iso;      ///< instant of time 0, local to the trace; may be empty
  std::vector<TraceJob> jobs;  ///< by (submit, id)
  DropCounts dropped;
  std::vector<std::string> notes;  ///< what the importer assumed
  TraceProfiles profiles;
  Extensions x;
  bool operator==(const Trace&) const = default;
};

/// Returns the profile with that name, or null.
inline const Profile* find_profile(const Trace& trace, std::string_view name) {
  for (const auto& [known, profile] : trace.profiles) {
    if (known == name) return &profile;
  }
  return nullptr;
}

}  // namespace berth
