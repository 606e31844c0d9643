#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/kueue/kueue.hpp"

namespace berth::io::import_kueue_test {
namespace {

constexpr const char* kNewest = "kueue.x-k8s.io/v1beta2";

std::string object(const std::string& kind, const std::string& name, const std::string& spec, const std::string& more = "",
                   const std::string& api = kNewest) {
  return R"({"apiVersion": ")" + api + R"(", "kind": ")" + kind + R"(", "metadata": {"name": ")" + name + R"(")" + more +
         R"(}, "spec": {)" + spec + "}}\n";
}

std::string node(const std::string& name, int gpus, const std::string& labels = R"("nvidia.com/gpu.product": "H100")",
                 const std::string& spec = "") {
  const std::string n = std::to_string(gpus);
  return R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": ")" + name + R"(", "labels": {"kubernetes.io/hostname": ")" + name +
         R"(", )" + labels + R"(}}, "spec": {)" + spec + R"(}, "status": {"capacity": {"nvidia.com/gpu": ")" + n +
         R"("}, "allocatable": {"nvidia.com/gpu": ")" + n + R"("}, "conditions": [{"type": "Ready", "status": "True"}]}})" + "\n";
}

std::string nodes(int count) {
  std::string all;
  for (int n = 0; n < count; ++n) all += node("n" + std::to_string(n), 8);
  return all;
}

std::string flavor(const std::string& name, const std::string& labels = "", const std::string& more = "") {
  return object("ResourceFlavor", name, R"("nodeLabels": {)" + labels + "}" + more);
}

/// One resource group with a quota of GPUs in each flavor: {"h100", "8", "borrowingLimit": "4"}.
struct InFlavor {
  std::string flavor, nominal, more = {};
};
std::string groups(const std::vector<InFlavor>& quotas) {
  std::string flavors;
  for (const InFlavor& one : quotas) {
    flavors += (flavors.empty() ? "" : ", ") + std::string(R"({"name": ")") + one.flavor +
               R"(", "resources": [{"name": "cpu", "nominalQuota": "9"}, {"name": "nvidia.com/gpu", "nominalQuota": )" + one.nominal +
               (one.more.empty() ? "" : ", " + one.more) + "}]}";
  }
  return R"("resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [)" + flavors + "]}]";
}

std::string queue(const std::string& name, const std::string& cohort, const std::vector<InFlavor>& quotas, const std::string& more = "") {
  return object("ClusterQueue", name, R"("cohortName": ")" + cohort + R"(", "namespaceSelector": {}, )" + groups(quotas) + more) +
         object("LocalQueue", name, R"("clusterQueue": ")" + name + R"(")", R"(, "namespace": "ns")");
}

std::string pod_set(const std::string& name, int count, int gpus, const std::string& more = "", const std::string& spec = "") {
  return R"({"name": ")" + name + R"(", "count": )" + std::to_string(count) + (more.empty() ? "" : ", " + more) +
         R"(, "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": ")" + std::to_string(gpus) +
         R"("}}}])" + (spec.empty() ? "" : ", " + spec) + "}}}";
}

std::string workload(const std::string& name, const std::string& queue, const std::string& sets, const std::string& status = "",
                     const std::string& spec = "") {
  return R"({"apiVersion": ")" + std::string(kNewest) + R"(", "kind": "Workload", "metadata": {"name": ")" + name +
         R"(", "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"queueName": ")" + queue + R"(")" + spec +
         R"(, "podSets": [)" + sets + R"(]}, "status": {)" + status + "}}\n";
}

/// Status of an admitted workload with one podset.
std::string admitted(const std::string& queue, const std::string& assignment, const std::string& since = "2026-01-01T00:00:00Z") {
  return R"("admission": {"clusterQueue": ")" + queue + R"(", "podSetAssignments": [)" + assignment +
         R"(]}, "conditions": [{"type": "QuotaReserved", "status": "True", "lastTransitionTime": ")" + since +
         R"("}, {"type": "Admitted", "status": "True", "lastTransitionTime": ")" + since + R"("}])";
}
std::string assigned(const std::string& more = "", const std::string& set = "main", const std::string& of = "h100") {
  return R"({"name": ")" + set + R"(", "flavors": {"nvidia.com/gpu": ")" + of + R"("})" + (more.empty() ? "" : ", " + more) + "}";
}

KueueImport import_text(const std::string& text, const KueueOptions& options = {}) {
  KueueImport out = import_kueue({{"k.json", text}}, options);
  check_snapshot(out.snapshot);
  EXPECT_EQ(parse_snapshot(to_json(out.snapshot)), out.snapshot);
  return out;
}

