// Two racks of two nodes with 8 GPUs each. `skew` has a model with skewed tensors, `even` one without; earlier jobs
// that hold GPUs set the number of free ones.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "host/core/policy_api/consolidation.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::tiresias_test {
namespace {

using test::add_job;
using test::run_on;

constexpr Backend kBackends[] = {Backend::kReference, Backend::kCpu};

Snapshot with_free(std::array<std::int32_t, 4> free) {
  Snapshot s = test::two_racks();
  for (std::size_t n = 0; n < 4; ++n) {
    if (free[n] == 8) continue;
    std::vector<std::int32_t> gpus(static_cast<std::size_t>(8 - free[n]));
    std::iota(gpus.begin(), gpus.end(), free[n]);
    run_on(add_job(s, "h" + std::to_string(n), 8 - free[n]), "n" + std::to_string(n), gpus);
  }
  return s;
}

/// The outcome of the last job: GPUs by node, or its reason.
std::string becomes(const Snapshot& s, std::vector<std::pair<std::string, std::string>> params = {}) {
  const ClusterState state(s);
  std::string text;
  for (const Backend backend : kBackends) {
    Request request;
    request.policy = "tiresias";
    request.params = params;
    request.backend = backend;
    const Plan plan = Engine().decide(state, request);
    const Decision& d = plan.decisions.back();
    std::string here;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
      here += state.node(entry.node).id + ":" + std::to_string(std::popcount(entry.gpus)) + " ";
    }
    if (d.action != Action::kStart) here = render_reason(state, d.reason, d.job);
    if (backend != kBackends[0]) {
      EXPECT_EQ(here, text);
    }
    text = here;
  }
  return text;
}

std::string becomes(std::array<std::int32_t, 4> free, std::int32_t gpus, const std::string& model,
                    std::vector<std::pair<std::string, std::string>> params = {}) {
  Snapshot s = with_free(free);
  add_job(s, "z", gpus).profile.model = model;
  return becomes(s, std::move(params));
}

const std::vector<std::pair<std::string, std::string>> kCode{{"reading", "code"}};

}  // namespace

TEST(Tiresias, ASkewedJobWaitsForANodeThatHoldsIt) {
  EXPECT_EQ(becomes({3, 3, 0, 0}, 4, "vgg16"), "needs 4 GPUs on one node; best node has 3 left: n0; 6 free in all after this plan");
  EXPECT_EQ(becomes({3, 3, 0, 4}, 4, "vgg16"), "n3:4 ");
  EXPECT_EQ(becomes({3, 3, 0, 0}, 4, "ResNet-50"), "n0:3 n1:1 ");
}

TEST(Tiresias, AsReimplementedItTakesAnyNodesOfOneRack) {
  EXPECT_EQ(becomes({3, 3, 0, 0}, 4, "vgg16", kCode), "n0:3 n1:1 ");
  EXPECT_EQ(becomes({3, 0, 3, 0}, 4, "vgg16", kCode), "needs 4 GPUs of one type (such as a100) in one rack; best rack has 3 left: r0");
  EXPECT_EQ(becomes({3, 0, 3, 0}, 4, "bert", kCode), "n0:3 n2:1 ");
}

TEST(Tiresias, ALargeSkewedJobTakesWholeNodesOfOneRackAndARest) {
  EXPECT_EQ(becomes({8, 3, 8, 4}, 12, "vgg16"), "n2:8 n3:4 ");
  EXPECT_NE(becomes({8, 3, 8, 3}, 12, "vgg16").find("needs 12 GPUs"), std::string::npos) << becomes({8, 3, 8, 3}, 12, "vgg16");
  EXPECT_EQ(becomes({8, 3, 8, 3}, 12, "bert"), "n0:8 n1:3 n3:1 ");
  // In no rack: this re-implementation places it anywhere, since no rack could ever hold it.
  EXPECT_EQ(becomes({8, 8, 8, 8}, 24, "vgg16"), "n0:8 n1:8 n2:8 ");
  EXPECT_NE(becomes({7, 8, 8, 7}, 24, "vgg16").find("as 3 members of 8 GPUs, each on one node; 2 of 3 still fit"), std::string::npos)
      << becomes({7, 8, 8, 7}, 24, "vgg16");
  EXPECT_EQ(becomes({7, 8, 8, 7}, 24, "vgg16", kCode), "n1:8 n0:7 n2:8 n3:1 ");
}

