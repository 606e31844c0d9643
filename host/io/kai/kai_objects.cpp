#include "host/io/kai/kai_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "host/core/check/check_snapshot.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/kai/kai_json.hpp"

namespace berth::io {
namespace kai {
namespace {

void read_taint(JsonCursor& in, KaiNode& node) {
  std::string name, effect;
  fields(in, {{"key", [&] { name = text(in); }}, {"effect", [&] { effect = text(in); }}});
  if (effect == "NoSchedule" || effect == "NoExecute") node.taints.push_back(name);
}

void read_condition(JsonCursor& in, KaiNode& node) {
  std::string type, status;
  fields(in, {{"type", [&] { type = text(in); }}, {"status", [&] { status = text(in); }}});
  if (type == "Ready") node.ready = status == "True";
}

}  // namespace

void read_node(JsonCursor& in, KaiNode& node) {
  std::optional<Resources> allocatable;
  const auto spec = [&] {
    fields(in,
           {{"unschedulable", [&] { node.unschedulable = flag(in); }}, {"taints", [&] { elements(in, [&] { read_taint(in, node); }); }}});
  };
  const auto status = [&] {
    fields(in, {{"capacity", [&] { node.capacity = resources(in).gpus; }},
                {"allocatable", [&] { allocatable = resources(in); }},
                {"conditions", [&] { elements(in, [&] { read_condition(in, node); }); }}});
  };
  fields(in, {{"metadata", [&] { node.meta = meta(in); }}, {"spec", spec}, {"status", status}});
  node.allocatable = allocatable ? allocatable->gpus : node.capacity;
  node.mig = allocatable && allocatable->mig;
  node.capacity = std::max(node.capacity, node.allocatable);
}

std::vector<std::string> read_levels(JsonCursor& in) {
  std::vector<std::string> levels;
  const auto level = [&] { fields(in, {{"nodeLabel", [&] { levels.push_back(text(in)); }}}); };
  fields(in, {{"levels", [&] { elements(in, level); }}});
  return levels;
}

namespace {

/// GPUs in millionths, or kUnlimited for -1.
std::int64_t gpu_quantity(JsonCursor& in) {
  const std::string_view number = in.raw();
  if (number == "-1") return kUnlimited;
  const auto value = parse_measured(number, 6);
  if (!value || *value > kMaxBytes) in.fail(fmt::format("expected GPUs, or -1 for no limit, found {}", in.shown()));
  return *value;
}

void read_queue(JsonCursor& in, KaiQueue& queue) {
  const auto quota = [&] { queue.quota_micro = gpu_quantity(in); };
  const auto gpu = [&] {
    queue.has_gpu = true;
    fields(in, {{"quota", quota}, {"deserved", quota}, {"limit", [&] { queue.limit_micro = gpu_quantity(in); }}, {"overQuotaWeight", [&] {
                                                                                                                    queue.weight_micro =
                                                                                                                        gpu_quantity(in);
                                                                                                                  }}});
  };
  const auto spec = [&] {
    fields(in, {{"parentQueue",
                 [&] {
                   queue.parent_at = in.next_mark();
                   queue.parent = text(in);
                 }},
                {"preemptMinRuntime", [&] { queue.preempt_after_us = duration(in); }},
                {"reclaimMinRuntime", [&] { queue.reclaim_after_us = duration(in); }},
                {"priority", [&] { queue.has_priority = in.raw() != "null"; }},
                {"resources", [&] {
                   fields(in, {{"gpu", gpu}});
                 }}});
  };
  fields(in, {{"metadata", [&] { queue.meta = meta(in); }}, {"spec", spec}});
}

void read_priority_class(JsonCursor& in, KaiObjects& out) {
  const char* const where = in.next_mark();
  std::string name;
  std::int64_t value = 0;
  fields(in, {{"metadata", [&] { name = meta(in).name; }}, {"value", [&] { value = in.integer(INT32_MIN, INT32_MAX); }}});
  if (!out.priorities.emplace(name, value).second) in.fail_at(where, fmt::format("duplicate name '{}'", name));
}

void read_topology(JsonCursor& in, KaiObjects& out) {
  const char* const where = in.next_mark();
  std::string name;
  std::vector<std::string> levels;
  fields(in, {{"metadata", [&] { name = meta(in).name; }}, {"spec", [&] { levels = read_levels(in); }}});
  if (!out.topologies.emplace(name, std::move(levels)).second) in.fail_at(where, fmt::format("duplicate name '{}'", name));
}

/// A list of objects by (namespace, name), which must be unique.
template <class T>
void read_named(JsonCursor& in, std::vector<T>& out, void (*read)(JsonCursor&, T&)) {
  const char* const list = in.next_mark();
  elements(in, [&] {
    const char* const where = in.next_mark();
    read(in, out.emplace_back());
    if (out.back().meta.name.empty()) in.fail_at(where, "an object without metadata.name");
  });
  std::sort(out.begin(), out.end(), [](const T& a, const T& b) { return a.meta.path() < b.meta.path(); });
  const auto twice = std::adjacent_find(out.begin(), out.end(), [](const T& a, const T& b) { return a.meta.path() == b.meta.path(); });
  if (twice != out.end()) in.fail_at(list, fmt::format("duplicate name '{}'", twice->meta.path()));
}

/// Checks that the queues form a tree here, because errors of the generated snapshot have no position in the file.
void check_queues(const JsonCursor& in, const std::vector<KaiQueue>& queues) {
  std::map<std::string_view, const KaiQueue*> by_name;
  for (const KaiQueue& queue : queues) by_name.emplace(queue.meta.name, &queue);
  const auto parent_of = [&](const KaiQueue* queue) {
    const auto found = by_name.find(queue->parent);
    return queue->parent.empty() || found == by_name.end() ? nullptr : found->second;
  };
  const auto above = [&](const KaiQueue& queue, int most) {  // an ancestor, N levels up at most, or null
    const KaiQueue* at = parent_of(&queue);
    for (int i = 1; at != nullptr && at != &queue && i < most; ++i) at = parent_of(at);
    return at;
  };
  for (const KaiQueue& queue : queues) {
    if (above(queue, core::kMostQueueDepth) == &queue)
      in.fail_at(queue.parent_at, fmt::format("queue '{}' is its own ancestor", queue.meta.name));
  }
  for (const KaiQueue& queue : queues) {
    if (above(queue, core::kMostQueueDepth) != nullptr)
      in.fail_at(queue.parent_at, fmt::format("more than {} queues stand above one another", core::kMostQueueDepth));
  }
}

void read_raw_objects(JsonCursor& in, KaiObjects& out) {
  fields(in, {{"nodes", [&] { read_named(in, out.nodes, read_node); }},
              {"queues",
               [&] {
                 read_named(in, out.queues, read_queue);
                 check_queues(in, out.queues);
               }},
              {"podGroups", [&] { read_named(in, out.pod_groups, read_pod_group); }},
              {"pods", [&] { read_named(in, out.pods, read_pod); }},
              {"bindRequests", [&] { read_named(in, out.bind_requests, read_bind_request); }},
              {"priorityClasses", [&] { elements(in, [&] { read_priority_class(in, out); }); }},
              {"topologies", [&] { elements(in, [&] { read_topology(in, out); }); }}});
}

}  // namespace
}  // namespace kai

KaiObjects read_kai_objects(std::string_view json, const std::string& name) {
  KaiObjects out;
  JsonCursor in(json, name);
  const char* const where = in.next_mark();
  bool found = false;
  in.object([&](std::string_view key) {
    if (key != "rawObjects") {
      in.raw();
      return;
    }
    if (found) in.fail("duplicate field 'rawObjects'");
    found = true;
    kai::read_raw_objects(in, out);
  });
  in.finish();
  if (!found) in.fail_at(where, "the field 'rawObjects' is missing: this is no snapshot of KAI-Scheduler");
  return out;
}

}  // namespace berth::io
