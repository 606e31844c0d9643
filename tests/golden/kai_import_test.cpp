// The settings of docs/quota-rules.md are those that `berth import kai` makes: the examples as objects of KAI-Scheduler lead to the same
// answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/io/kai/kai.hpp"
#include "tests/golden/named_request.hpp"
#include "tests/golden/objects.hpp"
#include "tests/golden/rules.hpp"

namespace berth::test::kai_import_test {
namespace {

std::string metadata(const std::string& name, TimeUs at, const std::string& more = "") {
  return R"("metadata": {"name": )" + quoted(name) + R"(, "namespace": "ns", "creationTimestamp": )" + quoted(instant(at)) + more + "}";
}

// -1: none
std::string amount(std::int64_t gpus) { return std::to_string(gpus == kUnlimited ? -1 : gpus); }

std::string kai_queue(const Snapshot& s, const Queue& queue) {
  TimeUs minimum = 0;
  for (const Job& job : s.jobs) {
    if (job.queue == queue.id) minimum = std::max(minimum, job.preemption.minimum_run_us);
  }
  const std::string seconds = quoted(std::to_string(minimum / kSecond) + "s");
  return "{" + metadata(queue.id, 0) + R"(, "spec": {"parentQueue": )" + quoted(queue.parent) + R"(, "preemptMinRuntime": )" + seconds +
         R"(, "reclaimMinRuntime": )" + seconds + R"(, "resources": {"gpu": {"quota": )" +
         amount(queue.quotas.empty() ? 0 : queue.quotas[0].guarantee) + R"(, "limit": )" +
         amount(queue.quotas.empty() ? kUnlimited : queue.quotas[0].limit) + R"(, "overQuotaWeight": )" +
         std::to_string(queue.weight_ppm / 1'000'000) + "}}}}";
}

bool is_elastic(const Job& job) {
  const std::vector<Group>& groups = job.shapes[0].groups;
  return !groups.empty() && groups[0].members_min < groups[0].members_want;
}

// Pods of a job. A gang of one member is a pod; of an elastic job each GPU is one.
std::string pods(const Snapshot& s, const Job& job) {
  const std::int32_t count = is_elastic(job) ? job.shapes[0].gpus : 1;
  const std::string gpus = quoted(std::to_string(job.shapes[0].gpus / count));
  const bool runs = job.state == JobState::kRunning;
  const TimeUs start = job.progress.run_us > 0 ? s.now_us - job.progress.run_us : job.submit_us;
  std::string all;
  for (std::int32_t n = 0; n < count; ++n) {
    all += (n == 0 ? "{" : ", {") +
           metadata(job.id + "-" + std::to_string(n), job.submit_us, R"(, "annotations": {"pod-group-name": )" + quoted(job.id) + "}") +
           R"(, "spec": {"nodeName": )" + quoted(runs ? job.allocation.entries[0].node : "") +
           R"(, "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": )" + gpus + R"(}}}]}, "status": {"phase": )" +
           (runs ? R"("Running", "startTime": )" + quoted(instant(start)) : R"("Pending")") + "}}";
  }
  return all;
}

std::string kai_objects(const Snapshot& s) {
  std::string nodes, queues, groups, all_pods, classes;
  std::set<std::int32_t> priorities;
  for (const Node& node : s.nodes) {
    const std::string gpus = R"({"nvidia.com/gpu": )" + quoted(std::to_string(node.gpus)) + "}";
    append_object(nodes, "{" + metadata(node.id, s.now_us, R"(, "labels": {"nvidia.com/gpu.product": "H"})") +
                             R"(, "status": {"capacity": )" + gpus + R"(, "allocatable": )" + gpus +
                             R"(, "conditions": [{"type": "Ready", "status": "True"}]}})");
  }
  for (const Queue& queue : s.queues) append_object(queues, kai_queue(s, queue));
  for (const Job& job : s.jobs) {
    priorities.insert(job.priority);
    append_object(groups, "{" + metadata(job.id, job.submit_us) + R"(, "spec": {"minMember": 1, "queue": )" + quoted(job.queue) +
                              R"(, "priorityClassName": )" + quoted("p" + std::to_string(job.priority)) + "}}");
    append_object(all_pods, pods(s, job));
  }
  for (const std::int32_t one : priorities) {
    append_object(classes, "{" + metadata("p" + std::to_string(one), 0) + R"(, "value": )" + std::to_string(one) + "}");
  }
  return R"({"rawObjects": {"nodes": [)" + nodes + R"(], "queues": [)" + queues + R"(], "podGroups": [)" + groups + R"(], "pods": [)" +
         all_pods + R"(], "priorityClasses": [)" + classes + "]}}";
}

}  // namespace

TEST(KaiImport, ObjectsOfTheExamplesAreDecidedAsTheirGoldenPlans) {
  int decided = 0;
  for (const RuleCase& one : kai_cases()) {
    // An importer makes no shapes to choose from.
    if (std::string(one.scenario) == "kai-elastic-shapes") continue;
    SCOPED_TRACE(std::string(one.scenario) + " " + one.plan.name);
    const Snapshot snapshot = golden_snapshot(one.scenario);
    const io::KaiImport import = io::import_kai(kai_objects(snapshot), "objects.json");
    EXPECT_EQ(import.snapshot.jobs.size(), snapshot.jobs.size());
    const ClusterState state(import.snapshot);
    const Plan plan = Engine().decide(state, named_request(one.plan.policy, Backend::kCpu));
    expect_same_jobs(answer_of(state, plan), one.berth.value_or(one.theirs));
    ++decided;
  }
  EXPECT_EQ(decided, std::ssize(kai_cases()) - 2);
}

}  // namespace berth::test::kai_import_test
