#include <gtest/gtest.h>

#include <algorithm>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/kai/kai.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/zipped.hpp"

namespace berth::io::import_kai_test {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ",\n") + part;
  return "[" + all + "]";
}

/// The objects of one snapshot; empty lists are null, as Go writes them.
struct Objects {
  std::vector<std::string> nodes, queues, groups, pods, binds, priorities, topologies;

  std::string json() const {
    const auto list = [](const std::vector<std::string>& parts) { return parts.empty() ? std::string("null") : joined(parts); };
    return R"({"config": {"actions": "allocate"}, "schedulerParams": null, "rawObjects": {"nodes": )" + list(nodes) + R"(, "queues": )" +
           list(queues) + R"(, "podGroups": )" + list(groups) + R"(, "pods": )" + list(pods) + R"(, "bindRequests": )" + list(binds) +
           R"(, "priorityClasses": )" + list(priorities) + R"(, "configMaps": null, "topologies": )" + list(topologies) + "}}";
  }
};

std::string meta(const std::string& name, const std::string& more = "") {
  return R"("metadata": {"name": ")" + name + R"(", "namespace": "", "uid": "u", "creationTimestamp": null)" +
         (more.empty() ? "" : ", " + more) + "}";
}

std::string node(const std::string& name, int gpus, const std::string& labels = R"("nvidia.com/gpu.product": "H100")",
                 const std::string& spec = "", int allocatable = -1) {
  const std::string count = std::to_string(gpus);
  return "{" + meta(name, R"("labels": {)" + labels + "}") + R"(, "spec": {)" + spec +
         R"(}, "status": {"capacity": {"cpu": "64", "nvidia.com/gpu": ")" + count +
         R"("}, "allocatable": {"cpu": "63500m", "nvidia.com/gpu": ")" + (allocatable < 0 ? count : std::to_string(allocatable)) +
         R"("}, "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}})";
}

std::string queue(const std::string& name, const std::string& parent, const std::string& quota, const std::string& limit) {
  return "{" + meta(name) + R"(, "spec": {"parentQueue": ")" + parent +
         R"(", "resources": {"cpu": {"quota": -1, "limit": -1}, "gpu": {"quota": )" + quota + R"(, "overQuotaWeight": 2, "limit": )" +
         limit + "}}}}";
}

std::string group(const std::string& name, int min_member, const std::string& more = "") {
  return R"({"metadata": {"name": ")" + name +
         R"(", "namespace": "ns", "creationTimestamp": "2025-06-01T12:00:00Z"}, "spec": {"minMember": )" + std::to_string(min_member) +
         R"(, "queue": "q")" + (more.empty() ? "" : ", " + more) + R"(}, "status": {"pending": 1}})";
}

struct PodText {
  std::string name, group, gpus = "1", node = {}, phase = "Pending", annotations = {}, labels = {}, spec = {}, space = "ns";
  bool deleting = false;
};
std::string pod(const PodText& p) {
  const std::string resources = p.gpus == "0" ? R"({"requests": {"cpu": "1"}})" : R"({"limits": {"nvidia.com/gpu": ")" + p.gpus + R"("}})";
  return R"({"metadata": {"name": ")" + p.name + R"(", "namespace": ")" + p.space + R"(", "creationTimestamp": "2025-06-01T12:00:01Z")" +
         (p.deleting ? R"(, "deletionTimestamp": "2025-06-01T12:00:30Z")" : "") + R"(, "annotations": {"pod-group-name": ")" + p.group +
         "\"" + (p.annotations.empty() ? "" : ", " + p.annotations) + R"(}, "labels": {)" + p.labels + R"(}}, "spec": {"nodeName": ")" +
         p.node + R"(", "containers": [{"name": "c", "resources": )" + resources + "}]" + (p.spec.empty() ? "" : ", " + p.spec) +
         R"(}, "status": {"phase": ")" + p.phase + "\"" + (p.node.empty() ? "" : R"(, "startTime": "2025-06-01T12:00:10Z")") + "}}";
}

Objects small() {
  Objects objects;
  objects.nodes = {node("n1", 4), node("n0", 4)};
  objects.queues = {queue("q", "", "4", "-1")};
  return objects;
}

