// Certificates are accepted only when the descriptions confirm them.
#include "host/core/reasons/certificate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::test::certificate_test {
namespace {

Reason claim(ReasonCode code, std::int64_t asked, std::int64_t best) {
  Reason reason;
  reason.code = code;
  reason.certified = true;
  reason.asked = asked;
  reason.best = best;
  return reason;
}

bool holds(const Snapshot& s, const Reason& reason) {
  const core::ClusterFacts facts(core::facts_source(s));
  return core::certificate_holds(facts, s.jobs.at(0), reason);
}

}  // namespace

TEST(Certificate, MoreGpusThanExist) {
  Snapshot s = two_racks();
  add_job(s, "a", 33);

  EXPECT_TRUE(holds(s, claim(ReasonCode::kInsufficientGpus, 33, 32)));
  EXPECT_FALSE(holds(s, claim(ReasonCode::kInsufficientGpus, 33, 31))) << "wrong evidence";
  EXPECT_FALSE(holds(s, claim(ReasonCode::kCpu, 33, 32))) << "wrong cause";
}

TEST(Certificate, UncertifiedReasonIsNone) {
  Snapshot s = two_racks();
  add_job(s, "a", 33);
  Reason reason = claim(ReasonCode::kInsufficientGpus, 33, 32);
  reason.certified = false;

  EXPECT_FALSE(holds(s, reason));
}

TEST(Certificate, FeasibleJobIsNeverCertified) {
  Snapshot s = two_racks();
  add_job(s, "a", 32);

  for (int code = 1; code <= static_cast<int>(ReasonCode::kBudget); ++code) {
    EXPECT_FALSE(holds(s, claim(static_cast<ReasonCode>(code), 33, 32))) << code;
  }
}

TEST(Certificate, FailedNodesStillCountAsExisting) {
  Snapshot s = two_racks();
  s.nodes[0].state = NodeState::kFailed;
  add_job(s, "a", 32);

  EXPECT_FALSE(holds(s, claim(ReasonCode::kInsufficientGpus, 32, 24)));
}

TEST(Certificate, RequiredLevelIsTooSmall) {
  Snapshot s = two_racks();
  Group group = group_of("w", 3, 8);
  group.require = LevelRef{TopologyKind::kSwitch, "rack"};
  add_job(s, "a", 0).shapes[0].groups = {group};

  EXPECT_TRUE(holds(s, claim(ReasonCode::kTopologyRequired, 24, 16)));
  s.nodes[2].domain[0] = "p/r0";
  EXPECT_FALSE(holds(s, claim(ReasonCode::kTopologyRequired, 24, 16)));
}

TEST(Certificate, MemberIsLargerThanEveryNode) {
  Snapshot s = two_racks();
  add_job(s, "a", 0).shapes[0].groups = {group_of("w", 1, 9)};

  EXPECT_TRUE(holds(s, claim(ReasonCode::kTopologyRequired, 9, 8)));
}

TEST(Certificate, CoresAndMemoryOfEveryNodeAreTooSmall) {
  Snapshot s = two_racks();
  for (Node& node : s.nodes) {
    node.cpu_milli = 4000;
    node.memory_bytes = 1000;
  }
  Snapshot memory = s;
  add_job(s, "a", 1).constraints.cpu_milli_per_gpu = 4001;
  add_job(memory, "a", 1).constraints.memory_bytes_per_gpu = 1001;

  EXPECT_TRUE(holds(s, claim(ReasonCode::kCpu, 4001, 4000)));
  EXPECT_TRUE(holds(memory, claim(ReasonCode::kMemory, 1001, 1000)));
  s.nodes[3].cpu_milli = kUnlimited;
  EXPECT_FALSE(holds(s, claim(ReasonCode::kCpu, 4001, 4000)));
}

TEST(Certificate, ConstraintsLeaveTooFewNodes) {
  Snapshot s = two_racks();
  add_job(s, "a", 9).constraints.required_nodes = {"n1"};

  EXPECT_TRUE(holds(s, claim(ReasonCode::kNodeConstraint, 9, 8)));
  s.jobs[0].constraints.required_nodes.push_back("n2");
  EXPECT_FALSE(holds(s, claim(ReasonCode::kNodeConstraint, 9, 8)));
}

TEST(Certificate, QuotaAnywhereUpToTheRoot) {
  Snapshot s = two_racks();
  Queue root, leaf;
  root.id = "root";
  root.quotas = {{"*", 1, kUnlimited, 2}};
  leaf.id = "leaf";
  leaf.parent = "root";
  s.queues = {root, leaf};
  add_job(s, "a", 4).queue = "leaf";

  EXPECT_TRUE(holds(s, claim(ReasonCode::kQuota, 4, 3)));
  s.queues[0].quotas[0].borrowing = 3;
  EXPECT_FALSE(holds(s, claim(ReasonCode::kQuota, 4, 3)));
}

TEST(Certificate, GpuTypeThatNoNodeHas) {
  Snapshot s = two_racks();
  add_job(s, "a", 1).shapes[0].gpu_type = "h100";

  EXPECT_TRUE(holds(s, claim(ReasonCode::kNoGpuType, 1, 0)));
  s.nodes[0].gpu_type = "h100";
  EXPECT_FALSE(holds(s, claim(ReasonCode::kNoGpuType, 1, 0)));
}

TEST(Certificate, EveryShapeMustFail) {
  Snapshot s = two_racks();
  Job& job = add_job(s, "a", 33);
  job.shapes.push_back(job.shapes[0]);
  job.shapes[1].id = "small";
  job.shapes[1].gpus = 32;

  EXPECT_FALSE(holds(s, claim(ReasonCode::kInsufficientGpus, 33, 32)));
}

TEST(Certificate, RejectedJobNeedsOne) {
  Snapshot s = two_racks();
  add_job(s, "a", 33);
  add_job(s, "b", 1);
  PlanMaker good(s), bad(s);

  good.give(0, Action::kReject).reason = claim(ReasonCode::kInsufficientGpus, 33, 32);
  bad.give(1, Action::kReject).reason = claim(ReasonCode::kInsufficientGpus, 33, 32);

  EXPECT_EQ(good.check(), "");
  EXPECT_EQ(bad.check(), "job b: is rejected, and its certificate (insufficient_gpus, asked 33, best 32) does not hold\n");
}

}  // namespace berth::test::certificate_test
