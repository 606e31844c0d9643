#pragma once

#include <string>
#include <vector>

#include "berth/job.hpp"
#include "host/io/slurm_cluster.hpp"
#include "host/io/slurm_notes.hpp"
#include "host/io/slurm_records.hpp"

namespace berth::io {

/// What a waiting job asks for.
struct SlurmRequest {
  std::string problem;  ///< why the model cannot express it, empty when it can
  std::string gpu_type;
  Group group;
  bool flat = false;  ///< one-GPU members anywhere: a job of such a group alone needs no group
  std::int64_t cpu_milli_per_gpu = 0, memory_bytes_per_gpu = 0;
};

/// Whether the job asks for GPUs at all.
bool asks_for_gpus(const SlurmJob& job);

/// @param notes  Takes what is kept only in part.
SlurmRequest slurm_request(const SlurmJob& job, const SlurmCluster& cluster, bool has_blocks, SlurmNotes& notes);

/// Partition, features, required and excluded nodes. @returns why they cannot be expressed, empty when they can.
std::string set_slurm_constraints(const SlurmJob& from, SlurmCluster& cluster, Job& job);

}  // namespace berth::io
