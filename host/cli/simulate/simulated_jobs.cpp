#include "host/cli/simulate/simulated_jobs.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/values.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/generate/dally_jobs.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kOnesJobs = 50;  // of the evaluation

// Jobs of an evaluation that is drawn as published, where nothing else is said; 0: the workload has none.
std::int64_t published_jobs(const std::string& workload) {
  if (workload == "ones") return kOnesJobs;
  return workload == "dally" ? sim::kDallyPublishedJobs : workload == "dally-gangs" ? sim::kDallyPublishedGangs : 0;
}

constexpr const char* kUsualLoad = "0.8";

/// Jobs of a file, read during the simulation.
class StreamedJobs final : public sim::JobSource {
 public:
  explicit StreamedJobs(io::TraceStream& stream) : stream_(stream) { stream_.rewind(); }

  const TraceJob* next() override {
    TraceJob& job = rooms_.take();
    return stream_.next(job) ? &job : nullptr;
  }
  void release(const TraceJob& job) override { rooms_.release(job); }

 private:
  io::TraceStream& stream_;
  sim::JobRooms rooms_;
};

}  // namespace

SimulatedJobs::SimulatedJobs(const JobOptions& options)
    : workload_(options.workload), virtual_clusters_(io::virtual_cluster_use(options.virtual_clusters)) {
  if (virtual_clusters_ != io::VirtualClusterUse::kNodes && (options.stream || !options.workload.empty()))
    throw InvalidArgument("--virtual-clusters: it is for jobs of --trace that are read at once");
  if (options.traces.empty() == options.workload.empty()) throw InvalidArgument("either --trace or --workload is required");
  if (!workload_.empty()) {
    const std::int64_t published = published_jobs(workload_);
    if (options.jobs < 1 && published == 0) throw InvalidArgument("--workload: --jobs says how many jobs are drawn");
    if (options.stream) throw InvalidArgument("--stream: drawn jobs are not kept anyway");
    synthetic_.workload = sim::workload_from_name(workload_).value();  // the parser accepts no other value
    synthetic_.jobs = count_ = options.jobs < 1 ? published : options.jobs;
    if (published > 0 && options.load.empty()) {
      synthetic_.load_ppm = 0;
      imported_.trace.name = fmt::format("{}, submitted as published", workload_);
      return;
    }
    const std::string load = options.load.empty() ? kUsualLoad : options.load;
    synthetic_.load_ppm = parse_load(load);
    imported_.trace.name = fmt::format("{} at load {}", workload_, load);
    return;
  }
  if (options.jobs != 0) throw InvalidArgument("--jobs: it is for --workload");
  if (!options.stream) {
    imported_ = io::import_files(options.format, options.traces);
    count_ = static_cast<std::int64_t>(imported_.trace.jobs.size());
    facts_ = sim::facts_of(imported_.trace);
    return;
  }
  if (options.format != "trace" || options.traces.size() != 1 || options.traces.front() == "-") {
    throw InvalidArgument("--stream: one file of the format 'trace', as 'berth import' writes it, is read as it is simulated");
  }
  stream_ = std::make_unique<io::TraceStream>(options.traces.front(), [&](const TraceJob& job) { facts_.add(job); });
  imported_.trace = stream_->head();
  count_ = stream_->jobs();
}

SimulatedJobs::SimulatedJobs(io::Imported imported, io::VirtualClusterUse virtual_clusters)
    : imported_(std::move(imported)),
      virtual_clusters_(virtual_clusters),
      facts_(sim::facts_of(imported_.trace)),
      count_(static_cast<std::int64_t>(imported_.trace.jobs.size())) {}

std::vector<std::string> SimulatedJobs::make_queues(Snapshot& cluster) {
  std::vector<std::string> notes;
  if (virtual_clusters_ == io::VirtualClusterUse::kNodes) return notes;
  io::make_virtual_clusters_queues(virtual_clusters_, imported_, cluster, notes);
  facts_ = sim::facts_of(imported_.trace);
  return notes;
}

void SimulatedJobs::draw_for(const Snapshot& cluster, std::uint64_t seed, std::int64_t gpus) {
  if (workload_.empty()) return;
  synthetic_.gpus = gpus > 0 ? gpus : sim::working_gpus(cluster);
  synthetic_.seed = seed;
  if (synthetic_.workload == sim::Workload::kLlm) synthetic_.fabric = sim::LlmFabric::of(cluster);
  const sim::SyntheticJobs drawn(synthetic_);
  facts_ = drawn.facts();
  imported_.trace.profiles = drawn.profiles();
}

std::unique_ptr<sim::JobSource> SimulatedJobs::all() const {
  if (!workload_.empty()) return std::make_unique<sim::SyntheticJobs>(synthetic_);
  if (stream_) return std::make_unique<StreamedJobs>(*stream_);
  return std::make_unique<sim::JobsOf>(imported_.trace);
}

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("--trace", options.traces, "Read the jobs, and what describes the cluster; plain or .gz")->type_name("FILE");
  app.add_option("--trace-format", options.format, "Read files of this format ('berth import --help' lists them)")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("--virtual-clusters", options.virtual_clusters, "Make virtual clusters nodes, guarantees or limits of queues")
      ->check(CLI::IsMember({"nodes", "guarantees", "limits"}))
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--workload", options.workload, "Draw jobs from these published statistics instead of --trace")
      ->check(CLI::IsMember({"philly", "helios", "pai", "llm", "ones", "dally", "dally-gangs"}))
      ->type_name("NAME");
  app.add_option("--jobs", options.jobs, "With --workload, draw N jobs (ones: 50, dally: 500)")
      ->check(whole_number<std::int64_t>(1))
      ->type_name("N");
  app.add_option("--load", options.load, "With --workload, submit this part of the GPU-time (0.8; ones, dally: published)")
      ->type_name("FRACTION");
}

void add_stream_option(CLI::App& app, JobOptions& options) {
  app.add_flag("--stream", options.stream, "Read a sorted file of the format 'trace' while it is simulated");
}

}  // namespace berth::cli
