#include "host/io/kai/kai_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/kernel/place/tree.hpp"
#include "host/core/base/decimal.hpp"

namespace berth::io::kai {
namespace {

constexpr const char* kPodGroup = "pod-group-name";
constexpr const char* kSubGroup = "kai.scheduler/subgroup-name";
/// A smaller priority is preemptible, unless the pod group states otherwise.
constexpr std::int64_t kPreemptibleBelow = 100;

struct PodMember {
  const KaiPod* pod = nullptr;
  PodDemand demand;
  const Held::Pod* held = nullptr;  // null: it waits
};

/// Members of one group of the gang, which are all equal.
struct Leaf {
  std::string name, parent;
  std::int64_t min_member = 1;
  KaiTopologyConstraint topology;
  std::vector<PodMember> members;
};

class Gang {
 public:
  Gang(const KaiPodGroup& from, const Cluster& cluster, const Held& held, const Snapshot& snapshot, ImportNotes& notes)
      : from_(from), cluster_(cluster), held_(held), snapshot_(snapshot), notes_(notes) {}

  /// @returns why the pod group becomes no job; empty when it does.
  std::string make(const std::vector<const KaiPod*>& pods, Job& job) {
    std::string problem = add_leaves();
    if (problem.empty()) problem = deal(pods);
    if (problem.empty()) problem = check_leaves();
    if (problem.empty()) problem = check_size();
    if (!problem.empty()) return problem;
    add_groups(job);
    add_allocation(job);
    return {};
  }

  const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  std::string add_leaves() {
    if (from_.sub_groups.empty()) {
      leaves_.push_back({"pods", "", from_.min_member, from_.topology, {}});
      return {};
    }
    std::set<std::string> names;
    for (const KaiSubGroup& group : from_.sub_groups) {
      if (group.name.empty() || !names.insert(group.name).second) return "subgroups without a name of their own";
    }
    for (const KaiSubGroup& group : from_.sub_groups) {
      if (!group.parent.empty() && names.count(group.parent) == 0) return "a subgroup whose parent does not exist";
      const bool inner = std::any_of(from_.sub_groups.begin(), from_.sub_groups.end(),
                                     [&](const KaiSubGroup& other) { return other.parent == group.name; });
      Leaf one{group.name, group.parent, group.min_member, group.topology, {}};
      (inner ? inner_ : leaves_).push_back(std::move(one));
    }
    return {};
  }

  /// Assigns the pods that request GPUs to their leaves.
  std::string deal(const std::vector<const KaiPod*>& pods) {
    for (const KaiPod* pod : pods) {
      if (is_over(*pod)) {
        notes_.count("pod", " already ended: left out", pod->meta.path());
        continue;
      }
      if (pod->meta.deleting) continue;  // counted with the GPUs that it holds
      const PodDemand demand = demand_of(*pod);
      if (!demand.unsupported.empty()) return demand.unsupported;
      Leaf* leaf = &leaves_.front();
      if (!from_.sub_groups.empty()) {
        const auto label = pod->meta.labels.find(kSubGroup);
        const auto found = std::find_if(leaves_.begin(), leaves_.end(),
                                        [&](const Leaf& one) { return label != pod->meta.labels.end() && one.name == label->second; });
        if (found == leaves_.end()) return "pods outside of its subgroups";
        leaf = &*found;
      }
      if (demand.gpus == 0) {
        notes_.count("pod", " without GPUs in a gang: left out", pod->meta.path());
        --leaf->min_member;
        continue;
      }
      leaf->members.push_back({pod, demand, held_.of(*pod)});
    }
    return {};
  }

