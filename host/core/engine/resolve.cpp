#include "host/core/engine/resolve.hpp"

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/base/names.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

std::int32_t job_of(const StateImpl& s, const std::string& id) {
  const auto found = s.index_of_job.find(id);
  if (found == s.index_of_job.end()) throw InvalidArgument("unknown job '" + id + "'");
  return found->second;
}

std::int32_t node_of(const StateImpl& s, const std::string& id) {
  const auto found = s.node_rank.find(id);
  if (found == s.node_rank.end()) throw InvalidArgument("unknown node '" + id + "'");
  return found->second;
}

std::int32_t level_of(const StateImpl& s, const LevelRef& level) {
  const std::int32_t found = s.topologies.level(level.topology, level.level);
  if (found >= 0) return found;
  const auto topology = static_cast<std::int32_t>(level.topology);
  std::string known;
  for (std::int32_t l = 0; l < s.topologies.levels(topology); ++l) known += (l == 0 ? "" : ", ") + s.topologies.level_name(topology, l);
  throw InvalidArgument("unknown level '" + level.level + "' of topology " + std::string(name(level.topology)) + " (known: " + known + ")");
}

void taken_of(const StateImpl& s, std::span<const TakenGpus> taken, std::vector<kernel::TakenRow>& out) {
  out.clear();
  for (const TakenGpus& one : taken) {
    const std::int32_t node = node_of(s, one.node);
    const auto n = static_cast<std::size_t>(node);
    const std::uint64_t mask = one.gpus & (s.node.free[n] | s.node.spare[n]);
    if (mask != 0) out.push_back({node, mask});
  }
  std::sort(out.begin(), out.end(), [](const kernel::TakenRow& a, const kernel::TakenRow& b) { return a.node < b.node; });
  // The pass clears rows in parallel, so no two may be of one node.
  std::size_t n = 0;
  for (const kernel::TakenRow& row : out) {
    if (n > 0 && out[n - 1].node == row.node) {
      out[n - 1].mask |= row.mask;
    } else {
      out[n++] = row;
    }
  }
  out.resize(n);
}

}  // namespace berth::core
