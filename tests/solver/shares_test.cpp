#include "host/core/choice/share_search.hpp"

#include <glpk.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/support/random.hpp"

/// The program of docs/shares.md solved by GLPK. Jobs have not waited: otherwise it is no linear program.
namespace berth::test::shares_test {
namespace {

double part(Random& random) { return random.within(1, 1000) / 1000.0; }

core::ShareProblem random_problem(std::uint64_t seed, std::int32_t jobs, std::int32_t types) {
  Random random(seed);
  core::ShareProblem p;
  p.n_jobs = jobs;
  p.n_types = types;
  for (std::int32_t t = 0; t < types; ++t) p.capacity.push_back(random.within(1, std::max(1, jobs / 2)));
  for (std::int32_t j = 0; j < jobs; ++j) {
    const double gpus = random.of<std::int32_t>({1, 1, 1, 2, 4, 8}), speed = part(random);
    const std::int32_t surely = random.below(types);
    for (std::int32_t t = 0; t < types; ++t) {
      p.gpus.push_back(gpus);
      p.speed.push_back(t == surely || random.percent(80) ? speed * part(random) * (t + 1) : 0);
    }
    p.need.push_back(part(random));
    p.waited.push_back(0);
  }
  return p;
}

// A row for each job's level, one for its time, one for each type; the last column is the level. GLPK counts from 1.
double best_level(const core::ShareProblem& p) {
  const std::unique_ptr<glp_prob, decltype(&glp_delete_prob)> program(glp_create_prob(), glp_delete_prob);
  glp_prob* lp = program.get();
  const int jobs = p.n_jobs, types = p.n_types, level = jobs * types + 1;
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_rows(lp, 2 * jobs + types);
  glp_add_cols(lp, level);
  glp_set_obj_coef(lp, level, 1);
  glp_set_col_bnds(lp, level, GLP_LO, 0, 0);
  std::vector<int> row{0}, column{0};
  std::vector<double> entry{0};
  const auto add = [&](int r, int c, double value) {
    if (value == 0) return;
    row.push_back(r);
    column.push_back(c);
    entry.push_back(value);
  };
  for (int j = 0; j < jobs; ++j) {
    glp_set_row_bnds(lp, 1 + j, GLP_LO, 0, 0);
    glp_set_row_bnds(lp, 1 + jobs + j, GLP_UP, 0, 1);
    for (int t = 0; t < types; ++t) {
      const auto i = static_cast<std::size_t>(j * types + t);
      const int c = 1 + j * types + t;
      glp_set_col_bnds(lp, c, p.speed[i] > 0 ? GLP_LO : GLP_FX, 0, 0);
      add(1 + j, c, p.speed[i]);
      add(1 + jobs + j, c, 1);
      add(1 + 2 * jobs + t, c, p.gpus[i]);
    }
    add(1 + j, level, -p.need[static_cast<std::size_t>(j)]);
  }
  for (int t = 0; t < types; ++t) glp_set_row_bnds(lp, 1 + 2 * jobs + t, GLP_UP, 0, p.capacity[static_cast<std::size_t>(t)]);
  glp_load_matrix(lp, static_cast<int>(entry.size()) - 1, row.data(), column.data(), entry.data());
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  EXPECT_EQ(glp_simplex(lp, &options), 0);
  EXPECT_EQ(glp_get_status(lp), GLP_OPT);
  return glp_get_obj_val(lp);
}

// The GPUs that shares use, and the level that they reach.
void expect_sound(const core::ShareProblem& p, const core::Shares& s) {
  const auto types = static_cast<std::size_t>(p.n_types);
  std::vector<double> used(types, 0);
  for (std::size_t j = 0; j < p.need.size(); ++j) {
    double time = 0, speed = 0;
    for (std::size_t t = 0; t < types; ++t) {
      const std::size_t i = j * types + t;
      EXPECT_GE(s.share[i], 0);
      time += s.share[i];
      speed += s.share[i] * p.speed[i];
      used[t] += s.share[i] * p.gpus[i];
    }
    EXPECT_LE(time, 1 + 1e-9);
    EXPECT_GE(speed / (p.need[j] + p.waited[j] * speed), s.level * (1 - 1e-9));
  }
  for (std::size_t t = 0; t < types; ++t) EXPECT_LE(used[t], p.capacity[t] * (1 + 1e-9));
}

}  // namespace

TEST(Shares, AreTheBestOfTheProgram) {
  struct Size {
    std::int32_t jobs;
    std::uint64_t seeds;
  };
  for (const Size& size : {Size{2, 60}, Size{6, 60}, Size{30, 20}, Size{120, 4}}) {
    for (const std::int32_t types : {1, 2, 3, 6, 12}) {
      for (std::uint64_t seed = 0; seed < size.seeds; ++seed) {
        SCOPED_TRACE("jobs " + std::to_string(size.jobs) + ", types " + std::to_string(types) + ", seed " + std::to_string(seed));
        const core::ShareProblem p = random_problem(seed, size.jobs, types);
        const core::Shares s = core::ShareSearch().solve(p, 1e-5, 1'000);
        const double best = best_level(p);
        expect_sound(p, s);
        EXPECT_LE(s.bound, s.level * (1 + 1.0001e-5));
        EXPECT_LE(s.level, best * (1 + 1e-7));
        EXPECT_GE(s.bound, best * (1 - 1e-7));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// No linear program: only the bound shows how good they are.
TEST(Shares, CloseTheGapWhereJobsHaveWaited) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    core::ShareProblem p = random_problem(seed, 25, 3);
    Random random(seed + 1);
    for (double& one : p.waited) one = 3 * part(random);
    const core::Shares s = core::ShareSearch().solve(p, 1e-5, 1'000);
    expect_sound(p, s);
    EXPECT_LE(s.bound, s.level * (1 + 1.0001e-5));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace berth::test::shares_test
