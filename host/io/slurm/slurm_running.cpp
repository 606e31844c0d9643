#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "host/core/check/check_snapshot.hpp"
#include "host/io/slurm/slurm_jobs.hpp"
#include "host/io/slurm/slurm_request.hpp"

namespace berth::io {
namespace {

constexpr const char* kBeyond = "it runs on GPU indices that its node does not have";

bool any_in_state(const SlurmUnit& unit, SlurmJobState state) {
  return std::any_of(unit.begin(), unit.end(), [&](const SlurmJob* part) { return part->state == state; });
}

bool all_in_state(const SlurmUnit& unit, SlurmJobState state) {
  return std::all_of(unit.begin(), unit.end(), [&](const SlurmJob* part) { return part->state == state; });
}

bool holds_gpus(const SlurmJob& job) {
  const auto counts = [](const SlurmJob::NodeGpus& gpus) { return gpus.count > 0; };
  return asks_for_gpus(job) || job.held.gpus > 0 || std::any_of(job.node_gpus.begin(), job.node_gpus.end(), counts);
}

// GPUs on each node where the record has only a count.
std::int64_t gpus_on(const SlurmJob& job, std::size_t node) {
  if (job.node_gpus.size() == job.nodes.size()) return job.node_gpus[node].count;
  const auto nodes = static_cast<std::int64_t>(job.nodes.size());
  if (job.held.gpus > 0 && job.held.gpus % nodes == 0) return job.held.gpus / nodes;
  return job.per_node.count;
}

std::vector<std::int32_t> indices_of(std::uint64_t gpus) {
  std::vector<std::int32_t> out;
  for (; gpus != 0; gpus &= gpus - 1) out.push_back(std::countr_zero(gpus));
  return out;
}

// Appends the group of one component and its entries. A gang with different counts on its nodes has one-GPU members.
void add_group(const std::vector<SlurmHold>& held, const std::string& name, const Snapshot& snapshot, Job& job) {
  Shape& shape = job.shapes.front();
  const int first = std::popcount(held.front().gpus);
  const bool equal = std::all_of(held.begin(), held.end(), [&](const SlurmHold& hold) { return std::popcount(hold.gpus) == first; });
  Group group;
  group.name = name;
  group.gpus_per_member = equal ? first : 1;
  std::int32_t members = 0;
  for (const SlurmHold& hold : held) {
    AllocationEntry& entry = job.allocation.entries.emplace_back();
    entry.group = name;
    entry.member = members;
    entry.node = snapshot.nodes[hold.node].id;
    entry.gpus = indices_of(hold.gpus);
    members += equal ? 1 : static_cast<std::int32_t>(entry.gpus.size());
    shape.gpus += static_cast<std::int32_t>(entry.gpus.size());
  }
  group.members_min = group.members_want = group.members_max = members;
  shape.groups.push_back(std::move(group));
}

}  // namespace

SlurmJobs::Held SlurmJobs::held_by_index(const SlurmUnit& unit) const {
  Held held;
  for (const SlurmJob* part : unit) {
    std::vector<SlurmHold>& holds = held.parts.emplace_back();
    for (std::size_t i = 0; i < part->nodes.size() && part->node_gpus.size() == part->nodes.size(); ++i) {
      const SlurmJob::NodeGpus& gpus = part->node_gpus[i];
      const auto node = cluster_.rank().find(part->nodes[i]);
      if (gpus.beyond)
        held.problem = kBeyond;
      else if (gpus.indexed && std::popcount(gpus.indices) != gpus.count)
        held.problem = "it holds another count of GPUs than indices";
      if (gpus.indices == 0 || node == cluster_.rank().end() || !gpus.indexed) continue;
      std::uint64_t& mine = held.on_node[node->second];
      if ((mine & gpus.indices) != 0) held.problem = "it holds a GPU twice";
      mine |= gpus.indices;
      holds.push_back({node->second, gpus.indices});
    }
  }
  return held;
}

// Where Slurm does not name the GPUs of a job: the lowest of those in use by unknown jobs, then of the free ones.
bool SlurmJobs::choose_gpus(const SlurmUnit& unit, Held& held) {
  bool chose = false;
  for (std::size_t p = 0; p < unit.size(); ++p) {
    const SlurmJob& part = *unit[p];
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
      const bool listed = part.node_gpus.size() == part.nodes.size();
      if (listed && (part.node_gpus[i].indexed || part.node_gpus[i].count == 0)) continue;
      const auto node = cluster_.rank().find(part.nodes[i]);
      if (node == cluster_.rank().end()) continue;
      std::int64_t want = gpus_on(part, i);
      std::uint64_t gpus = 0;
      std::uint64_t& mine = held.on_node[node->second];
      const std::uint64_t free = cluster_.free(node->second) & ~mine;
      for (std::uint64_t from : {free & cluster_.used(node->second), free}) {
        for (from &= ~gpus; from != 0 && want > 0; from &= from - 1, --want) gpus |= from & (~from + 1);
      }
      if (want > 0) held.problem = "its nodes have fewer free GPUs than it holds";
      if (gpus == 0) continue;
      mine |= gpus;
      held.parts[p].push_back({node->second, gpus});
      chose = true;
    }
  }
  return chose;
}

