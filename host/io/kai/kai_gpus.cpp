#include "host/io/kai/kai_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/measured_number.hpp"

namespace berth::io::kai {
namespace {

constexpr const char* kFraction = "gpu-fraction";
constexpr const char* kFractionDevices = "gpu-fraction-num-devices";
constexpr const char* kMemory = "gpu-memory";
constexpr const char* kGpuGroup = "runai-gpu-group";
/// A pod of this namespace holds a GPU for other pods to share.
constexpr const char* kReservations = "kai-resource-reservation";
constexpr const char* kReservedIndex = "run.ai/reserve_for_gpu_index";

const std::string* find(const KaiTexts& texts, const char* key) {
  const auto found = texts.find(key);
  return found == texts.end() || found->second.empty() ? nullptr : &found->second;
}

/// State of one node while GPUs are assigned.
struct Dealer {
  std::uint64_t free = 0;
  std::map<std::string, std::int32_t> groups;  // group of shares -> GPU

  std::optional<std::int32_t> take() {
    if (free == 0) return std::nullopt;
    const int index = std::countr_zero(free);
    free &= free - 1;
    return index;
  }
};

std::optional<std::int32_t> index_of(const std::string* text) {
  const auto index = text == nullptr ? std::nullopt : core::parse_whole(*text, kMaxGpusPerNode - 1);
  return index ? std::optional<std::int32_t>(static_cast<std::int32_t>(*index)) : std::nullopt;
}

std::uint64_t bit(std::int32_t gpu) { return std::uint64_t{1} << gpu; }

}  // namespace

bool is_over(const KaiPod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

PodDemand demand_of(const KaiPod& pod) {
  PodDemand demand;
  demand.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(pod.gpus, kMaxGpusPerJob));
  if (pod.gpus > kMaxGpusPerNode) demand.unsupported = fmt::format("a pod of more than {} GPUs", kMaxGpusPerNode);
  if (pod.mig) demand.unsupported = "MIG slices";
  if (pod.claims) demand.unsupported = "devices by resource claims";
  if (find(pod.meta.annotations, kMemory) != nullptr) {
    demand.gpus = 1;
    demand.unsupported = "GPU memory (gpu-memory)";
  }
  const std::string* const fraction = find(pod.meta.annotations, kFraction);
  if (fraction == nullptr) return demand;
  const auto share = parse_measured(*fraction, 6);
  const std::string* const devices = find(pod.meta.annotations, kFractionDevices);
  demand.gpus = 1;
  if (!share || *share < 1 || *share > kWholeGpu) {
    demand.unsupported = "a gpu-fraction that is no part of a GPU";
  } else if (devices != nullptr && *devices != "1") {
    demand.unsupported = "fractions of several GPUs";
  } else {
    demand.share_ppm = static_cast<std::int32_t>(*share);
  }
  return demand;
}

Held::Held(const KaiObjects& objects, const Cluster& cluster, const Snapshot& snapshot, const std::string& file) {
  std::map<std::string, const KaiBindRequest*> binds;  // a pod that is being bound already holds its GPUs
  for (const KaiBindRequest& one : objects.bind_requests) {
    if (one.phase != "Failed") binds[one.meta.space + "/" + one.pod] = &one;
  }
  std::vector<Dealer> dealers(snapshot.nodes.size());
  for (std::size_t n = 0; n < dealers.size(); ++n) {
    dealers[n].free = snapshot.nodes[n].gpus >= 64 ? ~std::uint64_t{0} : bit(snapshot.nodes[n].gpus) - 1;
  }
  const auto full = [&](const KaiPod& pod, int node) {
    const Node& one = snapshot.nodes[static_cast<std::size_t>(node)];
    throw InputError(file, "/rawObjects/pods", 0,
                     fmt::format("the pods of node '{}' hold more than its {} GPUs, '{}' the last", one.id, one.gpus, pod.meta.path()));
  };
  // First reserved GPUs with a known index, then whole GPUs, then shares.
  for (const int pass : {0, 1, 2}) {
    for (const KaiPod& pod : objects.pods) {
      if (is_over(pod)) continue;
      const auto bind = binds.find(pod.meta.path());
      const KaiBindRequest* const request = bind == binds.end() ? nullptr : bind->second;
      const std::string& node_name = pod.node.empty() && request != nullptr ? request->node : pod.node;
      const int node = node_name.empty() ? -1 : cluster.node(node_name);
      if (node < 0) continue;
      Dealer& dealer = dealers[static_cast<std::size_t>(node)];
      const PodDemand demand = demand_of(pod);
      const std::string* group = find(pod.meta.labels, kGpuGroup);
      if (group == nullptr && request != nullptr && request->gpu_groups.size() == 1) group = &request->gpu_groups.front();
      const bool reservation = pod.meta.space == kReservations && group != nullptr;
      const bool shared = !reservation && (demand.share_ppm < kWholeGpu || (group != nullptr && pod.gpus == 0));
      if (pass != (reservation ? 0 : shared ? 2 : 1) || demand.gpus == 0) continue;
      Pod& held = pods_[pod.meta.path()];
      held.node = node;
      const auto known = reservation || shared ? dealer.groups.find(group == nullptr ? pod.meta.path() : *group) : dealer.groups.end();
      if (known != dealer.groups.end()) {
        held.gpus = {known->second};
        continue;
      }
      for (std::int32_t i = 0; i < demand.gpus; ++i) {
        const auto wanted = reservation ? index_of(find(pod.meta.annotations, kReservedIndex)) : std::nullopt;
        const bool is_free = wanted && (dealer.free & bit(*wanted)) != 0;
        const auto gpu = is_free ? wanted : dealer.take();
        if (!gpu) full(pod, node);
        dealer.free &= ~bit(*gpu);
        held.gpus.push_back(*gpu);
      }
      if (reservation || shared) dealer.groups[group == nullptr ? pod.meta.path() : *group] = held.gpus.front();
    }
  }
}

const Held::Pod* Held::of(const KaiPod& pod) const {
  const auto found = pods_.find(pod.meta.path());
  return found == pods_.end() ? nullptr : &found->second;
}

void Held::close(const KaiObjects& objects, const std::set<std::string>& taken, Snapshot& snapshot, const Cluster& cluster,
                 ImportNotes& notes) const {
  std::vector<std::uint64_t> held(snapshot.nodes.size(), 0), closed(snapshot.nodes.size(), 0);
  for (const auto& [path, pod] : pods_) {
    for (const std::int32_t gpu : pod.gpus) held[static_cast<std::size_t>(pod.node)] |= bit(gpu);
  }
  for (const KaiPod& pod : objects.pods) {
    const Pod* const one = of(pod);
    if (one == nullptr || taken.count(pod.meta.path()) > 0) continue;
    // A reservation represents the pods that share its GPU; without any, the GPU will be freed soon.
    if (pod.meta.space == kReservations) {
      const bool in_use = std::any_of(taken.begin(), taken.end(), [&](const std::string& path) {
        const auto found = pods_.find(path);
        return found != pods_.end() && found->second.node == one->node && found->second.gpus == one->gpus;
      });
      if (in_use) continue;
    }
    notes.count("pod", " with GPUs and without a job: those GPUs take no new job", pod.meta.path());
    for (const std::int32_t gpu : one->gpus) closed[static_cast<std::size_t>(one->node)] |= bit(gpu);
  }
  for (const KaiNode& from : objects.nodes) {
    const int index = cluster.node(from.meta.name);
    if (index < 0) continue;
    Node& node = snapshot.nodes[static_cast<std::size_t>(index)];
    std::uint64_t failed = 0;
    std::int64_t missing = from.capacity - from.allocatable;
    notes.count("GPU", " not allocatable: failed, the highest that no pod holds", node.id, missing);
    for (std::int32_t gpu = node.gpus - 1; gpu >= 0 && missing > 0; --gpu) {
      if ((held[static_cast<std::size_t>(index)] & bit(gpu)) != 0) continue;
      failed |= bit(gpu);
      --missing;
    }
    if ((failed | closed[static_cast<std::size_t>(index)]) == 0) continue;
    for (std::int32_t gpu = 0; gpu < node.gpus; ++gpu) {
      Gpu one;
      one.index = gpu;
      if ((failed & bit(gpu)) != 0) one.state = GpuState::kFailed;
      if ((closed[static_cast<std::size_t>(index)] & bit(gpu)) != 0) one.state = GpuState::kReleasing;
      node.gpu_list.push_back(one);
    }
  }
}

}  // namespace berth::io::kai
