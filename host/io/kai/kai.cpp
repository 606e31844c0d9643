#include "host/io/kai/kai.hpp"

#include <algorithm>

#include "host/io/files/read_whole.hpp"
#include "host/io/files/zip_archive.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/kai/kai_gpus.hpp"
#include "host/io/kai/kai_jobs.hpp"
#include "host/io/kai/kai_objects.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

/// The latest instant in the objects: the file has no time of its own.
TimeUs latest(const KaiObjects& objects) {
  TimeUs now = 0;
  for (const KaiNode& one : objects.nodes) now = std::max(now, one.meta.created_us);
  for (const KaiQueue& one : objects.queues) now = std::max(now, one.meta.created_us);
  for (const KaiPodGroup& one : objects.pod_groups) now = std::max(now, one.meta.created_us);
  for (const KaiBindRequest& one : objects.bind_requests) now = std::max(now, one.meta.created_us);
  for (const KaiPod& one : objects.pods) now = std::max({now, one.meta.created_us, one.start_us});
  return now;
}

}  // namespace

KaiImport import_kai(std::string_view bytes, const std::string& name) {
  const std::string unzipped = is_zip(bytes) ? unzip_one(bytes, "snapshot.json", name, kMaxWholeBytes) : std::string();
  const KaiObjects objects = read_kai_objects(is_zip(bytes) ? std::string_view(unzipped) : bytes, name);
  KaiImport out;
  Snapshot& snapshot = out.snapshot;
  ImportNotes notes;
  snapshot.name = "kai";
  snapshot.origin_iso = "1970-01-01T00:00:00Z";
  snapshot.now_us = latest(objects);
  const kai::Cluster cluster(objects, name, snapshot, notes);
  const bool sharing = std::any_of(objects.pods.begin(), objects.pods.end(),
                                   [](const KaiPod& pod) { return !kai::is_over(pod) && kai::demand_of(pod).share_ppm < kWholeGpu; });
  for (Node& node : snapshot.nodes) node.sharing = sharing;
  kai::add_queues(objects, snapshot, notes);
  const kai::Held held(objects, cluster, snapshot, name);
  const kai::MemberPods taken = kai::add_jobs(objects, cluster, held, snapshot, notes);
  held.close(objects, taken, snapshot, cluster, notes);
  out.notes = notes.lines();
  if (objects.pod_groups.empty()) out.notes.emplace_back(kNoJob);
  out.notes.emplace_back("which GPUs of a node a pod holds is not in the file: the lowest, by namespace and name");
  out.notes.emplace_back(
      "cores, host memory, volumes and tolerations are left out; GPUs are shared by any job that asks for a part of one");
  return out;
}

}  // namespace berth::io
