#include "host/io/slurm/slurm_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace berth::io {
namespace {

constexpr std::size_t kMostUnions = 256;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
/// The virtual cluster of nodes in no partition: an empty list would accept every job.
constexpr const char* kNoPartition = "(no partition)";

enum class SlurmNodeUse : std::uint8_t { kReady, kDrain, kFailed, kLeftOut };

struct NodeStateName {
  std::string_view name;
  SlurmNodeUse use;
};
constexpr NodeStateName kSlurmNodeStates[] = {
    {"IDLE", SlurmNodeUse::kReady},         {"MIXED", SlurmNodeUse::kReady},
    {"ALLOCATED", SlurmNodeUse::kReady},    {"COMPLETING", SlurmNodeUse::kReady},
    {"PLANNED", SlurmNodeUse::kReady},      {"CLOUD", SlurmNodeUse::kReady},
    {"DYNAMIC_NORM", SlurmNodeUse::kReady}, {"UNDRAIN", SlurmNodeUse::kReady},
    {"RESUME", SlurmNodeUse::kReady},       {"REBOOT_CANCELED", SlurmNodeUse::kReady},
    {"REBOOT", SlurmNodeUse::kReady},       {"REBOOT_REQUESTED", SlurmNodeUse::kReady},
    {"POWERED_DOWN", SlurmNodeUse::kReady},  // Slurm powers it up for a job
    {"POWERING_UP", SlurmNodeUse::kReady},  {"POWER_UP", SlurmNodeUse::kReady},
    {"DOWN", SlurmNodeUse::kFailed},        {"ERROR", SlurmNodeUse::kFailed},
    {"FUTURE", SlurmNodeUse::kLeftOut},     {"DYNAMIC_FUTURE", SlurmNodeUse::kLeftOut},
};

std::uint64_t first_bits(std::int64_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

// The least usable of a node's states, and its name. A node in an unknown state accepts no new jobs, as with DRAIN.
std::pair<SlurmNodeUse, std::string> use_of(const SlurmNode& node) {
  std::pair<SlurmNodeUse, std::string> worst{SlurmNodeUse::kReady, ""};
  for (const std::string& state : node.states) {
    const auto known =
        std::find_if(std::begin(kSlurmNodeStates), std::end(kSlurmNodeStates), [&](const NodeStateName& s) { return s.name == state; });
    const SlurmNodeUse use = known == std::end(kSlurmNodeStates) ? SlurmNodeUse::kDrain : known->use;
    if (use > worst.first) worst = {use, state};
  }
  return worst;
}

void add_label(Node& node, const std::string& key) {
  const auto at = std::lower_bound(node.labels.begin(), node.labels.end(), key, [](const auto& l, const auto& k) { return l.first < k; });
  if (at == node.labels.end() || at->first != key) node.labels.insert(at, {key, kSlurmFeature});
}

}  // namespace

SlurmCluster::SlurmCluster(const std::vector<SlurmNode>& nodes, Snapshot& snapshot, ImportNotes& notes)
    : snapshot_(snapshot), notes_(notes) {
  bool cpus_in_use = false, memory_in_use = false;
  for (const SlurmNode& from : nodes) {
    cpus_in_use = cpus_in_use || from.alloc_cpus > 0;
    memory_in_use = memory_in_use || from.alloc_memory_mib > 0;
  }
  counts_memory_ = memory_in_use || !cpus_in_use;
  if (!counts_memory_) notes.say("memory is not handed out by Slurm here (jobs hold cores and no memory): it is not modelled");
  for (const SlurmNode& from : nodes) {
    if (from.gpus == 0) {
      notes.count("node", " left out: no GPUs", from.name);
      continue;
    }
    Node node;
    node.id = from.name;
    node.gpu_type = from.gpu_type;
    node.gpus = from.gpus;
    node.virtual_clusters = from.partitions;
    if (from.partitions.empty()) node.virtual_clusters.emplace_back(kNoPartition);
    for (const std::string& partition : from.partitions) partitions_.insert(partition);
    for (const std::string& feature : from.active_features.empty() ? from.features : from.active_features) add_label(node, feature);
    const auto [use, state] = use_of(from);
    if (use == SlurmNodeUse::kLeftOut) {
      notes.count("node", fmt::format(" left out: {}", state), from.name);
      continue;
    }
    if (use != SlurmNodeUse::kReady) {
      const bool drain = use == SlurmNodeUse::kDrain;
      node.state = drain ? NodeState::kDrain : NodeState::kFailed;
      notes.count("node", fmt::format(" {}: {}", drain ? "without new jobs" : "failed", state), from.name);
    }
    if (from.other_types != 0) notes.count("node", " with several types of GPUs: only the most frequent type is used", from.name);
    if (from.drained_gpus)
      notes.count("node", " with drained GPUs: they count as usable, for Slurm does not say which they are", from.name);
    if (from.used_beyond || (from.used & ~first_bits(from.gpus)) != 0)
      notes.count("node", ": gres_used has indices that gres does not; as many other GPUs are taken for used", from.name);
    else if (from.used_count > from.gpus)
      notes.count("node", ": gres_used counts more GPUs than gres; all are taken for used", from.name);
    const std::int64_t cpus = from.effective_cpus > 0 ? from.effective_cpus : from.cpus;
    cpu_milli_.push_back(std::max<std::int64_t>(cpus - from.alloc_cpus, 0) * 1'000);
    memory_.push_back(std::max<std::int64_t>(from.memory_mib - from.reserved_memory_mib - from.alloc_memory_mib, 0) * kMebibyte);
    cpu_gone_.push_back(from.alloc_cpus * 1'000);
    memory_gone_.push_back(from.alloc_memory_mib * kMebibyte);
    others_.push_back(from.other_types);
    used_.push_back(from.used & first_bits(from.gpus));
    used_count_.push_back(from.used_count);
    uniform_ = uniform_ && (snapshot.nodes.empty() || most_gpus_ == from.gpus);
    most_gpus_ = std::max(most_gpus_, from.gpus);
    snapshot.nodes.push_back(std::move(node));
  }
  held_.assign(snapshot.nodes.size(), 0);
  blocked_until_.resize(snapshot.nodes.size());
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) rank_.emplace(snapshot.nodes[i].id, i);
}

std::uint64_t SlurmCluster::all(std::size_t node) const { return first_bits(snapshot_.nodes[node].gpus) & ~others_[node]; }

void SlurmCluster::block(const SlurmHold& hold, TimeUs free_at) {
  const std::uint64_t gpus = hold.gpus & ~held_[hold.node];
  held_[hold.node] |= gpus;
  std::vector<TimeUs>& until = blocked_until_[hold.node];
  until.resize(64, -1);
  for (std::uint64_t left = gpus; left != 0; left &= left - 1) until[static_cast<std::size_t>(std::countr_zero(left))] = free_at;
}

bool SlurmCluster::can_return(std::size_t node, std::int64_t cpu_milli, std::int64_t memory_bytes) const {
  return cpu_milli <= kMaxBytes - cpu_milli_[node] && memory_bytes <= kMaxBytes - memory_[node];
}

void SlurmCluster::return_later(std::size_t node, std::int64_t cpu_milli, std::int64_t memory_bytes) {
  cpu_milli_[node] += cpu_milli;
  memory_[node] += memory_bytes;
  cpu_gone_[node] -= cpu_milli;
  memory_gone_[node] -= memory_bytes;
}

bool SlurmCluster::add_union(const std::string& name, const std::vector<std::string>& partitions) {
  if (partitions_.count(name) != 0) return true;
  if (++unions_ > kMostUnions) return false;
  partitions_.insert(name);
  for (Node& node : snapshot_.nodes) {
    const auto serves = [&](const std::string& one) { return std::find(partitions.begin(), partitions.end(), one) != partitions.end(); };
    if (std::any_of(node.virtual_clusters.begin(), node.virtual_clusters.end(), serves)) node.virtual_clusters.push_back(name);
  }
  return true;
}

bool SlurmCluster::add_any_label(const std::string& label, const std::vector<std::string>& features) {
  if (any_labels_.count(label) != 0) return true;
  if (++unions_ > kMostUnions) return false;
  any_labels_.insert(label);
  for (Node& node : snapshot_.nodes) {
    const auto has = [&](const auto& one) { return std::find(features.begin(), features.end(), one.first) != features.end(); };
    if (std::any_of(node.labels.begin(), node.labels.end(), has)) add_label(node, label);
  }
  return true;
}

void SlurmCluster::finish() {
  for (std::size_t i = 0; i < snapshot_.nodes.size(); ++i) {
    Node& node = snapshot_.nodes[i];
    std::uint64_t nobodys = used_[i] & ~held_[i];
    // GPUs in use without known indices: we choose which ones.
    std::int64_t more = used_count_[i] - std::popcount(held_[i] | nobodys);
    for (std::uint64_t left = all(i) & ~held_[i] & ~nobodys; more > 0 && left != 0; left &= left - 1, --more) nobodys |= left & -left;
    if (nobodys != 0) {
      notes_.count("GPU", " in use by no running job of the list: kept free of new jobs", node.id, std::popcount(nobodys));
      block({i, nobodys}, kNever);
    }
    block({i, others_[i]}, kNever);
    // Amounts per GPU are rounded down.
    if (cpu_gone_[i] >= 1'000 || (counts_memory_ && memory_gone_[i] >= kMebibyte)) {
      notes_.count("node", " where jobs that are left out hold cores or memory: these are not expected back", node.id);
    }
    node.cpu_milli = cpu_milli_[i];
    node.memory_bytes = counts_memory_ ? memory_[i] : kUnlimited;
    if (blocked_until_[i].empty()) continue;
    bool any = false;
    std::vector<Gpu> list(static_cast<std::size_t>(node.gpus));
    for (std::size_t g = 0; g < list.size(); ++g) {
      list[g].index = static_cast<std::int32_t>(g);
      if (blocked_until_[i][g] < 0) continue;
      list[g].state = GpuState::kReleasing;
      list[g].free_at_us = blocked_until_[i][g];
      any = true;
    }
    if (any) node.gpu_list = std::move(list);
  }
}

}  // namespace berth::io
