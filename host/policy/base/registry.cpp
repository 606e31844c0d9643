#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/policy_api/shape_rule.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {

#define POLICY(folder, name) core::PolicyEntry name##_policy();
#include "host/policy/base/policies.def"
#undef POLICY

namespace {

constexpr std::string_view kDisciplines[]{"strict", "greedy", "easy", "conservative"};

// What follows from the rest of an entry.
core::PolicyEntry complete(core::PolicyEntry entry) {
  entry.info.discipline = kDisciplines[static_cast<std::size_t>(entry.discipline)];
  entry.info.preemptive = entry.preemptive;
  if (entry.counted_admission) {
    entry.info.params.push_back({"admission", "place",
                                 "place: a job runs that finds a place; count: one that could run if places did not matter, and no other, "
                                 "as Helios' and Lucid's srtf do"});
  }
  if (entry.make != nullptr && entry.preemptive) {
    entry.info.params.push_back({"over_limit", "wait",
                                 "wait: jobs of a queue above a lowered limit displace none; displace: those that come first displace jobs "
                                 "of the same queue, down to the limit"});
  }
  if (entry.make != nullptr) entry.info.params = with_common(entry.info.discipline, std::move(entry.info.params));
  if (entry.delays == nullptr) {
    for (PolicyParam& param : timers_parameters()) entry.info.params.push_back(std::move(param));
  }
  return entry;
}

}  // namespace
}  // namespace berth::policy

namespace berth::core {

std::span<const PolicyEntry> policy_registry() {
#define POLICY(folder, name) policy::complete(policy::name##_policy()),
  static const std::vector<PolicyEntry> entries{
#include "host/policy/base/policies.def"
  };
#undef POLICY
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

PassRules pass_rules(const PolicyEntry& entry, const Params& params) {
  const policy::Settings settings(entry.info, params);
  const bool queue = entry.make != nullptr;  // shapes by price: what finds no place is passed over
  const bool by_count = entry.counted_admission && settings.choice("admission", {"place", "count"}) == 1;
  if (by_count && settings.text("discipline") != "greedy") {
    throw InvalidArgument(fmt::format("policy '{}': admission=count needs discipline=greedy", entry.info.name));
  }
  const auto packing = static_cast<Packing>(settings.choice("packing", {"topology", "count", "consolidate", "emptiest", "contention"}));
  // All others would wait with a gang that waits for a better place.
  if (queue && packing == Packing::kContention && settings.text("discipline") == "strict") {
    throw InvalidArgument(fmt::format("policy '{}': packing=contention needs another discipline than strict", entry.info.name));
  }
  const std::int64_t sharing_ppm = entry.sharing != nullptr ? entry.sharing(params) : 0;
  const auto discipline =
      queue ? static_cast<kernel::Discipline>(settings.choice("discipline", std::span<const std::string_view>(policy::kDisciplines)))
            : kernel::Discipline::kGreedy;
  const std::optional<DelayRule> delays = entry.delays != nullptr ? entry.delays(params) : policy::timers_rule(settings);
  // What is reserved, or waits for a place, would be taken by jobs that join others. Those behind the first of a strict order would wait
  // for one that has joined others.
  if (sharing_ppm > 0 && (discipline != kernel::Discipline::kGreedy || packing == Packing::kContention || delays)) {
    throw InvalidArgument(
        fmt::format("policy '{}': sharing needs discipline=greedy, timers=none, and another packing than contention", entry.info.name));
  }
  return {discipline,
          packing,
          static_cast<std::int32_t>(settings.integer("max_tries", 1, 1'000'000)),
          entry.consolidation != nullptr ? entry.consolidation(params) : std::nullopt,
          by_count,
          policy::quotas_of(settings),
          delays,
          sharing_ppm,
          entry.make != nullptr && entry.preemptive && settings.choice("over_limit", {"wait", "displace"}) == 1};
}

ShapeRule shape_rule(const PolicyEntry& entry, const Params& params) {
  if (entry.make == nullptr) return ShapeRule::kLeastGpuTime;
  const policy::Settings settings(entry.info, params);
  return static_cast<ShapeRule>(settings.choice("shape", {"requested", "least_gpu_time", "largest"}));
}

}  // namespace berth::core

namespace berth {

std::vector<PolicyInfo> policies() {
  std::vector<PolicyInfo> all;
  for (const core::PolicyEntry& entry : core::policy_registry()) all.push_back(entry.info);
  return all;
}

}  // namespace berth
