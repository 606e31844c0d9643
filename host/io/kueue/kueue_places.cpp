#include "host/io/kueue/kueue_places.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "host/io/kai/kai_cluster.hpp"
#include "host/io/kai/kai_gpus.hpp"

namespace berth::io::kueue {
namespace {

constexpr const char* kWorkloadAnnotation = "kueue.x-k8s.io/workload";
constexpr const char* kPodSetLabel = "kueue.x-k8s.io/podset";

std::uint64_t gpu_bit(std::int32_t gpu) { return std::uint64_t{1} << gpu; }

std::string text_of(const KaiTexts& texts, const char* key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string() : found->second;
}

std::uint64_t all_gpus(const Node& node) { return node.gpus >= 64 ? ~std::uint64_t{0} : gpu_bit(node.gpus) - 1; }

const PodSetAssigned* assignment_of(const WorkloadObject& workload, const PodSetObject& set) {
  const auto found = workload.assigned.find(set.name);
  return found == workload.assigned.end() ? nullptr : &found->second;
}

}  // namespace

bool holds_gpus(const WorkloadObject& workload) {
  return workload.admitted && workload.other_cluster.empty() && !workload.condition("Finished").holds &&
         !workload.condition("Evicted").holds;
}

std::int64_t pods_left(const WorkloadObject& workload, const PodSetObject& set) {
  const PodSetAssigned* const assigned = assignment_of(workload, set);
  const auto ended = workload.reclaimable.find(set.name);
  const std::int64_t pods = assigned != nullptr && assigned->count ? std::min(*assigned->count, set.count) : set.count;
  return std::max<std::int64_t>(0, pods - (ended == workload.reclaimable.end() ? 0 : ended->second));
}

Places::Places(const KueueObjects& objects, const Flavors& flavors, Snapshot& snapshot, ImportNotes& notes)
    : flavors_(flavors), snapshot_(snapshot), notes_(notes), free_(snapshot.nodes.size(), 0), blocked_(snapshot.nodes.size(), 0) {
  for (std::size_t n = 0; n < snapshot.nodes.size(); ++n) {
    const Node& node = snapshot.nodes[n];
    free_[n] = all_gpus(node);
    free_count_ += node.gpus;
    with_free_[static_cast<std::size_t>(node.gpus)].insert(n);
    by_name_.emplace(node.id, n);
    for (const auto& [key, value] : node.labels) {
      if (key == kai::kHostLabel) by_host_.emplace(value, n);
    }
  }
  find_pods(objects);
  std::vector<Admitted> all;
  for (const WorkloadObject& workload : objects.workloads) {
    if (holds_gpus(workload)) all.push_back(admitted(workload));
  }
  const auto since = [](const Admitted& one) { return one.workload->condition("Admitted").since_us; };
  std::stable_sort(all.begin(), all.end(), [&](const Admitted& a, const Admitted& b) {
    if (a.pass != b.pass || a.pass < 2) return a.pass < b.pass;
    return std::tuple(-a.largest, since(a)) < std::tuple(-b.largest, since(b));
  });
  bool others = false;
  for (const Admitted& one : all) {
    if (one.pass > 0 && !others) block_other_pods();
    others = others || one.pass > 0;
    HeldPods pods;
    if (place(one, pods)) {
      held_.emplace(one.workload, std::move(pods));
    } else {
      give_back(pods);
    }
  }
  if (!others) block_other_pods();
}

// A pod names its workload, or has the same owner.
void Places::find_pods(const KueueObjects& objects) {
  std::map<std::string, std::string> by_owner;
  for (const WorkloadObject& workload : objects.workloads) {
    for (const std::string& uid : workload.meta.owners) by_owner.emplace(uid, workload.meta.path());
  }
  for (const KaiPod& pod : objects.pods) {
    if (kai::is_over(pod) || pod.node.empty() || pod.gpus == 0) continue;
    std::string path = text_of(pod.meta.annotations, kWorkloadAnnotation);
    if (!path.empty()) path.insert(0, "/").insert(0, pod.meta.space);
    for (std::size_t i = 0; path.empty() && i < pod.meta.owners.size(); ++i) {
      const auto found = by_owner.find(pod.meta.owners[i]);
      if (found != by_owner.end()) path = found->second;
    }
    const auto workload = std::lower_bound(objects.workloads.begin(), objects.workloads.end(), path,
                                           [](const WorkloadObject& one, const std::string& k) { return one.meta.path() < k; });
    const bool known = workload != objects.workloads.end() && workload->meta.path() == path && holds_gpus(*workload);
    if (known) pods_[path].push_back(&pod);
    if (!known) other_pods_.push_back(&pod);
  }
  const auto by_path = [](const KaiPod* a, const KaiPod* b) { return a->meta.path() < b->meta.path(); };
  for (auto& [path, pods] : pods_) std::sort(pods.begin(), pods.end(), by_path);
  std::sort(other_pods_.begin(), other_pods_.end(), by_path);
}

Places::Admitted Places::admitted(const WorkloadObject& workload) {
  Admitted out;
  out.workload = &workload;
  for (const PodSetObject& set : workload.pod_sets) {
    Demand demand{&set, assignment_of(workload, set), pods_left(workload, set), 0, {}};
    if (set.pod.gpus == 0 || demand.pods == 0) continue;
    demand.gpus = static_cast<std::int32_t>(std::min<std::int64_t>(set.pod.gpus, kMaxGpusPerNode + 1));
    set_known(workload, demand);
    const bool all_known = static_cast<std::int64_t>(demand.known.size()) >= demand.pods;
    const bool has_domains = demand.assigned != nullptr && !demand.assigned->domains.empty();
    const bool named = all_known || (has_domains && demand.assigned->levels.back() == kai::kHostLabel);
    out.pass = std::max(out.pass, named ? 0 : has_domains ? 1 : 2);
    out.largest = std::max(out.largest, demand.gpus);
    out.demands.push_back(std::move(demand));
  }
  return out;
}

// Pods without the label of a podset belong to the podset with as many GPUs a pod, where that is only one.
void Places::set_known(const WorkloadObject& workload, Demand& demand) {
  const auto pods = pods_.find(workload.meta.path());
  if (pods == pods_.end()) return;
  const auto alike = std::count_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                                   [&](const PodSetObject& other) { return other.pod.gpus == demand.set->pod.gpus; });
  for (const KaiPod* pod : pods->second) {
    const std::string label = text_of(pod->meta.labels, kPodSetLabel);
    if (label.empty() ? alike != 1 : label != demand.set->name) continue;
    const auto node = by_name_.find(pod->node);
    if (pod->gpus != demand.set->pod.gpus || node == by_name_.end()) continue;
    if (static_cast<std::int64_t>(demand.known.size()) < demand.pods) demand.known.push_back(node->second);
  }
}