const Queue& queue_of(const Snapshot& snapshot, const std::string& id) {
  for (const Queue& one : snapshot.queues) {
    if (one.id == id) return one;
  }
  throw InvalidArgument("no queue " + id);
}
const Job& job_of(const Snapshot& snapshot, const std::string& id) {
  for (const Job& one : snapshot.jobs) {
    if (one.id == "ns/" + id) return one;
  }
  throw InvalidArgument("no job " + id);
}
/// "guarantee / limit / borrowing" of each GPU type, "-": without; then "lends N" where that is stated.
std::string quotas_of(const Snapshot& snapshot, const std::string& id) {
  const auto number = [](std::int64_t n) { return n == kUnlimited ? std::string("-") : std::to_string(n); };
  std::string text;
  for (const Quota& one : queue_of(snapshot, id).quotas) {
    text += (text.empty() ? "" : "; ") + one.gpu_type + " " + number(one.guarantee) + "/" + number(one.limit) + "/" + number(one.borrowing);
    if (one.lending != kUnlimited) text += " lends " + number(one.lending);
  }
  return text;
}
/// "n0:0,1 n1:0" by member.
std::string places_of(const Job& job) {
  std::string text;
  for (const AllocationEntry& entry : job.allocation.entries) {
    text += (text.empty() ? "" : " ") + entry.node + ":";
    for (const std::int32_t gpu : entry.gpus) text += (text.back() == ':' ? "" : ",") + std::to_string(gpu);
  }
  return text;
}
bool has_note(const KueueImport& imported, const std::string& part) {
  return std::any_of(imported.notes.begin(), imported.notes.end(), [&](const std::string& note) { return note.find(part) != note.npos; });
}
std::string problem_of(const std::string& text, const KueueOptions& options = {}) {
  try {
    import_kueue({{"k.json", text}}, options);
  } catch (const InputError& error) {
    return error.what();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

const std::string kH100 = flavor("h100", R"("nvidia.com/gpu.product": "H100")");

// kueue.sigs.k8s.io, Concepts, Cluster Queue, section "Borrowing example", with GPUs in place of CPUs: queues of 9 and 12
// in one cohort, of which team-a may use 9 + 12 = 21.
TEST(ImportKueue, TwoQueuesOfACohortBorrowUpToTheSumOfBoth) {
  const Snapshot s =
      import_text(nodes(4) + kH100 + queue("team-a-cq", "team-ab", {{"h100", "9"}}) + queue("team-b-cq", "team-ab", {{"h100", "\"12\""}}))
          .snapshot;
  EXPECT_EQ(quotas_of(s, "team-ab"), "H100 21/21/-");
  EXPECT_EQ(quotas_of(s, "team-a-cq"), "H100 9/-/-");
  EXPECT_EQ(quotas_of(s, "team-b-cq"), "H100 12/-/-");
  EXPECT_EQ(queue_of(s, "team-a-cq").parent, "team-ab");
  EXPECT_EQ(queue_of(s, "team-ab").parent, "");
}

// The same page, section "BorrowingLimit": with a borrowingLimit of 1, team-a may use 9 + 1 = 10.
TEST(ImportKueue, BorrowingLimitIsAboveTheNominalQuota) {
  const Snapshot s = import_text(nodes(4) + kH100 + queue("team-a-cq", "team-ab", {{"h100", "9", R"("borrowingLimit": 1)"}}) +
                                 queue("team-b-cq", "team-ab", {{"h100", "12"}}))
                         .snapshot;
  EXPECT_EQ(quotas_of(s, "team-a-cq"), "H100 9/-/1");
}

// The same page, section "LendingLimit": team-b lends 1 of its 12, and team-a may use 9 + 1 = 10.
TEST(ImportKueue, LendingLimitIsWhatOthersMayUse) {
  const Snapshot s = import_text(nodes(4) + kH100 + queue("team-a-cq", "team-ab", {{"h100", "9"}}) +
                                 queue("team-b-cq", "team-ab", {{"h100", "12", R"("lendingLimit": 1)"}}))
                         .snapshot;
  EXPECT_EQ(quotas_of(s, "team-ab"), "H100 21/21/-");
  EXPECT_EQ(quotas_of(s, "team-a-cq"), "H100 9/-/-");
  EXPECT_EQ(quotas_of(s, "team-b-cq"), "H100 12/-/- lends 1");
}

// A lendingLimit of a cohort is about all below it. One of all of a quota says nothing.
TEST(ImportKueue, LendingLimitsOfCohorts) {
  const KueueImport imported =
      import_text(nodes(8) + kH100 + object("Cohort", "org", groups({{"h100", "4", R"("lendingLimit": 4)"}})) +
                  object("Cohort", "dep", R"("parentName": "org", )" + groups({{"h100", "6", R"("lendingLimit": 2)"}})) +
                  queue("a", "dep", {{"h100", "8", R"("lendingLimit": 8)"}}) + queue("b", "dep", {{"h100", "8", R"("lendingLimit": 0)"}}) +
                  queue("c", "org", {{"h100", "0", R"("lendingLimit": 3)"}}) + queue("d", "", {{"h100", "5", R"("lendingLimit": 3)"}}));
  const Snapshot& s = imported.snapshot;
  EXPECT_EQ(quotas_of(s, "org"), "H100 26/26/-");
  EXPECT_EQ(quotas_of(s, "dep"), "H100 22/-/- lends 2");
  EXPECT_EQ(quotas_of(s, "a"), "H100 8/-/-");
  EXPECT_EQ(quotas_of(s, "b"), "H100 8/-/- lends 0");
  EXPECT_EQ(quotas_of(s, "c"), "H100 0/-/-");
  EXPECT_EQ(quotas_of(s, "d"), "H100 5/5/-");
  EXPECT_TRUE(has_note(imported, "2 queues with a lendingLimit, and no others to lend to: left out (first: d)") ||
              has_note(imported, "2 queues with a lendingLimit, and no others to lend to: left out (first: org)"));
  EXPECT_TRUE(has_note(imported, "1 queue with a lendingLimit above its nominalQuota (first: c)"));
}

// What is kept of a flavor on several types is of all types together: it may be of either.
TEST(ImportKueue, LendingOfAFlavorOfSeveralTypesIsOfAllTypes) {
  const Snapshot s = import_text(node("a", 8, R"("nvidia.com/gpu.product": "A100")") + node("h", 8) + flavor("any") + kH100 +
                                 queue("q", "c", {{"any", "9", R"("lendingLimit": 4)"}, {"h100", "6", R"("lendingLimit": 1)"}}))
                         .snapshot;
  EXPECT_EQ(quotas_of(s, "q").substr(0, 17), "* 15/-/- lends 5;") << quotas_of(s, "q");
  EXPECT_EQ(quotas_of(s, "q").find("A100 9/-/- lends"), std::string::npos) << quotas_of(s, "q");
}

// The same page, section "Cohort": without a cohort a ClusterQueue cannot borrow.
TEST(ImportKueue, AQueueWithoutACohortHasItsQuotaAsItsLimit) {
  const Snapshot s = import_text(nodes(4) + kH100 + queue("q", "", {{"h100", "9", R"("borrowingLimit": 5)"}})).snapshot;
  EXPECT_EQ(quotas_of(s, "q"), "H100 9/9/-");
  EXPECT_EQ(s.queues.size(), 1u);
}

// kueue.sigs.k8s.io, Concepts, Cohort, section "Configuring Quotas": a cohort with a quota of 12 of its own, on top of those
// of its queues, and a queue with a quota of 0.
TEST(ImportKueue, TheQuotaOfACohortComesOnTopOfThoseOfItsQueues) {
  const Snapshot s =
      import_text(nodes(4) + kH100 + object("Cohort", "hello-cohort", groups({{"h100", "12"}})) +
                  queue("my-cluster-queue", "hello-cohort", {{"h100", "0"}}) + queue("other", "hello-cohort", {{"h100", "4"}}))
          .snapshot;
  EXPECT_EQ(quotas_of(s, "hello-cohort"), "H100 16/16/-");
  EXPECT_EQ(quotas_of(s, "my-cluster-queue"), "H100 0/-/-");
}

// The same page, section "Hierarchical Cohorts": a root above two organisations with weights 0.75 and 0.25. Quotas, limits
// and a third level are ours. 'parent' is the field of v1alpha1.
TEST(ImportKueue, CohortsOfThreeLevelsAddUp) {
  const Snapshot s = import_text(nodes(8) + kH100 + object("Cohort", "root-cohort", groups({{"h100", "8"}})) +
                                 object("Cohort", "important-org",
                                        R"("parent": "root-cohort", "fairSharing": {"weight": "0.75"}, )" +
                                            groups({{"h100", "2", R"("borrowingLimit": "3")"}}),
                                        "", "kueue.x-k8s.io/v1alpha1") +
                                 object("Cohort", "regular-org", R"("parentName": "root-cohort", "fairSharing": {"weight": "250m"})") +
                                 queue("lab", "important-org", {{"h100", "10"}}) + queue("class", "regular-org", {{"h100", "20"}}))
                         .snapshot;
  EXPECT_EQ(quotas_of(s, "root-cohort"), "H100 40/40/-");
  EXPECT_EQ(quotas_of(s, "important-org"), "H100 12/-/3");
  EXPECT_EQ(quotas_of(s, "regular-org"), "H100 20/-/-");
  EXPECT_EQ(queue_of(s, "important-org").weight_ppm, 750'000);
  EXPECT_EQ(queue_of(s, "regular-org").weight_ppm, 250'000);
  EXPECT_EQ(queue_of(s, "important-org").parent, "root-cohort");
}

TEST(ImportKueue, ACohortThatIsOnlyNamedExists) {
  const Snapshot s =
      import_text(nodes(4) + kH100 + object("Cohort", "low", R"("parentName": "top")") + queue("q", "low", {{"h100", "8"}})).snapshot;
  EXPECT_EQ(queue_of(s, "low").parent, "top");
  EXPECT_EQ(quotas_of(s, "top"), "H100 8/8/-");
}

TEST(ImportKueue, ACohortAndAQueueMayHaveTheSameName) {
  const Snapshot s = import_text(nodes(4) + kH100 + queue("team", "team", {{"h100", "8"}})).snapshot;
  EXPECT_EQ(queue_of(s, "team").parent, "team (cohort)");
  EXPECT_EQ(quotas_of(s, "team (cohort)"), "H100 8/8/-");
}

TEST(ImportKueue, TheOlderFieldOfACohortIsRead) {
  const std::string old = object("ClusterQueue", "q", R"("cohort": "c", )" + groups({{"h100", "8"}}), "", "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(queue_of(import_text(nodes(1) + kH100 + old).snapshot, "q").parent, "c");
}

TEST(ImportKueue, FlavorsAreGpuTypes) {
  const std::string spot = R"("nvidia.com/gpu.product": "H100", "pool": "spot")",
                    owned = R"("nvidia.com/gpu.product": "H100", "pool": "own")";
  const KueueImport imported = import_text(
      node("a0", 8, R"("nvidia.com/gpu.product": "A100")") + node("h0", 8, owned) + node("h1", 8, spot) +
      node("l0", 4, R"("pool": "small")") + flavor("a100", R"("nvidia.com/gpu.product": "A100")") + flavor("spot", R"("pool": "spot")") +
      flavor("own", R"("pool": "own")") + flavor("small", R"("pool": "small")") +
      queue("q", "c", {{"own", "8"}, {"spot", "4"}, {"a100", "6"}, {"small", "1"}}) + workload("w", "q", pod_set("main", 2, 2)));
  const Snapshot& s = imported.snapshot;
  EXPECT_EQ(quotas_of(s, "q"), "A100 6/-/-; H100:own 8/-/-; H100:spot 4/-/-; small 1/-/-");
  std::vector<std::string> types;
  for (const Node& one : s.nodes) types.push_back(one.gpu_type);
  EXPECT_EQ(types, (std::vector<std::string>{"A100", "H100:own", "H100:spot", "small"}));
  std::vector<std::string> shapes;
  for (const Shape& one : job_of(s, "w").shapes) shapes.push_back(one.id);
  EXPECT_EQ(shapes, (std::vector<std::string>{"4xH100:own", "4xH100:spot", "4xA100", "4xsmall"}));
}

TEST(ImportKueue, AFlavorOfAllTypesIsAQuotaOfAllTypes) {
  const Snapshot s = import_text(node("a", 8, R"("nvidia.com/gpu.product": "A100")") + node("h", 8) + flavor("default-flavor") +
                                 queue("q", "c", {{"default-flavor", "9"}}) + workload("w", "q", pod_set("main", 1, 8)))
                         .snapshot;
  EXPECT_EQ(quotas_of(s, "q"), "* 9/-/-");
  ASSERT_EQ(job_of(s, "w").shapes.size(), 1u);
  EXPECT_EQ(job_of(s, "w").shapes.front().gpu_type, "");
}

TEST(ImportKueue, ASelectorLeavesOutFlavorsThatContradictIt) {
  const Snapshot s = import_text(node("a", 8, R"("nvidia.com/gpu.product": "A100")") + node("h", 8) + kH100 +
                                 flavor("a100", R"("nvidia.com/gpu.product": "A100")") + queue("q", "c", {{"h100", "8"}, {"a100", "8"}}) +
                                 workload("w", "q", pod_set("main", 1, 8, "", R"("nodeSelector": {"nvidia.com/gpu.product": "A100"})")))
                         .snapshot;
  ASSERT_EQ(job_of(s, "w").shapes.size(), 1u);
  EXPECT_EQ(job_of(s, "w").shapes.front().gpu_type, "A100");
}

TEST(ImportKueue, QuantitiesAreReadInTheNotationOfKubernetes) {
  const KueueImport imported =
      import_text(nodes(4) + kH100 + queue("q", "c", {{"h100", R"("8500m")", R"("borrowingLimit": "1.5", "lendingLimit": "2")"}}) +
                  queue("r", "c", {{"h100", R"("1k")"}}));
  EXPECT_EQ(quotas_of(imported.snapshot, "q"), "H100 8/-/2 lends 2");
  EXPECT_EQ(quotas_of(imported.snapshot, "r"), "H100 1000/-/-");
  EXPECT_TRUE(has_note(imported, "2 queues with a part of a GPU in a quota: rounded down (first: c)"));
  EXPECT_NE(
      problem_of(nodes(1) + kH100 + queue("q", "c", {{"h100", R"("8x")"}})).find("expected a quantity such as 8 or 1500m, found \"8x\""),
      std::string::npos);
  EXPECT_NE(problem_of(nodes(1) + kH100 + queue("q", "c", {{"h100", "-1"}})).find("expected a quantity"), std::string::npos);
}

TEST(ImportKueue, AWaitingWorkloadIsAGang) {
  const Snapshot s = import_text(nodes(4) + kH100 + queue("q", "c", {{"h100", "8"}}) +
                                 workload("w", "q", pod_set("leader", 1, 1) + ", " + pod_set("workers", 4, 4, R"("minCount": 2)"), "",
                                          R"(, "priority": 7, "maximumExecutionTimeSeconds": 90)"))
                         .snapshot;
  const Job& job = job_of(s, "w");
  EXPECT_EQ(job.queue, "q");
  EXPECT_EQ(job.tenant, "ns");
  EXPECT_EQ(job.priority, 7);
  EXPECT_EQ(job.state, JobState::kWaiting);
  EXPECT_EQ(job.time_limit_us, 90 * kSecond);
  EXPECT_EQ(job.estimate.run_us, 90 * kSecond);
  ASSERT_EQ(job.shapes.front().groups.size(), 2u);
  const Group& workers = job.shapes.front().groups[1];
  EXPECT_EQ(job.shapes.front().gpus, 17);
  EXPECT_EQ(workers.members_min, 2);
  EXPECT_EQ(workers.members_want, 4);
  EXPECT_EQ(workers.gpus_per_member, 4);
}

TEST(ImportKueue, PlacesAreThoseOfTheTopologyAssignment) {
  const std::string old = assigned(
      R"("count": 3, "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "domains": [{"values": ["n2"], "count": 2}, {"values": ["n0"], "count": 1}]})");
  const std::string newer = assigned(
      R"("count": 3, "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"prefix": "n", "roots": ["1", "3"]}], "podCounts": [2, 1]}]})");
  const Snapshot s =
      import_text(nodes(4) + kH100 + queue("q", "c", {{"h100", "32"}}) + workload("old", "q", pod_set("main", 3, 2), admitted("q", old)) +
                  workload("new", "q", pod_set("main", 3, 4), admitted("q", newer)))
          .snapshot;
  EXPECT_EQ(places_of(job_of(s, "old")), "n2:0,1 n2:2,3 n0:0,1");
  EXPECT_EQ(places_of(job_of(s, "new")), "n1:0,1,2,3 n1:4,5,6,7 n3:0,1,2,3");
}

