#include "bench/plan_search/instance.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/support/answer.hpp"
#include "berth/io.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/core/choice/shape_problem_of.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::bench {

std::int64_t objective_value(SearchInstance& instance, const Plan& plan) {
  if (instance.gpus <= kCheckedMostGpus) require_valid(instance.state, plan);
  std::vector<std::pair<std::string, std::int64_t>> terms;
  const std::int64_t value = instance.valued.objective_value(instance.state.impl(), instance.judge.choice, plan, terms);
  require(value <= instance.by.bound.bound, "the value of a contender is above the bound");
  return value;
}

std::unique_ptr<SearchInstance> make_search_instance(const SearchCluster& cluster, const SearchKind& kind, std::int64_t gpus,
                                                     std::int64_t seed) {
  sim::GenerateOptions o;
  o.nodes = static_cast<std::int32_t>(gpus / cluster.gpus_per_node);
  o.gpus_per_node = cluster.gpus_per_node;
  o.jobs = static_cast<std::int32_t>(search_jobs(gpus));
  o.elastic = true;
  o.seed = static_cast<std::uint64_t>(seed);
  if (cluster.nvl72_llm) {
    o.fabric = sim::Fabric::kNvl72;
    o.workload = sim::Workload::kLlm;
  }
  const Snapshot snapshot = sim::generate(o);
  core::TableHash hash;
  hash.add(io::to_json(snapshot));
  auto made = std::make_unique<SearchInstance>(SearchInstance{
      gpus, fmt::format("{:016x}", hash.value()), ClusterState(snapshot), Engine(), Plan(), 0, {}, {}, RulePlanner(), std::nullopt});
  Request request;
  request.policy = "price";
  request.params = {{"objective", kind.objective}, {"terms", kind.terms}};
  made->by = made->engine.decide(made->state, request);
  made->by_s = made->by.timing.decide_s - made->by.timing.compile_s;
  require(made->by.bound.bound > 0, "no job could gain anything on this instance");
  made->judge.choose(request.policy, request.params);
  made->valued = core::shape_problem_of(made->state.impl(), made->judge);
  require(objective_value(*made, made->by) == made->by.bound.value, "the value of a plan is not what it says");
  made->rules.warm(made->state, made->by);
  return made;
}

}  // namespace berth::bench