  std::string check_leaves() {
    std::vector<Leaf> whole;
    std::set<std::string> types;
    for (Leaf& leaf : leaves_) {
      if (leaf.members.empty() && leaf.min_member > 0 && !from_.sub_groups.empty()) return "fewer pods than its minMember";
      if (leaf.members.empty()) continue;  // none of its pods requests GPUs
      const auto n = static_cast<std::int64_t>(leaf.members.size());
      running_ = running_ || std::any_of(leaf.members.begin(), leaf.members.end(), [](const PodMember& m) { return m.held != nullptr; });
      std::map<std::pair<std::int32_t, std::int32_t>, std::vector<PodMember>, std::greater<>> sizes;
      for (PodMember& member : leaf.members) {
        sizes[{member.demand.gpus, member.demand.share_ppm}].push_back(member);
        if (member.held != nullptr) types.insert(snapshot_.nodes[static_cast<std::size_t>(member.held->node)].gpu_type);
      }
      if (sizes.size() > 1 && leaf.min_member < n) return "members of several sizes, of which not all are needed";
      for (auto& [size, members] : sizes) {
        const std::string part = size.second < kWholeGpu ? core::decimal_text(size.second, 6) : fmt::format("{}", size.first);
        const std::string name = sizes.size() == 1 ? leaf.name : leaf.name + "-" + part;
        const std::int64_t least = sizes.size() == 1 ? leaf.min_member : static_cast<std::int64_t>(members.size());
        whole.push_back({name, leaf.parent, least, leaf.topology, std::move(members)});
      }
    }
    if (whole.empty()) return "no pod that asks for GPUs";
    if (types.size() > 1) return "pods on several GPU types";
    for (Leaf& leaf : whole) {
      const auto n = static_cast<std::int64_t>(leaf.members.size());
      if (!running_ && leaf.min_member > n) return "fewer pods than its minMember";
      leaf.min_member = std::clamp<std::int64_t>(leaf.min_member, 1, n);
      // Members that hold GPUs come first, because ranks have no gaps.
      std::stable_sort(leaf.members.begin(), leaf.members.end(),
                       [](const PodMember& a, const PodMember& b) { return (a.held != nullptr) > (b.held != nullptr); });
      const auto running = std::count_if(leaf.members.begin(), leaf.members.end(), [](const PodMember& m) { return m.held != nullptr; });
      if (running_ && running < leaf.min_member) {
        notes_.count("group", " of running gangs below minMember, which is taken for what runs", from_.meta.path());
        leaf.min_member = running;
      }
    }
    leaves_ = std::move(whole);
    return {};
  }

  /// Whether members of several sizes created groups where the pod group has none.
  bool is_split() const { return from_.sub_groups.empty() && leaves_.size() > 1; }
  /// Whether the gang's own constraint needs a root group.
  bool has_root() const {
    const bool constrained = !from_.topology.required.empty() || !from_.topology.preferred.empty();
    return constrained && (is_split() || !from_.sub_groups.empty());
  }

  /// A job that no cluster could run would make the whole snapshot invalid.
  std::string check_size() const {
    const auto deep = [&](const std::string& parent) {
      std::int32_t depth = has_root() ? 2 : 1;
      for (std::string at = parent; !at.empty() && depth <= kernel::kMaxTreeDepth; ++depth) {
        at = std::find_if(inner_.begin(), inner_.end(), [&](const Leaf& one) { return one.name == at; })->parent;
      }
      return depth > kernel::kMaxTreeDepth;
    };
    std::int64_t gpus = 0;
    for (const Leaf& leaf : leaves_) {
      gpus += static_cast<std::int64_t>(leaf.members.size()) * leaf.members.front().demand.gpus;
      if (deep(leaf.parent)) return "subgroups in a circle, or nested too deep";
    }
    if (gpus > kMaxGpusPerJob) return fmt::format("more than {} GPUs", kMaxGpusPerJob);
    const std::size_t groups = leaves_.size() + inner_.size() + (has_root() ? 1 : 0);
    if (groups > static_cast<std::size_t>(kMaxGroups)) return fmt::format("more than {} groups", kMaxGroups);
    return {};
  }

  void set_topology(Group& group, const KaiTopologyConstraint& constraint) {
    const auto resolve = [&](const std::string& label) -> std::optional<LevelRef> {
      if (label.empty()) return std::nullopt;
      auto level = cluster_.level(constraint, label);
      if (!level) notes_.count("topology constraint", " of a level that no node has: left out", from_.meta.path());
      return level;
    };
    group.require = resolve(constraint.required);
    group.prefer = resolve(constraint.preferred);
  }

  Group inner(const std::string& name, const std::string& parent, const KaiTopologyConstraint& topology) {
    Group group;
    group.name = name;
    group.parent = parent;
    group.members_min = group.members_want = group.members_max = 0;
    set_topology(group, topology);
    return group;
  }

