#include <algorithm>

#include "host/io/kai/kai_json.hpp"

namespace berth::io::kai {
namespace {

KaiTopologyConstraint topology_constraint(JsonCursor& in) {
  KaiTopologyConstraint out;
  fields(in, {{"topology", [&] { out.topology = text(in); }},
              {"requiredTopologyLevel", [&] { out.required = text(in); }},
              {"preferredTopologyLevel", [&] { out.preferred = text(in); }}});
  return out;
}

void read_sub_group(JsonCursor& in, KaiSubGroup& group) {
  fields(in, {{"name", [&] { group.name = text(in); }},
              {"parent", [&] { group.parent = text(in); }},
              {"minMember", [&] { group.min_member = count(in); }},
              {"topologyConstraint", [&] { group.topology = topology_constraint(in); }}});
}

/// A container states requests, limits or both, which are equal for GPUs.
Resources container(JsonCursor& in) {
  Resources most;
  const auto take = [&] {
    const Resources one = resources(in);
    most = {std::max(most.gpus, one.gpus), most.mig || one.mig};
  };
  fields(in, {{"resources", [&] { fields(in, {{"requests", take}, {"limits", take}}); }}});
  return most;
}

void read_pod_spec(JsonCursor& in, KaiPod& pod) {
  std::int64_t together = 0, largest_init = 0;
  const auto containers = [&](bool init) {
    elements(in, [&] {
      const Resources one = container(in);
      pod.mig = pod.mig || one.mig;
      if (init) {
        largest_init = std::max(largest_init, one.gpus);  // init containers run one after another, before the others
      } else {
        together += one.gpus;
      }
    });
  };
  fields(in, {{"nodeName", [&] { pod.node = text(in); }},
              {"nodeSelector", [&] { pod.node_selector = texts(in); }},
              {"affinity",
               [&] {
                 const std::string_view json = in.raw();
                 pod.affinity = json != "null" && json != "{}";
               }},
              {"resourceClaims",
               [&] {
                 elements(in, [&] {
                   in.raw();
                   pod.claims = true;
                 });
               }},
              {"containers", [&] { containers(false); }},
              {"initContainers", [&] { containers(true); }}});
  pod.gpus = std::max(together, largest_init);
}

}  // namespace

void read_pod_group(JsonCursor& in, KaiPodGroup& group) {
  const auto spec = [&] {
    fields(in, {{"minMember", [&] { group.min_member = count(in); }},
                {"queue", [&] { group.queue = text(in); }},
                {"priorityClassName", [&] { group.priority_class = text(in); }},
                {"preemptibility", [&] { group.preemptibility = text(in); }},
                {"topologyConstraint", [&] { group.topology = topology_constraint(in); }},
                {"minSubGroup", [&] { group.min_sub_groups = count(in) > 0; }},
                {"subGroups", [&] { elements(in, [&] { read_sub_group(in, group.sub_groups.emplace_back()); }); }}});
  };
  fields(in, {{"metadata", [&] { group.meta = meta(in); }}, {"spec", spec}});
}

void read_pod(JsonCursor& in, KaiPod& pod) {
  const auto status = [&] { fields(in, {{"phase", [&] { pod.phase = text(in); }}, {"startTime", [&] { pod.start_us = instant(in); }}}); };
  fields(in, {{"metadata", [&] { pod.meta = meta(in); }}, {"spec", [&] { read_pod_spec(in, pod); }}, {"status", status}});
}

void read_bind_request(JsonCursor& in, KaiBindRequest& request) {
  const auto spec = [&] {
    fields(in, {{"podName", [&] { request.pod = text(in); }},
                {"selectedNode", [&] { request.node = text(in); }},
                {"selectedGPUGroups", [&] { elements(in, [&] { request.gpu_groups.push_back(text(in)); }); }}});
  };
  const auto status = [&] { fields(in, {{"phase", [&] { request.phase = text(in); }}}); };
  fields(in, {{"metadata", [&] { request.meta = meta(in); }}, {"spec", spec}, {"status", status}});
}

}  // namespace berth::io::kai
