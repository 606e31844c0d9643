#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/core/model/domain_levels.hpp"

namespace berth::core {

/// What a validator may read: the descriptions of a cluster and its jobs, with ids resolved to ranks and job indices.
/// It is computed from `Node`, `Job`, `Domain`, `Queue` only, never from the compiled columns or the placement code, so
/// that it detects errors there. The descriptions must outlive the facts.
struct FactsSource {
  TimeUs now = 0;
  std::span<const GpuType> gpu_types;
  std::span<const Domain> domains;
  std::span<const Queue> queues;
  std::span<const Reservation> reservations;
  std::vector<const Node*> nodes;     // by rank
  std::vector<const Job*> jobs;       // by job index, null: empty
  std::vector<std::int32_t> by_rank;  // job indices in job-rank order
  std::uint64_t version = 0;          // of all descriptions; see JobFacts::version
  /// Time that a running job has spent running until `now`; null: `progress.run_us` is up to date.
  std::function<TimeUs(std::int32_t)> run_now;
};

/// Ranks nodes by (switch path, id) and jobs by (submit, id); the index of a job is its position in the snapshot.
FactsSource facts_source(const Snapshot& snapshot);

struct NodeFacts {
  const Node* node = nullptr;
  std::int32_t type = -1;  // index in gpu_types
  std::int32_t gpus = 0;
  std::uint64_t existing = 0;  // GPU indices that exist
  std::uint64_t ok = 0;        // that may be allocated; none on a failed node
  std::uint64_t works = 0;     // `ok` and those being released: a job that holds them still runs
  bool sharing = false;
  bool reserved = false;  // named by some reservation
};

/// One entry of the allocation that a running job holds.
struct HeldFact {
  std::int32_t node = -1;
  std::int32_t group = 0;
  std::int32_t member = 0;
  std::int32_t members = 0;
  std::uint64_t mask = 0;
  std::int32_t share_ppm = kWholeGpu;
  bool time_shared = false;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
};

struct JobFacts {
  const Job* job = nullptr;
  bool running = false;
  std::int32_t queue = -1;
  std::int32_t shape = -1;       // in which it runs
  std::int32_t local_batch = 0;  // of that shape, as is the rate: copied because descriptions are spread over memory and most jobs are kept
  std::int64_t learning_rate_pico = 0;
  std::int32_t held_begin = 0;  // rows of held()
  std::int32_t held_end = 0;
  std::uint64_t version = 0;  // of the description; equal numbers, equal descriptions. 0: not numbered
};

class ClusterFacts {
 public:
  explicit ClusterFacts(FactsSource source);

  /// Changes after a delta; a queue that comes, goes or gets another parent needs new facts.
  void set_now(TimeUs now) { source_.now = now; }
  void put_node(std::int32_t rank, const Node& node);
  /// All nodes, by rank: some came, went or have other ranks. What jobs hold stays on the nodes of the same ids.
  /// O(nodes + held rows)
  void put_nodes(std::span<const Node* const> by_rank, std::span<const Reservation> reservations);
  /// The nodes are the same.
  void set_reservations(std::span<const Reservation> reservations);
  /// The queues are the same, in the same order. O(queues)
  void set_quotas(std::span<const Queue> queues);
  void put_job(std::int32_t job_index, const Job* job, std::uint64_t version = 0);
  /// Version of all nodes, queues and reservations together, like JobFacts::version. 0: not numbered.
  std::uint64_t version() const { return version_; }
  void set_version(std::uint64_t version) { version_ = version; }
  void set_order(std::span<const std::int32_t> by_rank) { source_.by_rank.assign(by_rank.begin(), by_rank.end()); }

  TimeUs now() const { return source_.now; }
  TimeUs run_now(std::int32_t index) const { return source_.run_now ? source_.run_now(index) : job(index).job->progress.run_us; }
  std::int32_t node_count() const { return static_cast<std::int32_t>(nodes_.size()); }
  std::int32_t job_index_end() const { return static_cast<std::int32_t>(jobs_.size()); }
  const NodeFacts& node(std::int32_t rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  const JobFacts& job(std::int32_t job) const { return jobs_[static_cast<std::size_t>(job)]; }
  std::span<const std::int32_t> by_rank() const { return source_.by_rank; }
  std::span<const HeldFact> held(const JobFacts& job) const {
    return std::span(held_).subspan(static_cast<std::size_t>(job.held_begin), static_cast<std::size_t>(job.held_end - job.held_begin));
  }
  const DomainLevels& levels(TopologyKind topology) const { return levels_[static_cast<std::size_t>(topology)]; }
  std::span<const GpuType> gpu_types() const { return source_.gpu_types; }
  std::span<const Queue> queues() const { return source_.queues; }
  std::span<const Reservation> reservations() const { return source_.reservations; }
  std::int32_t queue_parent(std::int32_t queue) const { return queue_parent_[static_cast<std::size_t>(queue)]; }
  /// GPUs of a type (index; gpu_types().size(): all types) that the queue itself may hold: the lower of limit and
  /// guarantee + borrowing; kUnlimited: no cap.
  std::int64_t queue_cap(std::int32_t queue, std::int32_t type) const;
  /// GPUs of a type, as above, that the queue keeps of its parent's: its guarantee less its lending.
  std::int64_t queue_kept(std::int32_t queue, std::int32_t type) const;
  bool any_queue_keeps() const { return any_kept_; }
  std::int32_t job_queue(const Job& job) const;  ///< index of its queue, -1: none
  std::int32_t find_node(std::string_view id) const;
  std::int32_t find_type(std::string_view id) const;
  bool reservation_covers(const Reservation& reservation, std::int32_t rank) const;

  /// Labels, required and excluded nodes and virtual cluster; empty when all match, else the one that does not.
  std::string_view refuses(const Job& job, std::int32_t rank) const;

 private:
  void mark_reserved();
  void compact_held();

  FactsSource source_;
  std::uint64_t version_ = 0;
  std::vector<NodeFacts> nodes_;
  std::vector<JobFacts> jobs_;
  std::vector<HeldFact> held_;
  std::array<DomainLevels, kTopologyKinds> levels_;
  std::int64_t live_held_ = 0;  // rows of held_ that some job still uses
  struct IdHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
  };
  using Index = std::unordered_map<std::string, std::int32_t, IdHash, std::equal_to<>>;
  Index node_rank_, queue_index_;
  std::vector<std::int32_t> queue_parent_;
  std::vector<std::int64_t> queue_cap_, queue_kept_;  // [queues * (types + 1)]
  bool any_kept_ = false;
};

}  // namespace berth::core
