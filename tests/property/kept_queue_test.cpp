// A queue that an engine keeps between decisions answers as the pass over all jobs does, also where only changes are asked for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/property/kept/served.hpp"
#include "tests/support/params.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/random.hpp"

namespace berth::kept_queue_test {
namespace {

using test::Random;
using test::Served;

constexpr std::int32_t kFew = 100;
constexpr TimeUs kMinimumRun = 100'000 * kSecond;

bool has_shares(const Job& job) {
  return std::any_of(job.shapes.begin(), job.shapes.end(), [](const Shape& shape) { return shape.share_ppm != kWholeGpu; });
}

/// Shares run on some nodes, which are drained: there no GPU is shared with jobs that come.
Snapshot cluster_with_shares(std::uint64_t seed) {
  sim::GenerateOptions options = test::plain_options(seed, 60);
  options.workload = sim::Workload::kPai;
  Snapshot s = sim::generate(options);
  s.reservations.clear();
  for (Node& node : s.nodes) {
    node.available_until_us = kNever;
    node.sharing = std::any_of(s.jobs.begin(), s.jobs.end(), [&](const Job& job) {
      const std::vector<AllocationEntry>& held = job.allocation.entries;
      return std::any_of(held.begin(), held.end(), [&](const AllocationEntry& e) { return e.node == node.id && e.share_ppm != kWholeGpu; });
    });
    if (node.sharing) node.state = NodeState::kDrain;
  }
  return s;
}

/// Of some nodes, from some time on.
Reservation reservation_to_come(const Snapshot& s, const std::string& id, Random& random) {
  Reservation r;
  r.id = id;
  const Node& one = random.of(s.nodes);
  for (const Node& node : s.nodes) {
    if (&node == &one || random.percent(20)) r.nodes.push_back(node.id);
  }
  r.from_us = s.now_us + random.within(1'000, 200'000) * kSecond;
  r.to_us = r.from_us + random.within(1'000, 10'000) * kSecond;
  return r;
}

/// Of some nodes, by their own end or by that of a reservation to come.
Snapshot cluster_with_ends(std::uint64_t seed, std::int32_t jobs) {
  Random random(seed + 500);
  Snapshot s = test::plain_cluster(seed, jobs);
  for (Node& node : s.nodes) {
    if (random.percent(30)) node.available_until_us = s.now_us + random.within(1'000, 200'000) * kSecond;
  }
  for (std::int32_t i = random.below(4); i > 0; --i) s.reservations.push_back(reservation_to_come(s, "r" + std::to_string(i), random));
  return s;
}

/// Of one policy, on one state that changes. All jobs of many have the same minimum run. Where nodes have ends some jobs
/// end around these.
class Clusters {
 public:
  Clusters(std::uint64_t seed, const std::string& policy, std::int32_t jobs = 60)
      : Clusters(seed, policy, test::plain_cluster(seed, jobs)) {}
  Clusters(std::uint64_t seed, const std::string& policy, Snapshot s) : random_(seed), newcomers_(test::plain_newcomers(seed)) {
    for (Job& job : s.jobs) {
      if (std::ssize(s.jobs) > kFew) job.preemption.minimum_run_us = kMinimumRun;
    }
    request_ = test::plain_request(policy, seed, random_);
    if (seed % 3 == 0 && test::has_param(policy, "over_limit")) request_.params.emplace_back("over_limit", "displace");
    state_ = ClusterState(s);
    has_ends_ = state_.impl().node.has_until;
  }

  /// Queues get GPUs back, and their guarantees change.
  void reclaim(const char* quotas) {
    std::erase_if(request_.params, [](const auto& param) { return param.first == "quotas"; });
    request_.params.emplace_back("quotas", quotas);
    reclaims_ = true;
  }

  /// In place of the cluster, at the same time.
  void load(Snapshot s) {
    s.now_us = state_.now();
    state_.apply(delta::Load{std::move(s)});
  }