TEST(Tiresias, WhereWholeNodesCouldNeverDoTheLowestDomainIsAskedForAlone) {
  // There are no two nodes of 8; the rack r0 has 18 GPUs, of which 15 are free now.
  Snapshot s = test::two_racks();
  for (const std::size_t n : {1U, 2U, 3U}) s.nodes[n].gpus = 5;
  s.nodes[2].domain[0] = "p/r0";
  Snapshot full = s;
  add_job(s, "z", 16);
  EXPECT_EQ(becomes(s), "n0:8 n1:5 n2:3 ");
  run_on(add_job(full, "h", 3), "n1", {0, 1, 2});
  add_job(full, "z", 16);
  EXPECT_NE(becomes(full).find("in one rack"), std::string::npos) << becomes(full);
}

TEST(Tiresias, NodesThatAJobMayNotUseDoNotCount) {
  Snapshot s = with_free({8, 8, 8, 8});
  Job& job = add_job(s, "z", 16);
  job.constraints.required_nodes = {"n0", "n2"};
  EXPECT_EQ(becomes(s), "n0:8 n2:8 ");
}

TEST(Tiresias, WhatAJobRequiresItselfStands) {
  // No power domain has two nodes of 8, but one has 16 GPUs on three nodes.
  Snapshot s = test::two_racks();
  s.domains.push_back(test::domain_of("w", "busway", ""));
  s.domains.back().topology = TopologyKind::kPower;
  for (const std::size_t n : {0U, 1U, 3U}) s.nodes[n].domain[static_cast<std::size_t>(TopologyKind::kPower)] = "w";
  s.nodes[1].gpus = s.nodes[3].gpus = 4;
  Job& job = add_job(s, "z", 16);
  job.shapes[0].groups = {test::group_of("g", 16, 1)};
  job.shapes[0].groups[0].require = LevelRef{TopologyKind::kPower, "busway"};
  EXPECT_EQ(becomes(s), "n0:8 n1:4 n3:4 ");
}

TEST(Tiresias, AJobThatSaysHowItsMembersAreSpreadIsNotConsolidated) {
  Snapshot s = with_free({8, 8, 8, 8});
  Job& job = add_job(s, "z", 10);
  job.shapes[0].groups = {test::group_of("g", 10, 1)};
  job.shapes[0].groups[0].spread = Spread{LevelRef{TopologyKind::kSwitch, "node"}, 3};
  EXPECT_EQ(becomes(s), "n0:3 n1:3 n2:3 n3:1 ");
}

