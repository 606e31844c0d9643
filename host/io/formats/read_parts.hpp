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
#include "host/io/fields/job_fields.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_writer.hpp"

/// Parts of a snapshot for which a table of fields is not enough.
namespace berth::io {

/// A short form that is expanded once the nodes of the snapshot are known.
struct PendingShapes {
  std::size_t job = 0;
  GpuRange gpus;
  std::vector<std::string> types;
};

// read_job.cpp
/// Reads one job, the `index`-th of its list. A short form that needs the nodes goes to `pending`.
void read_job(JsonCursor& in, Job& job, std::size_t index, std::vector<PendingShapes>& pending);
/// Gives entries with kMemberNotSaid the next ranks of their group.
void settle_members(const std::vector<Shape>& shapes, Allocation& allocation);
void read_jobs(JsonCursor& in, std::vector<Job>& out, std::vector<PendingShapes>& pending);

// deltas_json.cpp
/// The jobs that the deltas of a growing batch have put.
class PutJobs {
 public:
  /// The shapes of a job after the batch: those put last, otherwise those of the state. Empty: no such job exists.
  const std::vector<Shape>& shapes(const ClusterState& state, const std::vector<Delta>& batch, std::string_view job);

 private:
  std::size_t seen_ = 0;                                    // deltas of the batch
  std::map<std::string, std::size_t, std::less<>> put_by_;  // job -> delta
};

/// Reads a list of deltas, and appends them. @param state  Supplies the shapes of the jobs that they name.
void read_deltas(JsonCursor& in, const ClusterState& state, std::vector<Delta>& out);
/// Keywords of JSON Schema of such a list.
void describe_deltas(JsonWriter& w);

// expand_shapes.cpp
/// Appends one shape per (type, GPU count) to `out`: types in the outer loop, counts ascending; no types: any.
/// @param node_gpus  [types, or 1] GPUs of the largest node, for Step::kNode.
/// @returns the problem, or empty.
std::string expand_shapes(const GpuRange& gpus, const std::vector<std::string>& types, const std::vector<std::int32_t>& node_gpus,
                          std::vector<Shape>& out);

}  // namespace berth::io
