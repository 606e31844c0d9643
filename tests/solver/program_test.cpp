// Output of `berth bound --lp`, read and solved by GLPK.

#include <glpk.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/choice/shape_program.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/io/formats/write_lp.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/params.hpp"
#include "tests/support/random_choice.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::test::program_test {
namespace {

using Program = std::unique_ptr<glp_prob, decltype(&glp_delete_prob)>;

/// The policies that choose among the options of an integer program.
std::vector<std::string> with_program() {
  std::vector<std::string> names;
  for (const std::string& name : shape_policy_names()) {
    const core::PolicyEntry& entry = core::find_policy(name);
    if (entry.shapes == nullptr || !entry.shapes({})->by_shares()) names.push_back(name);
  }
  return names;
}

Program read_back(const core::ShapeProgram& p) {
  std::string text;
  io::write_lp(p, [&](std::string_view piece) { text += piece; });
  const TempFile file(text, ".lp");
  Program program(glp_create_prob(), glp_delete_prob);
  glp_term_out(GLP_OFF);
  EXPECT_EQ(glp_read_lp(program.get(), nullptr, file.path().c_str()), 0) << text;
  return program;
}

// Sum of the exact values of the options that GLPK takes; the columns are in the order of the options.
std::int64_t solved(const core::ShapeProgram& p) {
  const Program program = read_back(p);
  glp_iocp options;
  glp_init_iocp(&options);
  options.presolve = GLP_ON;
  EXPECT_EQ(glp_intopt(program.get(), &options), 0);
  EXPECT_EQ(glp_mip_status(program.get()), GLP_OPT);
  std::int64_t value = 0;
  for (std::size_t k = 0; k < p.value.size(); ++k) {
    if (glp_mip_col_val(program.get(), static_cast<int>(k) + 1) > 0.5) value += p.value[k];
  }
  return value;
}

core::ShapeProgram program_of(const ChoiceProblem& problem) {
  core::ShapeProgram p;
  p.capacity = problem.capacity;
  p.option_begin = problem.option_begin;
  p.type = problem.type;
  p.gpus = problem.gpus;
  p.value = problem.value;
  p.type_id.resize(problem.capacity.size());
  p.job_id.resize(problem.option_begin.size() - 1);
  p.shape_id.resize(problem.value.size());
  return p;
}

ClusterState small_cluster(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 3;
  o.jobs = 12;
  o.seed = seed;
  o.elastic = true;
  if (seed % 2 == 0) o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 2}};
  return ClusterState(sim::generate(o));
}

}  // namespace

TEST(Program, IsReadBackToTheLastUnit) {
  ChoiceProblem problem({kernel::kMaxPriceCapacity, 7},
                        {{{0, kernel::kMaxPriceGpus, kernel::kMaxPriceValue}, {1, 3, kernel::kMaxPriceValue - 1}},
                         {{0, 1, -kernel::kMaxPriceValue}, {1, 1, 0}, {0, kernel::kMaxPriceGpus - 1, 1'000'000'000'001}}});

  const Program program = read_back(program_of(problem));

  glp_prob* lp = program.get();
  ASSERT_EQ(glp_get_num_cols(lp), 5);
  ASSERT_EQ(glp_get_num_rows(lp), 4);
  EXPECT_EQ(glp_get_obj_dir(lp), GLP_MAX);
  std::vector<std::int64_t> value, gpus;
  for (int c = 1; c <= 5; ++c) {
    int rows[5];
    double entries[5];
    ASSERT_EQ(glp_get_mat_col(lp, c, rows, entries), 2);
    const int of_type = rows[1] > 2 ? 1 : 2;
    EXPECT_EQ(entries[3 - of_type], 1);
    EXPECT_EQ(rows[of_type] - 3, problem.type[static_cast<std::size_t>(c - 1)]);
    EXPECT_EQ(glp_get_col_kind(lp, c), GLP_BV);
    value.push_back(static_cast<std::int64_t>(glp_get_obj_coef(lp, c)));
    gpus.push_back(static_cast<std::int64_t>(entries[of_type]));
  }
  EXPECT_EQ(value, problem.value);
  EXPECT_EQ(gpus, std::vector<std::int64_t>(problem.gpus.begin(), problem.gpus.end()));
  EXPECT_EQ(glp_get_row_ub(lp, 2), 1);
  EXPECT_EQ(glp_get_row_ub(lp, 3), kernel::kMaxPriceCapacity);
}

TEST(Program, HasTheOptimumThatEnumerationFinds) {
  for (const ChoiceKind kind : kChoiceKinds) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RandomChoiceSpec spec;
      spec.jobs = 3;
      spec.kind = kind;
      spec.max_value = 1000;
      const ChoiceProblem problem = random_choice(seed, spec);
      EXPECT_EQ(solved(program_of(problem)), best_by_enumeration(problem)) << to_string(kind) << ", seed " << seed;
    }
  }
}

// To GLPK, choices within 1e-7 of their value are equal.
TEST(Program, IsBetweenThePlanAndTheBoundOfEveryPolicyThatHasOne) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const ClusterState state = small_cluster(seed);
    for (const std::string& policy : with_program()) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      Request request;
      request.policy = policy;
      request.params = short_search(policy);
      const Plan plan = Engine().decide(state, request);
      const core::ShapeProgram program = core::shape_program(state.impl(), policy, request.params);
      const std::int64_t optimum = solved(program);
      EXPECT_EQ(program.objective, plan.bound.objective);
      EXPECT_LE(optimum, plan.bound.bound);
      EXPECT_GE(optimum, plan.bound.value - plan.bound.value / 10'000'000);
      compared += plan.bound.value > 0 ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(compared, 290);
}

TEST(Program, OfNothingIsReadToo) {
  core::ShapeProgram p = program_of(ChoiceProblem({}, {}));

  EXPECT_EQ(solved(p), 0);
}

}  // namespace berth::test::program_test
