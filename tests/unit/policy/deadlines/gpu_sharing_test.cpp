// Jobs join others on a GPU where all keep enough of their rate: parameter `sharing` of genie.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::gpu_sharing_test {
namespace {

using Params = std::vector<std::pair<std::string, std::string>>;
using Table = std::vector<std::pair<std::string, std::int64_t>>;

Snapshot cluster_of(std::int64_t nodes, std::int64_t gpus) {
  Snapshot s = io::uniform_cluster(nodes, gpus);
  for (Node& node : s.nodes) node.sharing = true;
  return s;
}

// A job with 100 s of work alone, on shares of GPUs.
Job& sharing(Snapshot& s, const std::string& id, const Table& table, std::int32_t gpus = 1, std::int32_t share_ppm = 400'000) {
  Job& job = s.jobs.emplace_back();
  job.id = id;
  job.sharing = true;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  shape.share_ppm = share_ppm;
  job.shapes = {shape};
  job.progress.work_total = 100'000'000;
  job.profile.model = id;
  job.profile.colocation = table;
  return job;
}

void run_on(Snapshot& s, Job& job, std::size_t node, const std::vector<std::int32_t>& gpus) {
  job.state = JobState::kRunning;
  job.allocation.shape = "s";
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    AllocationEntry entry;
    entry.member = static_cast<std::int32_t>(i);
    entry.node = s.nodes[node].id;
    entry.gpus = {gpus[i]};
    entry.share_ppm = job.shapes.front().share_ppm;
    entry.time_shared = true;
    job.allocation.entries.push_back(entry);
  }
}

class Decided {
 public:
  explicit Decided(const Snapshot& s, const Params& params = {{"sharing", "0.8"}, {"expected", "0"}}) : state(s) {
    Request request;
    request.policy = "genie";
    request.params = params;
    Engine engine;
    engine.decide(state, kept, request, plan);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  }
  const Decision& of(const std::string& id) const {
    for (const Decision& d : plan.decisions) {
      if (state.job(d.job)->id == id) return d;
    }
    throw std::out_of_range(id);
  }
  /// "n0:1 n0:2": node and GPU of each member; "": it has none.
  std::string where(const std::string& id) const {
    const Decision& d = of(id);
    std::string text;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
      text += (text.empty() ? "n" : " n") + std::to_string(entry.node) + ":" + std::to_string(std::countr_zero(entry.gpus));
    }
    return text;
  }
  std::int64_t kept_column(const std::string& column, const std::string& id) const {
    const auto& values = kept.columns.at(column);
    return values.count(id) == 0 ? -1 : values.at(id);
  }

  ClusterState state;
  PolicyState kept;
  Plan plan;
};

}  // namespace

