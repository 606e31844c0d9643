#include "host/core/resolve.hpp"

#include <algorithm>

#include "berth/error.hpp"
#include "host/core/names.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {

std::int32_t job_of(const StateImpl& s, const std::string& id) {
  const auto found = s.job_slot.find(id);
  if (found == s.job_slot.end()) throw InvalidArgument("unknown job '" + id + "'");
  return found->second;
}

std::int32_t node_of(const StateImpl& s, const std::string& id) {
  const auto found = s.node_rank.find(id);
  if (found == s.node_rank.end()) throw InvalidArgument("unknown node '" + id + "'");
  return found->second;
}

std::int32_t level_of(const StateImpl& s, const LevelRef& level) {
  const std::int32_t found = s.topology.level(level.facet, level.level);
  if (found >= 0) return found;
  const auto facet = static_cast<std::int32_t>(level.facet);
  std::string known;
  for (std::int32_t l = 0; l < s.topology.levels(facet); ++l) known += (l == 0 ? "" : ", ") + s.topology.level_name(facet, l);
  throw InvalidArgument("unknown level '" + level.level + "' of facet " + std::string(name(level.facet)) + " (known: " + known + ")");
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
  // Rows of a walk are cleared side by side, so no two may be of one node.
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
