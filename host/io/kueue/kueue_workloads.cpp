#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/kai/kai_json.hpp"
#include "host/io/kueue/kueue_objects.hpp"

namespace berth::io::kueue {
namespace {

using kai::elements;
using kai::fields;
using kai::text;

/// Domains of one assignment. Kueue's own most is 1000 slices of 100,000 domains.
constexpr std::int64_t kMostDomains = 1'000'000;

std::int64_t seconds(JsonCursor& in) {
  if (in.type() != JsonType::kNull) return in.integer(0, INT32_MAX);
  in.null();
  return 0;
}

void read_request(JsonCursor& in, PodSetObject& set) {
  fields(in, {{"required", [&] { set.required = text(in); }},
              {"preferred", [&] { set.preferred = text(in); }},
              {"podSetGroupName", [&] { set.group = text(in); }},
              {"podSetSliceRequiredTopology", [&] { set.slice_level = text(in); }},
              {"podSetSliceSize", [&] { set.slice_size = kai::count(in); }}});
}

void read_pod_set(JsonCursor& in, PodSetObject& set) {
  fields(in, {{"name", [&] { set.name = text(in); }},
              {"count", [&] { set.count = kai::count(in); }},
              {"minCount",
               [&] {
                 if (in.type() == JsonType::kNull) return in.null();
                 set.min_count = kai::count(in);
               }},
              {"template", [&] { kai::read_pod(in, set.pod); }},
              {"topologyRequest", [&] { read_request(in, set); }}});
}

/// One level's values in a slice: all the same, or with a common prefix and suffix.
struct LevelValues {
  std::string universal, prefix, suffix;
  std::vector<std::string> roots;
};

void read_slice(JsonCursor& in, PodSetAssigned& out) {
  const char* const at = in.next_mark();
  std::int64_t domains = 0;
  std::optional<std::int64_t> everywhere;
  std::vector<std::int64_t> counts;
  std::vector<LevelValues> levels;
  const auto level = [&] {
    LevelValues& one = levels.emplace_back();
    fields(in, {{"universalValue", [&] { one.universal = text(in); }},
                {"prefix", [&] { one.prefix = text(in); }},
                {"suffix", [&] { one.suffix = text(in); }},
                {"roots", [&] { elements(in, [&] { one.roots.push_back(text(in)); }); }}});
  };
  fields(in, {{"domainCount", [&] { domains = kai::count(in); }},
              {"valuesPerLevel", [&] { elements(in, level); }},
              {"podCounts", [&] { elements(in, [&] { counts.push_back(kai::count(in)); }); }},
              {"universalPodCount", [&] {
                 if (in.type() == JsonType::kNull) return in.null();
                 everywhere = kai::count(in);
               }}});
  const auto n = static_cast<std::size_t>(domains);
  if (domains > kMostDomains - static_cast<std::int64_t>(out.domains.size()))
    in.fail_at(at, fmt::format("more than {} domains in one topologyAssignment", kMostDomains));
  if (everywhere ? !counts.empty() : counts.size() != n)
    in.fail_at(at, fmt::format("a slice of {} domains needs as many podCounts, or universalPodCount", domains));
  for (const LevelValues& one : levels) {
    if (one.universal.empty() ? one.roots.size() != n : !one.roots.empty())
      in.fail_at(at, fmt::format("a slice of {} domains needs as many roots, or universalValue", domains));
  }
  for (std::size_t d = 0; d < n; ++d) {
    DomainPods& pods = out.domains.emplace_back();
    pods.count = everywhere ? *everywhere : counts[d];
    for (const LevelValues& one : levels)
      pods.values.push_back(one.universal.empty() ? one.prefix + one.roots[d] + one.suffix : one.universal);
  }
}

void read_topology_assignment(JsonCursor& in, PodSetAssigned& out) {
  const char* const at = in.next_mark();
  const auto domain = [&] {
    DomainPods& one = out.domains.emplace_back();
    fields(in,
           {{"values", [&] { elements(in, [&] { one.values.push_back(text(in)); }); }}, {"count", [&] { one.count = kai::count(in); }}});
  };
  fields(in, {{"levels", [&] { elements(in, [&] { out.levels.push_back(text(in)); }); }},
              {"domains", [&] { elements(in, domain); }},                         // v1beta1
              {"slices", [&] { elements(in, [&] { read_slice(in, out); }); }}});  // v1beta2
  if (!out.domains.empty() && out.levels.empty()) in.fail_at(at, "a topologyAssignment without levels");
  for (const DomainPods& one : out.domains) {
    if (one.values.size() != out.levels.size())
      in.fail_at(at, fmt::format("a domain has {} values, and there are {} levels", one.values.size(), out.levels.size()));
  }
}

void read_assignment(JsonCursor& in, WorkloadObject& workload) {
  const char* const at = in.next_mark();
  std::string name = "main";
  PodSetAssigned one;
  const auto flavors = [&] {
    const KaiTexts all = kai::texts(in);
    const auto found = all.find(std::string(kGpuResource));
    if (found != all.end()) one.flavor = found->second;
  };
  fields(in, {{"name", [&] { name = text(in); }},
              {"flavors", flavors},
              {"count",
               [&] {
                 if (in.type() == JsonType::kNull) return in.null();
                 one.count = kai::count(in);
               }},
              {"topologyAssignment", [&] { read_topology_assignment(in, one); }}});
  if (!workload.assigned.emplace(name, std::move(one)).second) in.fail_at(at, "a podset is assigned twice");
}

void read_condition(JsonCursor& in, WorkloadObject& workload, TimeUs& latest) {
  std::string type;
  ConditionObject one;
  fields(in, {{"type", [&] { type = text(in); }}, {"status", [&] { one.holds = text(in) == "True"; }}, {"lastTransitionTime", [&] {
                                                                                                          one.since_us = kai::instant(in);
                                                                                                        }}});
  latest = std::max(latest, one.since_us);
  workload.conditions[type] = one;
}

void read_status(JsonCursor& in, WorkloadObject& workload, TimeUs& latest) {
  const auto admission = [&] {
    if (in.type() == JsonType::kNull) return in.null();
    workload.admitted = true;
    fields(in, {{"clusterQueue", [&] { workload.cluster_queue = text(in); }},
                {"podSetAssignments", [&] { elements(in, [&] { read_assignment(in, workload); }); }}});
  };
  const auto reclaimable = [&] {
    std::string name;
    std::int64_t n = 0;
    fields(in, {{"name", [&] { name = text(in); }}, {"count", [&] { n = kai::count(in); }}});
    workload.reclaimable[name] = n;
  };
  const auto requeue = [&] {
    fields(in, {{"count", [&] { workload.restarts = kai::count(in); }}, {"requeueAt", [&] { workload.requeue_at_us = kai::instant(in); }}});
  };
  const auto before = [&] { workload.ran_before_s = seconds(in); };
  fields(in, {{"admission", admission},
              {"conditions", [&] { elements(in, [&] { read_condition(in, workload, latest); }); }},
              {"reclaimablePods", [&] { elements(in, reclaimable); }},
              {"requeueState", requeue},
              {"clusterName", [&] { workload.other_cluster = text(in); }},
              {"accumulatedPastExecutionTimeSeconds", before},     // v1beta2
              {"accumulatedPastExexcutionTimeSeconds", before}});  // v1beta1, as it is spelled there
}

}  // namespace

void read_workload(JsonCursor& in, WorkloadObject& workload, TimeUs& latest) {
  const char* const at = in.next_mark();
  const auto spec = [&] {
    fields(in, {{"queueName", [&] { workload.queue = text(in); }},
                {"priority",
                 [&] {
                   if (in.type() == JsonType::kNull) return in.null();
                   workload.priority = in.integer(INT32_MIN, INT32_MAX);
                 }},
                {"active",
                 [&] {
                   if (in.type() == JsonType::kNull) return in.null();
                   workload.active = in.boolean();
                 }},
                {"maximumExecutionTimeSeconds", [&] { workload.longest_s = seconds(in); }},
                {"podSets", [&] { elements(in, [&] { read_pod_set(in, workload.pod_sets.emplace_back()); }); }}});
  };
  fields(in,
         {{"metadata", [&] { workload.meta = kai::meta(in); }}, {"spec", spec}, {"status", [&] { read_status(in, workload, latest); }}});
  std::set<std::string_view> names;
  for (const PodSetObject& one : workload.pod_sets) {
    if (!names.insert(one.name).second) in.fail_at(at, "two podsets of one name");
    for (const std::string& name : {one.name, one.group}) {
      const std::string problem = name_problem(name);
      if (!problem.empty()) in.fail_at(at, "a podset's name: " + problem);
    }
    if (one.name.empty()) in.fail_at(at, "a podset without a name");
    if (one.min_count && *one.min_count > one.count) in.fail_at(at, "a podset with minCount above count");
  }
}

}  // namespace berth::io::kueue