  void add_groups(Job& job) {
    Shape shape;
    shape.gpus = 0;
    std::string root;
    if (has_root()) {
      root = "gang";
      const auto used = [&](const Leaf& one) { return one.name == root; };
      while (std::any_of(leaves_.begin(), leaves_.end(), used) || std::any_of(inner_.begin(), inner_.end(), used)) root += "'";
      shape.groups.push_back(inner(root, "", from_.topology));
    }
    std::set<std::string> parents;  // inner groups above an existing leaf
    for (const Leaf& leaf : leaves_) {
      for (std::string at = leaf.parent; !at.empty() && parents.insert(at).second;) {
        at = std::find_if(inner_.begin(), inner_.end(), [&](const Leaf& one) { return one.name == at; })->parent;
      }
    }
    for (const Leaf& one : inner_) {
      if (parents.count(one.name) > 0) shape.groups.push_back(inner(one.name, one.parent.empty() ? root : one.parent, one.topology));
    }
    for (const Leaf& leaf : leaves_) {
      Group group;
      group.name = leaf.name;
      group.parent = leaf.parent.empty() ? root : leaf.parent;
      group.members_min = static_cast<std::int32_t>(leaf.min_member);
      group.members_want = group.members_max = static_cast<std::int32_t>(leaf.members.size());
      group.gpus_per_member = leaf.members.front().demand.gpus;
      group.share_ppm = leaf.members.front().demand.share_ppm;
      job.sharing = job.sharing || group.share_ppm < kWholeGpu;
      if (!is_split() || root.empty()) set_topology(group, leaf.topology);
      shape.gpus += group.members_want * group.gpus_per_member;
      shape.groups.push_back(std::move(group));
    }
    shape.id = fmt::format("{}", shape.gpus);
    job.shapes.push_back(std::move(shape));
  }

  void add_allocation(Job& job) {
    if (!running_) return;
    job.state = JobState::kRunning;
    job.allocation.shape = job.shapes.front().id;
    TimeUs start = 0;
    for (const Leaf& leaf : leaves_) {
      std::int32_t rank = 0;
      for (const PodMember& member : leaf.members) {
        if (member.held == nullptr) break;
        AllocationEntry entry;
        entry.group = leaf.name;
        entry.member = rank++;
        entry.node = snapshot_.nodes[static_cast<std::size_t>(member.held->node)].id;
        entry.gpus = member.held->gpus;
        std::sort(entry.gpus.begin(), entry.gpus.end());
        entry.share_ppm = member.demand.share_ppm;
        entry.time_shared = entry.share_ppm < kWholeGpu;  // KAI isolates neither memory nor time
        start = std::max(start, member.pod->start_us);
        job.allocation.entries.push_back(std::move(entry));
      }
    }
    if (start > 0) job.last_assignment_us = start;
  }

  const KaiPodGroup& from_;
  const Cluster& cluster_;
  const Held& held_;
  const Snapshot& snapshot_;
  ImportNotes& notes_;
  std::vector<Leaf> leaves_, inner_;
  bool running_ = false;
};

/// Sets the node labels that all members require equally.
void set_constraints(const std::vector<Leaf>& leaves, Job& job, ImportNotes& notes) {
  const KaiTexts& first = leaves.front().members.front().pod->node_selector;
  bool same = true, affinity = false;
  for (const Leaf& leaf : leaves) {
    for (const PodMember& member : leaf.members) {
      same = same && member.pod->node_selector == first;
      affinity = affinity || member.pod->affinity;
    }
  }
  if (affinity) notes.count("job", " with affinities, which are left out", job.id);
  if (!same) {
    notes.count("job", " whose pods have different node selectors, which are left out", job.id);
    return;
  }
  for (const auto& [key, value] : first) job.constraints.labels.push_back({key, {value}});
}

void set_priority(const KaiPodGroup& from, const KaiObjects& objects, Job& job, ImportNotes& notes) {
  const auto found = objects.priorities.find(from.priority_class);
  if (found != objects.priorities.end()) {
    job.priority = static_cast<std::int32_t>(found->second);
  } else if (!from.priority_class.empty()) {
    notes.count("job", " of a priority class that does not exist: priority 0", job.id);
  }
  job.preemption.preemption_class = job.priority;
  job.preemption.preemptible = from.preemptibility.empty() ? job.priority < kPreemptibleBelow : from.preemptibility == "preemptible";
}

/// How long a job of a queue is protected: in KAI from preemption as the queue or the nearest one above it says, and from
/// reclaim as one of them says, which depends on who reclaims. A job of Berth has one time: the longest.
class MinimumRunTimes {
 public:
  explicit MinimumRunTimes(const KaiObjects& objects) {
    for (const KaiQueue& one : objects.queues) queues_.emplace(one.meta.name, &one);
  }

