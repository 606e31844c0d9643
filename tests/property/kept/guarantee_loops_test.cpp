// Live decisions with guarantees, of policies that displace jobs: a queue that is kept finds the plans of a new engine, and the same jobs
// within guarantees.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "host/core/placement/pass_input.hpp"
#include "tests/property/kept/served.hpp"
#include "tests/property/live_loop.hpp"
#include "tests/support/queues/lending.hpp"
#include "tests/support/random.hpp"

namespace berth::test::guarantee_loops_test {
namespace {

/// Which GPUs guarantees are of.
enum class Of { kAll, kTypes, kBoth };

Queue random_queue(Random& random, std::string id, const std::string& parent, Of of) {
  Queue queue;
  queue.id = std::move(id);
  queue.parent = parent;
  queue.weight_ppm = random.within(1, 4) * 500'000;
  const auto add = [&](const char* type) {
    Quota quota;
    quota.gpu_type = type;
    quota.guarantee = random.percent(80) ? random.within(0, 40) : 0;
    if (random.percent(8)) quota.limit = random.within(16, 60);
    queue.quotas.push_back(quota);
  };
  if (of != Of::kTypes && random.percent(85)) add("*");
  if (of != Of::kAll && random.percent(80)) add("H");
  if (of == Of::kTypes && random.percent(80)) add("A");
  return queue;
}

Snapshot random_cluster(Random& random, Of of) {
  Snapshot s;
  s.now_us = 1'000'000 * kSecond;
  s.gpu_types.resize(2);
  s.gpu_types[0].id = "H";
  s.gpu_types[1].id = "A";
  const std::int32_t nodes = random.within(6, 14);
  for (std::int32_t r = 0; r <= nodes / 3; ++r) {
    Domain rack;
    rack.id = "r" + std::to_string(r);
    rack.level = "rack";
    s.domains.push_back(rack);
  }
  for (std::int32_t n = 0; n < nodes; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = n % 3 < 2 ? "H" : "A";
    node.gpus = random.percent(80) ? 8 : 4;
    node.domain[0] = "r" + std::to_string(n / 3);
    s.nodes.push_back(node);
  }
  for (const auto& [id, parent] :
       {std::pair{"a", ""}, std::pair{"b", ""}, std::pair{"c", ""}, std::pair{"a1", "a"}, std::pair{"a2", "a"}, std::pair{"b1", "b"}}) {
    s.queues.push_back(random_queue(random, id, parent, of));
  }
  if (random.percent(30)) lend_some(random, s.queues, 16);
  return s;
}

/// Gangs; some need one node or one rack. Where guarantees are of all types some may run on any of them, else few.
Job random_job(Random& random, Of of) {
  Job job;
  job.queue = random.of<const char*>({"a", "b", "c", "a1", "a2", "b1", ""});
  job.priority = random.within(0, 3);
  job.preemption.preemption_class = random.within(0, 2);
  job.preemption.preemptible = !random.percent(8);
  if (random.percent(15)) job.preemption.minimum_run_us = random.within(1, 900) * kSecond;
  job.estimate.run_us = random.percent(3) ? kNever : random.within(60, 9'000) * kSecond;
  Shape shape;
  shape.id = "s";
  shape.gpus = random.of<std::int32_t>({1, 1, 1, 2, 2, 4, 8, 8, 12, 16, 24});
  if (!random.percent(of == Of::kAll ? 40 : 1)) shape.gpu_type = random.percent(67) ? "H" : "A";
  const bool in_rack = shape.gpus > 8;
  if (random.percent(30)) {
    Group group;
    group.name = "g";
    group.members_min = group.members_want = group.members_max = in_rack ? shape.gpus / 4 : 1;
    group.gpus_per_member = in_rack ? 4 : shape.gpus;
    if (in_rack) group.require = LevelRef{TopologyKind::kSwitch, "rack"};
    shape.groups = {group};
  }
  job.shapes = {shape};
  // Some have speeds by place, or no exact end.
  if (random.percent(6)) {
    job.profile.kind = ProfileKind::kTable;
    const std::int64_t rate = shape.gpus * kSecond;
    job.profile.points = {{"", shape.gpus, 0, "", rate / 2}, {"", shape.gpus, 0, "node", rate + random.below(1'000)}};
  }
  if (random.percent(4)) job.progress.work_total = random.within(100, 100'000) * kSecond;
  return job;
}

std::vector<Job> random_jobs(Random& random, Of of) {
  std::vector<Job> jobs(200);
  for (Job& job : jobs) job = random_job(random, of);
  return jobs;
}

/// What the loops have seen.
struct Seen {
  std::int64_t decisions = 0, served = 0, displaced = 0, reclaimed = 0, guaranteed = 0, moved = 0;
};

/// A loop in which queues, nodes and jobs change, but most of all jobs come and end. Where it is calm little but time does.
class GuaranteeLoop {
 public:
  GuaranteeLoop(const std::string& policy, std::uint64_t seed, Of of, bool calm) : GuaranteeLoop(policy, Random(seed), of, calm) {}

  void step(const std::string& where) {
    Random& random = loop_.random;
    if (random.percent(85)) loop_.pass_time(random.below(!random.percent(80) ? 3'000 : calm_ ? 3 : 120) * kSecond);
    for (std::int32_t i = calm_ ? (random.percent(30) ? 1 : 0) : random.below(4); i > 0; --i) loop_.apply(delta::PutJob{loop_.newcomer()});
    const Snapshot s = loop_.state.snapshot();
    if (!s.jobs.empty() && random.percent(calm_ ? 10 : 35)) end_one(s);
    if (random.percent(calm_ ? 3 : 30)) change(s);
    loop_.request.changes_only = loop_.random.percent(75);
    served_.decide(loop_.state.impl(), loop_.request, loop_.policy_state);
    check_standings(where);
    loop_.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    served_.saw(loop_.plan);
    count();
    if (loop_.random.percent(85)) commit(loop_.state, loop_.plan);
  }
  Seen seen;

 private:
  GuaranteeLoop(const std::string& policy, Random random, Of of, bool calm)
      : calm_(calm), loop_(random, request_of(policy, random), random_cluster(random, of), random_jobs(random, of)) {}

  static Request request_of(const std::string& policy, Random& random) {
    Request request;
    request.policy = policy;
    if (has_param(policy, "discipline")) request.params.emplace_back("discipline", random.percent(15) ? "strict" : "greedy");
    if (policy == "las") request.params.emplace_back("thresholds_gpu_s", "600,6000");
    return request;
  }

  void end_one(const Snapshot& s) {
    std::vector<std::string> running;
    for (const Job& job : s.jobs) {
      if (job.state == JobState::kRunning) running.push_back(job.id);
    }
    loop_.apply(delta::RemoveJob{running.empty() ? loop_.random.of(s.jobs).id : loop_.random.of(running), "completed"});
  }

  void change(const Snapshot& s) {
    if (s.jobs.empty()) return;
    Random& random = loop_.random;
    Job job = random.of(s.jobs);
    const Node& node = random.of(s.nodes);
    switch (random.below(12)) {
      case 0:
        loop_.apply(delta::SetNodeState{node.id, random.of<NodeState>({NodeState::kDrain, NodeState::kFailed}), 0});
        return;
      case 1:
      case 2:
        for (const Node& one : s.nodes) {
          if (one.state != NodeState::kReady) loop_.apply(delta::SetNodeState{one.id, NodeState::kReady, 0});
        }
        return;
      case 3: {
        Queue queue = random.of(s.queues);
        for (Quota& quota : queue.quotas) {
          quota.lending = kUnlimited;
          quota.guarantee = random.within(0, 40);
        }
        loop_.apply(delta::PutQueue{queue});
        return;
      }
      case 4:
        loop_.apply(delta::StopJob{job.id});
        return;
      case 5:
      case 6: {
        Progress progress = job.progress;
        progress.run_us = std::max<TimeUs>(0, progress.run_us + random.within(-300, 300) * kSecond);
        progress.attained_gpu_us += random.below(2'000) * kSecond;
        loop_.apply(delta::SetProgress{job.id, progress});
        return;
      }
      case 7:
        job.queue = random.of(s.queues).id;
        loop_.apply(delta::PutJob{job});
        return;
      case 8:
        job.preemption.minimum_run_us = random.below(2'000) * kSecond;
        loop_.apply(delta::PutJob{job});
        return;
      default:
        loop_.apply(delta::PutJob{loop_.described_again(job)});
    }
  }

  /// Of all jobs that the pass may start or displace.
  void check_standings(const std::string& where) {
    const core::KeptQueue* const kept = served_.kept();
    const StateImpl& s = loop_.state.impl();
    core::ChosenPolicy chosen;
    chosen.choose(loop_.request.policy, loop_.request.params);
    if (kept == nullptr || !core::KeptQueue::reclaims(s, chosen)) return;
    core::Failures failures;
    failures.find(s);
    core::Rejections rejections;
    core::CertificateMemory certificates;
    const std::vector<std::uint8_t>& rejected = rejections.reject(s, s.problem(), certificates);
    core::TriedOptions tried;
    tried.build(s, s.problem(), chosen.shape, rejections);
    core::PassInput input;
    const core::PassInput::Marks marks{failures.lost(), failures, rejected};
    input.order(s, *chosen.entry, *chosen.policy, loop_.policy_state, marks, tried, chosen.rules);
    input.arrange(s, *chosen.entry, chosen.rules.quotas, marks, s.problem(), {});
    for (const std::int32_t job : input.ordered()) {
      const auto of = static_cast<std::size_t>(job);
      if (s.job.running[of] != 0 && s.job.victim_from[of] > s.now) continue;
      const bool expected = input.quotas().standing(job) == core::QuotaStanding::kGuaranteed;
      ASSERT_EQ(kept->is_guaranteed(job), expected) << where << ", job " << s.jobs[of].job->id;
      seen.guaranteed += expected ? 1 : 0;
    }
  }

  void count() {
    seen.displaced += loop_.plan.totals.preempts;
    seen.moved += loop_.plan.totals.moves;
    seen.reclaimed += std::count_if(loop_.plan.decisions.begin(), loop_.plan.decisions.end(),
                                    [](const Decision& d) { return d.reason.code == ReasonCode::kLostPriority && d.reason.queue >= 0; });
    seen.decisions = served_.decisions();
    seen.served = served_.answers();
  }

  bool calm_;
  Loop loop_;
  Served served_;
};

std::int32_t loops() {
  const char* const more = std::getenv("BERTH_LOOPS");  // NOLINT(concurrency-mt-unsafe): one thread
  return more == nullptr ? 30 : std::atoi(more);
}

class GuaranteeLoops : public ::testing::TestWithParam<std::string> {};

TEST_P(GuaranteeLoops, AnswerAsNewEngines) {
  Seen all;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(loops()); ++seed) {
    GuaranteeLoop loop(GetParam(), seed, seed % 4 == 3 ? Of::kBoth : seed % 4 == 2 ? Of::kTypes : Of::kAll, seed % 3 == 0);
    for (std::int32_t step = 0; step < 120; ++step) {
      loop.step(GetParam() + ", seed " + std::to_string(seed) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
    }
    for (const auto of : {&Seen::decisions, &Seen::served, &Seen::displaced, &Seen::reclaimed, &Seen::guaranteed, &Seen::moved})
      all.*of += loop.seen.*of;
  }
  RecordProperty("decisions", std::to_string(all.decisions));
  RecordProperty("served", std::to_string(all.served));
  RecordProperty("displaced", std::to_string(all.displaced));
  RecordProperty("reclaimed", std::to_string(all.reclaimed));
  RecordProperty("moved", std::to_string(all.moved));
  RecordProperty("guaranteed", std::to_string(all.guaranteed));
  EXPECT_GT(all.reclaimed, all.decisions / 100);
  EXPECT_GT(all.moved, 0);
  if (GetParam() == "gittins" || GetParam() == "tiresias") return;  // no queue is kept for these
  EXPECT_GT(all.served, all.decisions / 2) << all.decisions;
  EXPECT_GT(all.guaranteed, all.served);
}

INSTANTIATE_TEST_SUITE_P(All, GuaranteeLoops, ::testing::Values("srsf", "srtf", "las", "priority", "gittins", "tiresias"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace berth::test::guarantee_loops_test
