#include "host/cli/sweep/sweep_inputs.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"
#include "host/sim/base/working_gpus.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kMostTraces = 4;

bool drawn_by_seed(const RunDraft& draft) { return !draft.jobs.workload.empty() || draft.trace_changes.block_us > 0; }

std::string changed_name(const std::string& name, const SweepCell& cell) {
  std::string changes;
  for (const char* key : {"remove_users", "remove_virtual_clusters", "window", "resample", "load", "load_gpus"}) {
    const auto found = cell.texts.find(key);
    if (found != cell.texts.end()) changes += fmt::format("{}{}={}", changes.empty() ? "" : ", ", key, found->second);
  }
  for (char& c : changes) {
    if (c == '\n') c = ' ';
  }
  return changes.empty() ? name : fmt::format("{} ({})", name, changes);
}

}  // namespace

SweepInputs::SweepInputs(int threads) : traces_(kMostTraces), worlds_(static_cast<std::size_t>(threads) + 2) {}

std::set<std::string> SweepInputs::notes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return notes_;
}

void SweepInputs::note(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  notes_.insert(text);
}

std::shared_ptr<const SimulatedJobs> SweepInputs::read(const JobOptions& options) {
  std::string key = options.format;
  for (const std::string& file : options.traces) key += "\n" + file;
  return traces_.get(key, [&] {
    JobOptions plain = options;
    plain.virtual_clusters = "nodes";
    auto jobs = std::make_shared<SimulatedJobs>(plain);
    for (const auto& [cause, rows] : jobs->trace().dropped)
      note(fmt::format("{}: dropped {}: {}", jobs->trace().name, core::counted(rows, "row"), cause));
    return jobs;
  });
}

std::shared_ptr<const SweepWorld> SweepInputs::world(const SweepCell& cell, std::int64_t seed) {
  const std::string key = drawn_by_seed(cell.draft) ? fmt::format("{}{}", seed, cell.inputs) : "any" + cell.inputs;
  return worlds_.get(key, [&] { return make(cell, seed); });
}

std::shared_ptr<const SweepWorld> SweepInputs::make(const SweepCell& cell, std::int64_t seed) {
  const RunDraft& draft = cell.draft;
  auto world = std::make_shared<SweepWorld>();
  draft.world.put_into(world->settings);
  if (!draft.jobs.workload.empty()) {
    auto jobs = std::make_shared<SimulatedJobs>(draft.jobs);
    world->cluster = io::cluster_from(draft.cluster, jobs->imported());
    sim::change_cluster(world->cluster, draft.cluster_changes);
    jobs->draw_for(world->cluster, static_cast<std::uint64_t>(seed), draft.load_gpus);
    world->jobs = jobs;
  } else {
    const std::shared_ptr<const SimulatedJobs> recorded = read(draft.jobs);
    const io::VirtualClusterUse use = io::virtual_cluster_use(draft.jobs.virtual_clusters);
    world->jobs = recorded;
    world->cluster = io::cluster_from(draft.cluster, recorded->imported());
    sim::change_cluster(world->cluster, draft.cluster_changes);
    if (use != io::VirtualClusterUse::kNodes) {
      auto jobs = std::make_shared<SimulatedJobs>(recorded->imported(), use);
      for (const std::string& text : jobs->make_queues(world->cluster)) note("virtual_clusters: " + text);
      world->jobs = jobs;
    }
    if (!draft.trace_changes.none()) {
      io::Imported changed;
      const std::int64_t gpus = draft.load_gpus > 0 ? draft.load_gpus : sim::working_gpus(world->cluster);
      changed.trace = sim::changed_trace(world->jobs->trace(), draft.trace_changes, gpus, static_cast<std::uint64_t>(seed));
      changed.trace.name = changed_name(changed.trace.name, cell);
      world->jobs = std::make_shared<SimulatedJobs>(std::move(changed), io::VirtualClusterUse::kNodes);
    }
  }
  const std::unique_ptr<sim::JobSource> source = world->jobs->all();
  const TraceJob* first = source->next();
  world->first_submit_us = first == nullptr ? 0 : first->submit_us;
  return world;
}

}  // namespace berth::cli
