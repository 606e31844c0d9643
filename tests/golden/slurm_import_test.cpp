// The settings of docs/quota-rules.md are those that Berth reads of Slurm's commands: the examples as their output lead to the same
// answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/golden/named_request.hpp"
#include "tests/golden/objects.hpp"
#include "tests/golden/rules.hpp"
#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_import_test {
namespace {

constexpr std::int64_t kStart = 1000;  // second 0 of the examples

std::string seconds(TimeUs at) { return std::to_string(kStart + at / kSecond); }

// Each class of the examples is a QOS that may preempt the one below it.
std::string qos_of(std::int32_t preemption_class) { return "qos" + std::to_string(preemption_class); }

// Those of this example.
bool queues_are_qos(const Snapshot& s) { return s.name == "slurm-qos-grptres"; }

std::string limit_of(const Queue& queue) {
  const bool is_limited = !queue.quotas.empty() && queue.quotas[0].limit != kUnlimited;
  return is_limited ? "gres/gpu=" + std::to_string(queue.quotas[0].limit) : "";
}

std::string sacctmgr_qos(const Snapshot& s) {
  if (queues_are_qos(s)) {
    std::string text = "Name|GrpTRES\n";
    for (const Queue& queue : s.queues) text += queue.id + "|" + limit_of(queue) + "\n";
    return text;
  }
  std::map<std::int32_t, TimeUs> minimum;
  for (const Job& job : s.jobs) {
    TimeUs& of_class = minimum[job.preemption.preemption_class];
    of_class = std::max(of_class, job.preemption.minimum_run_us);
  }
  std::string text = "Name|Preempt|PreemptExemptTime\n";
  const std::int32_t highest = minimum.rbegin()->first;
  for (std::int32_t one = 0; one <= highest; ++one) {
    const std::string exempt = minimum[one] > 0 ? instant(minimum[one]).substr(11, 8).replace(0, 2, "00") : "";
    text += qos_of(one) + "|" + (one > 0 ? qos_of(one - 1) : "") + "|" + exempt + "\n";
  }
  return text;
}

// A queue "lab/ann" is the association of a user.
std::string account_of(const std::string& queue) { return queue.substr(0, queue.find('/')); }
std::string user_of(const std::string& queue) { return queue.find('/') == std::string::npos ? "" : queue.substr(queue.find('/') + 1); }

std::string sacctmgr_assoc(const Snapshot& s) {
  std::string text = "Account|User|ParentName|Share|GrpTRES\nroot|||1|\n";
  for (const Queue& queue : s.queues) {
    const std::string user = user_of(queue.id), parent = queue.parent.empty() ? "root" : queue.parent;
    text += account_of(queue.id) + "|" + user + "|" + (user.empty() ? parent : "") + "|1|" + limit_of(queue) + "\n";
  }
  return text;
}

SlurmRow row_of(const Snapshot& s, const Job& job, int id) {
  const std::string gpus = std::to_string(job.shapes[0].gpus), user = user_of(job.queue);
  SlurmRow row = job22(id);
  if (job.state == JobState::kRunning) {
    const AllocationEntry& entry = job.allocation.entries[0];
    const TimeUs start = job.progress.run_us > 0 ? s.now_us - job.progress.run_us : job.submit_us;
    const std::string range = std::to_string(entry.gpus.front()) + "-" + std::to_string(entry.gpus.back());
    row = running22(id, entry.node, {"gpu:h:" + gpus + "(IDX:" + range + ")"}).with("start_time", seconds(start));
  }
  return row.text("tres_per_node", "gres:gpu:" + gpus)
      .text("account", queues_are_qos(s) ? "lab" : account_of(job.queue))
      .text("user_name", user.empty() ? "ann" : user)
      .text("qos", queues_are_qos(s) ? job.queue : qos_of(job.preemption.preemption_class))
      .with("priority", std::to_string(job.priority + 1))  // 0 is a held job
      .with("submit_time", seconds(job.submit_us))
      .with("eligible_time", seconds(job.submit_us))
      .with("requeue", job.preemption.preemptible ? "true" : "false");
}

std::string slurm_documents(const Snapshot& s) {
  std::vector<SlurmRow> jobs, nodes;
  for (const Job& job : s.jobs) jobs.push_back(row_of(s, job, static_cast<int>(jobs.size()) + 1));
  for (const Node& node : s.nodes) {
    nodes.push_back(node22(node.id).text("gres", "gpu:h:" + std::to_string(node.gpus) + "(S:0-1)").with("real_memory", "9000"));
  }
  return "now=" + seconds(s.now_us) + "\n" + jobs22(jobs) + nodes22(nodes) + (queues_are_qos(s) ? "" : sacctmgr_assoc(s)) + sacctmgr_qos(s);
}

// Numbers of Slurm as ids of the example.
std::set<std::string> named(const Snapshot& s, const std::string& numbers) {
  std::set<std::string> ids;
  for (const std::string& number : ids_of(numbers)) ids.insert(s.jobs[static_cast<std::size_t>(std::stoi(number)) - 1].id);
  return ids;
}

}  // namespace

TEST(SlurmImport, OutputOfTheExamplesIsDecidedAsTheirGoldenPlans) {
  int decided = 0;
  for (const RuleCase& one : slurm_cases()) {
    SCOPED_TRACE(std::string(one.scenario) + " " + one.plan.name);
    const Snapshot snapshot = golden_snapshot(one.scenario);
    const io::SlurmImport import = imported(slurm_documents(snapshot));
    EXPECT_EQ(import.snapshot.jobs.size(), snapshot.jobs.size());
    const ClusterState state(import.snapshot);
    const RuleAnswer answer = answer_of(state, Engine().decide(state, named_request(one.plan.policy, Backend::kCpu)));
    const RuleAnswer expected = one.berth.value_or(one.theirs);
    EXPECT_EQ(named(snapshot, answer.starts), ids_of(expected.starts));
    EXPECT_EQ(named(snapshot, answer.displaced), ids_of(expected.displaced));
    ++decided;
  }
  EXPECT_EQ(decided, std::ssize(slurm_cases()));
}

}  // namespace berth::test::slurm_import_test