KaiImport import(const Objects& objects) {
  KaiImport out = import_kai(objects.json(), "f");
  check_snapshot(out.snapshot);
  EXPECT_EQ(parse_snapshot(to_json(out.snapshot)), out.snapshot);
  return out;
}

std::string problem(const std::string& json) {
  return test::problem_of([&] { import_kai(json, "f"); });
}

bool noted(const KaiImport& imported, const std::string& text) {
  return std::any_of(imported.notes.begin(), imported.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

constexpr TimeUs kNoon = 1'748'779'200 * kSecond;  // 2025-06-01T12:00:00Z

// KAI-Scheduler, docs/plugins/minruntime.md, "Resolution Methods": values are inherited, and the one of reclaim depends on
// who reclaims. Below a queue with 600 s, one with 0 s of its own is protected from its siblings for 0 s, and from cousins
// for 600 s.
TEST(ImportKai, JobsRunAsLongAsTheirQueuesPromise) {
  const auto with_times = [](const std::string& name, const std::string& parent, const std::string& times) {
    return "{" + meta(name) + R"(, "spec": {"parentQueue": ")" + parent + R"(")" + (times.empty() ? "" : ", " + times) + "}}";
  };
  Objects objects;
  objects.nodes = {node("n", 8)};
  objects.groups = {group("g", 1)};
  objects.pods = {pod({.name = "p", .group = "g"})};
  const auto minimum = [&](const std::string& above, const std::string& own) {
    objects.queues = {with_times("A", "", ""), with_times("B", "A", above), with_times("q", "B", own)};
    return import(objects).snapshot.jobs.front().preemption.minimum_run_us;
  };
  const std::string ten = R"("reclaimMinRuntime": "10m0s")";
  EXPECT_EQ(minimum("", ""), 0);
  EXPECT_EQ(minimum(ten, ""), 600 * kSecond);
  EXPECT_EQ(minimum(ten, R"("reclaimMinRuntime": "0s")"), 600 * kSecond);
  EXPECT_EQ(minimum(ten, R"("reclaimMinRuntime": "20s", "preemptMinRuntime": null)"), 600 * kSecond);
  EXPECT_EQ(minimum(R"("reclaimMinRuntime": "20s")", ten), 600 * kSecond);
  EXPECT_EQ(minimum(ten, R"("preemptMinRuntime": "1h1.5s")"), 3'601'500'000);
  EXPECT_EQ(minimum(R"("preemptMinRuntime": "5m")", R"("preemptMinRuntime": "0")"), 0);
  EXPECT_EQ(minimum(R"("preemptMinRuntime": "5m")", ""), 300 * kSecond);
  minimum(ten, "");
  EXPECT_TRUE(noted(import(objects), "1 job with several minimum run times, for preemption and by who reclaims: the longest (first: "));
  for (const char* text : {"", "10", "-1s", "1x", "h", "1..5s", "s1", "99999999999999h"})
    EXPECT_THROW(minimum(R"("reclaimMinRuntime": ")" + std::string(text) + R"(")", ""), InputError) << text;
}

}  // namespace

TEST(ImportKai, ZipAndItsJsonGiveTheSame) {
  Objects objects = small();
  objects.groups = {group("a", 1)};
  objects.pods = {pod({"a-0", "a"})};

  EXPECT_EQ(import_kai(test::zipped("snapshot.json", objects.json()), "f").snapshot, import(objects).snapshot);
}

TEST(ImportKai, NodesHaveTypesAndStates) {
  Objects objects;
  objects.nodes = {
      node("plain", 8, ""),
      node("cordoned", 8, R"("nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81559")", R"("unschedulable": true)"),
      node("for-gpus", 8, R"("nvidia.com/gpu.product": "H100")", R"("taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])"),
      node("tainted", 8, R"("nvidia.com/gpu.product": "A100")", R"("taints": [{"key": "team", "effect": "NoExecute"}])"),
      node("softly", 8, R"("nvidia.com/gpu.product": "A100")", R"("taints": [{"key": "team", "effect": "PreferNoSchedule"}])"),
      node("cpu", 0)};
  std::string broken = node("broken", 8);
  broken.replace(broken.rfind("True"), 4, "Unknown");
  objects.nodes.push_back(broken);

  const KaiImport imported = import(objects);

  const auto find = [&](const std::string& id) {
    return *std::find_if(imported.snapshot.nodes.begin(), imported.snapshot.nodes.end(), [&](const Node& one) { return one.id == id; });
  };
  EXPECT_EQ(imported.snapshot.nodes.size(), 6u);
  EXPECT_EQ(find("plain").gpu_type, "gpu");
  EXPECT_EQ(find("cordoned").gpu_type, "H100");
  EXPECT_EQ(find("cordoned").state, NodeState::kDrain);
  EXPECT_EQ(find("for-gpus").state, NodeState::kReady);
  EXPECT_EQ(find("tainted").state, NodeState::kDrain);
  EXPECT_EQ(find("softly").state, NodeState::kReady);
  EXPECT_EQ(find("broken").state, NodeState::kFailed);
  EXPECT_EQ(find("for-gpus").labels, (std::vector<std::pair<std::string, std::string>>{{"nvidia.com/gpu.product", "H100"}}));
  EXPECT_TRUE(noted(imported, "1 node without GPUs"));
  EXPECT_TRUE(noted(imported, "2 nodes cordoned or tainted"));
}

TEST(ImportKai, QueuesHaveWholeQuotas) {
  Objects objects = small();
  objects.queues = {queue("root", "", "-1", "-1"), queue("q", "root", "2.5", "6"), queue("orphan", "gone", "0", "0")};

  const KaiImport imported = import(objects);

  const std::vector<Queue>& queues = imported.snapshot.queues;  // by name
  EXPECT_EQ(queues.at(0).id, "orphan");
  EXPECT_EQ(queues.at(0).parent, "");
  EXPECT_EQ(queues.at(0).quotas.at(0).limit, 0);
  EXPECT_EQ(queues.at(1).parent, "root");
  EXPECT_EQ(queues.at(1).quotas.at(0), (Quota{"*", 2, 6, kUnlimited}));
  EXPECT_EQ(queues.at(1).weight_ppm, 2'000'000);
  EXPECT_EQ(queues.at(2).quotas.at(0), (Quota{"*", 8, kUnlimited, kUnlimited}));  // deserves everything
  EXPECT_TRUE(noted(imported, "1 quota with a part of a GPU"));
  EXPECT_TRUE(noted(imported, "1 queue whose parent does not exist: without one (first: "));
}

TEST(ImportKai, APodGroupIsAGangThatMayStartWithItsMinMember) {
  Objects objects = small();
  objects.priorities = {"{" + meta("train") + R"(, "value": 50})", "{" + meta("build") + R"(, "value": 100})"};
  objects.groups = {group("a", 2, R"("priorityClassName": "train")"), group("b", 0, R"("priorityClassName": "build")"),
                    group("c", 1, R"("priorityClassName": "build", "preemptibility": "preemptible")")};
  const std::string selector = R"("nodeSelector": {"nvidia.com/gpu.product": "H100"})";
  objects.pods = {pod({"a-0", "a", "2", "", "Pending", "", "", selector}), pod({"a-1", "a", "2", "", "Pending", "", "", selector}),
                  pod({"a-2", "a", "2", "", "Pending", "", "", selector}), pod({"b-0", "b", "4"}), pod({"c-0", "c"})};

  const KaiImport imported = import(objects);

  ASSERT_EQ(imported.snapshot.jobs.size(), 3u);
  const Job& a = imported.snapshot.jobs[0];
  EXPECT_EQ(a.id, "ns/a");
  EXPECT_EQ(a.tenant, "ns");
  EXPECT_EQ(a.queue, "q");
  EXPECT_EQ(a.submit_us, kNoon);
  EXPECT_EQ(a.state, JobState::kWaiting);
  EXPECT_EQ(a.priority, 50);
  EXPECT_TRUE(a.preemption.preemptible);
  EXPECT_EQ(a.shapes.at(0).gpus, 6);
  const Group& group = a.shapes.at(0).groups.at(0);
  EXPECT_EQ(std::make_tuple(group.members_min, group.members_want, group.members_max, group.gpus_per_member), std::make_tuple(2, 3, 3, 2));
  EXPECT_EQ(a.constraints.labels.at(0).second, std::vector<std::string>{"H100"});
  EXPECT_FALSE(imported.snapshot.jobs[1].preemption.preemptible);  // 100 and above
  EXPECT_TRUE(imported.snapshot.jobs[2].preemption.preemptible);
  EXPECT_EQ(imported.snapshot.now_us, kNoon + kSecond);
}

TEST(ImportKai, RunningPodsHoldTheLowestGpusInOrderOfTheirNames) {
  Objects objects = small();
  objects.groups = {group("b", 2), group("a", 1)};
  objects.pods = {pod({"b-1", "b", "2", "n0", "Running"}), pod({"b-0", "b", "2", "n1", "Running"}), pod({"a-0", "a", "1", "n0", "Running"}),
                  pod({"b-2", "b", "2"})};

  const Snapshot snapshot = import(objects).snapshot;

  const Job &a = snapshot.jobs.at(0), &b = snapshot.jobs.at(1);
  EXPECT_EQ(a.allocation.entries.at(0).node, "n0");
  EXPECT_EQ(a.allocation.entries.at(0).gpus, std::vector<std::int32_t>{0});
  ASSERT_EQ(b.allocation.entries.size(), 2u);  // two of three members
  EXPECT_EQ(b.allocation.entries[0].node, "n1");
  EXPECT_EQ(b.allocation.entries[1].gpus, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(b.allocation.entries[1].member, 1);
  EXPECT_EQ(b.last_assignment_us, kNoon + 10 * kSecond);
  EXPECT_EQ(snapshot.now_us, kNoon + 10 * kSecond);
}

TEST(ImportKai, APodThatIsBeingBoundHoldsItsGpusAlready) {
  Objects objects = small();
  objects.groups = {group("a", 1), group("b", 1)};
  objects.pods = {pod({"a-0", "a"}), pod({"b-0", "b"})};
  const auto bind = [](const std::string& name, const std::string& pod_name, const std::string& phase) {
    return R"({"metadata": {"name": ")" + name + R"(", "namespace": "ns"}, "spec": {"podName": ")" + pod_name +
           R"(", "selectedNode": "n1", "selectedGPUGroups": null}, "status": {"phase": ")" + phase + R"("}})";
  };
  objects.binds = {bind("x", "a-0", "Pending"), bind("y", "b-0", "Failed")};

  const Snapshot snapshot = import(objects).snapshot;

  EXPECT_EQ(snapshot.jobs.at(0).state, JobState::kRunning);
  EXPECT_EQ(snapshot.jobs.at(0).allocation.entries.at(0).node, "n1");
  EXPECT_EQ(snapshot.jobs.at(1).state, JobState::kWaiting);
}