TEST(GpuSharing, AJobWithAShareTakesAFreeGpuFirst) {
  Snapshot s = cluster_of(1, 2);
  run_on(s, sharing(s, "a", {{"b", 900'000}}), 0, {0});
  sharing(s, "b", {{"a", 900'000}});
  const Decided one(s);
  EXPECT_EQ(one.where("b"), "n0:1");
  EXPECT_EQ(one.plan.entries.back().share_ppm, 400'000);
  EXPECT_TRUE(one.plan.entries.back().time_shared);
  EXPECT_EQ(Decided(s, {}).where("b"), "n0:0");  // best fit
}

TEST(GpuSharing, AJobJoinsAnotherWhereBothKeepEnough) {
  Snapshot s = cluster_of(1, 1);
  run_on(s, sharing(s, "a", {{"b", 840'000}}), 0, {0});
  sharing(s, "b", {{"a", 900'000}});
  const Decided one(s);
  EXPECT_EQ(one.of("b").action, Action::kStart);
  EXPECT_EQ(one.where("b"), "n0:0");
  EXPECT_EQ(Decided(s, {{"sharing", "0.84"}}).where("b"), "n0:0");
  EXPECT_EQ(Decided(s, {{"sharing", "0.840001"}}).where("b"), "");
}

TEST(GpuSharing, TwoJobsThatComeTogetherMayShare) {
  Snapshot s = cluster_of(1, 1);
  sharing(s, "a", {{"b", 840'000}});
  sharing(s, "b", {{"a", 900'000}});
  const Decided one(s);
  EXPECT_EQ(one.where("a"), "n0:0");
  EXPECT_EQ(one.where("b"), "n0:0");
}

TEST(GpuSharing, BothTablesHaveToNameTheOther) {
  for (const bool first : {true, false}) {
    Snapshot s = cluster_of(1, 1);
    run_on(s, sharing(s, "a", first ? Table{{"b", 900'000}} : Table{}), 0, {0});
    sharing(s, "b", first ? Table{} : Table{{"a", 900'000}});
    const Decided one(s);
    EXPECT_EQ(one.of("b").action, Action::kWait);
    EXPECT_EQ(one.of("b").reason.code, ReasonCode::kInsufficientGpus);
  }
}

// 0.9 x 0.9 = 0.81 and 0.9 x 0.89 = 0.801; one more would leave less than 0.8.
TEST(GpuSharing, ThreeJobsMultiply) {
  const auto third = [](std::int64_t kept_by_a) {
    Snapshot s = cluster_of(1, 1);
    run_on(s, sharing(s, "a", {{"b", 900'000}, {"c", kept_by_a}}, 1, 300'000), 0, {0});
    run_on(s, sharing(s, "b", {{"a", 900'000}, {"c", 900'000}}, 1, 300'000), 0, {0});
    sharing(s, "c", {{"a", 900'000}, {"b", 900'000}}, 1, 300'000);
    return Decided(s).where("c");
  };
  EXPECT_EQ(third(890'000), "n0:0");
  EXPECT_EQ(third(880'000), "");
}

TEST(GpuSharing, SharesNeedRoom) {
  Snapshot s = cluster_of(1, 1);
  run_on(s, sharing(s, "a", {{"b", 900'000}}, 1, 600'000), 0, {0});
  sharing(s, "b", {{"a", 900'000}}, 1, 400'001);
  EXPECT_EQ(Decided(s).where("b"), "");
  s.jobs.back().shapes.front().share_ppm = 400'000;
  EXPECT_EQ(Decided(s).where("b"), "n0:0");
}

TEST(GpuSharing, GpuMemoryAndCoresNeedRoom) {
  Snapshot s = cluster_of(1, 1);
  s.gpu_types.front().memory_bytes = 100;
  s.nodes.front().cpu_milli = 3'000;
  Job& a = sharing(s, "a", {{"b", 900'000}});
  a.constraints.gpu_memory_bytes = 60;
  a.constraints.cpu_milli_per_gpu = 2'000;
  run_on(s, a, 0, {0});
  Job& b = sharing(s, "b", {{"a", 900'000}});
  b.constraints.gpu_memory_bytes = 40;
  b.constraints.cpu_milli_per_gpu = 1'000;
  EXPECT_EQ(Decided(s).where("b"), "n0:0");
  s.jobs.back().constraints.gpu_memory_bytes = 41;
  EXPECT_EQ(Decided(s).where("b"), "");
  s.jobs.back().constraints.gpu_memory_bytes = 40;
  s.jobs.back().constraints.cpu_milli_per_gpu = 1'001;
  EXPECT_EQ(Decided(s).where("b"), "");
}

TEST(GpuSharing, TheGpuWhereTheLeastIsLostIsTaken) {
  Snapshot s = cluster_of(1, 3);
  run_on(s, sharing(s, "a", {{"d", 900'000}}), 0, {0});
  run_on(s, sharing(s, "b", {{"d", 950'000}}), 0, {1});
  run_on(s, sharing(s, "c", {{"d", 950'000}}), 0, {2});
  sharing(s, "d", {{"a", 1'000'000}, {"b", 1'000'000}, {"c", 1'000'000}});
  EXPECT_EQ(Decided(s).where("d"), "n0:1");
}

TEST(GpuSharing, EachMemberOfAGangHasItsOwnGpu) {
  Snapshot s = cluster_of(2, 2);
  run_on(s, sharing(s, "a", {{"b", 900'000}}, 2), 0, {0, 1});
  run_on(s, sharing(s, "c", {{"b", 950'000}}, 2), 1, {0, 1});
  sharing(s, "b", {{"a", 900'000}, {"c", 950'000}}, 3, 100'000);
  EXPECT_EQ(Decided(s).where("b"), "n0:0 n1:0 n1:1");
  s.jobs.back().shapes.front().gpus = 5;
  EXPECT_EQ(Decided(s).where("b"), "");
}

// Alone a ends at 100 s, and at 90 % at 111.2 s.
TEST(GpuSharing, NoJobIsMadeToMissItsDeadline) {
  const auto joins = [](TimeUs deadline_us) {
    Snapshot s = cluster_of(1, 1);
    Job& a = sharing(s, "a", {{"b", 900'000}});
    a.deadline.at_us = deadline_us;
    run_on(s, a, 0, {0});
    sharing(s, "b", {{"a", 900'000}});
    return Decided(s).where("b");
  };
  EXPECT_EQ(joins(kNever), "n0:0");
  EXPECT_EQ(joins(111'111'112), "n0:0");
  EXPECT_EQ(joins(111'111'111), "");
  EXPECT_EQ(joins(100'000'000), "");
  EXPECT_EQ(joins(99'999'999), "n0:0");  // missed in any case
}

// a has missed its first step in any case, and ends at 100 s alone.
TEST(GpuSharing, NoJobIsMadeToMissALaterStep) {
  const auto joins = [](TimeUs later_us) {
    Snapshot s = cluster_of(1, 1);
    Job& a = sharing(s, "a", {{"b", 900'000}});
    a.deadline = {50 * kSecond, false, 10, {{later_us, 5}}};
    run_on(s, a, 0, {0});
    sharing(s, "b", {{"a", 900'000}});
    return Decided(s).where("b");
  };
  EXPECT_EQ(joins(111'111'112), "n0:0");
  EXPECT_EQ(joins(111'111'111), "");
  EXPECT_EQ(joins(99'999'999), "n0:0");
}

TEST(GpuSharing, AJobDoesNotJoinWhereItMissesItsOwnDeadline) {
  const auto joins = [](TimeUs deadline_us) {
    Snapshot s = cluster_of(1, 1);
    Job& a = sharing(s, "a", {{"b", 900'000}});
    a.preemption.preemptible = false;
    run_on(s, a, 0, {0});
    sharing(s, "b", {{"a", 900'000}}).deadline.at_us = deadline_us;
    return Decided(s).where("b");
  };
  EXPECT_EQ(joins(111'111'112), "n0:0");
  EXPECT_EQ(joins(111'111'111), "");
}

TEST(GpuSharing, PartitionsAndWholeGpusAreNotJoined) {
  Snapshot s = cluster_of(1, 1);
  run_on(s, sharing(s, "a", {{"b", 900'000}}), 0, {0});
  s.jobs.front().shapes.front().mig_profile = "3g.40gb";
  s.jobs.front().allocation.entries.front().time_shared = false;
  sharing(s, "b", {{"a", 900'000}});
  EXPECT_EQ(Decided(s).where("b"), "");

  Snapshot whole = cluster_of(1, 1);
  Job& a = sharing(whole, "a", {{"b", 900'000}}, 1, kWholeGpu);
  run_on(whole, a, 0, {0});
  whole.jobs.front().allocation.entries.front().time_shared = false;
  sharing(whole, "b", {{"a", 900'000}});
  EXPECT_EQ(Decided(whole).where("b"), "");
}

// A share needs a node that shares, also where the job takes the whole GPU.
TEST(GpuSharing, NodesThatDoNotShareStayFree) {
  Snapshot s = cluster_of(2, 1);
  s.nodes.front().sharing = false;
  sharing(s, "a", {});
  EXPECT_EQ(Decided(s).where("a"), "n1:0");
  run_on(s, s.jobs.front(), 1, {0});
  sharing(s, "b", {});
  EXPECT_EQ(Decided(s).where("b"), "");
}

TEST(GpuSharing, QueuesChargeSharesAsShares) {
  Snapshot s = cluster_of(1, 2);
  Queue queue;
  queue.id = "q";
  queue.quotas.push_back({});
  queue.quotas.back().gpu_type = "*";
  queue.quotas.back().limit = 1;
  s.queues = {queue};
  for (const char* id : {"a", "b", "c"}) sharing(s, id, {{"a", 900'000}, {"b", 900'000}, {"c", 900'000}}).queue = "q";
  const Decided one(s);
  EXPECT_EQ(one.where("a"), "n0:0");
  EXPECT_EQ(one.where("b"), "n0:1");
  EXPECT_EQ(one.where("c"), "");
  EXPECT_EQ(one.of("c").reason.code, ReasonCode::kQuota);
}

// A promise counts the GPU as whole, and the time that the job needs at 80 % of its rate.
TEST(GpuSharing, APromiseHoldsWhateverJoins) {
  Snapshot s = cluster_of(1, 1);
  sharing(s, "a", {{"b", 900'000}}).deadline.at_us = 200 * kSecond;
  sharing(s, "b", {{"a", 900'000}}).deadline.at_us = 200 * kSecond;
  const Decided one(s);
  EXPECT_EQ(one.kept_column("promised_end_us", "a"), 200 * kSecond);
  EXPECT_EQ(one.kept_column("promised_need_us", "a"), 125'001'000);
  EXPECT_EQ(one.kept_column("promised_end_us", "b"), -1);  // a whole GPU for 125 s is not left, and yet b runs
  EXPECT_EQ(one.where("b"), "n0:0");
  EXPECT_EQ(Decided(s, {}).kept_column("promised_end_us", "a"), -1);
}

TEST(GpuSharing, AJobThatIsSlowedDownByMoreGetsNoPromise) {
  const auto promised = [](std::int64_t kept_ppm) {
    Snapshot s = cluster_of(1, 1);
    Job& a = sharing(s, "a", {{"b", kept_ppm}});
    a.deadline.at_us = 200 * kSecond;
    run_on(s, a, 0, {0});
    run_on(s, sharing(s, "b", {{"a", 900'000}}), 0, {0});
    return Decided(s).kept_column("promised_end_us", "a");
  };
  EXPECT_EQ(promised(800'000), 200 * kSecond);
  EXPECT_EQ(promised(799'999), -1);
}

// It needs 125 s at 0.8 of its rate, also where some job has several shapes. Where its work is seconds of a whole GPU, its first choice, a
// share of 0.4 needs 312.5 s for it.
TEST(GpuSharing, APromiseCountsTheSlowestShape) {
  const auto promised = [](bool first_whole, TimeUs deadline_us) {
    Snapshot s = cluster_of(1, 2);
    Job& a = sharing(s, "a", {{"b", 900'000}});
    a.deadline.at_us = deadline_us;
    Shape other = a.shapes.front();
    other.id = "w";
    other.share_ppm = kWholeGpu;
    if (first_whole) a.shapes.insert(a.shapes.begin(), other);
    Job& z = sharing(s, "z", {});
    z.shapes.push_back(other);
    return Decided(s).kept_column("promised_end_us", "a");
  };
  EXPECT_EQ(promised(false, 124 * kSecond), -1);
  EXPECT_EQ(promised(false, 126 * kSecond), 126 * kSecond);
  EXPECT_EQ(promised(true, 312 * kSecond), -1);
  EXPECT_EQ(promised(true, 314 * kSecond), 314 * kSecond);
}

TEST(GpuSharing, DisciplinesThatReserveAreRefused) {
  const Snapshot s = cluster_of(1, 1);
  EXPECT_THROW(Decided(s, {{"sharing", "0.8"}, {"discipline", "easy"}}), InvalidArgument);
  EXPECT_THROW(Decided(s, {{"sharing", "0.8"}, {"discipline", "strict"}}), InvalidArgument);
  EXPECT_THROW(Decided(s, {{"sharing", "0.8"}, {"packing", "contention"}}), InvalidArgument);
  EXPECT_THROW(Decided(s, {{"sharing", "0.8"}, {"timers", "1"}}), InvalidArgument);
  EXPECT_THROW(Decided(s, {{"sharing", "1.1"}}), InvalidArgument);
  EXPECT_THROW(Decided(s, {{"sharing", "0"}}), InvalidArgument);
}

}  // namespace berth::gpu_sharing_test
