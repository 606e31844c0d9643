#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/what_if.hpp"

/// What edits of a busy cluster would change. Its plan is applied before, as in a cluster that runs. The time of an answer counts
/// from the deltas to the outcome, with the edit taken back.
namespace berth::bench {
namespace {

enum class Kind : std::uint8_t { kSubmit, kCancel, kPriority, kDrain, kQuota, kAdd, kMixed };
constexpr const char* kKindNames[] = {"submit", "cancel", "priority", "drain", "quota", "add", "mixed"};
constexpr int kKinds = 6;
constexpr int kMostCommits = 8;

Edit edit_of(Kind kind, const Snapshot& s, std::mt19937_64& random) {
  const auto pick = [&](const auto& all) -> const auto& { return all[static_cast<std::size_t>(random() % all.size())]; };
  Edit edit;
  switch (kind) {
    case Kind::kSubmit: {
      Job job = pick(s.jobs);
      job.id = "asked";
      job.submit_us = s.now_us;
      job.state = JobState::kWaiting;
      job.allocation = {};
      job.progress = {};
      job.waiting_since_us = kNever;
      edit.deltas.emplace_back(delta::PutJob{std::move(job)});
      break;
    }
    case Kind::kCancel:
      edit.deltas.emplace_back(delta::RemoveJob{pick(s.jobs).id, ""});
      break;
    case Kind::kPriority: {
      Job job = pick(s.jobs);
      job.priority += 1;
      edit.deltas.emplace_back(delta::PutJob{std::move(job)});
      break;
    }
    case Kind::kDrain:
      edit.deltas.emplace_back(delta::SetNodeState{pick(s.nodes).id, NodeState::kDrain, 0});
      break;
    case Kind::kQuota: {
      Queue queue = pick(s.queues);
      for (Quota& quota : queue.quotas) quota.limit = quota.limit == kUnlimited ? 64 : quota.limit + 64;
      edit.deltas.emplace_back(delta::PutQueue{std::move(queue)});
      break;
    }
    default: {
      Node node = pick(s.nodes);
      node.id = "added";
      for (Gpu& gpu : node.gpu_list) gpu.state = GpuState::kOk;
      node.state = NodeState::kReady;
      edit.deltas.emplace_back(delta::PutNode{std::move(node)});
    }
  }
  return edit;
}

struct Asked {
  std::int64_t nodes = 0, jobs = 0;
  bool reasons = false, guarantees = false;
  std::unique_ptr<WhatIfEngine> engine;
  Snapshot snapshot;
};

Asked& asked(std::int64_t nodes, std::int64_t jobs, bool reasons, bool guarantees) {
  static Asked a;
  if (a.nodes == nodes && a.jobs == jobs && a.reasons == reasons && a.guarantees == guarantees) return a;
  WhatIfRequest request;
  request.request.policy = "fifo";
  request.request.params = {{"discipline", "greedy"}};
  if (!guarantees) request.request.params.emplace_back("quotas", "limits");
  request.reasons = reasons;
  a = {nodes, jobs, reasons, guarantees, std::make_unique<WhatIfEngine>(ClusterState(busy_cluster(nodes, jobs)), request), {}};
  const auto changes = [&] { return a.engine->base().totals.starts + a.engine->base().totals.preempts + a.engine->base().totals.moves; };
  for (int i = 0; i < kMostCommits && changes() > 0; ++i) a.engine->commit_base();
  require(changes() == 0, "the plan stays once it is applied");
  a.snapshot = a.engine->state().snapshot();
  std::mt19937_64 random(kSeed);
  // The answers are those of a new engine on a new state.
  for (int kind = 0; kind < kKinds; ++kind) {
    const Edit edit = edit_of(static_cast<Kind>(kind), a.snapshot, random);
    WhatIfEngine fresh(ClusterState(a.snapshot), request);
    require(a.engine->answer(edit) == fresh.answer(edit), std::string("an answer differs from that of a new engine: ") + kKindNames[kind]);
  }
  return a;
}

/// One edit after another, each taken back.
void edits(benchmark::State& bench, Kind kind, std::int64_t nodes, std::int64_t jobs, std::int64_t number) {
  Asked& a = asked(nodes, jobs, bench.range(0) != 0, bench.range(1) != 0);
  std::mt19937_64 random(kSeed);
  std::int64_t rows = 0, answers = 0;
  std::vector<double> each;
  for (auto _ : bench) {
    double sum = 0;
    for (std::int64_t i = 0; i < number; ++i) {
      const Edit edit = edit_of(kind == Kind::kMixed ? static_cast<Kind>(i % kKinds) : kind, a.snapshot, random);
      Lap lap;
      const EditOutcome outcome = a.engine->answer(edit);
      each.push_back(lap.seconds());
      sum += each.back();
      rows += static_cast<std::int64_t>(outcome.jobs.size());
      ++answers;
    }
    bench.SetIterationTime(sum);
  }
  bench.counters["edits"] = static_cast<double>(number);
  bench.counters["jobs_that_differ"] = static_cast<double>(rows) / static_cast<double>(answers);
  report_percentiles(bench, "edit", each);
}

void many(benchmark::State& bench, Kind kind) {
  edits(bench, kind, full_or_smoke(1'000, 32), full_or_smoke(5'000, 160), full_or_smoke(1'000, 24));
}
void one(benchmark::State& bench, Kind kind) {
  edits(bench, kind, full_or_smoke(10'000, 64), full_or_smoke(40'000, 256), full_or_smoke(20, 3));
}

void axes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"reasons", "guarantees"})
      ->Args({0, 0})
      ->Args({1, 0})
      ->Args({0, 1})
      ->Args({1, 1})
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

#define BERTH_EDITS(kind, name)                     \
  BENCHMARK_CAPTURE(many, name, kind)->Apply(axes); \
  BENCHMARK_CAPTURE(one, name, kind)->Apply(axes)
BERTH_EDITS(Kind::kMixed, mixed);
BERTH_EDITS(Kind::kSubmit, submit);
BERTH_EDITS(Kind::kCancel, cancel);
BERTH_EDITS(Kind::kPriority, priority);
BERTH_EDITS(Kind::kDrain, drain);
BERTH_EDITS(Kind::kQuota, quota);
BERTH_EDITS(Kind::kAdd, add);
#undef BERTH_EDITS

}  // namespace
}  // namespace berth::bench
