#include "host/io/kueue/kueue_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "host/core/model/shape_id.hpp"
#include "host/io/kai/kai_cluster.hpp"

namespace berth::io::kueue {
namespace {

/// One workload that becomes a job.
class WorkloadJob {
 public:
  WorkloadJob(const WorkloadObject& from, const Flavors& flavors, const Snapshot& snapshot, const std::set<std::string>& levels,
              ImportNotes& notes)
      : from_(from), flavors_(flavors), snapshot_(snapshot), levels_(levels), notes_(notes), id_(from.meta.path()) {}

  /// @param held  Null: it waits.
  /// @returns why it becomes no job; empty when it does.
  std::string make(const QueueIndex::Entry& queue, const HeldPods* held, Job& job) {
    held_ = held;
    std::string problem = find_sets();
    if (problem.empty()) problem = find_types(*queue.object);
    if (!problem.empty()) return problem;
    Shape shape;
    add_groups(shape);
    add_shapes(shape, job);
    set_constraints(job);
    job.id = id_;
    job.tenant = from_.meta.space;
    job.queue = queue.object->name;
    job.submit_us = from_.meta.created_us;
    job.priority = static_cast<std::int32_t>(from_.priority);
    job.preemption.preemption_class = job.priority;
    job.preemption.preemptible = queue.preemptible;
    job.progress.restarts = static_cast<std::int32_t>(from_.restarts);
    if (from_.longest_s > 0) {
      job.time_limit_us = from_.longest_s * kSecond;
      job.estimate.run_us = job.time_limit_us;
      job.estimate.source = "time_limit";
    }
    job.progress.run_us = from_.ran_before_s * kSecond;
    if (held != nullptr) {
      note_flavor(*queue.object);
      add_allocation(job);
    }
    job.progress.work_done = job.progress.run_us;
    return {};
  }

 private:
  struct Member {
    const PodSetObject* set = nullptr;
    std::int64_t least = 1, most = 1;
  };

  std::string find_sets() {
    std::int64_t gpus = 0;
    for (const PodSetObject& set : from_.pod_sets) {
      if (set.pod.mig) return "MIG slices";
      if (set.pod.claims) return "devices by resource claims";
      if (set.pod.gpus > kMaxGpusPerNode) return fmt::format("a pod of more than {} GPUs", kMaxGpusPerNode);
      const auto ended = from_.reclaimable.find(set.name);
      const std::int64_t pods = set.count - std::min(set.count, ended == from_.reclaimable.end() ? 0 : ended->second);
      if (pods == 0) continue;
      if (set.pod.gpus == 0) {
        notes_.count("podset", " without GPUs, of a job that has some: left out", id_);
        continue;
      }
      std::int64_t least = std::min(pods, set.min_count.value_or(pods));
      if (held_ != nullptr) least = std::min(least, std::max<std::int64_t>(1, pods_left(from_, set)));
      if (held_ != nullptr && pods_left(from_, set) == 0) continue;
      members_.push_back({&set, std::max<std::int64_t>(1, least), pods});
      gpus += pods * set.pod.gpus;
      if (gpus > kMaxGpusPerJob) return fmt::format("more than {} GPUs", kMaxGpusPerJob);
    }
    if (members_.size() > static_cast<std::size_t>(kMaxGroups) / 2) return fmt::format("more than {} podsets", kMaxGroups / 2);
    return members_.empty() ? "no GPUs asked for" : "";
  }

  /// The selector of a pod excludes flavors with another value of a label.
  bool suits(const FlavorObject& flavor) const {
    return std::all_of(members_.begin(), members_.end(), [&](const Member& one) {
      return std::all_of(flavor.labels.begin(), flavor.labels.end(), [&](const auto& label) {
        const auto asked = one.set->pod.node_selector.find(label.first);
        return asked == one.set->pod.node_selector.end() || asked->second == label.second;
      });
    });
  }

  std::string find_types(const ClusterQueueObject& queue) {
    std::size_t known = 0;
    for (const FlavorQuota& quota : queue.quotas) {
      const FlavorObject* const flavor = flavors_.find(quota.flavor);
      if (flavor == nullptr || !suits(*flavor)) continue;
      ++known;
      for (const std::string& type : flavors_.types(*flavor)) {
        if (std::find(types_.begin(), types_.end(), type) == types_.end() && types_.size() < static_cast<std::size_t>(kMaxShapes))
          types_.push_back(type);
      }
    }
    if (known == 0 && held_ == nullptr) return "no flavor of its ClusterQueue suits it";
    // One flavor on all types: any of them, as its quota is of all types.
    if (known == 1 && types_.size() > 1 && types_.size() == snapshot_.gpu_types.size()) types_ = {""};
    return held_ == nullptr ? "" : find_own_type();
  }