TEST(ImportKai, FractionsShareTheGpuOfTheirGroup) {
  Objects objects = small();
  objects.groups = {group("a", 1), group("b", 1), group("c", 1), group("w", 1)};
  const auto share = [](const std::string& name, const std::string& of, const std::string& fraction, const std::string& gpu_group) {
    return pod({name, of, "0", gpu_group.empty() ? "" : "n0", gpu_group.empty() ? "Pending" : "Running",
                R"("gpu-fraction": ")" + fraction + "\"", gpu_group.empty() ? "" : R"("runai-gpu-group": ")" + gpu_group + "\""});
  };
  objects.pods = {share("a-0", "a", "0.5", "g1"), share("b-0", "b", "0.25", "g1"), share("c-0", "c", "0.5", ""),
                  pod({"w-0", "w", "1", "n0", "Running"}),
                  pod({"r", "", "1", "n0", "Running", R"("run.ai/reserve_for_gpu_index": "2")", R"("runai-gpu-group": "g1")", "",
                       "kai-resource-reservation"})};

  const KaiImport imported = import(objects);

  const std::vector<Job>& jobs = imported.snapshot.jobs;
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].allocation.entries.at(0).gpus, std::vector<std::int32_t>{2});  // given by the reservation
  EXPECT_EQ(jobs[0].allocation.entries.at(0).share_ppm, 500'000);
  EXPECT_TRUE(jobs[0].allocation.entries.at(0).time_shared);
  EXPECT_EQ(jobs[1].allocation.entries.at(0).gpus, std::vector<std::int32_t>{2});
  EXPECT_TRUE(jobs[2].sharing);
  EXPECT_EQ(jobs[2].shapes.at(0).groups.at(0).share_ppm, 500'000);
  EXPECT_EQ(jobs[3].allocation.entries.at(0).gpus, std::vector<std::int32_t>{0});
  EXPECT_TRUE(imported.snapshot.nodes.at(0).sharing);
  EXPECT_TRUE(imported.snapshot.nodes.at(0).gpu_list.empty());  // the reservation itself closes no GPU
}

TEST(ImportKai, GpusHeldByOthersAndThoseNotAllocatableTakeNoNewJobs) {
  Objects objects = small();
  objects.nodes = {node("n0", 4, R"("nvidia.com/gpu.product": "H100")", "", 3)};
  objects.groups = {group("a", 1)};
  PodText leaving{"z", "a", "1", "n0", "Running"};
  leaving.deleting = true;
  objects.pods = {pod({"a-0", "a", "1", "n0", "Running"}), pod({"other", "no-such-group", "1", "n0", "Running"}), pod(leaving)};

  const KaiImport imported = import(objects);

  const std::vector<Gpu>& gpus = imported.snapshot.nodes.at(0).gpu_list;
  ASSERT_EQ(gpus.size(), 4u);
  EXPECT_EQ(gpus[0].state, GpuState::kOk);
  EXPECT_EQ(gpus[1].state, GpuState::kReleasing);
  EXPECT_EQ(gpus[2].state, GpuState::kReleasing);
  EXPECT_EQ(gpus[3].state, GpuState::kFailed);
  EXPECT_TRUE(noted(imported, "2 pods with GPUs and without a job"));
  EXPECT_TRUE(noted(imported, "1 GPU not allocatable: "));
}

TEST(ImportKai, SubgroupsAreATree) {
  Objects objects = small();
  objects.topologies = {
      "{" + meta("t") +
      R"(, "spec": {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}})"};
  objects.nodes = {node("n0", 4, R"("zone": "z", "rack": "r0")"), node("n1", 4, R"("zone": "z", "rack": "r1")"),
                   node("n2", 4, R"("zone": "z")")};
  objects.groups = {group("a", 3, R"("topologyConstraint": {"topology": "t", "requiredTopologyLevel": "zone"}, "subGroups": [
        {"name": "top", "minMember": 1}, {"name": "w", "parent": "top", "minMember": 2, "topologyConstraint": {"topology": "t", "preferredTopologyLevel": "rack"}},
        {"name": "m", "parent": null, "minMember": 1, "topologyConstraint": {"topology": "t", "requiredTopologyLevel": "kubernetes.io/hostname"}}])")};
  const auto in = [](const std::string& sub) { return R"("kai.scheduler/subgroup-name": ")" + sub + "\""; };
  objects.pods = {pod({"a-0", "a", "1", "", "Pending", "", in("w")}), pod({"a-1", "a", "1", "", "Pending", "", in("w")}),
                  pod({"a-2", "a", "2", "", "Pending", "", in("m")})};

  const KaiImport imported = import(objects);

  const std::vector<Domain>& domains = imported.snapshot.domains;
  ASSERT_EQ(domains.size(), 3u);
  EXPECT_EQ(domains[1].parent, "z");
  EXPECT_EQ(domains[1].level, "rack");
  EXPECT_EQ(imported.snapshot.nodes.at(0).domain[0], "z/r0");
  EXPECT_EQ(imported.snapshot.nodes.at(2).domain[0], "z");
  const std::vector<Group>& groups = imported.snapshot.jobs.at(0).shapes.at(0).groups;
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].name, "gang");
  EXPECT_EQ(groups[0].require, (LevelRef{TopologyKind::kSwitch, "zone"}));
  EXPECT_EQ(groups[1].name, "top");
  EXPECT_EQ(groups[1].parent, "gang");
  EXPECT_EQ(groups[1].members_want, 0);
  EXPECT_EQ(groups[2].parent, "top");
  EXPECT_EQ(groups[2].members_want, 2);
  EXPECT_EQ(groups[2].prefer, (LevelRef{TopologyKind::kSwitch, "rack"}));
  EXPECT_EQ(groups[3].parent, "gang");
  EXPECT_EQ(groups[3].require, (LevelRef{TopologyKind::kSwitch, "node"}));
  EXPECT_TRUE(noted(imported, "1 node without the topology label 'rack'"));
}