TEST(ImportKueue, ADomainOfHigherLevelsIsItsNodes) {
  const std::string there = assigned(
      R"("topologyAssignment": {"levels": ["block", "rack"], "slices": [{"domainCount": 1, "valuesPerLevel": [{"universalValue": "b1"}, {"universalValue": "r2"}], "universalPodCount": 2}]})");
  std::string all;
  for (const char* rack : {"r1", "r2"}) {
    for (const char* n : {"x", "y"})
      all += node(std::string(rack) + n, 8, R"("nvidia.com/gpu.product": "H100", "block": "b1", "rack": ")" + std::string(rack) + R"(")");
  }
  const std::string topology = object("Topology", "t", R"("levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}])");
  const Snapshot s =
      import_text(
          all + topology + kH100 + queue("q", "c", {{"h100", "32"}}) +
          workload("w", "q", pod_set("main", 2, 8, R"("topologyRequest": {"required": "rack"})"), admitted("q", there)) +
          workload(
              "v", "q",
              pod_set(
                  "main", 4, 4,
                  R"("topologyRequest": {"preferred": "block", "podSetSliceRequiredTopology": "kubernetes.io/hostname", "podSetSliceSize": 2})")))
          .snapshot;
  EXPECT_EQ(places_of(job_of(s, "w")), "r2x:0,1,2,3,4,5,6,7 r2y:0,1,2,3,4,5,6,7");
  EXPECT_EQ(job_of(s, "w").shapes.front().groups.front().require, (LevelRef{TopologyKind::kSwitch, "rack"}));
  const Group& group = job_of(s, "v").shapes.front().groups.front();
  EXPECT_EQ(group.prefer, (LevelRef{TopologyKind::kSwitch, "block"}));
  EXPECT_EQ(group.segment, (Segment{2, {TopologyKind::kSwitch, "node"}}));
}

