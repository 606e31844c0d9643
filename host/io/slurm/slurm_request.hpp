#pragma once

#include <string>
#include <vector>

#include "berth/job.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/slurm/slurm_cluster.hpp"
#include "host/io/slurm/slurm_records.hpp"

namespace berth::io {

/// The request of a waiting job.
struct SlurmRequest {
  std::string problem;  ///< why the model does not support it; empty when it does
  std::string gpu_type;
  Group group;
  bool flat = false;  ///< one-GPU members anywhere: a job with only such a group needs no group
  std::int64_t cpu_milli_per_gpu = 0, memory_bytes_per_gpu = 0;
};

/// Whether the job requests GPUs at all.
bool asks_for_gpus(const SlurmJob& job);

/// @param notes  Receives what is translated only in part.
SlurmRequest slurm_request(const SlurmJob& job, const SlurmCluster& cluster, bool has_blocks, ImportNotes& notes);

/// Sets partition, features, required and excluded nodes. @returns why they are not supported; empty when they are.
std::string set_slurm_constraints(const SlurmJob& from, SlurmCluster& cluster, Job& job);

}  // namespace berth::io