TEST(ImportKai, MembersOfSeveralSizesBecomeGroupsWhenAllAreNeeded) {
  Objects objects = small();
  objects.groups = {group("a", 4), group("b", 1)};
  objects.pods = {pod({"a-0", "a", "4"}), pod({"a-1", "a", "2"}), pod({"a-2", "a", "2"}),
                  pod({"a-3", "a", "0"}), pod({"b-0", "b", "2"}), pod({"b-1", "b", "1"})};

  const KaiImport imported = import(objects);

  ASSERT_EQ(imported.snapshot.jobs.size(), 1u);
  const Shape& shape = imported.snapshot.jobs[0].shapes.at(0);
  ASSERT_EQ(shape.groups.size(), 2u);
  EXPECT_EQ(shape.gpus, 8);
  EXPECT_EQ(shape.groups[0].name, "pods-4");
  EXPECT_EQ(shape.groups[1].members_min, 2);
  EXPECT_TRUE(noted(imported, "1 pod without GPUs in a gang"));
  EXPECT_TRUE(noted(imported, "1 pod group left out: members of several sizes"));
}

TEST(ImportKai, APodWithoutGpusCountsTowardsMinMemberAndIsNoMember) {
  Objects objects = small();
  objects.groups = {group("a", 3)};
  objects.pods = {pod({"a-launcher", "a", "0"}), pod({"a-0", "a"}), pod({"a-1", "a"}), pod({"a-2", "a"})};

  const Group gang = import(objects).snapshot.jobs.at(0).shapes.at(0).groups.at(0);

  EXPECT_EQ(gang.members_min, 2);
  EXPECT_EQ(gang.members_want, 3);
}

