#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

/// Sizes of all benchmarks. With BERTH_BENCH_SMOKE=1 in the environment they shrink to the minimum that shows that a
/// case runs. BERTH_BENCH_DECISIONS and BERTH_BENCH_SCENARIOS change the length of the two longest ones.
namespace berth::bench {

inline bool smoke() {
  const char* value = std::getenv("BERTH_BENCH_SMOKE");
  return value != nullptr && std::string(value) == "1";
}

inline std::int64_t full_or_smoke(std::int64_t full, std::int64_t small) { return smoke() ? small : full; }

inline std::int64_t from_environment(const char* variable, std::int64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoll(value, nullptr, 10);
}

inline std::vector<std::int64_t> doubling(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = from; n <= to; n *= 2) sizes.push_back(n);
  return sizes;
}

inline constexpr std::uint64_t kSeed = 1;
inline constexpr std::int32_t kGpusPerNode = 8;

/// snapshot: axis `nodes`; the target is at the largest.
inline std::vector<std::int64_t> snapshot_nodes() { return smoke() ? doubling(512, 512) : doubling(2'000, 16'000); }
/// Jobs of a snapshot of N nodes: 50,000 at 16,000.
inline std::int64_t snapshot_jobs(std::int64_t nodes) { return nodes * 50'000 / 16'000; }
inline constexpr int kChanges = 100;

/// c_abi: axis `jobs`, the number of decisions read back; the target is at 1,000.
inline std::vector<std::int64_t> c_abi_jobs() {
  return smoke() ? std::vector<std::int64_t>{256} : std::vector<std::int64_t>{1'000, 10'000};
}

/// decide: axis `nodes`; four jobs per node, half of them waiting; the target is at 10,000.
inline std::vector<std::int64_t> decide_nodes() { return smoke() ? doubling(64, 128) : doubling(1'250, 10'000); }
inline std::int64_t decide_jobs(std::int64_t nodes) { return 4 * nodes; }
/// Up to this size the same decision also runs on the reference, which reads every node for every job.
inline constexpr std::int64_t kReferenceNodes = 1'250;

