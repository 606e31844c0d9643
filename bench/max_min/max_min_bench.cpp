#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "host/core/contention/max_min_certificate.hpp"
#include "host/core/contention/max_min_rates.hpp"

/// Max-min fair rates of 10,000 gangs on 20,000 links: from nothing, and with one gang more or less.
namespace berth::bench {
namespace {

struct Gangs {
  std::vector<std::int64_t> capacity;
  std::vector<core::MaxMinFlow> flows;
  std::mt19937_64 random{kSeed};

  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n)); }
  // 10 to 100 GB a second. Demands of up to half of that for every second gang.
  void finish() {
    for (std::int64_t& link : capacity) link = std::int64_t{1 + below(10)} * 10'000'000'000;
    for (core::MaxMinFlow& flow : flows) {
      flow.weight = 1 + below(8);
      if (below(2) == 0) flow.demand = std::int64_t{1 + below(50)} * 1'000'000'000;
    }
  }
};

/// Gangs on 2 to 64 nodes next to each other, four gangs a node: racks of 16 nodes, pods of 16 racks.
Gangs racks(std::int32_t jobs) {
  Gangs gangs;
  const std::int32_t nodes = jobs * 15 / 8, n_racks = nodes / 16 + 1;
  gangs.capacity.resize(static_cast<std::size_t>(nodes + n_racks + n_racks / 16 + 1));
  for (std::int32_t j = 0; j < jobs; ++j) {
    const std::int32_t n = 2 << gangs.below(6), first = gangs.below(std::max(1, nodes - n)), last = std::min(nodes, first + n) - 1;
    core::MaxMinFlow flow;
    const auto add = [&](std::int32_t from, std::int32_t to, std::int32_t begin) {
      for (std::int32_t link = from; link <= to; ++link) flow.links.push_back({begin + link, core::kWholePart});
    };
    add(first, last, 0);
    if (first / 16 != last / 16) add(first / 16, last / 16, nodes);
    if (first / 256 != last / 256) add(first / 256, last / 256, nodes + n_racks);
    gangs.flows.push_back(std::move(flow));
  }
  gangs.finish();
  return gangs;
}

/// 16 to 64 links a gang, drawn evenly: everything depends on everything.
Gangs even(std::int32_t jobs) {
  Gangs gangs;
  gangs.capacity.resize(static_cast<std::size_t>(2 * jobs));
  for (std::int32_t j = 0; j < jobs; ++j) {
    std::vector<std::int32_t> links;
    for (std::int32_t k = 16 + gangs.below(49); k > 0; --k) links.push_back(gangs.below(2 * jobs));
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    core::MaxMinFlow flow;
    for (const std::int32_t link : links) flow.links.push_back({link, 1 + gangs.below(core::kWholePart)});
    flow.links.front().part = core::kWholePart;
    gangs.flows.push_back(std::move(flow));
  }
  gangs.finish();
  return gangs;
}

void from_nothing(benchmark::State& bench, const Gangs& gangs) {
  std::vector<std::int64_t> levels;
  for (auto _ : bench) {
    Lap lap;
    levels = core::max_min_levels(gangs.capacity, gangs.flows);
    bench.SetIterationTime(lap.seconds());
  }
  require(core::max_min_violation(gangs.capacity, gangs.flows, levels).empty(), "a flow is not at its max-min level");
  bench.counters["links"] = static_cast<double>(gangs.capacity.size());
}

/// A gang leaves and comes again, the rates found after each.
void one_job(benchmark::State& bench, const Gangs& gangs) {
  core::MaxMinRates rates(gangs.capacity);
  const auto n = static_cast<std::int32_t>(gangs.flows.size());
  for (std::int32_t id = 0; id < n; ++id) rates.add(id, gangs.flows[static_cast<std::size_t>(id)]);
  rates.settle();
  std::vector<double> seconds, links, changed;
  std::int32_t id = 0;
  for (auto _ : bench) {
    rates.remove(id);
    rates.settle();
    Lap lap;
    rates.add(id, gangs.flows[static_cast<std::size_t>(id)]);
    const std::size_t others = rates.settle().size();
    seconds.push_back(lap.seconds());
    bench.SetIterationTime(seconds.back());
    links.push_back(static_cast<double>(rates.links_settled()));
    changed.push_back(static_cast<double>(others));
    id = (id + 7'919) % n;
  }
  report_percentiles(bench, "add", seconds);
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  bench.counters["links_looked_at"] = median(links);
  bench.counters["gangs_changed"] = median(changed);
  std::vector<std::int64_t> levels;
  for (std::int32_t f = 0; f < n; ++f) levels.push_back(rates.level(f));
  require(core::max_min_violation(gangs.capacity, gangs.flows, levels).empty(), "a flow is not at its max-min level");
}

[[maybe_unused]] const bool registered = [] {
  const auto jobs = static_cast<std::int32_t>(contend_jobs());
  for (const bool is_even : {false, true}) {
    const std::string name = is_even ? "even" : "racks";
    const auto make = is_even ? even : racks;
    benchmark::RegisterBenchmark(("max_min/" + name).c_str(), [=](benchmark::State& bench) { from_nothing(bench, make(jobs)); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("max_min/one_job/" + name).c_str(), [=](benchmark::State& bench) { one_job(bench, make(jobs)); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(full_or_smoke(is_even ? 200 : 2'000, 20));
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