  /// Of nodes with shares.
  void break_nodes() {
    const Snapshot s = state_.snapshot();
    for (const Node& node : s.nodes) {
      if (!node.sharing || !random_.percent(30)) continue;
      state_.apply(delta::SetNodeState{node.id, random_.of<NodeState>({NodeState::kDrain, NodeState::kFailed}), 0});
    }
  }
  std::int64_t shares_on_broken_nodes() const {
    const StateImpl& s = state_.impl();
    std::vector<std::int32_t> jobs;
    s.list_jobs_that_lost_gpus(jobs);
    return std::count_if(jobs.begin(), jobs.end(),
                         [&](std::int32_t job) { return has_shares(*s.jobs[static_cast<std::size_t>(job)].job); });
  }

  void pass_time(TimeUs time) { state_.apply(delta::SetTime{state_.snapshot().now_us + time}); }

  void arrive(std::int32_t jobs) {
    const Snapshot s = state_.snapshot();
    for (std::int32_t i = 0; i < jobs; ++i) state_.apply(newcomer(s));
  }
  /// Jobs that ask for what no other asks for. Some are in place of jobs that wait.
  void arrive_with_other_demands(std::int32_t jobs) {
    const Snapshot s = state_.snapshot();
    for (std::int32_t i = 0; i < jobs; ++i) {
      delta::PutJob put = std::get<delta::PutJob>(newcomer(s));
      put.job.constraints.cpu_milli_per_gpu = ++demands_;
      state_.apply(put);
    }
  }

  /// @returns the number of deltas applied
  std::int32_t change() {
    const Snapshot s = state_.snapshot();
    std::int32_t applied = 0;
    for (std::int32_t i = random_.within(1, 3); i > 0; --i) applied += apply(one(s)) ? 1 : 0;
    return applied;
  }
  /// Some end, are described again, or come.
  void change_jobs() {
    const Snapshot s = state_.snapshot();
    if (!s.jobs.empty() && random_.percent(30)) apply(delta::RemoveJob{random_.of(s.jobs).id, "completed"});
    if (!s.jobs.empty() && random_.percent(30)) apply(again(s, random_.of(s.jobs)));
    apply(random_.percent(50) ? newcomer(s) : delta::SetTime{s.now_us + 100 * kSecond});
  }

  void decide(const std::string& where) {
    ASSERT_TRUE(nothing_overdrawn()) << where;
    Plan plan, expected;
    PolicyState kept = kept_;
    request_.changes_only = random_.percent(60);
    served_.decide(state_.impl(), request_, kept_);
    Request all = request_;
    all.backend = Backend::kReference;
    all.changes_only = false;
    Engine other;
    other.decide(state_, kept, all, expected);
    engine_.decide(state_, kept_, request_, plan);
    served_.saw(expected);
    if (request_.changes_only) {
      expected = test::without_unchanged(std::move(expected));
      ASSERT_EQ(validate_plan(state_, plan), std::vector<std::string>{}) << where;
    }
    ASSERT_EQ(kept_, kept) << where;
    ASSERT_TRUE(same_plan(plan, expected)) << where << "\n" << text(plan) << "\n--- but ---\n" << text(expected);
    if (random_.percent(75)) commit(state_, plan);
  }
  const Served& served() const { return served_; }

