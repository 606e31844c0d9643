#include "tests/solver/solved_choice.hpp"

#include <glpk.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace berth::test {
namespace {

struct Delete {
  void operator()(glp_prob* program) const { glp_delete_prob(program); }
};
using Program = std::unique_ptr<glp_prob, Delete>;

// A row for each job and each type; a column for each option. GLPK counts from 1.
Program program_of(const ChoiceProblem& p, int kind) {
  Program program(glp_create_prob());
  glp_prob* lp = program.get();
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_rows(lp, p.n_jobs() + p.n_types());
  for (int j = 0; j < p.n_jobs(); ++j) glp_set_row_bnds(lp, 1 + j, GLP_UP, 0, 1);
  for (int t = 0; t < p.n_types(); ++t) {
    glp_set_row_bnds(lp, 1 + p.n_jobs() + t, GLP_UP, 0, static_cast<double>(p.capacity[static_cast<std::size_t>(t)]));
  }
  glp_add_cols(lp, static_cast<int>(p.value.size()));
  int job = 0;
  for (std::size_t row = 0; row < p.value.size(); ++row) {
    while (p.option_begin[static_cast<std::size_t>(job) + 1] <= static_cast<int>(row)) ++job;
    const int column = static_cast<int>(row) + 1;
    glp_set_obj_coef(lp, column, static_cast<double>(p.value[row]));
    glp_set_col_kind(lp, column, kind);
    glp_set_col_bnds(lp, column, GLP_DB, 0, 1);
    const std::array<int, 3> rows{0, 1 + job, 1 + p.n_jobs() + p.type[row]};
    const std::array<double, 3> entries{0, 1, static_cast<double>(p.gpus[row])};
    glp_set_mat_col(lp, column, 2, rows.data(), entries.data());
  }
  return program;
}

void require(int code, int status, const char* what) {
  if (code == 0 && status == GLP_OPT) return;
  throw std::runtime_error(std::string(what) + " of GLPK: code " + std::to_string(code) + ", status " + std::to_string(status));
}

}  // namespace

std::int64_t best_choice(const ChoiceProblem& p) {
  if (p.value.empty()) return 0;
  const Program program = program_of(p, GLP_IV);
  glp_iocp options;
  glp_init_iocp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.presolve = GLP_ON;
  const int code = glp_intopt(program.get(), &options);
  require(code, glp_mip_status(program.get()), "glp_intopt");
  std::int64_t value = 0;
  for (std::size_t row = 0; row < p.value.size(); ++row) {
    if (glp_mip_col_val(program.get(), static_cast<int>(row) + 1) > 0.5) value += p.value[row];
  }
  return value;
}

double best_fractional_choice(const ChoiceProblem& p) {
  if (p.value.empty()) return 0;
  const Program program = program_of(p, GLP_CV);
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  const int code = glp_simplex(program.get(), &options);
  require(code, glp_get_status(program.get()), "glp_simplex");
  return glp_get_obj_val(program.get());
}

}  // namespace berth::test