void Places::block_other_pods() {
  for (const KaiPod* pod : other_pods_) {
    const auto node = by_name_.find(pod->node);
    if (node == by_name_.end()) continue;
    std::vector<HeldPod> held;
    const auto gpus = static_cast<std::int32_t>(std::min<std::int64_t>(pod->gpus, std::popcount(free_[node->second])));
    notes_.count("pod", " with GPUs and without an admitted workload: those GPUs take no new job", pod->meta.path());
    if (take(node->second, gpus, held)) {
      for (const std::int32_t gpu : held.front().gpus) blocked_[node->second] |= gpu_bit(gpu);
    }
  }
}

void Places::set_free(std::size_t node, std::uint64_t free) {
  const int before = std::popcount(free_[node]), after = std::popcount(free);
  free_[node] = free;
  free_count_ += after - before;
  with_free_[static_cast<std::size_t>(before)].erase(node);
  with_free_[static_cast<std::size_t>(after)].insert(node);
}

bool Places::take(std::size_t node, std::int32_t gpus, std::vector<HeldPod>& out) {
  if (gpus == 0 || std::popcount(free_[node]) < gpus) return false;
  HeldPod pod;
  pod.node = node;
  std::uint64_t free = free_[node];
  for (std::int32_t i = 0; i < gpus; ++i) {
    pod.gpus.push_back(std::countr_zero(free));
    free &= free - 1;
  }
  set_free(node, free);
  out.push_back(std::move(pod));
  return true;
}

void Places::give_back(const HeldPods& pods) {
  for (const auto& [name, list] : pods) {
    for (const HeldPod& pod : list) {
      std::uint64_t free = free_[pod.node];
      for (const std::int32_t gpu : pod.gpus) free |= gpu_bit(gpu);
      set_free(pod.node, free);
    }
  }
}

bool Places::place(const Admitted& one, HeldPods& out) {
  bool made_up = false;
  for (const Demand& demand : one.demands) {
    if (demand.pods > free_count_ / demand.gpus || !place_set(demand, out[demand.set->name])) return false;
    const bool has_domains = demand.assigned != nullptr && !demand.assigned->domains.empty();
    made_up = made_up || (!has_domains && static_cast<std::int64_t>(demand.known.size()) < demand.pods);
  }
  if (made_up)
    notes_.count("admitted workload", " without a place in the objects: on the fullest nodes that can hold its pods",
                 one.workload->meta.path());
  return true;
}