void SlurmJobs::check_held(const SlurmUnit& unit, Held& held) const {
  if (!held.problem.empty()) return;
  if (unit.size() > static_cast<std::size_t>(kMaxGroups)) held.problem = fmt::format("more than {} components", kMaxGroups);
  const std::string* type = nullptr;
  for (std::size_t p = 0; p < unit.size(); ++p) {
    if (unit[p]->start == 0) held.problem = "it runs and has no start_time";
    if (unit[p]->partition.size() > core::kMaxNameBytes) held.problem = "its partition has too long a name";
    if (!holds_gpus(*unit[p])) continue;
    std::int64_t found = 0, said = 0;
    for (const SlurmJob::NodeGpus& gpus : unit[p]->node_gpus) said += gpus.count;
    for (const SlurmHold& hold : held.parts[p]) {
      const Node& node = snapshot_.nodes[hold.node];
      if (type == nullptr) type = &node.gpu_type;
      if (node.gpu_type != *type) held.problem = "it runs on several types of GPUs";
      if (static_cast<int>(std::bit_width(hold.gpus)) > node.gpus)
        held.problem = kBeyond;
      else if ((hold.gpus & ~cluster_.all(hold.node)) != 0)
        held.problem = "it runs on GPUs of a type that is not used on its node";
      else if ((hold.gpus & ~cluster_.free(hold.node)) != 0)
        held.problem = "it runs on GPUs that another running job holds";
      found += std::popcount(hold.gpus);
    }
    if (held.problem.empty() && found == 0) held.problem = "where it runs is not among the nodes with GPUs";
    if (held.problem.empty() && said > 0 && found != said) held.problem = "some of its GPUs are not among those of the nodes";
  }
  if (!held.problem.empty()) return;
  const auto [cpu_milli, memory] = held_for_a_gpu(unit, held);
  for (const auto& [node, gpus] : held.on_node) {
    const std::int64_t n = std::popcount(gpus);
    if (!cluster_.can_return(node, n * cpu_milli, n * memory)) held.problem = "it holds more cores or memory than can be counted";
  }
}

