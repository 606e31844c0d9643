#include "host/cli/base/load.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/slurm_input.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {
namespace {

using core::counted;

std::string sentence(std::int64_t nodes, std::int64_t gpus, std::int64_t running, std::int64_t waiting) {
  return fmt::format("{}, {}, {} ({} running, {} waiting)", counted(nodes, "node"), counted(gpus, "GPU"), counted(running + waiting, "job"),
                     running, waiting);
}

}  // namespace

void add_state_options(CLI::App& app, StateInput& input) {
  app.add_option("--snapshot", input.snapshot, "Read cluster and jobs from FILE, plain or .gz; - is standard input")->type_name("FILE");
  app.add_option("--slurm", input.slurm, "Read the output of squeue, sinfo or scontrol instead; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_flag("--held", input.held, "With --slurm, plan held jobs as if they were released now");
}

std::vector<Place> places_of(const StateInput& input, std::vector<Place> more) {
  more.insert(more.begin(), {"--snapshot", input.snapshot});
  for (std::size_t i = 0; i < input.slurm.size(); ++i) {
    more.insert(more.begin() + 1 + static_cast<std::ptrdiff_t>(i), {"--slurm", input.slurm[i]});
  }
  return more;
}

std::string input_name(const StateInput& input) { return io::input_name(input.slurm.empty() ? input.snapshot : input.slurm.front()); }

LoadedState load_state(const StateInput& input) {
  if (input.snapshot.empty() && input.slurm.empty()) throw InvalidArgument("--snapshot is required (or --slurm)");
  if (!input.snapshot.empty() && !input.slurm.empty()) throw InvalidArgument("--snapshot and --slurm are alternatives; give one of them");
  if (input.held && input.slurm.empty()) throw InvalidArgument("--held needs --slurm: a snapshot has no held jobs");
  const auto begin = std::chrono::steady_clock::now();
  LoadedState loaded;
  if (input.slurm.empty()) {
    const std::string text = io::read_file(input.snapshot);
    loaded.state = parse_no_slurm(text, [&] { return io::parse_state(text, io::input_name(input.snapshot)); });
  } else {
    io::SlurmImport imported = read_slurm(input.slurm, {.held = input.held});
    loaded.state = ClusterState(std::move(imported.snapshot), kSlurmName);
    loaded.left_out = std::move(imported.left_out);
  }
  loaded.load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return loaded;
}

Plan load_plan(const std::string& path, const ClusterState& state) {
  io::Promises promises;
  return load_plan(path, state, promises);
}

Plan load_plan(const std::string& path, const ClusterState& state, io::Promises& promises) {
  return io::parse_plan(io::read_file(path), state, io::input_name(path), promises);
}

std::string summary(const Snapshot& snapshot) {
  std::int64_t gpus = 0, running = 0;
  for (const Node& node : snapshot.nodes) gpus += node.gpus;
  for (const Job& job : snapshot.jobs) running += job.state == JobState::kRunning;
  return sentence(static_cast<std::int64_t>(snapshot.nodes.size()), gpus, running,
                  static_cast<std::int64_t>(snapshot.jobs.size()) - running);
}

std::string summary(const ClusterState& state) {
  std::int64_t gpus = 0, running = 0;
  for (std::int32_t rank = 0; rank < state.node_count(); ++rank) gpus += state.node(rank).gpus;
  for (std::int32_t job_index = 0; job_index < state.job_index_end(); ++job_index) {
    const Job* job = state.job(job_index);
    running += job != nullptr && job->state == JobState::kRunning;
  }
  return sentence(state.node_count(), gpus, running, state.job_count() - running);
}

}  // namespace berth::cli