TEST(ImportKai, WhatDoesNotMapIsLeftOutAndCounted) {
  Objects objects = small();
  objects.groups = {group("ended", 1),  group("few", 3),     group("mig", 1), group("claims", 1),
                    group("memory", 1), group("devices", 1), group("cpu", 1), group("fraction", 1)};
  std::string lost = group("lost", 1);
  lost.replace(lost.find(R"("q")"), 3, R"("gone")");
  objects.groups.push_back(lost);
  PodText mig{"mig-0", "mig", "0"};
  mig.spec = R"("initContainers": [{"resources": {"limits": {"nvidia.com/mig-1g.5gb": "1"}}}])";
  PodText claims{"claims-0", "claims"};
  claims.spec = R"("resourceClaims": [{"name": "gpu"}])";
  objects.pods = {pod({"ended-0", "ended", "1", "n0", "Succeeded"}),
                  pod({"few-0", "few"}),
                  pod(mig),
                  pod(claims),
                  pod({"memory-0", "memory", "0", "", "Pending", R"("gpu-memory": "2000")"}),
                  pod({"devices-0", "devices", "0", "", "Pending", R"("gpu-fraction": "0.5", "gpu-fraction-num-devices": "2")"}),
                  pod({"cpu-0", "cpu", "0"}),
                  pod({"fraction-0", "fraction", "0", "", "Pending", R"("gpu-fraction": "1.5")"}),
                  pod({"lost-0", "lost"})};

  const KaiImport imported = import(objects);

  EXPECT_TRUE(imported.snapshot.jobs.empty());
  EXPECT_TRUE(imported.snapshot.nodes.at(0).gpu_list.empty());  // an ended pod holds nothing
  for (const char* cause :
       {"1 pod already ended", "2 pod groups left out: no pod that asks for GPUs", "1 pod group left out: fewer pods than its minMember",
        "1 pod group left out: MIG slices", "1 pod group left out: devices by resource claims",
        "1 pod group left out: GPU memory (gpu-memory)", "1 pod group left out: fractions of several GPUs",
        "1 pod group left out: a gpu-fraction that is no part of a GPU",
        "1 pod group left out: a queue that does not exist (first: ns/lost)"}) {
    EXPECT_TRUE(noted(imported, cause)) << cause;
  }
}

