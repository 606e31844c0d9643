#include "host/sim/generate/changed_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_text.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {
namespace {

std::string shown_name(const std::string& name) {
  constexpr std::size_t kMostShown = 80;
  return core::escape_control(io::cut_utf8(name, kMostShown));
}

void sort_jobs(Trace& trace) {
  const auto earlier = [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); };
  std::stable_sort(trace.jobs.begin(), trace.jobs.end(), earlier);
}

void move_to(TraceJob& job, __int128 submit_us) {
  if (submit_us > kMaxTimeUs) throw InvalidArgument("load: jobs would come later than time can be counted");
  const TimeUs moved = static_cast<TimeUs>(submit_us);
  if (job.deadline_us != kNever) job.deadline_us += moved - job.submit_us;
  for (DeadlineStep& step : job.deadline_later) step.at_us += moved - job.submit_us;
  job.submit_us = moved;
}

// A name that no job has is a mistake.
void remove_jobs(Trace& trace, const char* key, const std::vector<std::string>& names, std::string TraceJob::*name_of) {
  if (names.empty()) return;
  std::set<std::string> missing(names.begin(), names.end());
  const std::set<std::string> removed = missing;
  for (const TraceJob& job : trace.jobs) missing.erase(job.*name_of);
  if (!missing.empty()) throw InvalidArgument(fmt::format("{}: no job is of '{}'", key, shown_name(*missing.begin())));
  std::erase_if(trace.jobs, [&](const TraceJob& job) { return removed.count(job.*name_of) > 0; });
  if (trace.jobs.empty()) throw InvalidArgument(fmt::format("{}: no job is left", key));
}

// Instants count from the first submission of the trace, not of the jobs that are left.
void keep_window(Trace& trace, TimeUs first_us, const TraceChanges& changes) {
  if (changes.from_us == 0 && changes.until_us == kNever) return;
  std::erase_if(trace.jobs, [&](const TraceJob& job) {
    const TimeUs at = job.submit_us - first_us;
    return at < changes.from_us || at >= changes.until_us;
  });
  if (trace.jobs.empty()) throw InvalidArgument("window: no job is submitted in it");
}

void draw_blocks(Trace& trace, TimeUs block_us, std::uint64_t seed) {
  const TimeUs first = trace.jobs.front().submit_us, span = trace.jobs.back().submit_us - first;
  if (span < block_us) throw InvalidArgument("resample: the trace is no longer than a block, so that there is nothing to draw");
  const std::int64_t blocks = span / block_us + 1;
  if (blocks > kMaxBlocks)
    throw InvalidArgument(fmt::format("resample: the trace has {} blocks of this length; at most {}", blocks, kMaxBlocks));
  std::vector<std::size_t> begins(static_cast<std::size_t>(blocks) + 1, trace.jobs.size());
  for (std::size_t j = trace.jobs.size(); j-- > 0;) begins[static_cast<std::size_t>((trace.jobs[j].submit_us - first) / block_us)] = j;
  for (std::size_t b = static_cast<std::size_t>(blocks); b-- > 0;) begins[b] = std::min(begins[b], begins[b + 1]);
  std::vector<TraceJob> drawn;
  for (std::int64_t to = 0; to < blocks; ++to) {
    const std::int64_t from = ItemDraws(seed, RandomStream::kResample, static_cast<std::uint64_t>(to)).below(blocks);
    for (std::size_t j = begins[static_cast<std::size_t>(from)]; j < begins[static_cast<std::size_t>(from) + 1]; ++j) {
      if (drawn.size() == static_cast<std::size_t>(kMaxJobs))
        throw InvalidArgument(fmt::format("resample: the blocks that were drawn have more than {} jobs", kMaxJobs));
      TraceJob& job = drawn.emplace_back(trace.jobs[j]);
      job.id += fmt::format("~{}", to);
      move_to(job, static_cast<__int128>(job.submit_us) + (to - from) * static_cast<__int128>(block_us));
    }
  }
  if (drawn.empty()) throw InvalidArgument("resample: the blocks that were drawn have no jobs; use longer blocks");
  trace.jobs = std::move(drawn);
  sort_jobs(trace);
}

void set_load(Trace& trace, std::int32_t load_ppm, std::int64_t gpus) {
  const TimeUs first = trace.jobs.front().submit_us, span = trace.jobs.back().submit_us - first;
  __int128 asked = 0;  // at most 2^31 jobs x 2^16 GPUs x 2^53 us
  for (const TraceJob& job : trace.jobs) asked += static_cast<__int128>(job.gpus) * job.run_us;
  if (asked == 0) throw InvalidArgument("load: the jobs of the trace state no run times");
  if (span == 0) throw InvalidArgument("load: all jobs of the trace come at the same instant");
  if (gpus == 0) throw InvalidArgument("load: no GPU of the cluster works");
  const __int128 wanted = asked / gpus * 1'000'000 / load_ppm;
  if (wanted > kMaxTimeUs) throw InvalidArgument("load: jobs would come later than time can be counted");
  for (TraceJob& job : trace.jobs) move_to(job, first + static_cast<__int128>(job.submit_us - first) * wanted / span);
  sort_jobs(trace);
}

}  // namespace

Trace changed_trace(const Trace& trace, const TraceChanges& changes, std::int64_t gpus, std::uint64_t seed) {
  Trace changed = trace;
  if (changed.jobs.empty()) return changed;
  const TimeUs first_us = changed.jobs.front().submit_us;
  remove_jobs(changed, "remove_users", changes.remove_users, &TraceJob::user);
  remove_jobs(changed, "remove_virtual_clusters", changes.remove_virtual_clusters, &TraceJob::virtual_cluster);
  keep_window(changed, first_us, changes);
  if (changes.block_us > 0) draw_blocks(changed, changes.block_us, seed);
  if (changes.load_ppm > 0) set_load(changed, changes.load_ppm, gpus);
  return changed;
}

void change_cluster(Snapshot& cluster, const NodeChanges& changes) {
  if (changes.none()) return;
  for (const std::string& id : changes.remove_nodes) {
    if (std::erase_if(cluster.nodes, [&](const Node& node) { return node.id == id; }) == 0)
      throw InvalidArgument(fmt::format("remove_nodes: the cluster has no node '{}'", shown_name(id)));
  }
  if (cluster.nodes.empty()) throw InvalidArgument("remove_nodes: no node is left");
  if (changes.add_nodes > kMaxNodes - static_cast<std::int64_t>(cluster.nodes.size()))
    throw InvalidArgument(fmt::format("add_nodes: a cluster has at most {} nodes", kMaxNodes));
  std::set<std::string> ids;
  for (const Node& node : cluster.nodes) ids.insert(node.id);
  const Node last = cluster.nodes.back();
  std::int64_t number = 0;
  for (std::int64_t n = 0; n < changes.add_nodes; ++n) {
    Node node = last;
    do {
      node.id = fmt::format("added{}", number++);
    } while (!ids.insert(node.id).second);
    cluster.nodes.push_back(std::move(node));
  }
  check_snapshot(cluster, "the changed cluster");
}

}  // namespace berth::sim
