#include "bench/price/glpk.hpp"

#include <fmt/format.h>
#include <glpk.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "host/io/formats/write_lp.hpp"

namespace berth::bench {
namespace {

using Program = std::unique_ptr<glp_prob, decltype(&glp_delete_prob)>;

Program read(const core::ShapeProgram& p) {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("berth_contest_{}.lp", ::getpid())).string();
  io::write_file(path, [&](const io::WritePiece& write) { io::write_lp(p, write); });
  Program program(glp_create_prob(), glp_delete_prob);
  glp_term_out(GLP_OFF);
  const int code = glp_read_lp(program.get(), nullptr, path.c_str());
  std::remove(path.c_str());
  require(code == 0 && glp_get_num_cols(program.get()) == static_cast<int>(p.value.size()), "GLPK reads another program");
  return program;
}

int milliseconds(double s) { return static_cast<int>(1e3 * s); }

GlpkAnswer relax(glp_prob* lp, double most_s) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.tm_lim = milliseconds(most_s);
  options.presolve = GLP_ON;
  GlpkAnswer answer;
  Lap lap;
  const int code = glp_simplex(lp, &options);
  answer.seconds = lap.seconds();
  answer.ended = code == 0 && glp_get_status(lp) == GLP_OPT;
  if (answer.ended) answer.value = glp_get_obj_val(lp);
  return answer;
}

}  // namespace

GlpkAnswer relaxed_by_glpk(const core::ShapeProgram& p, double most_s) { return relax(read(p).get(), most_s); }

GlpkAnswer solved_by_glpk(const core::ShapeProgram& p, double most_s) {
  const Program program = read(p);
  glp_prob* const lp = program.get();
  // The search obeys its time limit, its first relaxation does not: so that one is tried separately.
  GlpkAnswer answer = relax(lp, most_s);
  answer.value = 0;
  if (!answer.ended) return answer;
  glp_iocp options;
  glp_init_iocp(&options);
  options.tm_lim = milliseconds(most_s);
  options.presolve = GLP_ON;
  Lap lap;
  const int code = glp_intopt(lp, &options);
  answer.seconds = lap.seconds();
  answer.ended = code == 0 && glp_mip_status(lp) == GLP_OPT;
  if (!answer.ended && glp_mip_status(lp) != GLP_FEAS) return answer;
  std::int64_t value = 0;
  for (std::size_t k = 0; k < p.value.size(); ++k) {
    if (glp_mip_col_val(lp, static_cast<int>(k) + 1) < 0.5) continue;
    value += p.value[k];
    answer.gpus += p.gpus[k];
    answer.options.push_back(static_cast<std::int32_t>(k));
  }
  answer.value = static_cast<double>(value);
  return answer;
}

}  // namespace berth::bench