  /// The type on which it runs, which is one of its shapes.
  std::string find_own_type() {
    std::set<std::string> own;
    for (const auto& [name, pods] : *held_) {
      for (const HeldPod& pod : pods) own.insert(snapshot_.nodes[pod.node].gpu_type);
    }
    if (own.empty()) return "no pods left";
    if (own.size() > 1) return "pods on several GPU types";
    own_ = *own.begin();
    if (types_ == std::vector<std::string>{""}) own_.clear();
    if (std::find(types_.begin(), types_.end(), own_) != types_.end()) return {};
    if (types_.size() == static_cast<std::size_t>(kMaxShapes)) types_.pop_back();
    types_.insert(types_.begin(), own_);
    return {};
  }

  void note_flavor(const ClusterQueueObject& queue) {
    const auto lacks = [&](const Member& one) {
      const auto assigned = from_.assigned.find(one.set->name);
      if (assigned == from_.assigned.end() || assigned->second.flavor.empty()) return false;
      return std::none_of(queue.quotas.begin(), queue.quotas.end(),
                          [&](const FlavorQuota& quota) { return quota.flavor == assigned->second.flavor; });
    };
    if (std::any_of(members_.begin(), members_.end(), lacks))
      notes_.count("admitted workload", " of a flavor that the ClusterQueue lacks: nodes of other flavors may stand for it", id_);
  }

  std::optional<LevelRef> level(const std::string& label) {
    if (label.empty()) return std::nullopt;
    if (label == kai::kHostLabel) return LevelRef{TopologyKind::kSwitch, "node"};
    std::string name = kai::level_name(label);
    if (levels_.count(name) > 0) return LevelRef{TopologyKind::kSwitch, std::move(name)};
    notes_.count("topology request", " of a level that no node has: left out", id_);
    return std::nullopt;
  }

  void add_groups(Shape& shape) {
    std::map<std::string, std::vector<const Member*>> together;  // podsets that share a domain
    for (const Member& one : members_) {
      if (!one.set->group.empty()) together[one.set->group].push_back(&one);
    }
    std::set<std::string> names;
    for (const Member& one : members_) names.insert(one.set->name);
    std::map<std::string, std::string> parents;  // by podSetGroupName
    for (const auto& [name, sets] : together) {
      if (sets.size() < 2) continue;
      Group group;
      group.name = name;
      while (!names.insert(group.name).second) group.name += "'";
      group.members_min = group.members_want = group.members_max = 0;
      group.require = level(sets.front()->set->required);
      group.prefer = level(sets.front()->set->preferred);
      parents[name] = group.name;
      shape.groups.push_back(std::move(group));
    }
    shape.gpus = 0;
    for (const Member& one : members_) {
      Group group;
      group.name = one.set->name;
      const auto parent = parents.find(one.set->group);
      if (parent != parents.end()) {
        group.parent = parent->second;
      } else {
        group.require = level(one.set->required);
        group.prefer = level(one.set->preferred);
      }
      group.members_min = static_cast<std::int32_t>(one.least);
      group.members_want = group.members_max = static_cast<std::int32_t>(one.most);
      group.gpus_per_member = static_cast<std::int32_t>(one.set->pod.gpus);
      add_slices(one, group);
      shape.gpus += group.members_want * group.gpus_per_member;
      shape.groups.push_back(std::move(group));
    }
  }

  void add_slices(const Member& one, Group& group) {
    if (one.set->slice_level.empty()) return;
    const std::int64_t size = one.set->slice_size;
    if (size <= 0 || one.most % size != 0) {
      notes_.count("podset", " with slices that do not divide its pods: left out", id_);
      return;
    }
    const auto at = level(one.set->slice_level);
    if (at) group.segment = Segment{static_cast<std::int32_t>(size), *at};
  }

  void add_shapes(const Shape& shape, Job& job) {
    for (const std::string& type : types_) {
      Shape& one = job.shapes.emplace_back(shape);
      one.gpu_type = type;
      one.id = core::default_shape_id(one.gpus, types_.size() > 1 ? type : "");
    }
  }

  /// Sets the node labels that all pods require equally.
  void set_constraints(Job& job) {
    const KaiTexts& first = members_.front().set->pod.node_selector;
    bool same = true;
    for (const Member& one : members_) {
      same = same && one.set->pod.node_selector == first;
      if (one.set->pod.affinity) notes_.count("podset", " with affinities, which are left out", id_);
    }
    if (!same) {
      notes_.count("job", " whose pods have different node selectors, which are left out", id_);
      return;
    }
    for (const auto& [key, value] : first) {
      if (!key.empty()) job.constraints.labels.push_back({key, {value}});
    }
  }