TEST(ImportKai, AGangTooLargeForAnyClusterIsLeftOutAndTheOthersStay) {
  Objects objects = small();
  objects.groups = {group("ok", 1), group("pod", 1), group("deep", 1, R"("subGroups": [{"name": "a", "parent": "b"},
        {"name": "b", "parent": "a"}, {"name": "leaf", "parent": "a", "minMember": 1}])")};
  objects.pods = {pod({"ok-0", "ok", "1"}), pod({"pod-0", "pod", "65"}),
                  pod({"deep-0", "deep", "1", "", "Pending", "", R"("kai.scheduler/subgroup-name": "leaf")"})};
  for (int i = 0; i < 16; ++i) objects.pods.push_back(pod({"huge-" + std::to_string(i), "huge", "999999999"}));
  objects.groups.push_back(group("huge", 1));
  std::string many = R"("subGroups": [)";
  for (int i = 0; i <= kMaxGroups; ++i) {
    const std::string name = "s" + std::to_string(i);
    many += (i == 0 ? "" : ", ") + (R"({"name": ")" + name) + R"(", "minMember": 1})";
    objects.pods.push_back(pod({"many-" + name, "many", "1", "", "Pending", "", R"("kai.scheduler/subgroup-name": ")" + name + "\""}));
  }
  objects.groups.push_back(group("many", 1, many + "]"));

  const KaiImport imported = import(objects);

  ASSERT_EQ(imported.snapshot.jobs.size(), 1u);
  EXPECT_EQ(imported.snapshot.jobs[0].id, "ns/ok");
  EXPECT_TRUE(noted(imported, "2 pod groups left out: a pod of more than 64 GPUs"));
  EXPECT_TRUE(noted(imported, "1 pod group left out: more than 1024 groups"));
  EXPECT_TRUE(noted(imported, "1 pod group left out: subgroups in a circle, or nested too deep"));
}

