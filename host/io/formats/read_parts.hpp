#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "host/io/json/json_cursor.hpp"

/// Readers of the parts of a snapshot. Each appends to its argument or fills it.
namespace berth::io {

// read_cluster.cpp
void read_gpu_types(JsonCursor& in, std::vector<GpuType>& out);
void read_domains(JsonCursor& in, std::vector<Domain>& out);
void read_node(JsonCursor& in, Node& out);
void read_nodes(JsonCursor& in, std::vector<Node>& out);
void read_queue(JsonCursor& in, Queue& out);
void read_queues(JsonCursor& in, std::vector<Queue>& out);
void read_reservation(JsonCursor& in, Reservation& out);
void read_reservations(JsonCursor& in, std::vector<Reservation>& out);

// read_shape.cpp
void read_shapes(JsonCursor& in, std::vector<Shape>& out);
/// {"topology", "level"}, or only the level for the switch topology.
LevelRef read_level_ref(JsonCursor& in);

// read_profile.cpp
void read_profile(JsonCursor& in, Profile& out);
void read_progress(JsonCursor& in, Progress& out);

/// `gpus` of the short form: one count, or a range to expand.
struct GpuRange {
  enum class Step : std::uint8_t { kAny, kPow2, kNode };
  std::int32_t least = 0;  // 0: the short form was not used
  std::int32_t most = 0;
  Step step = Step::kAny;
  // For one GPU; 0: not stated.
  std::int32_t local_batch = 0;
  std::int64_t learning_rate_pico = 0, max_learning_rate_pico = 0;
};

/// A short form that is expanded once the nodes of the snapshot are known.
struct PendingShapes {
  std::size_t job = 0;
  GpuRange gpus;
  std::vector<std::string> types;
};

// read_job.cpp
/// Reads one job, the `index`-th of its list. A short form that needs the nodes goes to `pending`.
void read_job(JsonCursor& in, Job& job, std::size_t index, std::vector<PendingShapes>& pending);
void read_costs(JsonCursor& in, Costs& out);
/// Entries that do not state their member get kMemberNotSaid.
void read_allocation(JsonCursor& in, Allocation& out);
inline constexpr std::int32_t kMemberNotSaid = -1;
/// Gives such entries the next ranks of their group.
void settle_members(const std::vector<Shape>& shapes, Allocation& allocation);
void read_jobs(JsonCursor& in, std::vector<Job>& out, std::vector<PendingShapes>& pending);
void read_history(JsonCursor& in, std::vector<FinishedJob>& out);

// read_deltas.cpp
/// The jobs that the deltas of a growing batch have put.
class PutJobs {
 public:
  /// The shapes of a job after the batch: those put last, otherwise those of the state. Empty: no such job exists.
  const std::vector<Shape>& shapes(const ClusterState& state, const std::vector<Delta>& batch, std::string_view job);

 private:
  std::size_t seen_ = 0;                                    // deltas of the batch
  std::map<std::string, std::size_t, std::less<>> put_by_;  // job -> delta
};

// expand_shapes.cpp
/// Appends one shape per (type, GPU count) to `out`: types in the outer loop, counts ascending; no types: any.
/// @param node_gpus  [types, or 1] GPUs of the largest node, for Step::kNode.
/// @returns the problem, or empty.
std::string expand_shapes(const GpuRange& gpus, const std::vector<std::string>& types, const std::vector<std::int32_t>& node_gpus,
                          std::vector<Shape>& out);

}  // namespace berth::io
