#pragma once

#include <cstdint>
#include <string>

/// Output of Slurm 22.05 for a cluster in use, with every field of a record and its white space, so that parsing has
/// realistic work.
namespace berth::bench {

/// `squeue --json`: `jobs` jobs, of which 45 % run, as far as the nodes hold them.
std::string squeue_json(std::int64_t nodes, std::int64_t jobs);
/// `sinfo --json` of nodes with eight GPUs.
std::string sinfo_json(std::int64_t nodes);
/// `scontrol show topology`: leaves of 32 nodes below one spine.
std::string show_topology(std::int64_t nodes);

}  // namespace berth::bench
