#include "host/cli/load.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "berth/io.hpp"
#include "host/core/violations.hpp"
#include "host/io/file_error.hpp"

namespace berth::cli {
namespace {

using core::counted;

std::string sentence(std::int64_t nodes, std::int64_t gpus, std::int64_t running, std::int64_t waiting) {
  return fmt::format("{}, {}, {} ({} running, {} waiting)", counted(nodes, "node"), counted(gpus, "GPU"), counted(running + waiting, "job"),
                     running, waiting);
}

}  // namespace

LoadedState load_state(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  LoadedState loaded;
  loaded.state = io::parse_state(io::read_file(path), io::input_name(path));
  loaded.load_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return loaded;
}

Plan load_plan(const std::string& path, const ClusterState& state) {
  return io::parse_plan(io::read_file(path), state, io::input_name(path));
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
  for (std::int32_t slot = 0; slot < state.job_slots(); ++slot) {
    const Job* job = state.job(slot);
    running += job != nullptr && job->state == JobState::kRunning;
  }
  return sentence(state.node_count(), gpus, running, state.job_count() - running);
}

}  // namespace berth::cli
