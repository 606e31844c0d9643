#include "host/io/slurm/slurm_switches.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace berth::io {

SlurmSwitches::SlurmSwitches(std::span<const Domain> domains) {
  const auto path = [](const Domain& domain) { return domain.parent.empty() ? domain.id : domain.parent + "/" + domain.id; };
  std::unordered_set<std::string> parents;
  std::unordered_map<std::string, std::int64_t> below;  // leaf switches of each switch
  for (const Domain& domain : domains) {
    if (domain.topology == TopologyKind::kSwitch) parents.insert(domain.parent);
  }
  for (const Domain& domain : domains) {
    const std::string own = path(domain);
    if (domain.topology != TopologyKind::kSwitch || parents.count(own) != 0) continue;
    for (std::size_t end = own.size(); end != own.npos; end = end == 0 ? own.npos : own.rfind('/', end - 1)) ++below[own.substr(0, end)];
  }
  for (const Domain& domain : domains) {
    if (domain.topology != TopologyKind::kSwitch) continue;
    std::int64_t& most = leaves_[domain.level];
    most = std::max(most, below[path(domain)]);
  }
}

SlurmSwitches::Level SlurmSwitches::level_of(std::int64_t switches) const {
  Level best;
  for (const auto& [name, leaves] : leaves_) {
    if (leaves <= switches && leaves > best.leaves) best = {name, leaves};
  }
  return best;
}

}  // namespace berth::io