// Cores in thousandths and memory per GPU, rounded down and limited to valid amounts.
std::pair<std::int64_t, std::int64_t> SlurmJobs::held_for_a_gpu(const SlurmUnit& unit, const Held& held) const {
  std::int64_t cpus = 0, memory = 0, gpus = 0;
  for (const SlurmJob* part : unit) {
    cpus = std::min(cpus + std::max<std::int64_t>(part->held.cpus, 0), kMaxBytes / 1'000);
    memory = std::min(memory + std::max<std::int64_t>(part->held.memory_bytes, 0), kMaxBytes);
  }
  for (const auto& [node, on_it] : held.on_node) gpus += std::popcount(on_it);
  gpus = std::max<std::int64_t>(gpus, 1);
  return {cpus * 1'000 / gpus, cluster_.counts_memory() ? memory / gpus : 0};
}

void SlurmJobs::keep_running(const SlurmUnit& unit, const Held& held) {
  Job job = common(unit);
  job.state = JobState::kRunning;
  Shape& shape = job.shapes.emplace_back();
  shape.gpus = 0;
  std::int64_t before = 0;
  for (std::size_t p = 0; p < unit.size(); ++p) {
    if (held.parts[p].empty()) continue;
    shape.gpu_type = snapshot_.nodes[held.parts[p].front().node].gpu_type;
    add_group(held.parts[p], unit.size() == 1 ? "nodes" : fmt::format("component{}", unit[p]->het_offset), snapshot_, job);
    before = unit[p]->ran_before_s;
  }
  const Group& first = shape.groups.front();
  shape.id = shape.groups.size() > 1 ? "het" : fmt::format("{}x{}", first.members_want, first.gpus_per_member);
  job.allocation.shape = shape.id;
  std::tie(job.constraints.cpu_milli_per_gpu, job.constraints.memory_bytes_per_gpu) = held_for_a_gpu(unit, held);
  for (const auto& part : held.parts) {
    for (const SlurmHold& hold : part) {
      cluster_.take(hold);
      const std::int64_t gpus = std::popcount(hold.gpus);
      cluster_.return_later(hold.node, gpus * job.constraints.cpu_milli_per_gpu, gpus * job.constraints.memory_bytes_per_gpu);
    }
  }
  const SlurmJob& from = *unit.front();
  // A job that was suspended has run since then, and ran before.
  const TimeUs since = before > 0 && from.suspended_at > 0 ? from.suspended_at : from.start;
  job.progress.run_us = std::max<TimeUs>(snapshot_.now_us - since * kSecond, 0) + before * kSecond;
  job.progress.attained_gpu_us = job.progress.run_us > kMaxTimeUs / shape.gpus ? kMaxTimeUs : job.progress.run_us * shape.gpus;
  job.last_assignment_us = from.start * kSecond;
  keep(std::move(job), from, from.array_task);
}

void SlurmJobs::block(const SlurmUnit& unit, const Held& held, TimeUs free_at) {
  for (std::size_t p = 0; p < unit.size(); ++p) {
    for (const SlurmHold& hold : held.parts[p]) cluster_.block({hold.node, hold.gpus & cluster_.all(hold.node)}, free_at);
  }
}

void SlurmJobs::add_running(const std::vector<SlurmUnit>& units) {
  std::vector<const SlurmUnit*> unknown;  // jobs whose GPU indices are unknown
  for (const SlurmUnit& unit : units) {
    const SlurmJob& first = *unit.front();
    if (all_in_state(unit, SlurmJobState::kPending) || all_in_state(unit, SlurmJobState::kFinished)) continue;
    for (const SlurmJob* part : unit) tasks_running_[part->array_id] += part->array_id != 0 ? 1 : 0;
    if (std::none_of(unit.begin(), unit.end(), [](const SlurmJob* part) { return holds_gpus(*part); })) {
      leave_out(first, "no GPUs asked for");
      continue;
    }
    Held held = held_by_index(unit);
    if (any_in_state(unit, SlurmJobState::kCompleting)) {
      leave_out(first, "completing; its GPUs are about to be free");
      block(unit, held, snapshot_.now_us);
    } else if (!all_in_state(unit, SlurmJobState::kRunning)) {
      leave_out(first, fmt::format("{}; it keeps what it holds", first.state_name));
      block(unit, held, kNever);
    } else {
      const auto unsaid = [](const SlurmJob* part) {
        const auto& gpus = part->node_gpus;
        return holds_gpus(*part) && (gpus.size() != part->nodes.size() ||
                                     std::any_of(gpus.begin(), gpus.end(), [](const auto& one) { return one.count > 0 && !one.indexed; }));
      };
      if (std::any_of(unit.begin(), unit.end(), unsaid)) {
        unknown.push_back(&unit);
        continue;
      }
      check_held(unit, held);
      if (held.problem.empty()) {
        keep_running(unit, held);
        continue;
      }
      leave_out(first, held.problem);
      block(unit, held, first.end * kSecond > snapshot_.now_us ? first.end * kSecond : kNever);
    }
  }
  for (const SlurmUnit* unit : unknown) {
    Held held = held_by_index(*unit);
    const bool chose = choose_gpus(*unit, held);
    check_held(*unit, held);
    if (!held.problem.empty()) {
      leave_out(*unit->front(), held.problem);
      continue;
    }
    if (chose) notes_.count("job", " without GPU indices: free ones were chosen", slurm_job_name(*unit->front()));
    keep_running(*unit, held);
  }
}

}  // namespace berth::io