TEST(ImportKueue, PodsSayWhereAWorkloadRuns) {
  const auto pod = [](const std::string& name, const std::string& on, const std::string& annotations) {
    return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name + R"(", "namespace": "ns", "annotations": {)" +
           annotations + R"(}}, "spec": {"nodeName": ")" + on +
           R"(", "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}, "status": {"phase": "Running"}})" + "\n";
  };
  const std::string mine = R"("kueue.x-k8s.io/workload": "w")";
  const KueueImport imported = import_text(nodes(4) + kH100 + queue("q", "c", {{"h100", "32"}}) +
                                           workload("w", "q", pod_set("main", 2, 4), admitted("q", assigned())) + pod("p0", "n3", mine) +
                                           pod("p1", "n1", mine) + pod("other", "n1", ""));
  EXPECT_EQ(places_of(job_of(imported.snapshot, "w")), "n3:0,1,2,3 n1:0,1,2,3");
  EXPECT_TRUE(has_note(imported, "1 pod with GPUs and without an admitted workload"));
  ASSERT_EQ(imported.snapshot.nodes[1].gpu_list.size(), 8u);
  EXPECT_EQ(imported.snapshot.nodes[1].gpu_list[3].state, GpuState::kOk);
  EXPECT_EQ(imported.snapshot.nodes[1].gpu_list[4].state, GpuState::kReleasing);
}

