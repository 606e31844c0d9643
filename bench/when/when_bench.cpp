#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "bench/defaults.hpp"
#include "berth/forecast.hpp"
#include "host/io/traces/importers.hpp"

/// When the jobs of a long queue start: a full cluster of nodes of 8 GPUs, with limits, users and a history of four weeks.
namespace berth::bench {
namespace {

constexpr TimeUs kMinute = 60 * kSecond, kHour = 60 * kMinute, kWeeks = 28 * 24 * kHour, kNow = 2 * kWeeks;
constexpr std::int32_t kSizes[] = {1, 1, 1, 1, 2, 2, 4, 8, 8, 16, 32};
constexpr std::int32_t kGpusPerNode = 8;

struct Drawn {
  std::mt19937_64 random{7};
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); }
  std::int32_t size() { return kSizes[static_cast<std::size_t>(below(std::size(kSizes)))]; }
  std::string user() { return fmt::format("u{:03}", below(200)); }
  /// From a minute to two days, most of them short.
  TimeUs run() {
    const std::int64_t u = 1 + below(2880);
    return kMinute * std::max<std::int64_t>(1, 2880 / u);
  }
  static TimeUs limit(TimeUs run) {
    for (const TimeUs limit : {kHour, 4 * kHour, 12 * kHour, 24 * kHour}) {
      if (2 * run <= limit) return limit;
    }
    return 72 * kHour;
  }
};

Snapshot queue_of(std::int64_t nodes, std::int64_t waiting) {
  Drawn drawn;
  Snapshot cluster = io::uniform_cluster(nodes, kGpusPerNode);
  cluster.now_us = kNow;
  const auto job_of = [&](std::int32_t gpus, TimeUs submit) {
    Job job;
    job.id = fmt::format("j{:06}", cluster.jobs.size());
    job.user = drawn.user();
    job.submit_us = submit;
    job.time_limit_us = Drawn::limit(drawn.run());
    Shape shape;
    shape.id = "asked";
    shape.gpus = gpus;
    job.shapes.push_back(std::move(shape));
    return job;
  };
  for (const Node& node : cluster.nodes) {
    for (std::int32_t gpu = 0; gpu < kGpusPerNode;) {
      const std::int32_t gpus = std::min(kGpusPerNode - gpu, drawn.size());
      Job job = job_of(gpus, kNow - 100 * kHour);
      job.state = JobState::kRunning;
      job.progress.run_us = drawn.below(job.time_limit_us / 2);
      job.last_assignment_us = kNow - job.progress.run_us;
      job.allocation.shape = "asked";
      AllocationEntry entry;
      entry.node = node.id;
      for (std::int32_t g = 0; g < gpus; ++g) entry.gpus.push_back(gpu + g);
      job.allocation.entries.push_back(std::move(entry));
      cluster.jobs.push_back(std::move(job));
      gpu += gpus;
    }
  }
  for (std::int64_t w = 0; w < waiting; ++w) cluster.jobs.push_back(job_of(drawn.size(), kNow - (waiting - w) * kSecond));
  return cluster;
}

JobHistory past(std::int64_t jobs) {
  Drawn drawn;
  JobHistory history;
  for (std::int64_t i = 0; i < jobs; ++i) {
    PastJob job;
    job.user = drawn.user();
    job.gpus = drawn.size();
    job.submit_us = job.start_us = kNow - kWeeks + i * (kWeeks / jobs);
    job.run_us = drawn.run();
    job.time_limit_us = Drawn::limit(job.run_us);
    history.jobs.push_back(std::move(job));
  }
  return history;
}

void when(benchmark::State& bench) {
  const ClusterState state(queue_of(full_or_smoke(bench.range(0), 16), full_or_smoke(bench.range(1), 32)));
  const JobHistory history = past(bench.range(4));
  ForecastRequest request;
  request.request.policy = "fifo";
  request.request.params = {{"discipline", "easy"}};
  request.request.threads = static_cast<int>(bench.range(3));
  request.futures = static_cast<std::int32_t>(full_or_smoke(bench.range(2), std::min<std::int64_t>(bench.range(2), 4)));
  Forecast answer;
  for (auto _ : bench) answer = forecast(state, history, request);
  TimeUs worst = 0, sum = 0;
  for (const JobForecast& job : answer.jobs) {
    const TimeUs error = job.start.median_error_us == kNever ? 0 : job.start.median_error_us;
    worst = std::max(worst, error);
    sum += error;
  }
  bench.counters["jobs"] = static_cast<double>(answer.jobs.size());
  bench.counters["by_counts"] = answer.by_counts ? 1 : 0;
  bench.counters["median_error_mean_s"] =
      static_cast<double>(sum) / static_cast<double>(kSecond) / static_cast<double>(std::max<std::size_t>(1, answer.jobs.size()));
  bench.counters["median_error_most_s"] = static_cast<double>(worst) / static_cast<double>(kSecond);
}

// Nodes, waiting jobs, futures, threads, past jobs.
BENCHMARK(when)
    ->ArgNames({"nodes", "waiting", "futures", "threads", "past"})
    ->Args({1000, 2000, 0, 2, 20'000})
    ->Args({1000, 2000, 50, 2, 20'000})
    ->Args({1000, 2000, 200, 2, 20'000})
    ->Args({1000, 2000, 1000, 2, 20'000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace
}  // namespace berth::bench