  void set(Job& job, ImportNotes& notes) const {
    TimeUs preempt = -1, longest = 0, shortest = kNever;
    // The queues are a tree (read_kai_objects).
    for (auto at = queues_.find(job.queue); at != queues_.end(); at = queues_.find(at->second->parent)) {
      if (preempt < 0) preempt = at->second->preempt_after_us;
      if (at->second->reclaim_after_us < 0) continue;
      longest = std::max(longest, at->second->reclaim_after_us);
      shortest = std::min(shortest, at->second->reclaim_after_us);
    }
    preempt = std::max<TimeUs>(preempt, 0);
    if (shortest == kNever) shortest = 0;
    if (preempt != longest || shortest != longest)
      notes.count("job", " with several minimum run times, for preemption and by who reclaims: the longest", job.id);
    job.preemption.minimum_run_us = std::max(preempt, longest);
  }

 private:
  std::map<std::string_view, const KaiQueue*> queues_;
};

void set_progress(Job& job, TimeUs now) {
  if (job.state != JobState::kRunning || job.last_assignment_us == kNever) return;
  job.progress.run_us = std::max<TimeUs>(0, now - job.last_assignment_us);
  std::int64_t ppm = 0;
  for (const AllocationEntry& entry : job.allocation.entries) ppm += static_cast<std::int64_t>(entry.gpus.size()) * entry.share_ppm;
  job.progress.work_done = job.progress.run_us;
  const __int128 attained = static_cast<__int128>(job.progress.run_us) * ppm / kWholeGpu;
  job.progress.attained_gpu_us = static_cast<std::int64_t>(std::min<__int128>(attained, kScoreCeiling));
}

}  // namespace

MemberPods add_jobs(const KaiObjects& objects, const Cluster& cluster, const Held& held, Snapshot& snapshot, ImportNotes& notes) {
  std::map<std::string, std::vector<const KaiPod*>> pods;
  for (const KaiPod& pod : objects.pods) {
    const auto group = pod.meta.annotations.find(kPodGroup);
    if (group != pod.meta.annotations.end()) pods[pod.meta.space + "/" + group->second].push_back(&pod);
  }
  std::set<std::string> queues;
  for (const Queue& queue : snapshot.queues) queues.insert(queue.id);
  const MinimumRunTimes minimum(objects);
  MemberPods taken;
  for (const KaiPodGroup& from : objects.pod_groups) {
    Job job;
    job.id = from.meta.path();
    job.tenant = from.meta.space;
    job.queue = from.queue;
    job.submit_us = from.meta.created_us;
    Gang gang(from, cluster, held, snapshot, notes);
    std::string problem = queues.count(from.queue) == 0 ? "a queue that does not exist" : gang.make(pods[from.meta.path()], job);
    if (!problem.empty()) {
      notes.count("pod group", " left out: " + problem, job.id);
      continue;
    }
    set_constraints(gang.leaves(), job, notes);
    set_priority(from, objects, job, notes);
    minimum.set(job, notes);
    set_progress(job, snapshot.now_us);
    if (from.min_sub_groups) notes.count("job", " that needs only some of its subgroups: all are needed", job.id);
    if (from.preemptibility == "semi-preemptible")
      notes.count("job", " of which only members above the minimum are preemptible: none is", job.id);
    for (const Leaf& leaf : gang.leaves()) {
      for (const PodMember& member : leaf.members) taken.insert(member.pod->meta.path());
    }
    snapshot.jobs.push_back(std::move(job));
  }
  return taken;
}

}  // namespace berth::io::kai