TEST(ImportKueue, WithoutAPlaceTheFullestNodesAreTaken) {
  const std::string at =
      assigned(R"("topologyAssignment": {"levels": ["kubernetes.io/hostname"], "domains": [{"values": ["n1"], "count": 1}]})");
  const KueueImport imported =
      import_text(nodes(3) + kH100 + queue("q", "c", {{"h100", "32"}}) + workload("a", "q", pod_set("main", 1, 6), admitted("q", at)) +
                  workload("b", "q", pod_set("main", 3, 2), admitted("q", assigned())) +
                  workload("big", "q", pod_set("main", 1, 8), admitted("q", assigned())) +
                  workload("none", "q", pod_set("main", 2, 8), admitted("q", assigned())));
  EXPECT_EQ(places_of(job_of(imported.snapshot, "big")), "n0:0,1,2,3,4,5,6,7");
  EXPECT_EQ(places_of(job_of(imported.snapshot, "b")), "n1:6,7 n2:0,1 n2:2,3");
  EXPECT_EQ(imported.left_out.at("ns/none"), "admitted, and its pods do not fit into what is free on their nodes");
}

TEST(ImportKueue, AnAdmissionToAFlavorThatTheQueueLacksIsNoted) {
  const std::string two =
      nodes(3) + kH100 + queue("q", "c", {{"h100", "32"}}) + workload("a", "q", pod_set("main", 1, 6), admitted("q", assigned()));
  const std::string note = " of a flavor that the ClusterQueue lacks: nodes of other flavors may stand for it (first: ns/b)";
  EXPECT_FALSE(has_note(import_text(two), "of a flavor that"));
  const KueueImport imported = import_text(two + workload("b", "q", pod_set("main", 1, 2), admitted("q", assigned("", "main", "a100"))) +
                                           workload("c", "q", pod_set("main", 1, 1), admitted("q", assigned("", "main", "a100"))));
  EXPECT_TRUE(has_note(imported, "2 admitted workloads" + note));
  EXPECT_EQ(job_of(imported.snapshot, "b").state, JobState::kRunning);
}