  void add_allocation(Job& job) {
    job.state = JobState::kRunning;
    const auto own = std::find_if(job.shapes.begin(), job.shapes.end(), [&](const Shape& one) { return one.gpu_type == own_; });
    job.allocation.shape = own->id;
    std::int64_t gpus = 0;
    for (const Member& member : members_) {
      const auto pods = held_->find(member.set->name);
      if (pods == held_->end()) continue;
      std::int32_t rank = 0;
      for (const HeldPod& pod : pods->second) {
        AllocationEntry& entry = job.allocation.entries.emplace_back();
        entry.group = member.set->name;
        entry.member = rank++;
        entry.node = snapshot_.nodes[pod.node].id;
        entry.gpus = pod.gpus;
        gpus += static_cast<std::int64_t>(pod.gpus.size());
      }
    }
    const ConditionObject admitted = from_.condition("Admitted"), reserved = from_.condition("QuotaReserved");
    if (!admitted.holds) notes_.count("workload", " with quota reserved and admission checks to pass: taken to run", id_);
    const TimeUs since = admitted.holds && admitted.since_us > 0 ? admitted.since_us : reserved.since_us;
    if (since <= 0) {
      notes_.count("admitted workload", " without the time of its admission: taken to have run for 0 s", id_);
      return;
    }
    job.last_assignment_us = since;
    const TimeUs ran = std::max<TimeUs>(0, snapshot_.now_us - since);
    job.progress.run_us += ran;
    const __int128 attained = static_cast<__int128>(job.progress.run_us) * gpus;
    job.progress.attained_gpu_us = static_cast<std::int64_t>(std::min<__int128>(attained, kScoreCeiling));
  }

  const WorkloadObject& from_;
  const Flavors& flavors_;
  const Snapshot& snapshot_;
  const std::set<std::string>& levels_;
  ImportNotes& notes_;
  std::string id_;
  const HeldPods* held_ = nullptr;
  std::vector<Member> members_;
  std::vector<std::string> types_;  // in the order of the ClusterQueue's flavors
  std::string own_;
};

/// Finds the ClusterQueue of a workload: the one that admitted it, or that of its LocalQueue.
class QueueOf {
 public:
  QueueOf(const KueueObjects& objects, const QueueIndex& queues) : queues_(queues) {
    for (const LocalQueueObject& one : objects.local_queues) local_.emplace(one.path, &one);
  }

  /// @returns why there is none; empty when there is.
  std::string find(const WorkloadObject& workload, bool runs, const QueueIndex::Entry*& out) const {
    const auto local = local_.find(workload.meta.space + "/" + workload.queue);
    std::string name = runs ? workload.cluster_queue : std::string();
    if (name.empty() && local == local_.end()) return "its LocalQueue is not among the objects";
    if (name.empty()) name = local->second->cluster_queue;
    const auto found = queues_.entries.find(name);
    if (found == queues_.entries.end()) return "its ClusterQueue is not among the objects, or has no quota of GPUs";
    out = &found->second;
    if (runs) return {};
    if (local->second->stopped || out->object->stopped) return "its queue is stopped (stopPolicy)";
    if (!out->object->selects_namespaces) return "its ClusterQueue accepts no namespace (no namespaceSelector)";
    return {};
  }

 private:
  const QueueIndex& queues_;
  std::map<std::string_view, const LocalQueueObject*> local_;
};

std::string hindrance_of(const WorkloadObject& workload, TimeUs now) {
  if (workload.condition("Finished").holds) return "finished";
  if (!workload.other_cluster.empty()) return "runs in another cluster (MultiKueue)";
  if (!workload.active) return "inactive (spec.active)";
  if (!holds_gpus(workload) && workload.requeue_at_us > now) return "waits to be requeued (requeueAt)";
  return {};
}

bool has_gpus(const WorkloadObject& workload) {
  return std::any_of(workload.pod_sets.begin(), workload.pod_sets.end(),
                     [](const PodSetObject& set) { return set.count > 0 && (set.pod.gpus > 0 || set.pod.mig || set.pod.claims); });
}

}  // namespace

void add_jobs(const KueueObjects& objects, const Flavors& flavors, const QueueIndex& queues, Places& places, Snapshot& snapshot,
              ImportNotes& notes) {
  std::set<std::string> levels;
  for (const Domain& domain : snapshot.domains) {
    if (domain.topology == TopologyKind::kSwitch) levels.insert(domain.level);
  }
  const QueueOf queue_of(objects, queues);
  for (const WorkloadObject& from : objects.workloads) {
    const bool holds = holds_gpus(from);
    std::string problem = has_gpus(from) ? hindrance_of(from, snapshot.now_us) : "no GPUs asked for";
    const QueueIndex::Entry* queue = nullptr;
    if (problem.empty()) problem = queue_of.find(from, holds, queue);
    const HeldPods* const held = holds ? places.of(from) : nullptr;
    if (problem.empty() && holds && held == nullptr) problem = "admitted, and its pods do not fit into what is free on their nodes";
    Job job;
    if (problem.empty()) problem = WorkloadJob(from, flavors, snapshot, levels, notes).make(*queue, held, job);
    if (!problem.empty()) {
      notes.leave_out(from.meta.path(), problem);
      places.block(from);
      continue;
    }
    if (from.admitted && !holds) notes.count("workload", " that is being evicted: it waits, and its GPUs count as free", from.meta.path());
    snapshot.jobs.push_back(std::move(job));
  }
}

}  // namespace berth::io::kueue
