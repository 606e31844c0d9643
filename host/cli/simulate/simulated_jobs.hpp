#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_stream.hpp"
#include "host/io/traces/virtual_cluster_queues.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"
#include "host/sim/simulation.hpp"

namespace berth::cli {

struct JobOptions {
  std::vector<std::string> traces;
  std::string format = "trace";
  bool stream = false;
  std::string workload, load;
  std::string virtual_clusters = "nodes";  ///< of io::kVirtualClusterUses
  std::int64_t jobs = 0;
};

/// All but `--stream`.
void add_job_options(CLI::App& app, JobOptions& options);
void add_stream_option(CLI::App& app, JobOptions& options);

/// The jobs of `berth simulate`: a trace in memory, a trace that is read during the simulation, or generated jobs.
class SimulatedJobs {
 public:
  /// Reads the input. @throws InvalidArgument, InputError, EnvironmentError.
  explicit SimulatedJobs(const JobOptions& options);
  /// Jobs in memory.
  SimulatedJobs(io::Imported imported, io::VirtualClusterUse virtual_clusters);

  const io::Imported& imported() const { return imported_; }
  /// Makes virtual clusters queues of the cluster, where that was asked for. @returns what was assumed
  std::vector<std::string> make_queues(Snapshot& cluster);
  /// For generated jobs: the cluster whose GPUs the load refers to, and that they fit. @param gpus  > 0: that many instead
  void draw_for(const Snapshot& cluster, std::uint64_t seed, std::int64_t gpus = 0);

  /// Name and profiles; jobs only where they are in memory.
  const Trace& trace() const { return imported_.trace; }
  bool in_memory() const { return !stream_ && workload_.empty(); }
  std::int64_t count() const { return count_; }
  const sim::TraceFacts& facts() const { return facts_; }
  /// All of them, from the first.
  std::unique_ptr<sim::JobSource> all() const;

 private:
  io::Imported imported_;
  std::unique_ptr<io::TraceStream> stream_;
  std::string workload_;
  io::VirtualClusterUse virtual_clusters_;
  sim::SyntheticOptions synthetic_;
  sim::TraceFacts facts_;
  std::int64_t count_ = 0;
};

}  // namespace berth::cli