TEST(ImportKueue, PartialAdmissionAndEndedPodsAreFewerMembers) {
  const std::string status = admitted("q", assigned(R"("count": 3)")) + R"(, "reclaimablePods": [{"name": "main", "count": 1}])";
  const Snapshot s = import_text(nodes(3) + kH100 + queue("q", "c", {{"h100", "32"}}) +
                                 workload("w", "q", pod_set("main", 5, 2, R"("minCount": 1)"), status))
                         .snapshot;
  const Group& group = job_of(s, "w").shapes.front().groups.front();
  EXPECT_EQ(group.members_min, 1);
  EXPECT_EQ(group.members_want, 4);
  EXPECT_EQ(job_of(s, "w").allocation.entries.size(), 2u);
}

TEST(ImportKueue, TimeIsTheLatestInstant) {
  const Snapshot s =
      import_text(nodes(3) + kH100 + queue("q", "c", {{"h100", "32"}}) +
                  workload("w", "q", pod_set("main", 1, 2),
                           admitted("q", assigned(), "2026-01-01T00:00:10Z") + R"(, "accumulatedPastExecutionTimeSeconds": 5)") +
                  workload("v", "q", pod_set("main", 1, 2), admitted("q", assigned(), "2026-01-01T00:01:00Z")))
          .snapshot;
  EXPECT_EQ(s.now_us, (1767225600 + 60) * kSecond);
  EXPECT_EQ(job_of(s, "w").progress.run_us, 55 * kSecond);
  EXPECT_EQ(job_of(s, "w").progress.attained_gpu_us, 110 * kSecond);
  EXPECT_EQ(job_of(s, "w").last_assignment_us, (1767225600 + 10) * kSecond);
}

