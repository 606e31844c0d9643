#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/core/base/input_location.hpp"
#include "host/core/base/suggest.hpp"

/// Checks of single objects, so that one delta does not check everything again. `check_snapshot` calls them for all
/// objects and adds the checks across objects. All throw InputError with the value and its location under `where`.
namespace berth::core {

inline constexpr std::size_t kMaxNameBytes = 1024;  ///< of an id or another name
inline constexpr int kMostQueueDepth = 64;          ///< maximum depth of the queue tree
/// Of a guarantee, limit, borrowing or lending, and of what all queues keep. In millionths it fits 64 bits.
inline constexpr std::int64_t kMostQuotaGpus = 1'000'000'000'000;

/// What an object may refer to.
class References {
 public:
  virtual const GpuType* gpu_type(std::string_view id) const = 0;
  virtual bool has_domain(TopologyKind topology, std::string_view path) const = 0;
  virtual bool has_level(TopologyKind topology, std::string_view level) const = 0;  ///< named levels, without "node"
  virtual bool has_queue(std::string_view id) const = 0;
  virtual const Node* node(std::string_view id) const = 0;
  // "; did you mean 'H100'?", or nothing: for an id that there is not.
  virtual std::string near_gpu_type(std::string_view /*id*/) const { return {}; }
  virtual std::string near_queue(std::string_view /*id*/) const { return {}; }

 protected:
  ~References() = default;
};

/// did_you_mean among the ids of rows. @param except  not this one
template <class Row>
std::string near_id(std::string_view id, const std::vector<Row>& rows, std::string_view except = {}) {
  std::vector<std::string_view> ids;
  for (const Row& row : rows) {
    if (row.id != except) ids.emplace_back(row.id);
  }
  return did_you_mean(id, ids);
}

// check_cluster.cpp
void check_gpu_type(const GpuType& type, const InputLocation& where);
/// One domain's own fields; `check_domains` checks parents, paths and levels.
void check_domain(const Domain& domain, const InputLocation& where);
/// Parents exist, paths are unique.
void check_domains(const std::vector<Domain>& domains, const InputLocation& where);
void check_node(const Node& node, const References& refs, const InputLocation& where);
void check_reservation(const Reservation& reservation, const References& refs, const InputLocation& where);

// check_queues.cpp
/// One queue's own fields and GPU types; `check_queue_tree` checks its parent.
void check_queue(const Queue& queue, const References& refs, const InputLocation& where);
/// Ids are unique, parents exist, no queue is its own ancestor. What they keep in all is within bounds.
void check_queue_tree(const std::vector<Queue>& queues, const InputLocation& where);

// check_shape.cpp
void check_shape(const Shape& shape, const References& refs, const InputLocation& where);

// check_profile.cpp
void check_profile(const Profile& profile, const InputLocation& where);
void check_progress(const Progress& progress, const InputLocation& where);

// check_job.cpp
/// Everything of one job, its allocation included, but not what other jobs hold.
void check_job(const Job& job, const References& refs, const InputLocation& where);
void check_finished(const FinishedJob& job, const InputLocation& where);
/// The later steps of a soft deadline: ascending, with values that fall. @param field  their name under `where`
void check_later_steps(const Deadline& deadline, TimeUs submit_us, const InputLocation& where, std::string_view field);

// check_allocation.cpp
/// The allocation of a running job names existing nodes and GPUs (they may have failed) and fits its shape.
void check_allocation(const Job& job, const References& refs, const InputLocation& where);
/// The same for an allocation that a job is to get, whatever it holds now.
void check_held(const Job& job, const Allocation& allocation, const References& refs, const InputLocation& where);

/// What jobs hold of one GPU and of one node.
struct GpuUse {
  std::int32_t ppm = 0;
  std::int64_t memory_bytes = 0;        // of shares
  const std::string* holder = nullptr;  // job that took it last; null: not known by name
};
struct NodeUse {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
};
/// Gives one GPU of an entry to the job. @throws InputError when it has no room for it.
void take_gpu(GpuUse& use, const Job& job, const AllocationEntry& entry, std::int32_t index, const Node& node, const References& refs,
              const InputLocation& where);
/// Gives cores and memory for all GPUs of an entry. @throws InputError when the node has too few.
void take_node(NodeUse& use, const Job& job, const AllocationEntry& entry, const Node& node, const InputLocation& where);

/// What running jobs hold, GPU by GPU.
class GpuLedger {
 public:
  explicit GpuLedger(const Snapshot& snapshot);
  /// Adds a job that passed `check_job`. @throws InputError when a GPU, or a node's cores or memory, is allocated
  /// twice.
  void add(std::size_t job, const References& refs, const InputLocation& where);

 private:
  const Snapshot& snapshot_;
  std::vector<NodeUse> nodes_;
  std::vector<std::int32_t> first_gpu_;  // by node
  std::vector<GpuUse> gpus_;
};

// check_values.cpp
void check_name(std::string_view text, const InputLocation& where, std::string_view field);  ///< not empty, valid text
void check_text(std::string_view text, const InputLocation& where, std::string_view field);  ///< valid text, may be empty
void check_range(std::int64_t value, std::int64_t least, std::int64_t most, const InputLocation& where, std::string_view field);
/// The same for a scaled integer, value / 10^places in the file; the message shows the numbers of the file.
void check_decimal(std::int64_t value, int places, std::int64_t least, std::int64_t most, const InputLocation& where,
                   std::string_view field);
void check_time(TimeUs value, const InputLocation& where, std::string_view field);
void check_time_or_never(TimeUs value, const InputLocation& where, std::string_view field);
void check_extensions(const Extensions& x, const InputLocation& where);

}  // namespace berth::core
