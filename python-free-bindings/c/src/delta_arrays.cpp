#include "python-free-bindings/c/src/delta_arrays.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "host/io/formats/read_parts.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/job_arrays.hpp"
#include "python-free-bindings/c/src/structs.hpp"

namespace berth::c {
namespace {

constexpr std::int64_t kMaxDeltas = std::int64_t{1} << 28;

class DeltaArrays {
 public:
  DeltaArrays(const berth_deltas* deltas, const ClusterState& state)
      : state_(state),
        d_(get_struct(deltas, "deltas")),
        n_(checked_count(d_.n, kMaxDeltas, "deltas.n")),
        id_(d_.id, n_, "deltas.id"),
        text_(d_.text, n_, "deltas.text"),
        n_progress_(checked_count(d_.n_progress, kMaxDeltas, "deltas.n_progress")),
        entries_(d_.entries, "deltas.entries"),
        entry_rows_(d_.entry_begin, n_, entries_.size(), "deltas.entry_begin") {
    required_column(d_.kind, n_, "deltas.kind");
    if (d_.jobs != nullptr) jobs_.emplace(d_.jobs, "deltas.jobs", false);
  }

  std::size_t size() const { return n_; }

  /// @param before  The earlier changes of the batch.
  Delta delta(std::size_t i, const std::vector<Delta>& before) {
    switch (d_.kind[i]) {
      case BERTH_SET_TIME:
        return delta::SetTime{required_column(d_.time_us, n_, "deltas.time_us")[i]};
      case BERTH_PUT_JOB: {
        if (!jobs_) throw InvalidArgument("deltas.jobs is null");
        return delta::PutJob{jobs_->job(row(i, jobs_->size()))};
      }
      case BERTH_REMOVE_JOB:
        return delta::RemoveJob{id_.text(i), text_.text(i)};
      case BERTH_START_JOB:
        return delta::StartJob{
            id_.text(i), entries_.allocation(text_.text(i), put_.shapes(state_, before, id_[i]), entry_rows_.begin(i), entry_rows_.end(i))};
      case BERTH_STOP_JOB:
        return delta::StopJob{id_.text(i)};
      case BERTH_SET_PROGRESS: {
        const std::size_t r = row(i, n_progress_);
        delta::SetProgress set{id_.text(i), {}};
        set.progress.work_done = value(d_.work_done, r, std::int64_t{0});
        set.progress.work_total = value(d_.work_total, r, std::int64_t{0});
        set.progress.run_us = value(d_.run_us, r, std::int64_t{0});
        set.progress.attained_gpu_us = value(d_.attained_gpu_us, r, std::int64_t{0});
        return set;
      }
      case BERTH_SET_NODE_STATE: {
        delta::SetNodeState set{id_.text(i), static_cast<NodeState>(state(i, BERTH_NODE_RELEASING)), value(d_.time_us, i, TimeUs{0})};
        // The column is shared with GPUs, where BERTH_NEVER has a meaning.
        if (set.available_from_us == kNever) {
          throw InvalidArgument("deltas.time_us[" + std::to_string(i) +
                                "] is BERTH_NEVER: of BERTH_SET_NODE_STATE it is the instant from " +
                                "which the node is available, 0: at once; a node that is not to come back is BERTH_NODE_FAILED");
        }
        return set;
      }
      case BERTH_SET_GPU_STATE: {
        delta::SetGpuState set;
        set.node = id_.text(i);
        set.index = required_column(d_.index, n_, "deltas.index")[i];
        set.state = static_cast<GpuState>(state(i, BERTH_GPU_RELEASING));
        set.free_at_us = value(d_.time_us, i, kNever);
        return set;
      }
      case BERTH_REMOVE_NODE:
        return delta::RemoveNode{id_.text(i)};
      default:
        throw InvalidArgument("deltas.kind[" + std::to_string(i) + "] is " + std::to_string(d_.kind[i]) + ": no such kind");
    }
  }

 private:
  std::size_t row(std::size_t i, std::size_t n) const {
    const std::uint64_t row = required_column(d_.row, n_, "deltas.row")[i];
    if (row >= n) {
      throw InvalidArgument("deltas.row[" + std::to_string(i) + "] is " + std::to_string(row) + ": there are " + std::to_string(n) +
                            " rows");
    }
    return static_cast<std::size_t>(row);
  }

  std::int32_t state(std::size_t i, std::int32_t last) const {
    const std::int32_t state = required_column(d_.value, n_, "deltas.value")[i];
    if (state < 0 || state > last) {
      throw InvalidArgument("deltas.value[" + std::to_string(i) + "] is " + std::to_string(state) + ": no such state");
    }
    return state;
  }

  const ClusterState& state_;
  berth_deltas d_;
  std::size_t n_;
  Texts id_, text_;
  std::size_t n_progress_;
  EntryArrays entries_;
  Rows entry_rows_;
  std::optional<JobArrays> jobs_;
  io::PutJobs put_;
};

}  // namespace

void read_deltas(const berth_deltas* deltas, const ClusterState& state, std::vector<Delta>& out) {
  DeltaArrays arrays(deltas, state);
  out.clear();
  for (std::size_t i = 0; i < arrays.size(); ++i) out.push_back(arrays.delta(i, out));
}

}  // namespace berth::c