TEST(ImportKai, AFieldThatStandsThereTwiceIsRefused) {
  const auto raw = [](const std::string& inside) { return R"({"rawObjects": {)" + inside + "}}"; };
  for (const std::string& bad :
       {raw(R"("nodes": [], "nodes": [])"), raw(R"("nodes": [{"metadata": {"name": "a", "name": "b"}}])"),
        raw(R"("nodes": [{"metadata": {"name": "a"}, "status": {"capacity": {"nvidia.com/gpu": "2", "nvidia.com/gpu": "5"}}}])"),
        raw(R"("nodes": [{"metadata": {"name": "a", "labels": {"x": "1", "x": "2"}}}])"),
        raw(R"("queues": [{"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"quota": 1, "quota": 2}}}}])"),
        raw(R"("priorityClasses": [{"metadata": {"name": "p"}, "value": 1}, {"metadata": {"name": "p"}, "value": 2}])"),
        raw(R"("topologies": [{"metadata": {"name": "t"}}, {"metadata": {"name": "t"}}])")}) {
    EXPECT_NE(problem(bad).find("duplicate "), std::string::npos) << bad << problem(bad);
  }
}

TEST(ImportKai, ARunningGangBelowItsMinMemberIsTakenForWhatItHas) {
  Objects objects = small();
  objects.groups = {group("a", 2)};
  objects.pods = {pod({"a-0", "a", "1", "n0", "Running"}), pod({"a-1", "a"})};

  const KaiImport imported = import(objects);

  EXPECT_EQ(imported.snapshot.jobs.at(0).shapes.at(0).groups.at(0).members_min, 1);
  EXPECT_TRUE(noted(imported, "1 group of running gangs below minMember"));
}

TEST(ImportKai, MoreGpusThanANodeHasAreRefused) {
  Objects objects = small();
  objects.groups = {group("a", 1)};
  objects.pods = {pod({"a-0", "a", "3", "n0", "Running"}), pod({"a-1", "a", "2", "n0", "Running"})};
  EXPECT_NE(problem(objects.json()).find("the pods of node 'n0' hold more than its 4 GPUs, 'ns/a-1' the last"), std::string::npos)
      << problem(objects.json());
  objects.nodes = {node("n0", 65)};
  EXPECT_NE(problem(objects.json()).find("node 'n0' has 65 GPUs"), std::string::npos);
}

