#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/price/answer.hpp"
#include "bench/price/contest.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "host/core/choice/shape_program.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/plan_value.hpp"

/// Policies on the same clusters, each with its defaults: the objective value by `goodput`, places included, the upper
/// bound, and the time of the choice. Some of the policies optimise something else than this sum.
namespace berth::bench {
namespace {

struct ContestPolicy {
  const char* name;
  const char* policy;
  core::Params params = {};
  std::int64_t most_gpus = INT64_MAX;  // above this it takes longer than half a minute
};

const ContestPolicy kContenders[] = {{"price", "price"},
                                     {"pop", "pop"},
                                     {"pop_k16", "pop", {{"k", "16"}}},
                                     {"optimus", "optimus"},
                                     {"afs", "afs"},
                                     {"gavel-las", "gavel-las"},
                                     {"gavel-ftf", "gavel-ftf"},
                                     {"gavel-makespan", "gavel-makespan"},
                                     {"sia", "sia"},
                                     {"elastic-pollux", "elastic-pollux", {}, 512}};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Decisions from scratch by a warm engine; the time is that of the first choice, without placing and choosing again. A
/// policy that does not choose by prices still searches for the prices of its bound. That search is cut to one
/// evaluation, and `with_bound_ms` includes all of it.
void contest(benchmark::State& bench, const ContestPolicy& one) {
  const ContestInstance& instance = contest_instance(bench);
  const bool slow = one.most_gpus != INT64_MAX;
  Engine engine;
  Request request;
  request.policy = one.policy;
  request.params = one.params;
  Plan plan;
  const auto choice_s = [&] {
    PolicyState nothing_kept;
    engine.decide(instance.state, nothing_kept, request, plan);
    return plan.timing.order_s;
  };
  if (!slow) choice_s();
  const double with_bound = choice_s();
  require_valid(instance.state, plan);
  const std::int64_t value = core::objective_value_by(instance.state.impl(), plan, instance.by);
  const std::int64_t gpus_used = plan.totals.gpus_used, evaluations = plan.iterations;
  if (core::find_policy(one.policy).shapes != nullptr) request.max_iterations = 1;
  for (auto _ : bench) {
    std::vector<double> seconds{choice_s()};
    for (int i = 0; i < 4 && !slow; ++i) seconds.push_back(choice_s());
    bench.SetIterationTime(median(std::move(seconds)));
  }
  report_contender(bench, instance, value, gpus_used);
  bench.counters["with_bound_ms"] = 1e3 * with_bound;
  bench.counters["evaluations"] = static_cast<double>(evaluations);
}

/// The choice of `price` alone, before placement, for comparison with a solver's optimum.
void contest_choice(benchmark::State& bench) {
  const ContestInstance& instance = contest_instance(bench);
  const core::ShapeProgram program = core::shape_program(instance.state.impl(), "price", {});
  const std::unique_ptr<core::PlacementBackend> cpu = core::make_cpu_backend(1);
  const ChoiceAnswer answer = choose(*cpu, program.view(), {}, 100);
  require(answer.bound == instance.by.bound.bound, "the program is not that of the plan");
  for (auto _ : bench) {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) {
      Lap lap;
      benchmark::DoNotOptimize(choose(*cpu, program.view(), {}, 100));
      seconds.push_back(lap.seconds());
    }
    bench.SetIterationTime(median(std::move(seconds)));
  }
  std::int64_t gpus = 0;
  for (const std::int64_t used : answer.used) gpus += used;
  report_contender(bench, instance, answer.value, gpus);
  bench.counters["evaluations"] = answer.evaluations;
  bench.counters["options"] = static_cast<double>(program.value.size());
}

/// Sia's own program by prices: its objective, on its shapes.
void sia_program(benchmark::State& bench) {
  const ContestInstance& instance = contest_instance(bench);
  const core::ShapeProgram program = core::shape_program(instance.state.impl(), "sia", {});
  const std::unique_ptr<core::PlacementBackend> cpu = core::make_cpu_backend(1);
  const ChoiceAnswer answer = choose(*cpu, program.view(), {}, 100);
  for (auto _ : bench) {
    Lap lap;
    benchmark::DoNotOptimize(choose(*cpu, program.view(), {}, 100));
    bench.SetIterationTime(lap.seconds());
  }
  bench.counters["value"] = static_cast<double>(answer.value);
  bench.counters["bound"] = static_cast<double>(answer.bound);
  bench.counters["gap_percent"] = 100 * (1 - static_cast<double>(answer.value) / static_cast<double>(answer.bound));
  bench.counters["evaluations"] = answer.evaluations;
  bench.counters["options"] = static_cast<double>(program.value.size());
  bench.SetLabel("snapshot " + instance.hash);
}

[[maybe_unused]] const bool registered = [] {
  const auto once = [](benchmark::internal::Benchmark* b, const ContestSize& size) {
    b->ArgNames({"gpus", "jobs", "types"})
        ->Args({size.gpus, size.jobs, size.types})
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  };
  for (const ContestSize& size : contest_sizes()) {
    for (const ContestPolicy& one : kContenders) {
      if (size.gpus > one.most_gpus) continue;
      auto* const made = benchmark::RegisterBenchmark((std::string("contest/") + one.name).c_str(), contest, one);
      once(made, size);
      if (one.most_gpus != INT64_MAX) made->Repetitions(1);
    }
    once(benchmark::RegisterBenchmark("contest/price_choice", contest_choice), size);
  }
  once(benchmark::RegisterBenchmark("sia_program/price", sia_program), sia_size());
  return true;
}();

}  // namespace
}  // namespace berth::bench
