#include "host/io/kueue/kueue_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/kai/kai_json.hpp"
#include "host/io/kueue/quantity.hpp"

namespace berth::io::kueue {
namespace {

using kai::elements;
using kai::fields;
using kai::text;

constexpr std::string_view kApiGroup = "kueue.x-k8s.io/";
/// Quotas above this many GPUs are as good as none. Sums of them stay far below 64 bits.
constexpr std::int64_t kMostQuotaMilli = 1'000'000'000'000;

/// A quantity in thousandths; null: `missing`.
std::int64_t quantity(JsonCursor& in, std::int64_t missing) {
  if (in.type() == JsonType::kNull) {
    in.null();
    return missing;
  }
  const std::string number(in.type() == JsonType::kString ? in.string() : in.raw());
  const auto value = parse_quantity(number);
  if (!value) in.fail(fmt::format("expected a quantity such as 8 or 1500m, found {}", in.shown()));
  return std::min(*value, kMostQuotaMilli);
}

void read_flavor_quotas(JsonCursor& in, std::set<std::string>& seen, std::vector<FlavorQuota>& out) {
  std::string flavor;
  std::optional<FlavorQuota> gpus;
  const char* const at = in.next_mark();
  const auto resource = [&] {
    const char* const here = in.next_mark();
    std::string name;
    FlavorQuota one;
    fields(in, {{"name", [&] { name = text(in); }},
                {"nominalQuota", [&] { one.nominal_milli = quantity(in, 0); }},
                {"borrowingLimit", [&] { one.borrowing_milli = quantity(in, kUnlimited); }},
                {"lendingLimit", [&] { one.lending_milli = quantity(in, kUnlimited); }}});
    if (name != kGpuResource) return;
    if (gpus) in.fail_at(here, fmt::format("a second quota of {} in one flavor", kGpuResource));
    gpus = one;
  };
  fields(in, {{"name", [&] { flavor = text(in); }}, {"resources", [&] { elements(in, resource); }}});
  if (!gpus) return;
  if (flavor.empty()) in.fail_at(at, "a flavor without a name");
  if (!seen.insert(flavor).second) in.fail_at(at, fmt::format("a second quota of flavor '{}'", cut_utf8(flavor, 60)));
  gpus->flavor = flavor;
  out.push_back(std::move(*gpus));
}

void read_resource_groups(JsonCursor& in, std::vector<FlavorQuota>& out) {
  std::set<std::string> seen;
  elements(in, [&] { fields(in, {{"flavors", [&] { elements(in, [&] { read_flavor_quotas(in, seen, out); }); }}}); });
}

/// The weight of fair sharing in millionths.
void read_weight(JsonCursor& in, std::int64_t& weight_micro) {
  fields(in, {{"weight", [&] { weight_micro = quantity(in, 1000) * 1000; }}});
}

ReclaimPolicy reclaim_policy(JsonCursor& in) {
  const std::string value = text(in);
  if (value.empty() || value == "Never") return ReclaimPolicy::kNever;
  if (value == "LowerPriority") return ReclaimPolicy::kLowerPriority;
  if (value == "Any") return ReclaimPolicy::kAny;
  in.fail(fmt::format("reclaimWithinCohort is Never, LowerPriority or Any, not {}", in.shown()));
}

WithinPolicy within_policy(JsonCursor& in) {
  const std::string value = text(in);
  if (value.empty() || value == "Never") return WithinPolicy::kNever;
  if (value == "LowerPriority") return WithinPolicy::kLowerPriority;
  if (value == "LowerOrNewerEqualPriority") return WithinPolicy::kLowerOrNewer;
  in.fail(fmt::format("withinClusterQueue is Never, LowerPriority or LowerOrNewerEqualPriority, not {}", in.shown()));
}

bool stops(JsonCursor& in) {
  const std::string policy = text(in);
  return policy == "Hold" || policy == "HoldAndDrain";
}

bool any_element(JsonCursor& in) {
  bool any = false;
  elements(in, [&] {
    in.raw();
    any = true;
  });
  return any;
}

void read_preemption(JsonCursor& in, ClusterQueueObject& queue) {
  const auto borrow = [&] { fields(in, {{"policy", [&] { queue.borrow_and_preempt = text(in) == "LowerPriority"; }}}); };
  fields(in, {{"reclaimWithinCohort", [&] { queue.reclaim = reclaim_policy(in); }},
              {"withinClusterQueue", [&] { queue.within = within_policy(in); }},
              {"borrowWithinCohort", borrow}});
}

void read_cluster_queue(JsonCursor& in, ClusterQueueObject& queue, KaiMeta& meta) {
  const auto selector = [&] {
    if (in.type() == JsonType::kNull) return in.null();
    queue.selects_namespaces = true;
    fields(in, {{"matchLabels", [&] { queue.namespaces_by_label = !kai::texts(in).empty() || queue.namespaces_by_label; }},
                {"matchExpressions", [&] { queue.namespaces_by_label = any_element(in) || queue.namespaces_by_label; }}});
  };
  const auto fungibility = [&] {
    fields(in, {{"whenCanBorrow", [&] { queue.next_flavor_before_borrowing = text(in) == "TryNextFlavor"; }}});
  };
  const auto checks = [&] {
    fields(in, {{"admissionChecks", [&] { queue.admission_checks = any_element(in) || queue.admission_checks; }}});
  };
  std::string cohort, older;
  const auto spec = [&] {
    fields(in, {{"cohortName", [&] { cohort = text(in); }},
                {"cohort", [&] { older = text(in); }},
                {"resourceGroups", [&] { read_resource_groups(in, queue.quotas); }},
                {"fairSharing", [&] { read_weight(in, queue.weight_micro); }},
                {"preemption", [&] { read_preemption(in, queue); }},
                {"flavorFungibility", fungibility},
                {"queueingStrategy", [&] { queue.strict = text(in) == "StrictFIFO"; }},
                {"stopPolicy", [&] { queue.stopped = stops(in); }},
                {"namespaceSelector", selector},
                {"admissionChecks", [&] { queue.admission_checks = any_element(in) || queue.admission_checks; }},
                {"admissionChecksStrategy", checks}});
  };
  fields(in, {{"metadata", [&] { meta = kai::meta(in); }}, {"spec", spec}});
  queue.name = meta.name;
  queue.cohort = cohort.empty() ? older : cohort;
}

void read_cohort(JsonCursor& in, CohortObject& cohort, KaiMeta& meta) {
  std::string parent, older;
  const auto spec = [&] {
    fields(in, {{"parentName", [&] { parent = text(in); }},
                {"parent", [&] { older = text(in); }},
                {"resourceGroups", [&] { read_resource_groups(in, cohort.quotas); }},
                {"fairSharing", [&] { read_weight(in, cohort.weight_micro); }}});
  };
  fields(in, {{"metadata", [&] { meta = kai::meta(in); }}, {"spec", spec}});
  cohort.name = meta.name;
  cohort.parent = parent.empty() ? older : parent;
}

void read_flavor(JsonCursor& in, FlavorObject& flavor, KaiMeta& meta) {
  const auto taint = [&] { elements(in, [&] { fields(in, {{"key", [&] { flavor.tolerated.push_back(text(in)); }}}); }); };
  const auto toleration = [&] {
    elements(in, [&] {
      std::string key, op;
      fields(in, {{"key", [&] { key = text(in); }}, {"operator", [&] { op = text(in); }}});
      if (!key.empty() || op == "Exists") flavor.tolerated.push_back(key);
    });
  };
  const auto spec = [&] {
    fields(in, {{"nodeLabels", [&] { flavor.labels = kai::texts(in); }},
                {"nodeTaints", taint},  // a workload that gets the flavor tolerates its taints
                {"tolerations", toleration},
                {"topologyName", [&] { flavor.topology = text(in); }}});
  };
  fields(in, {{"metadata", [&] { meta = kai::meta(in); }}, {"spec", spec}});
  flavor.name = meta.name;
}

void read_local_queue(JsonCursor& in, LocalQueueObject& queue, KaiMeta& meta) {
  const auto spec = [&] {
    fields(in, {{"clusterQueue", [&] { queue.cluster_queue = text(in); }}, {"stopPolicy", [&] { queue.stopped = stops(in); }}});
  };
  fields(in, {{"metadata", [&] { meta = kai::meta(in); }}, {"spec", spec}});
  queue.path = meta.path();
}

void check_meta(const JsonCursor& in, const char* at, const KaiMeta& meta) {
  if (meta.name.empty()) in.fail_at(at, "an object without metadata.name");
  const std::string problem = name_problem(meta.path());
  if (!problem.empty()) in.fail_at(at, "metadata.name: " + problem);
}

/// Names that other objects have must be names, too: they may become ids without an object of that name.
void check_reference(const JsonCursor& in, const char* at, const std::string& name) {
  const std::string problem = name_problem(name);
  if (!problem.empty()) in.fail_at(at, problem);
}

}  // namespace

void read_kueue_objects(const std::string& text, const std::string& file, KueueObjects& out, ImportNotes& notes) {
  const auto further = [&](JsonCursor& in, std::string_view kind, std::string_view group, const ObjectPlace& place) {
    const char* const at = in.next_mark();
    const bool is_pod = kind == "Pod" && (group.empty() || group == "v1");
    if (!is_pod && !group.empty() && group.substr(0, kApiGroup.size()) != kApiGroup) return false;
    KaiMeta meta;
    if (is_pod) {
      kai::read_pod(in, out.pods.emplace_back());
      meta = out.pods.back().meta;
      out.now_us = std::max(out.now_us, out.pods.back().start_us);
    } else if (kind == "ClusterQueue") {
      read_cluster_queue(in, out.cluster_queues.emplace_back(), meta);
      out.cluster_queues.back().at = place;
      check_reference(in, at, out.cluster_queues.back().cohort);
    } else if (kind == "Cohort") {
      read_cohort(in, out.cohorts.emplace_back(), meta);
      out.cohorts.back().at = place;
      check_reference(in, at, out.cohorts.back().parent);
    } else if (kind == "ResourceFlavor") {
      read_flavor(in, out.flavors.emplace_back(), meta);
      out.flavors.back().at = place;
    } else if (kind == "LocalQueue") {
      read_local_queue(in, out.local_queues.emplace_back(), meta);
      out.local_queues.back().at = place;
    } else if (kind == "Workload") {
      read_workload(in, out.workloads.emplace_back(), out.now_us);
      out.workloads.back().at = place;
      meta = out.workloads.back().meta;
    } else {
      return false;
    }
    check_meta(in, at, meta);
    out.now_us = std::max(out.now_us, meta.created_us);
    return true;
  };
  read_kubernetes_objects(text, file, out.cluster, notes, further);
}

namespace {

template <class T, class Name>
void order_by_name(std::vector<T>& list, const char* kind, const Name& name) {
  std::stable_sort(list.begin(), list.end(), [&](const T& a, const T& b) { return name(a) < name(b); });
  const auto twice = std::adjacent_find(list.begin(), list.end(), [&](const T& a, const T& b) { return name(a) == name(b); });
  if (twice == list.end()) return;
  const ObjectPlace& at = std::next(twice)->at;
  fail_topology(at.file, at.line, fmt::format("duplicate {} '{}'", kind, cut_utf8(name(*twice), 60)));
}

}  // namespace

void order_kueue_objects(KueueObjects& objects) {
  order_by_name(objects.cluster_queues, "ClusterQueue", [](const ClusterQueueObject& one) { return one.name; });
  order_by_name(objects.cohorts, "Cohort", [](const CohortObject& one) { return one.name; });
  order_by_name(objects.flavors, "ResourceFlavor", [](const FlavorObject& one) { return one.name; });
  order_by_name(objects.local_queues, "LocalQueue", [](const LocalQueueObject& one) { return one.path; });
  order_by_name(objects.workloads, "Workload", [](const WorkloadObject& one) { return one.meta.path(); });
  for (const auto& [node, at] : objects.cluster.nodes) objects.now_us = std::max(objects.now_us, node.meta.created_us);
}

}  // namespace berth::io::kueue