/// decide, one new job: a running cluster of N nodes, and the members of its large gang.
inline std::int64_t one_job_nodes() { return full_or_smoke(5'000, 128); }
inline std::int64_t large_gang() { return full_or_smoke(512, 16); }

/// decide, consecutive decisions.
inline std::int64_t stream_nodes() { return full_or_smoke(10'000, 64); }
inline std::int64_t stream_decisions() { return from_environment("BERTH_BENCH_DECISIONS", full_or_smoke(10'000, 50)); }

/// decide, consecutive decisions under leases: more than 10,000 jobs wait, and the target is 1 ms.
inline std::int64_t lease_nodes() { return full_or_smoke(2'048, 64); }
inline std::int64_t lease_jobs() { return full_or_smoke(14'000, 400); }
inline std::int64_t lease_decisions() { return full_or_smoke(500, 50); }

/// contend: axis `jobs`, and as many candidates; the targets are at that size.
inline std::int64_t contend_jobs() { return full_or_smoke(10'000, 64); }
/// contend/crossing: axis `links` of each job, of 512.
inline std::vector<std::int64_t> contend_row_links() {
  return smoke() ? std::vector<std::int64_t>{16} : std::vector<std::int64_t>{16, 32, 64, 96, 128, 160, 192, 256};
}

/// victims: axis `nodes` of a gang of 100 members, and axis `questions` about a node each; the targets are at the first.
inline std::vector<std::int64_t> victims_nodes() {
  return smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{1'000, 10'000};
}
inline std::vector<std::int64_t> victims_questions() {
  return smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{1'000, 10'000};
}

/// flow: axis `jobs` of one GPU.
inline std::vector<std::int64_t> flow_jobs() { return smoke() ? doubling(250, 250) : doubling(1'250, 10'000); }
/// flow: changes of one job, each solved again from nothing as well.
inline std::int64_t flow_changes() { return full_or_smoke(100, 5); }

/// price: GPUs and jobs of a separable problem; the targets are at the second and the last.
struct PriceSize {
  std::int64_t gpus, jobs;
};
inline std::vector<PriceSize> price_sizes() {
  return smoke() ? std::vector<PriceSize>{{64, 40}} : std::vector<PriceSize>{{64, 40}, {1'024, 640}, {4'096, 2'560}, {16'384, 8'192}};
}

/// contest: GPUs, jobs and GPU types of generated clusters.
struct ContestSize {
  std::int64_t gpus, jobs, types;
};
inline std::vector<ContestSize> contest_sizes() {
  if (smoke()) return {{64, 40, 1}};
  return {{64, 40, 1}, {512, 320, 1}, {1'024, 640, 1}, {1'024, 640, 3}, {2'048, 2'560, 1}, {16'384, 8'192, 1}};
}
/// sia_program: the size of its target.
inline ContestSize sia_size() { return smoke() ? ContestSize{64, 40, 1} : ContestSize{2'048, 2'560, 1}; }
/// Time limit of a solver, in seconds.
inline double most_solver_s() { return smoke() ? 2 : 60; }

/// prices_at_once: axis `problems`.
inline std::vector<std::int64_t> price_counts() { return smoke() ? std::vector<std::int64_t>{4} : std::vector<std::int64_t>{1, 64, 1'024}; }

/// shares: axis `jobs`. 2,048 is the size of the target.
inline std::vector<std::int64_t> share_sizes() {
  return smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{256, 2'048, 16'384};
}

/// price, compared with Pollux's search: the sizes of its anchors.
inline std::vector<PriceSize> pollux_sizes() {
  return smoke() ? std::vector<PriceSize>{{64, 40}} : std::vector<PriceSize>{{64, 40}, {512, 320}};
}

/// ones: 64 GPUs and 50 jobs are those of the published evaluation.
inline std::vector<PriceSize> ones_sizes() {
  return smoke() ? std::vector<PriceSize>{{64, 50}} : std::vector<PriceSize>{{64, 50}, {256, 160}, {1'024, 640}, {16'384, 8'192}};
}
inline std::int64_t ones_generations() { return full_or_smoke(20, 2); }

/// score: axis `nodes` = `jobs`. Includes small sizes, at which a GPU is slower.
inline std::vector<std::int64_t> score_sizes() {
  return smoke() ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{10, 100, 1'000, 10'000};
}
inline constexpr std::int32_t kScoreBest = 4;

/// scenarios: axis `scenarios` of N jobs and nodes. 4,096 is the size of the target.
inline std::int64_t scenario_size() { return full_or_smoke(1'000, 64); }
inline std::vector<std::int64_t> scenario_counts() {
  const std::int64_t most = from_environment("BERTH_BENCH_SCENARIOS", full_or_smoke(256, 8));
  return most > 16 ? std::vector<std::int64_t>{1, 16, most} : std::vector<std::int64_t>{1, most};
}

/// simulate: jobs of the trace, and axis `nodes`: those of its cluster, and fewer, so that jobs queue.
inline std::int64_t simulated_jobs() { return full_or_smoke(125'303, 1'000); }
inline std::vector<std::int64_t> simulated_nodes() { return {133, 75}; }

/// replay: axis `replays`. A GPU has one warp for each.
inline std::vector<std::int64_t> replay_counts() {
  return smoke() ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{2, from_environment("BERTH_BENCH_REPLAYS", 16)};
}

/// delay_replay: axis `replays` of 2,000 jobs. The target: 1,000 in 60 s on two cores.
inline std::vector<std::int64_t> delay_replay_counts() {
  return smoke() ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{2, from_environment("BERTH_BENCH_REPLAYS", 1'000)};
}

/// slurm: axis `nodes`; the target is at the largest: 5,000 nodes and 20,000 jobs to a plan within a second.
inline std::vector<std::int64_t> slurm_nodes() { return smoke() ? doubling(64, 64) : doubling(1'250, 5'000); }
inline std::int64_t slurm_jobs(std::int64_t nodes) { return 4 * nodes; }

}  // namespace berth::bench
