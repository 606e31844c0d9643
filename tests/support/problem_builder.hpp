#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/problem.hpp"

/// Hand-made problems: tests give nodes, jobs and held GPUs; all derived columns are computed.
namespace berth::test {

inline constexpr int kSwitchTopology = 0, kNvlinkTopology = 1, kPowerTopology = 2;

/// A level of a topology: 0 is the node, 1 the lowest named level, ...
struct At {
  std::int32_t topology = 0;
  std::int32_t level = kernel::kNone;
};

struct NodeSpec {
  std::int32_t gpus = 8;
  /// Path in each topology from root to leaf, "pod/rack"; an empty or missing part is an unnamed domain.
  std::array<std::string, 5> path{};
  std::int32_t type = 0;
  std::int64_t cpu = kernel::kNoLimit;     // milli-cores, before anything is held
  std::int64_t memory = kernel::kNoLimit;  // bytes, before anything is held
  TimeUs until = kNever;
  bool sharing = false;
  bool closed = false;  // drained: no GPU is free, and no released GPU becomes free
  bool spare = false;   // its GPUs are in node_spare, not in node_free
  std::vector<std::uint64_t> inner{};
  std::uint64_t busy = 0;  // GPUs that failed or are being released: not free, not in node_open
};

struct GroupSpec {
  std::int32_t members = 1;
  std::int32_t gpus = 1;
  std::int32_t share_ppm = kWholeGpu;
  std::int64_t cpu = 0, memory = 0, gpu_memory = 0;
  std::int32_t segment_size = 0;
  At segment{};
  At require{};
  At prefer{};
  std::int32_t spread_most = 0;
  At spread{};
  std::vector<GroupSpec> children{};
};

struct DemandSpec {
  std::vector<GroupSpec> groups{};
  std::int32_t type = 0;
  std::vector<std::int32_t> nodes{};  // allowed nodes, empty: all; nodes of other types never
};

struct HeldSpec {
  std::int32_t node = 0;
  std::uint64_t mask = 0;
  std::int32_t share_ppm = kWholeGpu;
  std::int64_t cpu = 0, memory = 0, gpu_memory = 0;
};

/// Builds a problem. Names must be added before they are used; otherwise calls may come in any order.
/// Each `int` result is a rank, row or index.
class ProblemBuilder {
 public:
  /// Adds a GPU type. Type 0 exists by default; the first call defines it.
  int type(std::int64_t memory_bytes);
  /// Minimum number of named levels in a topology, even where no node names them.
  ProblemBuilder& levels(int topology, int named);
  /// Nodes must come in the order of their switch path. @throws std::logic_error otherwise.
  int node(NodeSpec spec);
  /// One node per count with that many GPUs, all free, at switch path `path`.
  ProblemBuilder& rack(const std::string& path, const std::vector<std::int32_t>& gpus);
  int demand(DemandSpec spec);
  /// caps: GPUs, one per type, then all types; shorter lists are padded with kNoLimit. kept: the same, padded with 0.
  int queue(int parent, std::vector<std::int64_t> caps, std::vector<std::int64_t> kept = {});
  /// Adds a job with one option per demand, in order.
  int job(const std::vector<int>& demands, int queue = kernel::kNone);
  /// A job with one option: `members` of `gpus` whole GPUs in one flat group.
  int gang(std::int32_t members, std::int32_t gpus = 1, int queue = kernel::kNone);
  /// A job with one option: only this root group, on any node of type 0.
  int ask(const GroupSpec& group, int queue = kernel::kNone);
  /// The job runs and holds these resources, which are subtracted from the node's free GPUs, cores and memory.
  ProblemBuilder& hold(int job, const HeldSpec& held);
  Problem build() const;

 private:
  struct JobSpec {
    std::vector<int> demands;
    int queue = kernel::kNone;
    std::vector<HeldSpec> held;
  };
  struct QueueSpec {
    int parent = kernel::kNone;
    std::vector<std::int64_t> caps, kept;
  };
  void build_nodes(Problem& p) const;
  void build_jobs(Problem& p) const;
  void build_held(Problem& p) const;
  void build_queues(Problem& p) const;

  std::vector<std::int64_t> types_;
  std::array<int, 5> named_{};
  std::vector<NodeSpec> nodes_;
  std::vector<DemandSpec> demands_;
  std::vector<QueueSpec> queues_;
  std::vector<JobSpec> jobs_;
};

/// Parts of "a/b/c", padded with empty parts to `n`.
std::vector<std::string> path_parts(const std::string& path, std::size_t n);

/// Topology orders and domain tables of all topologies (tests/support/topologies.cpp).
void build_topologies(const std::vector<NodeSpec>& nodes, const std::array<int, 5>& named, Problem& p);

}  // namespace berth::test