 private:
  // What section 12 of docs/placement.md says of cores and memory.
  bool nothing_overdrawn() const {
    const StateImpl& s = state_.impl();
    for (std::size_t n = 0; n < s.nodes.size(); ++n) {
      const Node& node = s.nodes[n];
      if (node.cpu_milli >= 0 && s.node.cpu_held[n] > node.cpu_milli) return false;
      if (node.memory_bytes >= 0 && s.node.memory_held[n] > node.memory_bytes) return false;
    }
    return true;
  }
  // False for such as a job that has left.
  bool apply(const Delta& delta) {
    try {
      state_.apply(delta);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  std::string text(const Plan& plan) const { return io::to_json(plan, state_, false).substr(0, 6'000); }

  Delta one(const Snapshot& s) {
    if (s.jobs.empty()) return newcomer(s);
    const Job& job = random_.of(s.jobs);
    if (has_ends_ && random_.percent(30)) return around_ends(s);
    switch (random_.below(9)) {
      case 0:
        return delta::SetTime{s.now_us + random_.below(900) * kSecond};
      case 1:
        return delta::RemoveJob{job.id, random_.percent(50) ? "completed" : ""};
      case 2:
        return delta::StopJob{job.id};
      case 3:
        return progress(job);
      case 4:
        return again(s, job);
      case 5:
        return node(s);
      case 6:
        return queue(s);
      default:
        return newcomer(s);
    }
  }
  Delta newcomer(const Snapshot& s) {
    const Job& described = random_.of(newcomers_);
    const std::string id = "new" + std::to_string(random_.below(90));
    Job job = test::as_newcomer(described, id, s.now_us - random_.below(100) * kSecond);
    if (random_.percent(20)) job.preemption.minimum_run_us = random_.below(2'000) * kSecond;
    if (random_.percent(10)) job.preemption.preemptible = false;
    if (has_ends_) end_around_a_node(job);
    return delta::PutJob{std::move(job)};
  }
  // So that it loses the node in a few minutes, or in a wide place runs longer than that. Or its run time is not known.
  void end_around_a_node(Job& job) {
    const std::vector<TimeUs> ends = ends_of_nodes();
    if (ends.empty() || random_.percent(30)) return;
    job.estimate.run_us = std::max(TimeUs{1}, random_.of(ends) - state_.now() - random_.below(1'200) * kSecond / 2);
    if (random_.percent(15)) job.estimate.run_us = kNever;
    if (random_.percent(15)) job.time_limit_us = random_.within(1, 100'000) * kSecond;
    if (random_.percent(60)) return;
    job.profile = {};
    job.profile.kind = ProfileKind::kTable;
    const std::int32_t slower = random_.within(1, 30);
    for (const Shape& shape : job.shapes) {
      const auto same = [&](const RatePoint& point) { return point.gpus == shape.gpus; };
      if (std::any_of(job.profile.points.begin(), job.profile.points.end(), same)) continue;
      const std::int64_t rate = shape.gpus * kSecond;
      job.profile.points.push_back({"", shape.gpus, 0, "", rate - rate * slower / 60});
      job.profile.points.push_back({"", shape.gpus, 0, "rack", rate - rate * slower / 90});
      job.profile.points.push_back({"", shape.gpus, 0, "node", rate});
    }
  }
  // Of nodes: when they end, ahead.
  std::vector<TimeUs> ends_of_nodes() const {
    std::vector<TimeUs> ends;
    for (const TimeUs until : state_.impl().node.until) {
      if (until != kNever && until > state_.now()) ends.push_back(until);
    }
    return ends;
  }
  // The clock comes to where a waiting job may just use a node, or does not any more. Reservations come and go.
  Delta around_ends(const Snapshot& s) {
    if (random_.percent(3)) return delta::PutReservation{reservation_to_come(s, "r" + std::to_string(random_.below(4)), random_)};
    if (random_.percent(3)) return delta::RemoveReservation{"r" + std::to_string(random_.below(4))};
    std::vector<TimeUs> instants;
    const StateImpl& impl = state_.impl();
    const std::vector<TimeUs> ends = ends_of_nodes();
    for (const std::int32_t job : impl.job_order) {
      for (std::size_t o = 0;
           impl.job.running[static_cast<std::size_t>(job)] == 0 && o < impl.jobs[static_cast<std::size_t>(job)].options.size(); ++o) {
        const TimeUs run = impl.option_run(job, o);
        for (const TimeUs end : ends) {
          if (run != kNever && end - run >= s.now_us && end - run < s.now_us + 2'000 * kSecond) instants.push_back(end - run);
        }
      }
    }
    if (instants.empty()) return newcomer(s);
    return delta::SetTime{random_.of(instants) + random_.below(2)};
  }
  Delta progress(const Job& job) {
    Progress p = job.progress;
    p.run_us = std::max<TimeUs>(0, p.run_us + random_.within(-100, 100) * kSecond);
    p.attained_gpu_us += random_.below(5'000) * kSecond;
    return delta::SetProgress{job.id, std::move(p)};
  }
  // One that runs cannot need more cores than there are.
  Delta again(const Snapshot& s, Job job) {
    job.priority += random_.below(3) - 1;
    if (random_.percent(20)) job.constraints.cpu_milli_per_gpu = random_.below(24) * 1'000;
    if (random_.percent(20) && !s.queues.empty()) job.queue = random_.of(s.queues).id;
    if (random_.percent(30)) job.estimate.run_us = kNever;
    if (random_.percent(30)) job.estimate.run_us = random_.within(1, 20'000) * kSecond;
    if (random_.percent(20)) job.deadline = {random_.below(200'000) * kSecond, true};
    if (random_.percent(10)) {  // soon, so that steps pass
      job.deadline = {s.now_us + random_.below(2'000) * kSecond, false, 9};
      const TimeUs apart = random_.within(1, 2'000) * kSecond;
      if (job.deadline.at_us >= job.submit_us) job.deadline.later = {{job.deadline.at_us + apart, 8}, {job.deadline.at_us + 3 * apart, 1}};
    }
    return delta::PutJob{std::move(job)};
  }
  Delta node(const Snapshot& s) {
    // Jobs may run on what fails. Spare nodes are for repairs.
    static constexpr NodeState kReady = NodeState::kReady, kFailed = NodeState::kFailed;
    const Node& one = random_.of(s.nodes);
    if (random_.percent(50)) {
      return delta::SetNodeState{
          one.id, random_.of<NodeState>({kReady, kReady, kReady, kReady, kReady, kFailed, kFailed, NodeState::kDrain, NodeState::kSpare}),
          0};
    }
    const GpuState state = random_.of<GpuState>({GpuState::kOk, GpuState::kOk, GpuState::kOk, GpuState::kReleasing, GpuState::kFailed});
    return delta::SetGpuState{one.id, random_.below(8), state, kNever};
  }
  Delta queue(const Snapshot& s) {
    if (s.queues.empty()) return newcomer(s);
    Queue queue = random_.of(s.queues);
    for (Quota& quota : queue.quotas) {
      quota.limit = random_.within(8, 96);
      if (reclaims_) quota.guarantee = random_.within(0, 40);
    }
    return delta::PutQueue{std::move(queue)};
  }

  Random random_;
  std::int32_t demands_ = 0;
  std::vector<Job> newcomers_;
  Request request_;
  ClusterState state_{Snapshot{}};
  Engine engine_;
  PolicyState kept_;
  Served served_;
  bool has_ends_ = false, reclaims_ = false;
};

struct Followed {
  std::int64_t decisions = 0, served = 0;
};

/// @param deltas  in all, over clusters of 100 each
Followed follow(const std::string& policy, std::int32_t deltas, Snapshot (*cluster)(std::uint64_t seed)) {
  std::int32_t applied = 0;
  Followed followed;
  for (std::uint64_t seed = 1; applied < deltas; ++seed) {
    Clusters clusters(seed, policy, cluster(seed));
    for (std::int32_t of_one = 0, round = 0; of_one < 100; ++round) {
      const std::int32_t here = clusters.change();
      of_one += here;
      applied += here;
      clusters.decide(policy + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return followed;
    }
    followed.decisions += clusters.served().decisions();
    followed.served += clusters.served().answers();
  }
  return followed;
}

/// Of one policy. BERTH_DELTAS: how many in all, over all policies.
std::int32_t deltas() {
  const char* const wanted = std::getenv("BERTH_DELTAS");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::int64_t all = wanted == nullptr ? 20'000 : std::strtoll(wanted, nullptr, 10);
  return static_cast<std::int32_t>(all / std::ssize(test::queue_policy_names())) + 1;
}

class KeptQueue : public ::testing::TestWithParam<std::string> {};

TEST_P(KeptQueue, AnswersAsThePassOverAllJobs) {
  follow(GetParam(), deltas(), [](std::uint64_t seed) { return test::plain_cluster(seed, 60); });
}

// Section 12 of docs/placement.md has the list of these policies. Some demands are not exact, and a reservation that begins
// or is another is read in two decisions.
TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereNodesHaveEnds) {
  static const std::set<std::string> kServed{"edf", "fifo", "las", "priority", "sjf", "srsf", "srtf"};
  const Followed followed = follow(GetParam(), deltas(), [](std::uint64_t seed) { return cluster_with_ends(seed, 60); });
  RecordProperty("decisions", std::to_string(followed.decisions));
  RecordProperty("served", std::to_string(followed.served));
  if (kServed.count(GetParam()) == 0) return;
  EXPECT_GT(followed.served, followed.decisions / 3) << followed.decisions;
}

TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereMostMayBeDisplacedFromOneInstantOn) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Clusters clusters(seed, GetParam(), 1'000);
    for (std::int32_t round = 0; round < 12; ++round) {
      if (round == 8) clusters.pass_time(kMinimumRun);
      clusters.arrive(10);
      clusters.decide(GetParam() + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereManyRunOnNodesWithEnds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Clusters clusters(seed, GetParam(), cluster_with_ends(seed, 1'000));
    for (std::int32_t round = 0; round < 12; ++round) {
      if (round == 4) clusters.pass_time(kMinimumRun);
      clusters.arrive(10);
      clusters.change();
      clusters.decide(GetParam() + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereDemandsComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Clusters clusters(seed, GetParam());
    for (std::int32_t round = 0; round < 40; ++round) {
      clusters.arrive_with_other_demands(8);
      if (round % 4 == 0) clusters.pass_time(kSecond);
      clusters.decide(GetParam() + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Loads with fewer and more nodes and jobs. What was known of the one before is of no use.
TEST_P(KeptQueue, AnswersAsThePassOverAllJobsAfterAnotherSnapshotIsLoaded) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Clusters clusters(seed, GetParam());
    for (std::int32_t round = 0; round < 32; ++round) {
      if (round % 8 == 7) clusters.load(test::plain_cluster(seed + static_cast<std::uint64_t>(round) * 31, round % 16 == 7 ? 30 : 80));
      clusters.change();
      clusters.decide(GetParam() + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Nodes on which shares run fail, and are drained again.
TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereSharesLoseTheirGpus) {
  std::int64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Clusters clusters(seed, GetParam(), cluster_with_shares(seed));
    for (std::int32_t round = 0; round < 24; ++round) {
      if (round % 3 == 2) clusters.break_nodes();
      lost += clusters.shares_on_broken_nodes();
      clusters.change_jobs();
      clusters.decide(GetParam() + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(lost, 20);
}

// Jobs that their queues are entitled to come first. Where one of them finds no room, and the policy does not displace jobs, all jobs
// are looked at. If it does, they are with fair shares.
TEST_P(KeptQueue, AnswersAsThePassOverAllJobsWhereQueuesGetGpusBack) {
  static const std::set<std::string> kServed{"edf", "fifo", "las", "priority", "sjf", "srsf", "srtf"};
  std::int64_t decisions = 0, served = 0;
  for (const char* quotas : {"guarantees", "fair", "drf"}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Clusters clusters(seed, GetParam());
      clusters.reclaim(quotas);
      for (std::int32_t round = 0; round < 40; ++round) {
        clusters.change();
        clusters.decide(GetParam() + ", " + quotas + ", seed " + std::to_string(seed) + ", round " + std::to_string(round));
        if (::testing::Test::HasFatalFailure()) return;
      }
      if (core::find_policy(GetParam()).preemptive && std::string_view(quotas) != "guarantees") continue;
      decisions += clusters.served().decisions();
      served += clusters.served().answers();
    }
  }
  RecordProperty("served", std::to_string(served));
  if (kServed.count(GetParam()) == 0) return;
  EXPECT_GT(served, decisions / 5) << decisions;
}

INSTANTIATE_TEST_SUITE_P(All, KeptQueue, ::testing::ValuesIn(test::queue_policy_names()),
                         [](const auto& each) { return test::test_name(each.param); });

}  // namespace
}  // namespace berth::kept_queue_test