TEST(ImportKueue, AWorkloadIsPreemptibleWhereAQueueMayPreemptIt) {
  const auto preemptible = [](const std::string& mine, const std::string& other) {
    const auto policy = [](const std::string& text) { return text.empty() ? text : R"(, "preemption": {)" + text + "}"; };
    return job_of(import_text(nodes(1) + kH100 + queue("q", "c", {{"h100", "8"}}, policy(mine)) +
                              queue("r", "c", {{"h100", "8"}}, policy(other)) + workload("w", "q", pod_set("main", 1, 8)))
                      .snapshot,
                  "w")
        .preemption.preemptible;
  };
  EXPECT_FALSE(preemptible("", ""));
  EXPECT_FALSE(preemptible(R"("reclaimWithinCohort": "Any")", ""));
  EXPECT_TRUE(preemptible("", R"("reclaimWithinCohort": "LowerPriority")"));
  EXPECT_TRUE(preemptible(R"("withinClusterQueue": "LowerPriority")", ""));
}

TEST(ImportKueue, CausesOfWorkloadsThatAreLeftOut) {
  const std::string one = pod_set("main", 1, 1);
  const std::string ended = R"("conditions": [{"type": "Finished", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}])";
  const KueueImport imported = import_text(
      nodes(1) + kH100 + queue("q", "c", {{"h100", "8"}}) + queue("held", "c", {{"h100", "8"}}, R"(, "stopPolicy": "Hold")") +
      object("ClusterQueue", "closed", groups({{"h100", "8"}})) +
      object("LocalQueue", "closed", R"("clusterQueue": "closed")", R"(, "namespace": "ns")") +
      object("LocalQueue", "lost", R"("clusterQueue": "missing")", R"(, "namespace": "ns")") + workload("ended", "q", one, ended) +
      workload("off", "q", one, "", R"(, "active": false)") + workload("cpu", "q", pod_set("main", 1, 0)) + workload("nowhere", "x", one) +
      workload("lost", "lost", one) + workload("held", "held", one) + workload("closed", "closed", one) +
      workload("away", "q", one, R"("clusterName": "other")") + workload("large", "q", pod_set("main", 1, 65)) +
      workload("later", "q", one, R"("requeueState": {"count": 2, "requeueAt": "2026-01-02T00:00:00Z"})"));
  EXPECT_TRUE(imported.snapshot.jobs.empty());
  const std::map<std::string, std::string> expected{{"ns/ended", "finished"},
                                                    {"ns/off", "inactive (spec.active)"},
                                                    {"ns/cpu", "no GPUs asked for"},
                                                    {"ns/nowhere", "its LocalQueue is not among the objects"},
                                                    {"ns/lost", "its ClusterQueue is not among the objects, or has no quota of GPUs"},
                                                    {"ns/held", "its queue is stopped (stopPolicy)"},
                                                    {"ns/closed", "its ClusterQueue accepts no namespace (no namespaceSelector)"},
                                                    {"ns/away", "runs in another cluster (MultiKueue)"},
                                                    {"ns/large", "a pod of more than 64 GPUs"},
                                                    {"ns/later", "waits to be requeued (requeueAt)"}};
  EXPECT_EQ(imported.left_out, expected);
}

TEST(ImportKueue, GpusOfAnAdmittedWorkloadThatIsNoJobAreBlocked) {
  const KueueImport imported = import_text(nodes(1) + kH100 + queue("q", "c", {{"h100", "8"}}) +
                                           workload("w", "q", pod_set("main", 1, 3), admitted("q", assigned()), R"(, "active": false)"));
  ASSERT_EQ(imported.snapshot.nodes.front().gpu_list.size(), 8u);
  EXPECT_EQ(imported.snapshot.nodes.front().gpu_list[2].state, GpuState::kReleasing);
  EXPECT_EQ(imported.snapshot.nodes.front().gpu_list[3].state, GpuState::kOk);
}

