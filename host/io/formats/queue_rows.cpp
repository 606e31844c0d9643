#include "host/io/formats/queue_rows.hpp"

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::io {

std::vector<QueueRow> queue_rows(const ClusterState& state, const std::vector<QueueStanding>& standings) {
  const StateView view(state);
  std::vector<QueueRow> rows;
  rows.reserve(standings.size());
  for (const QueueStanding& one : standings) {
    rows.push_back({view.queues()[to_index(one.queue)].id, one.gpu_type < 0 ? "*" : view.gpu_types()[to_index(one.gpu_type)].id, one});
  }
  return rows;
}

}  // namespace berth::io