bool Places::place_set(const Demand& demand, std::vector<HeldPod>& out) {
  for (const std::size_t node : demand.known) {
    if (!take(node, demand.gpus, out)) return false;
  }
  std::int64_t left = demand.pods - static_cast<std::int64_t>(demand.known.size());
  if (left == 0) return true;
  if (demand.assigned == nullptr || demand.assigned->domains.empty()) return fill_anywhere(demand, left, out);
  // Pods that have ended are the last ones of the assignment.
  for (const DomainPods& domain : demand.assigned->domains) {
    const std::int64_t pods = std::min(left, domain.count);
    if (!fill(demand, nodes_of(demand.assigned->levels, domain.values), pods, out)) return false;
    left -= pods;
  }
  return left == 0;
}

// The order of nodes in a domain is that of the files.
bool Places::fill(const Demand& demand, const std::vector<std::size_t>& nodes, std::int64_t pods, std::vector<HeldPod>& out) {
  for (std::size_t i = 0; i < nodes.size() && pods > 0; ++i) {
    while (pods > 0 && take(nodes[i], demand.gpus, out)) --pods;
  }
  return pods == 0;
}

bool Places::fill_anywhere(const Demand& demand, std::int64_t pods, std::vector<HeldPod>& out) {
  const FlavorObject* const flavor = demand.assigned == nullptr ? nullptr : flavors_.find(demand.assigned->flavor);
  const auto fits = [&](std::size_t n) {
    const Node& node = snapshot_.nodes[n];
    return (flavor == nullptr || flavors_.covers(*flavor, node)) && has_labels(node.labels, demand.set->pod.node_selector);
  };
  for (auto free = static_cast<std::size_t>(demand.gpus); free < with_free_.size() && pods > 0; ++free) {
    std::vector<std::size_t> nodes;
    std::int64_t room = 0;
    for (const std::size_t node : with_free_[free]) {
      if (room >= pods) break;
      if (!fits(node)) continue;
      nodes.push_back(node);
      room += static_cast<std::int64_t>(free) / demand.gpus;
    }
    const std::size_t before = out.size();
    fill(demand, nodes, pods, out);
    pods -= static_cast<std::int64_t>(out.size() - before);
  }
  return pods == 0;
}

const std::vector<std::size_t>& Places::nodes_of(const std::vector<std::string>& levels, const std::vector<std::string>& values) {
  auto [at, fresh] = by_levels_.try_emplace(levels);
  auto& nodes = at->second;
  if (fresh && levels.back() != kai::kHostLabel) {
    for (std::size_t n = 0; n < snapshot_.nodes.size(); ++n) {
      const KaiTexts labels(snapshot_.nodes[n].labels.begin(), snapshot_.nodes[n].labels.end());
      std::vector<std::string> own;
      own.reserve(levels.size());
      for (const std::string& level : levels) own.push_back(text_of(labels, level.c_str()));
      nodes[own].push_back(n);
    }
  }
  const auto [found, added] = nodes.try_emplace(values);
  if (added && levels.back() == kai::kHostLabel) {
    const auto host = by_host_.find(values.back()), named = by_name_.find(values.back());
    if (host != by_host_.end()) {
      found->second.push_back(host->second);
    } else if (named != by_name_.end()) {
      found->second.push_back(named->second);
    }
  }
  return found->second;
}

const HeldPods* Places::of(const WorkloadObject& workload) const {
  const auto found = held_.find(&workload);
  return found == held_.end() ? nullptr : &found->second;
}

void Places::block(const WorkloadObject& workload) {
  const HeldPods* const pods = of(workload);
  if (pods == nullptr) return;
  for (const auto& [name, list] : *pods) {
    for (const HeldPod& pod : list) {
      for (const std::int32_t gpu : pod.gpus) blocked_[pod.node] |= gpu_bit(gpu);
    }
  }
}

void Places::finish() {
  for (std::size_t n = 0; n < blocked_.size(); ++n) {
    if (blocked_[n] == 0) continue;
    Node& node = snapshot_.nodes[n];
    for (std::int32_t gpu = 0; gpu < node.gpus; ++gpu) {
      Gpu one;
      one.index = gpu;
      if ((blocked_[n] & gpu_bit(gpu)) != 0) one.state = GpuState::kReleasing;
      node.gpu_list.push_back(one);
    }
  }
}

}  // namespace berth::io::kueue