TEST(ImportKueue, TaintsThatPodsOfAFlavorTolerateKeepNothingAway) {
  const std::string spec = R"("taints": [{"key": "spot", "effect": "NoSchedule"}])";
  const std::string product = R"("nvidia.com/gpu.product": "H100")";
  const auto state = [&](const std::string& more) {
    return import_text(node("n", 8, product, spec) + flavor("h100", product, more) + queue("q", "c", {{"h100", "8"}}))
        .snapshot.nodes.front()
        .state;
  };
  EXPECT_EQ(state(""), NodeState::kDrain);
  EXPECT_EQ(state(R"(, "tolerations": [{"key": "spot", "operator": "Exists"}])"), NodeState::kReady);
  EXPECT_EQ(state(R"(, "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}])"), NodeState::kReady);
}

TEST(ImportKueue, ObjectsOfOtherApisAreLeftOut) {
  const KueueImport imported =
      import_text(nodes(1) + kH100 + queue("q", "c", {{"h100", "8"}}) +
                  R"({"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload", "metadata": {"name": "x"}})");
  EXPECT_TRUE(has_note(imported, "1 object of kind Workload left out"));
}

TEST(ImportKueue, WhatIsMissingIsNamed) {
  const std::string q = queue("q", "c", {{"h100", "8"}});
  EXPECT_NE(problem_of(kH100 + q).find("no nodes among the objects: give what 'kubectl get nodes -o json' prints, too, or --cluster"),
            std::string::npos);
  EXPECT_NE(problem_of(nodes(1) + q).find("no ResourceFlavor among the objects"), std::string::npos);
  EXPECT_NE(problem_of(nodes(1) + kH100 + workload("w", "q", pod_set("main", 1, 1))).find("no ClusterQueue among the objects"),
            std::string::npos);
}

TEST(ImportKueue, AClusterMayStandForTheNodes) {
  Snapshot cluster;
  cluster.gpu_types.emplace_back().id = "H100";
  Node& n = cluster.nodes.emplace_back();
  n.id = "x";
  n.gpu_type = "H100";
  n.gpus = 8;
  const std::string text = kH100 + queue("q", "c", {{"h100", "8"}}) + workload("w", "q", pod_set("main", 1, 8), admitted("q", assigned()));
  const Snapshot s = import_text(text, {.cluster = &cluster}).snapshot;
  EXPECT_EQ(quotas_of(s, "q"), "H100 8/-/-");
  EXPECT_EQ(places_of(job_of(s, "w")), "x:0,1,2,3,4,5,6,7");
  EXPECT_EQ(problem_of(nodes(1) + text, {.cluster = &cluster}), "--cluster is for files without nodes: these have some");
}

TEST(ImportKueue, CohortsThatAreNoTreeAreRefused) {
  const std::string rest = nodes(1) + kH100 + queue("q", "a", {{"h100", "8"}});
  EXPECT_EQ(problem_of(object("Cohort", "a", R"("parentName": "b")") + object("Cohort", "b", R"("parentName": "a")") + rest),
            "k.json:1: cohort 'a' is its own ancestor");
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += object("Cohort", "c" + std::to_string(i), R"("parentName": "c)" + std::to_string(i + 1) + R"(")");
  EXPECT_NE(problem_of(deep + rest).find("more than 64 queues stand above one another"), std::string::npos);
  EXPECT_EQ(problem_of(kH100 + kH100 + rest), "k.json:2: duplicate ResourceFlavor 'h100'");
}

TEST(ImportKueue, WrongAssignmentsAreRefused) {
  const auto problem = [](const std::string& assignment) {
    return problem_of(nodes(1) + kH100 + queue("q", "c", {{"h100", "8"}}) +
                      workload("w", "q", pod_set("main", 1, 1), admitted("q", assigned(R"("topologyAssignment": )" + assignment))));
  };
  const std::string slice =
      R"({"levels": ["l"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"roots": ["a"]}], "universalPodCount": 1}]})";
  EXPECT_NE(problem(slice).find("a slice of 2 domains needs as many roots, or universalValue"), std::string::npos);
  EXPECT_NE(problem(R"({"levels": ["l"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"universalValue": "a"}], "podCounts": [1]}]})")
                .find("needs as many podCounts, or universalPodCount"),
            std::string::npos);
  EXPECT_NE(problem(R"({"domains": [{"count": 1}]})").find("a topologyAssignment without levels"), std::string::npos);
  EXPECT_NE(problem(R"({"levels": ["l"], "domains": [{"values": [], "count": 1}]})").find("a domain has 0 values, and there are 1 levels"),
            std::string::npos);
}

}  // namespace
}  // namespace berth::io::import_kueue_test
