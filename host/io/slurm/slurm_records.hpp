#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "host/io/slurm/slurm_tres.hpp"

/// The content of Slurm's documents before translation: instants in Unix seconds, durations in Slurm's own units.
namespace berth::io {

/// A number that Slurm left unset, and one that it calls infinite.
inline constexpr std::int64_t kSlurmUnset = -1;
inline constexpr std::int64_t kSlurmInfinite = std::numeric_limits<std::int64_t>::max();
/// The largest 32-bit number that is a value: in older data parsers the two above it mean "not set" and "infinite".
inline constexpr std::int64_t kSlurmLast32 = 4'294'967'293;

struct SlurmNode {
  std::string name;
  std::vector<std::string> states;  ///< base state and flags, in capitals
  std::vector<std::string> partitions;
  std::vector<std::string> features, active_features;
  std::string gpu_type;
  std::int32_t gpus = 0;
  std::uint64_t other_types = 0;  ///< GPUs of the node that are of another type than `gpu_type`
  std::uint64_t used = 0;         ///< GPUs in use by index
  bool used_beyond = false;       ///< some of these indices are above 63
  std::int64_t used_count = 0;    ///< GPUs in use, with or without indices
  bool drained_gpus = false;
  std::int64_t cpus = 0, effective_cpus = kSlurmUnset, alloc_cpus = 0;
  std::int64_t memory_mib = 0, reserved_memory_mib = 0, alloc_memory_mib = 0;
};

/// Ascending, so that the greatest of several states of one job counts.
enum class SlurmJobState : std::uint8_t { kFinished, kPending, kRunning, kSuspended, kOther, kCompleting };

struct SlurmJob {
  const char* at = nullptr;  ///< position in the text
  std::int64_t id = 0, priority = 0;
  std::int64_t array_id = 0, array_task = kSlurmUnset, array_limit = 0;
  std::string array_tasks;  ///< of a pending record for several tasks
  std::int64_t het_id = 0, het_offset = 0;
  SlurmJobState state = SlurmJobState::kFinished;
  std::string state_name, reason, partition, account, qos, user, reservation, dependency, licenses, features, prefer;
  std::int64_t submit = 0, eligible = 0, start = 0, end = 0, suspended_at = 0, ran_before_s = 0, deadline = 0;
  std::int64_t time_limit_min = kSlurmUnset;
  std::int64_t restarts = 0;
  bool requeue = true, contiguous = false, exclusive = false;
  std::int64_t tasks = 1, node_count = 1, max_nodes = 0, switches = 0, switch_wait_s = 0, segment = 0;
  std::vector<std::string> nodes, required_nodes, excluded_nodes;
  GpuCount per_node, per_job, per_task, per_socket;
  std::int64_t cpus_per_gpu = 0;
  Tres asked, held;
  struct NodeGpus {
    std::int64_t count = 0;
    std::uint64_t indices = 0;
    bool indexed = false, beyond = false;  ///< as in Gres
  };
  std::vector<NodeGpus> node_gpus;  ///< as `nodes`, or empty
};

struct SlurmData {
  std::vector<SlurmJob> jobs;
  std::vector<SlurmNode> nodes;
  bool has_jobs = false, has_nodes = false;
  std::int64_t now = 0;  ///< the latest past instant
};

/// "17", "12_4" for a task of an array, "12" for all of a heterogeneous job.
std::string slurm_job_name(const SlurmJob& job);

}  // namespace berth::io
