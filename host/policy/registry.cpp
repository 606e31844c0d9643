#include <fmt/format.h>

#include <vector>

#include "berth/error.hpp"
#include "host/policy/params.hpp"

// One line per policy, sorted by name: `x` is x_policy() of host/policy/x.cpp.
#define BERTH_POLICIES(policy)                                                                                                    \
  policy(afs) policy(allox) policy(edf) policy(elastic_pollux) policy(fifo) policy(gandiva) policy(gavel_ftf) policy(gavel_las)   \
      policy(gavel_makespan) policy(gittins) policy(las) policy(ones) policy(ones_plus) policy(optimus) policy(pop) policy(price) \
          policy(priority) policy(qssf) policy(sia) policy(sjf) policy(srsf) policy(srtf) policy(themis) policy(tiresias)

namespace berth::policy {

#define BERTH_DECLARE(name) core::PolicyEntry name##_policy();
BERTH_POLICIES(BERTH_DECLARE)

}  // namespace berth::policy

namespace berth::core {

std::span<const PolicyEntry> policy_registry() {
#define BERTH_ENTRY(name) policy::name##_policy(),
  static const std::vector<PolicyEntry> entries{BERTH_POLICIES(BERTH_ENTRY)};
  return entries;
}

const PolicyEntry& find_policy(const std::string& name) {
  std::string known;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.info.name == name) return entry;
    known += (known.empty() ? "" : ", ") + entry.info.name;
  }
  throw InvalidArgument(fmt::format("unknown policy '{}' (known: {})", name, known));
}

const char* work_unit(const std::string& name) {
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.info.name == name) return entry.work != nullptr ? entry.work : entry.make != nullptr ? "job" : "evaluation";
  }
  return "step";
}

WalkRules walk_rules(const PolicyEntry& entry, const Params& params) {
  const policy::Settings settings(entry.info, params);
  const bool queue = entry.make != nullptr;  // shapes by price: what finds no place is passed over
  return {queue ? static_cast<kernel::Discipline>(settings.choice("discipline", {"hol", "skip", "easy"})) : kernel::Discipline::kSkip,
          static_cast<Placement>(settings.choice("packing", {"topology", "count", "consolidate"})),
          static_cast<std::int32_t>(settings.integer("max_tries", 1, 1'000'000)),
          entry.consolidation != nullptr ? std::optional(entry.consolidation(params)) : std::nullopt};
}

}  // namespace berth::core

namespace berth {

std::vector<PolicyInfo> policies() {
  std::vector<PolicyInfo> all;
  for (const core::PolicyEntry& entry : core::policy_registry()) all.push_back(entry.info);
  return all;
}

}  // namespace berth
