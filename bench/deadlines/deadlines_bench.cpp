#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "bench/defaults.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/policy/deadlines/capacity_line.hpp"

/// Promises of deadlines (docs/genie.md): whether one more job can be promised its deadline next to thousands, and the decision about it.
namespace berth::bench {
namespace {

constexpr std::int64_t kGpus = 1'024;

/// A job of 1 to 8 GPUs. Deadlines are so far apart that about half of the jobs can meet theirs.
Job elastic_job(std::int64_t index, std::int64_t jobs, std::mt19937_64& random) {
  Job job;
  job.id = "job" + std::to_string(index);
  job.submit_us = index;
  job.estimate.run_us = (60 + static_cast<TimeUs>(random() % 3'600)) * kSecond;
  const TimeUs span = std::max<TimeUs>(1, jobs * 1'000 / kGpus) * kSecond;
  job.deadline = {10'000 * kSecond + job.estimate.run_us + static_cast<TimeUs>(random() % static_cast<std::uint64_t>(span)), false, 1};
  for (const std::int32_t gpus : {1, 2, 4, 8}) {
    Shape& shape = job.shapes.emplace_back();
    shape.id = std::to_string(gpus);
    shape.gpus = gpus;
    shape.rate = 1'000'000 * gpus - 100'000 * (gpus - 1);
  }
  return job;
}

Job due_job(std::int64_t index, std::mt19937_64& random) {
  Job job;
  job.id = "job" + std::to_string(index);
  job.submit_us = index * kSecond;
  job.estimate.run_us = (60 + static_cast<TimeUs>(random() % 3'600)) * kSecond;
  job.deadline = {10'000 * kSecond + job.estimate.run_us * (2 + static_cast<TimeUs>(random() % 6)) + 20'000 * kSecond, false, 1};
  Shape& shape = job.shapes.emplace_back();
  shape.id = "s";
  shape.gpus = 1 << (random() % 4);
  return job;
}

Snapshot due_jobs(std::int64_t jobs) {
  Snapshot s;
  s.now_us = 10'000 * kSecond;
  s.gpu_types.emplace_back().id = "H";
  for (std::int64_t n = 0; n < kGpus / 8; ++n) {
    Node& node = s.nodes.emplace_back();
    node.id = "node" + std::to_string(n);
    node.gpu_type = "H";
    node.gpus = 8;
  }
  std::mt19937_64 random(kSeed);
  for (std::int64_t i = 0; i < jobs; ++i) s.jobs.push_back(due_job(i, random));
  return s;
}

/// Lays all reservations into a line and looks for the latest interval of one more job, as admission does for each type.
void admit_one(benchmark::State& timing) {
  const std::int64_t jobs = full_or_smoke(timing.range(0), std::int64_t{50});
  std::mt19937_64 random(kSeed);
  struct Interval {
    TimeUs from, to;
    std::int64_t gpus;
  };
  std::vector<Interval> intervals;
  for (std::int64_t i = 0; i < jobs; ++i) {
    const TimeUs from = static_cast<TimeUs>(random() % 36'000) * kSecond + static_cast<TimeUs>(random() % kSecond);
    intervals.push_back({from, from + static_cast<TimeUs>(60 + random() % 600) * kSecond, 1 << (random() % 4)});
  }
  policy::CapacityLine line;
  for (auto _ : timing) {
    line.begin(0, kGpus);
    for (const Interval& one : intervals) line.add(one.from, one.to, one.gpus);
    line.settle();
    benchmark::DoNotOptimize(line.latest_end(8, 3'600 * kSecond, 40'000 * kSecond));
  }
}

/// A job comes, and the policy decides: promises of the others, one more, the pass, the reasons and the validator.
void decide_one_more(benchmark::State& timing, const char* policy) {
  const std::int64_t jobs = full_or_smoke(timing.range(0), std::int64_t{50});
  ClusterState state(due_jobs(jobs));
  Request request;
  request.policy = policy;
  if (request.policy != "chronus") request.params = {{"expected", "0"}};
  Engine engine;
  PolicyState kept;
  Plan plan;
  engine.decide(state, kept, request, plan);
  commit(state, plan);
  std::mt19937_64 random(kSeed + 1);
  std::int64_t promised = 0;
  for (const auto& row : kept.columns.at("promised_end_us")) promised += row.second >= 0 ? 1 : 0;
  timing.counters["promised"] = static_cast<double>(promised);
  std::int64_t next = jobs;
  for (auto _ : timing) {
    timing.PauseTiming();
    Job job = due_job(next++, random);
    job.submit_us = 10'000 * kSecond;
    const std::string id = job.id;
    state.apply({delta::PutJob{std::move(job)}});
    timing.ResumeTiming();
    engine.decide(state, kept, request, plan);
    timing.PauseTiming();
    state.apply({delta::RemoveJob{id, ""}});
    timing.ResumeTiming();
  }
}

/// Shares of all jobs from scratch, or with those of an earlier decision.
void share_all(benchmark::State& timing, bool again) {
  const std::int64_t jobs = full_or_smoke(timing.range(0), std::int64_t{50});
  Snapshot s = due_jobs(0);
  std::mt19937_64 random(kSeed);
  for (std::int64_t i = 0; i < jobs; ++i) s.jobs.push_back(elastic_job(i, jobs, random));
  ClusterState state(s);
  Request request;
  request.policy = "elasticflow";
  Engine engine;
  PolicyState kept;
  Plan plan;
  if (again) engine.decide(state, kept, request, plan);
  for (auto _ : timing) {
    if (!again) kept = {};
    engine.decide(state, kept, request, plan);
  }
  std::int64_t promised = 0;
  for (const auto& row : kept.columns.at("promised_end_us")) promised += row.second >= 0 ? 1 : 0;
  timing.counters["promised"] = static_cast<double>(promised);
}

BENCHMARK_CAPTURE(share_all, first, false)->Name("share/first")->Arg(2'000)->Arg(20'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(share_all, again, true)->Name("share/again")->Arg(2'000)->Arg(20'000)->Unit(benchmark::kMillisecond);
BENCHMARK(admit_one)->Name("admit/one_more")->Arg(5'000)->Arg(50'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_one_more, edf_admission, "edf-admission")->Name("decide/edf_admission")->Arg(5'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_one_more, genie, "genie")->Name("decide/genie")->Arg(5'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decide_one_more, chronus, "chronus")->Name("decide/chronus")->Arg(5'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::bench
