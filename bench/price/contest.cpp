#include "bench/price/contest.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/support/answer.hpp"
#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/sim/generate/generate.hpp"

namespace berth::bench {
namespace {

std::unique_ptr<ContestInstance> make_instance(std::int64_t gpus, std::int64_t jobs, std::int64_t types) {
  sim::GenerateOptions o;
  o.nodes = static_cast<std::int32_t>(gpus / kGpusPerNode);
  o.gpus_per_node = kGpusPerNode;
  o.jobs = static_cast<std::int32_t>(jobs);
  o.elastic = true;
  o.seed = kSeed;
  if (types == 3) o.gpu_types = {{"V100-32GB", 2}, {"A100-80GB", 1}, {"T4-16GB", 1}};
  const Snapshot snapshot = sim::generate(o);
  core::TableHash hash;
  hash.add(io::to_json(snapshot));
  ContestInstance made{gpus, jobs, types, fmt::format("{:016x}", hash.value()), ClusterState(snapshot), {}};
  Request request;
  request.policy = "price";
  made.by = Engine().decide(made.state, request);
  require_valid(made.state, made.by);
  return std::make_unique<ContestInstance>(std::move(made));
}

}  // namespace

ContestInstance& contest_instance(const benchmark::State& bench) {
  static std::unique_ptr<ContestInstance> last;
  const std::int64_t gpus = bench.range(0), jobs = bench.range(1), types = bench.range(2);
  if (!last || last->gpus != gpus || last->jobs != jobs || last->types != types) last = make_instance(gpus, jobs, types);
  return *last;
}

void report_contender(benchmark::State& bench, const ContestInstance& instance, std::int64_t value, std::int64_t gpus_used) {
  const Bound& bound = instance.by.bound;
  require(value <= bound.bound, "the value of a contender is above the bound");
  bench.counters["value"] = static_cast<double>(value);
  bench.counters["bound"] = static_cast<double>(bound.bound);
  bench.counters["gap_percent"] = 100 * (1 - static_cast<double>(value) / static_cast<double>(bound.bound));
  bench.counters["gpus_used"] = static_cast<double>(gpus_used);
  bench.SetLabel("snapshot " + instance.hash);
}

}  // namespace berth::bench
