// The settings of docs/quota-rules.md are those that `berth import kueue` makes: the examples as objects of Kueue lead to the same
// answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/io/kueue/kueue.hpp"
#include "tests/golden/named_request.hpp"
#include "tests/golden/objects.hpp"
#include "tests/golden/rules.hpp"

namespace berth::test::kueue_import_test {
namespace {

std::string object(const std::string& kind, const std::string& metadata, const std::string& spec, const std::string& status = "") {
  return R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": )" + quoted(kind) + R"(, "metadata": {"name": )" + metadata +
         R"(}, "spec": {)" + spec + R"(}, "status": {)" + status + "}}\n";
}

// A flavor is called as its GPU type is. What is of all types is of the first one.
std::string flavor_of(const Snapshot& s, const std::string& gpu_type) {
  return gpu_type.empty() || gpu_type == "*" ? s.gpu_types[0].id : gpu_type;
}

std::string quota(const Snapshot& s, const std::vector<Quota>& quotas) {
  std::string flavors;
  for (const Quota& one : quotas) {
    const auto limit = [](const char* key, std::int64_t gpus) {
      return gpus == kUnlimited ? std::string() : std::string(", \"") + key + "\": " + quoted(std::to_string(gpus));
    };
    flavors += std::string(flavors.empty() ? "" : ", ") + R"({"name": )" + quoted(flavor_of(s, one.gpu_type)) +
               R"(, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": )" + quoted(std::to_string(one.guarantee)) +
               limit("borrowingLimit", one.borrowing) + limit("lendingLimit", one.lending) + "}]}";
  }
  return R"("resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [)" + flavors + "]}]";
}

std::string weight(const Queue& queue) { return R"(, "fairSharing": {"weight": )" + quoted(std::to_string(queue.weight_ppm) + "u") + "}"; }

// A queue with others below it is a Cohort. Its own quota is what it has on top of theirs.
std::string queue_objects(const Snapshot& s, const Queue& queue) {
  std::vector<Quota> quotas = queue.quotas;
  if (quotas.empty()) quotas.push_back({"*", 0, kUnlimited, kUnlimited});
  bool is_cohort = false;
  for (const Queue& below : s.queues) {
    if (below.parent != queue.id) continue;
    is_cohort = true;
    for (Quota& one : quotas) {
      for (const Quota& its : below.quotas) one.guarantee -= its.gpu_type == one.gpu_type ? its.guarantee : 0;
    }
  }
  for (Quota& one : quotas) one.guarantee = std::max<std::int64_t>(0, one.guarantee);
  if (is_cohort) {
    const std::string parent = queue.parent.empty() ? "" : R"("parentName": )" + quoted(queue.parent) + ", ";
    return object("Cohort", quoted(queue.id), parent + quota(s, quotas) + weight(queue));
  }
  const std::string cohort = queue.parent.empty() ? "" : R"("cohortName": )" + quoted(queue.parent) + ", ";
  return object("ClusterQueue", quoted(queue.id),
                cohort +
                    R"("namespaceSelector": {}, "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}, )" +
                    quota(s, quotas) + weight(queue)) +
         object("LocalQueue", quoted(queue.id) + R"(, "namespace": "ns")", R"("clusterQueue": )" + quoted(queue.id));
}

std::string workload(const Snapshot& s, const Job& job) {
  const std::string since = quoted(instant(job.submit_us));
  std::string status;
  if (job.state == JobState::kRunning) {
    const auto shape = std::find_if(job.shapes.begin(), job.shapes.end(), [&](const Shape& one) { return one.id == job.allocation.shape; });
    const std::string flavor = flavor_of(s, shape == job.shapes.end() ? "" : shape->gpu_type);
    status = R"("admission": {"clusterQueue": )" + quoted(job.queue) +
             R"(, "podSetAssignments": [{"name": "main", "count": 1, "flavors": {"nvidia.com/gpu": )" + quoted(flavor) +
             R"(}}]}, "conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": )" + since + "}]";
  }
  return object("Workload", quoted(job.id) + R"(, "namespace": "ns", "creationTimestamp": )" + since,
                R"("queueName": )" + quoted(job.queue) + R"(, "priority": )" + std::to_string(job.priority) +
                    R"(, "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "c", "resources": )"
                    R"({"requests": {"nvidia.com/gpu": )" +
                    quoted(std::to_string(job.shapes[0].gpus)) + "}}}]}}}]",
                status);
}

std::string kueue_objects(const Snapshot& s) {
  std::string all;
  for (const GpuType& type : s.gpu_types) {
    all += object("ResourceFlavor", quoted(type.id), R"("nodeLabels": {"nvidia.com/gpu.product": )" + quoted(type.id) + "}");
  }
  for (const Queue& queue : s.queues) all += queue_objects(s, queue);
  for (const Job& job : s.jobs) all += workload(s, job);
  for (const Node& node : s.nodes) {
    const std::string gpus = R"({"nvidia.com/gpu": )" + quoted(std::to_string(node.gpus)) + "}";
    all += R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": )" + quoted(node.id) +
           R"(, "labels": {"nvidia.com/gpu.product": )" + quoted(flavor_of(s, node.gpu_type)) + R"(}}, "status": {"capacity": )" + gpus +
           R"(, "allocatable": )" + gpus + R"(, "conditions": [{"type": "Ready", "status": "True"}]}})" + "\n";
  }
  return all;
}

}  // namespace

TEST(KueueImport, ObjectsOfTheExamplesAreDecidedAsTheirGoldenPlans) {
  int decided = 0;
  for (const RuleCase& one : kueue_cases()) {
    // Its classes are set by hand.
    if (std::string(one.scenario) == "kueue-borrow-threshold") continue;
    SCOPED_TRACE(std::string(one.scenario) + " " + one.plan.name);
    const io::KueueImport import = io::import_kueue({{"objects.json", kueue_objects(golden_snapshot(one.scenario))}});
    EXPECT_TRUE(import.left_out.empty());
    const ClusterState state(import.snapshot);
    const Plan plan = Engine().decide(state, named_request(one.plan.policy, Backend::kCpu));
    expect_same_jobs(answer_of(state, plan), one.berth.value_or(one.theirs));
    ++decided;
  }
  EXPECT_EQ(decided, std::ssize(kueue_cases()) - 1);
}

}  // namespace berth::test::kueue_import_test
