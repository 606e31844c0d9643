#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::cli {
namespace {

constexpr TimeUs kMs = kSecond / 1000;
constexpr int kRepetitions = 3;
constexpr std::int64_t kAlikeWork = 3;  // generations of the plans that must be equal, including the initial one

ClusterState search_instance(const SearchRequest& wanted, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.gpus_per_node = 4;
  o.nodes = wanted.gpus / o.gpus_per_node;
  o.jobs = wanted.jobs;
  o.workload = sim::Workload::kLlm;
  o.fabric = sim::Fabric::kNvl72;
  o.elastic = true;
  o.seed = seed;
  return ClusterState(sim::generate(o));
}

// Both by the default objective of ones-plus, so that their values compare.
Request search_request(const BenchOrder& order, const char* policy, const BenchSide& side) {
  Request request;
  request.policy = policy;
  request.params = {{"objective", "flow_time"}, {"terms", "migration,restart,span"}};
  request.backend = side.backend;
  request.device = side.device;
  request.threads = side.threads;
  request.seed = order.seed;
  request.progress = [&order](std::int64_t, std::int64_t) { return order.go_on(); };
  return request;
}

void measure_price(const BenchOrder& order, const ClusterState& state, SearchSize& size) {
  Engine engine;
  const Request request = search_request(order, "price", order.sides.front());
  Plan plan = engine.decide(state, request);
  PolicyState nothing;
  const report::ValueOverTime found = report::value_over_time(engine, state, nothing, request, plan);
  size.bound = found.bound;
  size.price_value = found.value;
  size.price_placed_s = plan.timing.compile_s + plan.timing.order_s + plan.timing.place_s;
  size.price_s = found.seconds;
}

// When a GPU fails, the CPU takes over, and its time is not the GPU's.
bool left_out(const BenchOrder& order, const BenchSide& side, const SearchRequest& wanted, const Plan& plan) {
  if (plan.backend_note.empty()) return false;
  order.left_out(fmt::format("{} is left out of a search on {} GPUs: {}", side.name, wanted.gpus, plan.backend_note));
  return true;
}

}  // namespace

std::vector<SearchRequest> search_requests(bool quick) {
  if (quick) return {{64, 40, {2 * kMs}}, {256, 160, {2 * kMs, 10 * kMs}}};
  const TimeUs short_one = 100 * kMs;
  return {
      {256, 160, {short_one}}, {1'024, 640, {short_one}}, {4'096, 2'560, {short_one}}, {16'384, 8'192, {short_one, kSecond, 3 * kSecond}}};
}

bool score_at(const SearchRun& run, double seconds, std::int64_t& score) {
  bool any = false;
  for (const report::ValueStep& step : run.found.steps) {
    if (step.seconds > seconds) break;
    score = step.score;
    any = true;
  }
  return any;
}

SearchSize measure_search(const BenchOrder& order, const SearchRequest& wanted) {
  SearchSize size;
  size.gpus = wanted.gpus;
  size.jobs = wanted.jobs;
  const ClusterState state = search_instance(wanted, order.seed);
  measure_price(order, state, size);
  Plan alike;
  for (const BenchSide& side : order.sides) {
    Engine engine;
    Request request = search_request(order, "ones-plus", side);
    Plan plan;
    // Allocates memory and GPU kernels before anything is timed, and checks that the sides give equal results.
    request.max_iterations = kAlikeWork;
    plan = engine.decide(state, request);
    if (!order.go_on()) return size;
    if (left_out(order, side, wanted, plan)) continue;
    if (alike.policy.empty()) alike = plan;
    if (!same_plan(alike, plan)) throw InternalError("the plans of " + order.sides.front().name + " and " + side.name + " differ");
    request.max_iterations = 0;
    for (const TimeUs budget : wanted.budgets) {
      request.budget_us = budget;
      std::vector<report::ValueOverTime> repetitions;
      for (int repetition = 0; repetition < (order.quick ? 1 : kRepetitions); ++repetition) {
        PolicyState nothing;
        repetitions.push_back(report::value_over_time(engine, state, nothing, request, plan));
        if (!order.go_on()) return size;
        if (left_out(order, side, wanted, plan)) repetitions.pop_back();
      }
      if (repetitions.empty()) continue;
      std::sort(repetitions.begin(), repetitions.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
      size.runs.push_back({side.name, budget, std::move(repetitions[repetitions.size() / 2])});
    }
  }
  return size;
}

}  // namespace berth::cli
