#include "bench/deadlines/lease_program.hpp"

#include <glpk.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "berth/kernel/base/to_index.hpp"

namespace berth::bench {
namespace {

struct DeleteProgram {
  void operator()(glp_prob* program) const { glp_delete_prob(program); }
};
using LeaseProblem = std::unique_ptr<glp_prob, DeleteProgram>;

// Rows: a job's leases are those needed, the GPUs of each lease, and for each option of a job but the last: leases from its end on only
// with a later option. Columns: X of each job and lease, then S of each job and option. GLPK counts from 1.
LeaseProblem problem_of(const policy::LeaseQuestion& q, bool late) {
  LeaseProblem problem(glp_create_prob());
  glp_prob* lp = problem.get();
  glp_set_obj_dir(lp, GLP_MAX);
  const int jobs = static_cast<int>(q.jobs.size()), leases = static_cast<int>(q.free.size());
  glp_add_rows(lp, jobs + leases);
  for (int j = 0; j < jobs; ++j) glp_set_row_bnds(lp, 1 + j, GLP_FX, 0, 0);
  for (int t = 0; t < leases; ++t) glp_set_row_bnds(lp, 1 + jobs + t, GLP_UP, 0, static_cast<double>(q.free[to_index(t)]));
  std::vector<int> option_row;  // of the first option of each job
  for (const policy::LeaseJob& job : q.jobs) {
    option_row.push_back(glp_get_num_rows(lp) + 1);
    for (std::size_t v = 0; v + 1 < job.options.size(); ++v) glp_set_row_bnds(lp, glp_add_rows(lp, 1), GLP_UP, 0, 0);
  }
  const double most = static_cast<double>(std::max<std::int64_t>(1, q.free.empty() ? 1 : *std::max_element(q.free.begin(), q.free.end())));
  std::vector<int> rows;
  std::vector<double> entries;
  const auto begin = [&] {
    rows.assign(1, 0);
    entries.assign(1, 0);
  };
  const auto add = [&](int row, double entry) {
    rows.push_back(row);
    entries.push_back(entry);
  };
  const auto set = [&](int column) { glp_set_mat_col(lp, column, static_cast<int>(rows.size()) - 1, rows.data(), entries.data()); };
  for (int j = 0; j < jobs; ++j) {
    const policy::LeaseJob& job = q.jobs[to_index(j)];
    for (std::int64_t t = 0; t < job.options.back().available; ++t) {
      const int column = glp_add_cols(lp, 1);
      glp_set_col_kind(lp, column, GLP_BV);
      const double gpus = static_cast<double>(job.gpus);
      // Each of the two sums to less than half of the least value.
      double coefficient = t == 0 ? (q.spares_first ? -gpus : gpus) / (2 * most + 1) : 0;
      if (late) coefficient -= gpus * static_cast<double>(leases - t) / (2 * most * leases * leases + 1);
      glp_set_obj_coef(lp, column, coefficient);
      begin();
      add(1 + j, 1);
      add(1 + jobs + static_cast<int>(t), gpus);
      for (std::size_t v = 0; v + 1 < job.options.size() && job.options[v].available <= t; ++v)
        add(option_row[to_index(j)] + static_cast<int>(v), 1);
      set(column);
    }
  }
  for (int j = 0; j < jobs; ++j) {
    const policy::LeaseJob& job = q.jobs[to_index(j)];
    // At most one option of a job, and exactly one of an accepted one.
    const int one = glp_add_rows(lp, 1);
    glp_set_row_bnds(lp, one, job.accepted ? GLP_FX : GLP_UP, 1, 1);
    for (std::size_t v = 0; v < job.options.size(); ++v) {
      const int column = glp_add_cols(lp, 1);
      glp_set_col_kind(lp, column, GLP_BV);
      glp_set_obj_coef(lp, column, static_cast<double>(job.options[v].value));
      begin();
      add(1 + j, -static_cast<double>(job.needed));
      add(one, 1);
      for (std::size_t w = 0; w < v; ++w) add(option_row[to_index(j)] + static_cast<int>(w), -static_cast<double>(job.needed));
      set(column);
    }
  }
  return problem;
}

}  // namespace

bool solve_leases(const policy::LeaseQuestion& q, bool late, double most_s, const std::string& lp, policy::LeaseAnswer& answer,
                  LeaseProgramFigures& figures) {
  glp_term_out(GLP_OFF);
  const LeaseProblem problem = problem_of(q, late);
  const int columns = glp_get_num_cols(problem.get());
  if (columns > figures.most_columns) {
    figures.most_columns = columns;
    if (!lp.empty()) glp_write_lp(problem.get(), nullptr, lp.c_str());
  }
  const auto begin = std::chrono::steady_clock::now();
  glp_iocp options;
  glp_init_iocp(&options);
  options.presolve = GLP_ON;
  options.tm_lim = static_cast<int>(1'000 * most_s);
  const int code = glp_intopt(problem.get(), &options);
  figures.longest_s = std::max(figures.longest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  if (code != 0 || glp_mip_status(problem.get()) != GLP_OPT) {
    ++figures.out_of_time;
    return false;
  }
  ++figures.solved;
  answer.assign(q.jobs.size(), {});
  int column = 0;
  for (std::size_t j = 0; j < q.jobs.size(); ++j) {
    for (std::int64_t t = 0; t < q.jobs[j].options.back().available; ++t) {
      if (glp_mip_col_val(problem.get(), ++column) > 0.5) answer[j].push_back(static_cast<std::int32_t>(t));
    }
  }
  return true;
}

}  // namespace berth::bench
