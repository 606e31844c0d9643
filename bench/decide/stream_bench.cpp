#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"

/// Consecutive decisions, as by a scheduler: time advances by ten seconds, four running jobs end, four jobs arrive, the
/// engine decides, the plan is applied. The latency of a decision counts from the deltas to the validated plan.
namespace berth::bench {
namespace {

class Stream {
 public:
  Stream() : snapshot_(busy_cluster(stream_nodes(), decide_jobs(stream_nodes()))), state_(snapshot_) { request_.policy = "srsf"; }

  void step() {
    const std::vector<Delta> deltas = next_deltas();
    Lap lap;
    state_.apply(deltas);
    apply.push_back(lap.seconds());
    engine_.decide(state_, memory_, request_, plan_);
    decide.push_back(lap.seconds());
    commit(state_, plan_);
    carry_out.push_back(lap.seconds());
    total.push_back(apply.back() + decide.back());
  }

  void check() {
    step();
    const Plan plan = engine_.decide(state_, request_);
    require_valid(state_, plan);
    if (stream_nodes() <= kReferenceNodes) require_equal_to_reference(state_, request_, plan);
    for (auto* column : {&apply, &decide, &carry_out, &total}) column->clear();
  }

  std::vector<double> apply, decide, carry_out, total;

 private:
  std::vector<Delta> next_deltas() {
    const TimeUs now = state_.now() + 10 * kSecond;
    std::vector<Delta> deltas{delta::SetTime{now}};
    for (int i = 0; i < 4; ++i) {
      if (const std::string id = some_running(i); !id.empty()) deltas.emplace_back(delta::RemoveJob{id, "completed"});
      Job job = snapshot_.jobs[static_cast<std::size_t>(random_() % snapshot_.jobs.size())];
      job.id = "n" + std::to_string(arrivals_++);
      job.state = JobState::kWaiting;
      job.allocation = {};
      job.progress = {};
      job.submit_us = now;
      job.waiting_since_us = job.last_assignment_us = job.lease_end_us = kNever;
      deltas.emplace_back(delta::PutJob{std::move(job)});
    }
    return deltas;
  }

  // Each of the four searches its own quarter of the job indices, so that no job ends twice.
  std::string some_running(int quarter) {
    const std::int32_t size = state_.job_slots() / 4;
    const auto start = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(size));
    for (std::int32_t i = 0; i < size; ++i) {
      const Job* job = state_.job(quarter * size + (start + i) % size);
      if (job != nullptr && job->state == JobState::kRunning) return job->id;
    }
    return {};
  }

  Snapshot snapshot_;
  ClusterState state_;
  Engine engine_;
  Request request_;
  PolicyState memory_;
  Plan plan_;
  std::mt19937_64 random_{kSeed};
  std::int64_t arrivals_ = 0;
};

void stream(benchmark::State& bench) {
  Stream s;
  s.check();
  const std::int64_t decisions = stream_decisions();
  for (auto _ : bench) {
    double seconds = 0;
    for (std::int64_t i = 0; i < decisions; ++i) {
      s.step();
      seconds += s.total.back();
    }
    bench.SetIterationTime(seconds);
  }
  report_percentiles(bench, "total", s.total);
  report_percentiles(bench, "apply", s.apply);
  report_percentiles(bench, "decide", s.decide);
  report_percentiles(bench, "commit", s.carry_out);
  bench.counters["decisions"] = static_cast<double>(decisions);
  bench.counters["nodes"] = static_cast<double>(stream_nodes());
}

BENCHMARK(stream)->UseManualTime()->Unit(benchmark::kSecond)->Iterations(1)->Repetitions(1);

}  // namespace
}  // namespace berth::bench
