#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/export.hpp"
#include "berth/profile.hpp"
#include "berth/units.hpp"

namespace berth {

/// A stretch of a job's work in which it runs at other rates, as with another batch size.
struct TracePhase {
  std::int64_t from = 0;   ///< work done when it begins, in millionths of the unit of the job's profile
  std::string profile;     ///< name in `Trace::profiles`, of the same unit: work is counted alike in all phases
  std::int32_t batch = 0;  ///< samples of one step over all GPUs; 0: not stated
  bool operator==(const TracePhase&) const = default;
};
inline constexpr std::int32_t kMaxPhases = 1000;  ///< of one job

/// One job of a normalised trace. This is the truth: it never enters a snapshot.
struct TraceJob {
  std::string id;
  std::string user;
  std::string virtual_cluster;  ///< the nodes it may use, where nodes name theirs
  std::string queue;            ///< whose quotas hold for it, where the cluster has queues
  std::string model;
  std::string status;    ///< as the source says: "completed", "failed", ...; may be empty
  std::string gpu_type;  ///< empty: any
  TimeUs submit_us = 0;  ///< from the trace's start
  TimeUs run_us = 0;     ///< useful execution time at the requested GPU count
  TimeUs deadline_us = kNever;
  bool deadline_hard = false;       ///< nothing is gained after it
  std::int64_t deadline_value = 0;  ///< of meeting it
  TimeUs time_limit_us = kNever;
  std::int32_t priority = 0;  ///< larger is more important
  std::int64_t weight_ppm = 1'000'000;
  std::string profile;             ///< name in `Trace::profiles`, empty: none
  std::int64_t work = 0;           ///< millionths of the profile's unit; 0: not stated. `run_us` is what it takes where the source measured
  std::vector<TracePhase> phases;  ///< those after the first, which is of `profile` and `batch`; by `from`, each above 0 and below `work`
  bool elastic = false;            ///< may run at every GPU count for which its profile has a point
  std::int32_t gpus = 1;
  std::int32_t batch = 0;         ///< samples of one step over all GPUs; 0: not stated
  std::int64_t cpu_milli = 0;     ///< per job; 0: not stated
  std::int64_t memory_bytes = 0;  ///< per job; 0: not stated
  std::int64_t epochs_micro = 0;  ///< of which its work is made, in millionths: each is as much of it; 0: not stated
  std::int64_t dataset_size = 0;  ///< samples of an epoch; 0: not stated
  bool clamped = false;           ///< `run_us` was cut by whoever published the trace
  Extensions x;
  bool operator==(const TraceJob&) const = default;
};

/// Rows of the source that did not become jobs, by cause ("gpus <= 0", ...).
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

/// The profile of that name, or null.
inline const Profile* find_profile(const Trace& trace, std::string_view name) {
  for (const auto& [known, profile] : trace.profiles) {
    if (known == name) return &profile;
  }
  return nullptr;
}

}  // namespace berth
