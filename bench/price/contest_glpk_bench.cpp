#include <benchmark/benchmark.h>

#include "bench/price/contest.hpp"
#include "bench/price/glpk.hpp"
#include "host/core/choice/shape_program.hpp"
#include "host/core/state/state_impl.hpp"

/// GLPK on the programs of the contest, once each: the integer program and its relaxation.
namespace berth::bench {
namespace {

using Solve = GlpkAnswer (*)(const core::ShapeProgram&, double);

void solve(benchmark::State& bench, const char* policy, Solve by) {
  const ContestInstance& instance = contest_instance(bench);
  const core::ShapeProgram program = core::shape_program(instance.state.impl(), policy, {});
  GlpkAnswer answer;
  for (auto _ : bench) {
    answer = by(program, most_solver_s());
    bench.SetIterationTime(answer.seconds);
  }
  // Whether it is the optimum; else the best so far, 0: none.
  bench.counters["ended"] = answer.ended ? 1 : 0;
  bench.counters["value"] = answer.value;
  bench.counters["gpus_used"] = static_cast<double>(answer.gpus);
  if (program.objective == instance.by.bound.objective) {
    const auto bound = static_cast<double>(instance.by.bound.bound);
    bench.counters["bound"] = bound;
    bench.counters["gap_percent"] = 100 * (1 - answer.value / bound);
  }
  bench.SetLabel("snapshot " + instance.hash);
}

[[maybe_unused]] const bool registered = [] {
  const auto once = [](const char* name, const char* policy, Solve by, const ContestSize& size) {
    benchmark::RegisterBenchmark(name, solve, policy, by)
        ->ArgNames({"gpus", "jobs", "types"})
        ->Args({size.gpus, size.jobs, size.types})
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(1)
        ->Unit(benchmark::kMillisecond);
  };
  for (const ContestSize& size : contest_sizes()) {
    once("contest/glpk_exact", "price", solved_by_glpk, size);
    once("contest/glpk_relaxed", "price", relaxed_by_glpk, size);
  }
  once("sia_program/glpk_exact", "sia", solved_by_glpk, sia_size());
  once("sia_program/glpk_relaxed", "sia", relaxed_by_glpk, sia_size());
  return true;
}();

}  // namespace
}  // namespace berth::bench