TEST(ImportKai, BadInputNamesItsPlace) {
  Objects objects = small();
  objects.nodes = {node("n0", 4), node("n0", 4)};
  EXPECT_NE(problem(objects.json()).find("duplicate name 'n0'"), std::string::npos);
  objects.nodes = {node("", 4)};
  EXPECT_NE(problem(objects.json()).find("/rawObjects/nodes"), std::string::npos) << problem(objects.json());
  EXPECT_NE(problem(R"({"schema": "berth.snapshot.v1"})").find("'rawObjects' is missing"), std::string::npos);
  const auto raw = [](const std::string& inside) { return R"({"rawObjects": {)" + inside + "}}"; };
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{"), R"({"rawObjects": {}, "rawObjects": {}})" + std::string(), raw("") + " x",
        raw(R"("pods": {})"), raw(R"("pods": [{"metadata": {"name": 5}}])"),
        raw(R"("nodes": [{"metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "-1"}}}])"),
        raw(R"("nodes": [{"metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "4.5"}}}])"),
        raw(R"("nodes": [{"metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "99999999999"}}}])"),
        raw(R"("queues": [{"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"quota": -2}}}}])"),
        raw(R"("queues": [{"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"limit": 1e40}}}}])"),
        raw(R"("podGroups": [{"metadata": {"name": "g"}, "spec": {"minMember": -1}}])"),
        raw(R"("podGroups": [{"metadata": {"name": "g", "creationTimestamp": "yesterday"}}])"),
        raw(R"("priorityClasses": [{"metadata": {"name": "p"}, "value": 99999999999}])")}) {
    EXPECT_NE(problem(bad), "no error") << bad;
  }
  EXPECT_EQ(problem(raw("")), "no error");
  EXPECT_EQ(problem(R"({"rawObjects": {"nodes": null, "pods": null, "somethingNew": [1]}})"), "no error");
}

TEST(ImportKai, QueuesThatAreNoTreeAreRefusedInTheFileThatWasGiven) {
  const auto of = [](const std::vector<std::string>& queues) {
    Objects objects = small();
    objects.queues = queues;
    return problem(objects.json());
  };
  EXPECT_NE(of({queue("q", "q", "4", "-1")}).find("/rawObjects/queues: queue 'q' is its own ancestor"), std::string::npos)
      << of({queue("q", "q", "4", "-1")});
  EXPECT_NE(of({queue("a", "b", "1", "-1"), queue("c", "b", "1", "-1"), queue("b", "c", "1", "-1")})
                .find("/rawObjects/queues: queue 'b' is its own ancestor"),
            std::string::npos);
  std::vector<std::string> chain = {queue("q0", "", "1", "-1")};
  for (int i = 1; i < 65; ++i) chain.push_back(queue("q" + std::to_string(i), "q" + std::to_string(i - 1), "1", "-1"));
  EXPECT_NE(of(chain).find("/rawObjects/queues: more than 64 queues stand above one another"), std::string::npos) << of(chain);
  chain.pop_back();
  EXPECT_EQ(of(chain), "no error");
}

TEST(ImportKai, AWeightThatIsNoneIsReported) {
  Objects objects = small();
  for (const char* weight : {"0", "-1"}) {
    std::string one = queue("w" + std::to_string(objects.queues.size()), "", "1", "-1");
    one.replace(one.find(R"("overQuotaWeight": 2)"), 20, R"("overQuotaWeight": )" + std::string(weight));
    objects.queues.push_back(one);
  }

  EXPECT_TRUE(noted(import(objects), "2 queues without an over-quota weight above 0: the smallest weight"));
}

TEST(ImportKai, AFileWithoutPodGroupsHasNoJob) {
  EXPECT_TRUE(noted(import_kai(R"({"rawObjects": null})", "f"), "there is no job in it"));
  Objects objects = small();
  EXPECT_TRUE(noted(import(objects), "there is no job in it"));
  objects.groups = {group("left-out", 1)};
  EXPECT_FALSE(noted(import(objects), "there is no job in it"));
}

}  // namespace berth::io::import_kai_test