// Consolidated demands are cached; another cluster or state must not reuse them.
TEST(Tiresias, OneEngineAnswersAsANewOneWhateverChanges) {
  Snapshot s = with_free({3, 5, 8, 8});
  add_job(s, "y", 16);
  add_job(s, "z", 8);
  Snapshot small = s;  // every node is a rack
  for (const std::size_t n : {1U, 3U}) {
    small.domains.push_back(test::domain_of("s" + std::to_string(n), "rack", "p"));
    small.nodes[n].domain[0] = "p/s" + std::to_string(n);
  }
  ClusterState state(s);
  const ClusterState other(small);
  Engine engine;
  const auto same = [&](const ClusterState& here, const char* reading) {
    Request request;
    request.policy = "tiresias";
    request.params = {{"reading", reading}};
    const Plan plan = engine.decide(here, request);
    EXPECT_TRUE(same_plan(plan, Engine().decide(here, request))) << reading;
    return plan.totals.starts;
  };
  EXPECT_EQ(same(state, "paper"), 1);
  EXPECT_EQ(same(state, "code"), 2);
  EXPECT_EQ(same(other, "code"), 1);
  EXPECT_EQ(same(other, "paper"), 1);
  EXPECT_EQ(same(state, "paper"), 1);
  // Without n3 only r0 could hold 16 GPUs.
  state.apply(delta::RemoveNode{"n3"});
  EXPECT_EQ(same(state, "paper"), 1);
  state.apply(std::vector<Delta>{delta::RemoveJob{"h0", ""}, delta::RemoveJob{"h1", ""}, delta::RemoveNode{"n1"}});
  EXPECT_EQ(same(state, "paper"), 1);
}

TEST(Tiresias, ModelsAreDistinguishedByTheirNames) {
  core::Consolidation rule;
  rule.scattered = {"resnet50", "bert"};
  const auto applies_to = [&](const char* model) {
    Job job;
    job.profile.model = model;
    return rule.applies_to(job);
  };
  for (const char* model : {"resnet50", "ResNet-50", "ResNet-50 (batch size 16)", "BERT", "bert_large", "BERT-24", "resnet50v2"})
    EXPECT_FALSE(applies_to(model)) << model;
  for (const char* model : {"", "resnet", "resnet-501", "resnet-5", "vgg16", "albert", "roBERTa", "--"})
    EXPECT_TRUE(applies_to(model)) << model;
  EXPECT_EQ(core::Consolidation::plain("ResNet-50 (v1)"), "resnet50v1");
}

// At its turn the pair of J3 takes the rack's only free GPUs, and what is left for the three is in no rack: no domain is to blame.
TEST(Tiresias, GroupsThatFindNoPlaceTogetherBlameNoRack) {
  const std::string name = test::source_dir() + "/data/regressions/groups_not_together.json";
  const ClusterState state(io::parse_snapshot(io::read_file(name), name));
  Request request;
  request.policy = "tiresias";
  for (const Backend backend : kBackends) {
    request.backend = backend;
    const Plan plan = Engine().decide(state, request);
    const std::int32_t job = state.find_job("J3");
    const Reason& reason = plan.decisions.at(static_cast<std::size_t>(state.job_rank(job))).reason;

    EXPECT_EQ(render_reason(state, reason, job),
              "needs 5 GPUs; 6 free after this plan, but its groups found no place together; 6 more have failed, on nodes n1, n3, n4");
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  }
}

TEST(Tiresias, TheListOfModelsIsAParameter) {
  EXPECT_EQ(becomes({3, 3, 0, 0}, 4, "vgg16", {{"scattered_models", "VGG-16"}}), "n0:3 n1:1 ");
  EXPECT_NE(becomes({3, 3, 0, 0}, 4, "bert", {{"scattered_models", "none"}}), "n0:3 n1:1 ");
}

TEST(Tiresias, BadParametersAreRefusedWithTheirValues) {
  const auto refusal = [](const char* name, const char* value) {
    Request request;
    request.policy = "tiresias";
    request.params = {{name, value}};
    try {
      Engine().decide(ClusterState(test::two_racks()), request);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("reading", "both"), "policy 'tiresias': reading='both': expected one of paper, code");
  for (const char* bad : {"", "a,", ",a", "-", "a,--,b"}) {
    EXPECT_EQ(refusal("scattered_models", bad), std::string("policy 'tiresias': scattered_models='") + bad +
                                                    "': expected none, or words separated by commas, each with a letter (a-z) or a digit");
  }
  EXPECT_EQ(refusal("thresholds_gpu_s", "2,1").substr(0, 45), "policy 'tiresias': thresholds_gpu_s='2,1': ex");
}

}  // namespace berth::tiresias_test
