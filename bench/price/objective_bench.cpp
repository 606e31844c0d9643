#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "host/sim/generate/turnover.hpp"

/// Decisions of `price` by its default objective `flow_time` and by `goodput`, which was the default before, in turns.
/// After changes each decides on the state that its own plans made, so that neighbours are not the same question. On the same
/// state the plan by `flow_time` is applied to both, so that `goodput` has more to change. `ratio` is the median of the quotients
/// of neighbours.
namespace berth::bench {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Snapshot elastic_cluster(const ContestSize& size) {
  sim::GenerateOptions o;
  o.nodes = static_cast<std::int32_t>(size.gpus / kGpusPerNode);
  o.gpus_per_node = kGpusPerNode;
  o.jobs = static_cast<std::int32_t>(size.jobs);
  o.elastic = true;
  o.seed = kSeed;
  return sim::generate(o);
}

/// A scheduler that decides by one objective.
class Decider {
 public:
  Decider(const Snapshot& snapshot, const char* objective) : state_(snapshot), turnover_(snapshot, kSeed) {
    request_.policy = "price";
    request_.params = {{"objective", objective}};
  }

  void decide_from_nothing() {
    Engine engine;
    PolicyState nothing_kept;
    Lap lap;
    engine.decide(state_, nothing_kept, request_, plan_);
    seconds.push_back(lap.seconds());
    if (seconds.size() == 1) require_valid(state_, plan_);
  }

  void decide_after(const std::vector<Delta>& deltas) {
    Lap lap;
    state_.apply(deltas);
    engine_.decide(state_, kept_, request_, plan_);
    seconds.push_back(lap.seconds());
    if (seconds.size() == 1) require_valid(state_, plan_);
  }

  void apply(const Plan& plan) { commit(state_, plan); }

  std::vector<Delta> changes() { return turnover_.next(state_); }
  const Plan& plan() const { return plan_; }

  std::vector<double> seconds;

 private:
  ClusterState state_;
  Engine engine_;
  PolicyState kept_;
  Request request_;
  Plan plan_;
  sim::Turnover turnover_;
};

enum class Questions : std::uint8_t { kFromNothing, kAfterChanges, kAfterChangesSameState };

const char* name_of(Questions questions) {
  if (questions == Questions::kFromNothing) return "from_nothing";
  return questions == Questions::kAfterChanges ? "after_changes" : "after_changes_same_state";
}

void objectives(benchmark::State& bench, const ContestSize& size, Questions questions) {
  const Snapshot snapshot = elastic_cluster(size);
  Decider flow_time(snapshot, "flow_time"), goodput(snapshot, "goodput");
  Decider* const both[] = {&flow_time, &goodput};
  const bool from_nothing = questions == Questions::kFromNothing;
  const auto decide = [&] {
    if (from_nothing) {
      for (Decider* one : both) one->decide_from_nothing();
      return;
    }
    if (questions == Questions::kAfterChanges) {
      for (Decider* one : both) one->decide_after(one->changes());
      for (Decider* one : both) one->apply(one->plan());
      return;
    }
    const std::vector<Delta> deltas = flow_time.changes();
    for (Decider* one : both) one->decide_after(deltas);
    for (Decider* one : both) one->apply(flow_time.plan());
  };
  decide();
  for (Decider* one : both) one->seconds.clear();
  const std::int64_t decisions = from_nothing ? full_or_smoke(11, 2) : full_or_smoke(500, 10);
  for (auto _ : bench) {
    double seconds = 0;
    for (std::int64_t i = 0; i < decisions; ++i) {
      decide();
      seconds += flow_time.seconds.back();
    }
    bench.SetIterationTime(seconds);
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < flow_time.seconds.size(); ++i) ratios.push_back(flow_time.seconds[i] / goodput.seconds[i]);
  bench.counters["ratio"] = median(std::move(ratios));
  report_percentiles(bench, "flow_time", flow_time.seconds);
  report_percentiles(bench, "goodput", goodput.seconds);
}

[[maybe_unused]] const bool registered = [] {
  for (const ContestSize& size : contest_sizes()) {
    if (size.types != 1) continue;
    for (const Questions questions : {Questions::kFromNothing, Questions::kAfterChanges, Questions::kAfterChangesSameState}) {
      const std::string name = "objectives/" + std::string(name_of(questions)) + "/gpus:" + std::to_string(size.gpus);
      benchmark::RegisterBenchmark(name.c_str(), objectives, size, questions)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1);
    }
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
