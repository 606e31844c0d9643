#include "bench/plan_search/solved.hpp"

#include <cstddef>
#include <utility>

#include "berth/kernel/base/to_index.hpp"

#ifdef BERTH_BENCH_GLPK
#include "bench/price/glpk.hpp"
#endif

namespace berth::bench {

#ifdef BERTH_BENCH_GLPK

bool has_solver() { return true; }

SolvedChoice solve_choice(const StateImpl& state, const Plan& by, double most_s) {
  GlpkAnswer answer = solved_by_glpk(core::shape_program(state, by.policy, by.params), most_s);
  return {answer.ended, answer.seconds, static_cast<std::int64_t>(answer.value), std::move(answer.options)};
}

#else

bool has_solver() { return false; }

SolvedChoice solve_choice(const StateImpl&, const Plan&, double) { return {}; }

#endif

void AsSolved::choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) {
  std::size_t next = 0;
  for (std::int32_t job = 0; job < question.problem.n_jobs; ++job) {
    const std::int32_t first = question.problem.option_begin[job], last = question.problem.option_begin[job + 1];
    if (next == solved_.options.size() || solved_.options[next] >= last) continue;
    chosen[to_index(job)] = solved_.options[next++] - first;
  }
}

}  // namespace berth::bench
