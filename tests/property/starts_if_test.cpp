// What a reason says after "would start if" is enough. The plan is applied, all other waiting jobs are removed, and exactly that much
// becomes free. Then the job starts, whichever of the GPUs, nodes and cores that the sentence allows they are. Of two states in three
// GPUs and nodes were lost under running jobs before.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/random.hpp"

namespace berth::starts_if_test {
namespace {

Node drawn_node(test::Random& random, std::int32_t n, bool counts_cores) {
  Node node;
  node.id = "n" + std::to_string(n);
  node.gpu_type = random.percent(80) ? "a" : "b";
  node.gpus = random.of(std::vector<std::int32_t>{2, 4, 4, 8});
  node.domain[0] = "r" + std::to_string(n % 2);
  if (random.percent(50)) node.labels = {{"disk", "fast"}};
  if (counts_cores) {
    node.cpu_milli = node.gpus * random.within(1, 4) * 1'000;
    node.memory_bytes = node.gpus * random.within(2, 4);
  }
  if (random.percent(10)) node.available_until_us = 50 * kSecond;
  if (random.percent(8)) node.state = NodeState::kDrain;
  return node;
}

/// A job of one GPU that runs at this place.
Job filler(const Node& node, std::int32_t gpu, std::int64_t cpu, std::int64_t memory) {
  Job job;
  job.id = "f-" + node.id + "-" + std::to_string(gpu);
  job.state = JobState::kRunning;
  job.preemption.preemptible = false;
  job.shapes.emplace_back().id = "1";
  job.constraints.cpu_milli_per_gpu = cpu;
  job.constraints.memory_bytes_per_gpu = memory;
  job.allocation.shape = "1";
  job.allocation.entries = {{"", 0, node.id, {gpu}, kWholeGpu, false}};
  return job;
}

Shape drawn_shape(test::Random& random, const std::string& id) {
  Shape shape;
  shape.id = id;
  if (random.percent(60)) shape.gpu_type = random.percent(80) ? "a" : "b";
  shape.gpus = random.within(1, 12);
  if (random.percent(25)) return shape;
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = random.percent(30) ? 1 : random.within(2, 5);
  group.gpus_per_member = random.of(std::vector<std::int32_t>{1, 2, 2, 3, 4, 4, 8});
  const std::int32_t form = random.below(10);
  if (form < 5) group.spread = Spread{{TopologyKind::kSwitch, "node"}, random.percent(70) ? 1 : 2};
  if (form == 5) group.spread = Spread{{TopologyKind::kSwitch, "rack"}, random.within(1, 3)};
  if (form == 6 || form == 7) group.require = LevelRef{TopologyKind::kSwitch, random.percent(70) ? "rack" : "node"};
  shape.gpus = group.members_want * group.gpus_per_member;
  shape.groups = {group};
  return shape;
}

Job drawn_job(test::Random& random, std::int32_t j, bool counts_cores) {
  Job job;
  job.id = "j" + std::to_string(j);
  job.submit_us = j * kSecond;
  job.estimate.run_us = random.within(10, 60) * kSecond;
  job.shapes = {drawn_shape(random, "s")};
  if (random.percent(25)) job.shapes.push_back(drawn_shape(random, "t"));
  if (random.percent(25)) job.constraints.labels = {{"disk", {"fast"}}};
  if (random.percent(10)) job.constraints.excluded_nodes = {"n0", "n1"};
  if (counts_cores && random.percent(60)) job.constraints.cpu_milli_per_gpu = random.within(1, 4) * 1'000;
  if (counts_cores && random.percent(40)) job.constraints.memory_bytes_per_gpu = random.within(1, 3);
  job.queue = random.of(std::vector<std::string>{"", "small", "leaf"});
  return job;
}

Snapshot drawn(test::Random& random) {
  Snapshot s;
  s.now_us = 20 * kSecond;
  s.gpu_types.resize(2);
  s.gpu_types[0].id = "a";
  s.gpu_types[1].id = "b";
  for (const char* rack : {"r0", "r1"}) {
    Domain& domain = s.domains.emplace_back();
    domain.id = rack;
    domain.level = "rack";
  }
  for (const char* id : {"small", "root", "leaf"}) s.queues.emplace_back().id = id;
  s.queues[0].quotas = {{"*", 0, random.within(2, 10), kUnlimited}};
  s.queues[1].quotas = {{"a", 0, random.within(4, 16), kUnlimited}};
  s.queues[2].quotas = {{"*", 0, random.within(4, 16), kUnlimited}};
  s.queues[2].parent = "root";
  const bool counts_cores = random.percent(40), overdrawn = random.percent(30);
  const std::int32_t full = random.within(30, 90);
  for (std::int32_t n = 0; n < 7; ++n) {
    Node node = drawn_node(random, n, counts_cores);
    // Some hold more than their fraction of the node, so that GPUs are free without cores or memory for them.
    std::int64_t cpu_left = std::max<std::int64_t>(0, node.cpu_milli), memory_left = std::max<std::int64_t>(0, node.memory_bytes);
    const auto part = [&](std::int64_t all, std::int64_t& left) {
      const std::int64_t amount = std::min<std::int64_t>(left, random.below(static_cast<std::int32_t>(3 * all / node.gpus) + 1));
      left -= amount;
      return amount;
    };
    for (std::int32_t g = 0; g < node.gpus; ++g) {
      if (!random.percent(full)) continue;
      const std::int64_t cpu = counts_cores ? part(node.cpu_milli, cpu_left) : 0;
      s.jobs.push_back(filler(node, g, cpu, counts_cores ? part(node.memory_bytes, memory_left) : 0));
      if (overdrawn) s.jobs.back().queue = random.of(std::vector<std::string>{"", "", "", "", "", "", "", "small", "leaf"});
    }
    s.nodes.push_back(node);
  }
  for (std::int32_t j = 0; j < 8; ++j) s.jobs.push_back(drawn_job(random, j, counts_cores));
  return s;
}

/// Lets jobs of two shapes ask for as many GPUs in both. What the test adds to the cluster could otherwise make the first shape
/// possible, and the job would ask for that one.
Snapshot with_equal_shapes(Snapshot s) {
  for (Job& job : s.jobs) {
    if (job.shapes.size() < 2) continue;
    job.shapes[1] = job.shapes[0];
    job.shapes[1].id = "t";
    job.shapes[1].gpu_type = job.shapes[0].gpu_type == "a" ? "b" : "a";
  }
  return s;
}

/// Frees what a reason states, on a state to which the plan was applied.
class Freeing {
 public:
  Freeing(test::Random& random, ClusterState& state, const Job& job, const Reason& reason)
      : random_(random), state_(state), job_(job), r_(reason) {}

  /// False where it is impossible: jobs of the plan hold too much of it.
  bool run() {
    switch (r_.code) {
      case ReasonCode::kQuota:
        return raise_limit();
      case ReasonCode::kCpu:
        return change_node(r_.where, [this](Node& node) { node.cpu_milli += r_.missing; });
      case ReasonCode::kMemory:
        return change_node(r_.where, [this](Node& node) { node.memory_bytes += r_.missing; });
      default:
        return free_gpus();
    }
  }

 private:
  std::int64_t size() const { return r_.members > 0 ? r_.asked / r_.members : 1; }
  std::int64_t free_on(std::int32_t n) const { return std::popcount(state_.impl().node.free[static_cast<std::size_t>(n)]); }

  bool raise_limit() {
    Queue queue = state_.impl().queues[static_cast<std::size_t>(r_.queue)];
    for (Quota& quota : queue.quotas) quota.limit += r_.missing;
    state_.apply(delta::PutQueue{queue});
    return true;
  }

  template <class F>
  bool change_node(std::int32_t n, const F& change) {
    Node node = state_.node(n);
    change(node);
    state_.apply(delta::PutNode{node});
    return true;
  }

  bool may_use(std::int32_t n) const {
    const Node& node = state_.node(n);
    const auto& excluded = job_.constraints.excluded_nodes;
    if (node.gpu_type != state_.impl().gpu_types[static_cast<std::size_t>(r_.gpu_type)].id || node.state != NodeState::kReady) return false;
    if (is_reserved(node.id)) return false;
    if (r_.some_nodes) {
      if (!job_.constraints.labels.empty() && node.labels.empty()) return false;
      if (std::find(excluded.begin(), excluded.end(), node.id) != excluded.end()) return false;
    }
    if (r_.where < 0) return true;
    return r_.level == 0 ? n == r_.where : state_.impl().topologies.domain_of(r_.topology, r_.level, n) == r_.where;
  }

  bool is_reserved(const std::string& node) const {
    const std::vector<Reservation>& all = state_.impl().reservations;
    return std::any_of(all.begin(), all.end(), [&](const Reservation& r) { return std::count(r.nodes.begin(), r.nodes.end(), node) > 0; });
  }

  /// The node's fillers whose GPUs become free when they end: not those on GPUs that failed or are being released.
  std::vector<std::string> fillers_on(const Node& node) const {
    std::vector<std::string> here;
    for (std::int32_t job_index = 0; job_index < state_.job_index_end(); ++job_index) {
      const Job* job = state_.job(job_index);
      if (job == nullptr || job->id[0] != 'f' || job->allocation.entries[0].node != node.id) continue;
      const auto lost = [&](const Gpu& gpu) { return gpu.index == job->allocation.entries[0].gpus[0] && gpu.state != GpuState::kOk; };
      if (std::none_of(node.gpu_list.begin(), node.gpu_list.end(), lost)) here.push_back(job->id);
    }
    return here;
  }

  bool free_one(std::int32_t n) {
    const std::vector<std::string> here = fillers_on(state_.node(n));
    if (here.empty()) return false;
    state_.apply(delta::RemoveJob{random_.of(here), ""});
    return true;
  }

  /// Members that the node can hold, up to the limit of the gang.
  std::int64_t pieces_on(std::int64_t free, std::int64_t piece) const {
    return r_.apart > 0 ? std::min<std::int64_t>(r_.apart, free / piece) : free / piece;
  }

  bool free_gpus() {
    if (r_.level == 0 && r_.where >= 0)
      return may_use(r_.where) && free_on_node(r_.where, r_.missing) && bring_cpu_and_memory(r_.where, size());
    const bool whole_pieces = size() > 1 && r_.missing % size() == 0;
    const std::int64_t piece = whole_pieces ? size() : 1;
    for (std::int64_t left = r_.missing / piece; left > 0; --left) {
      std::vector<std::int32_t> nodes;
      for (std::int32_t n = 0; n < state_.node_count(); ++n) {
        if (may_use(n)) nodes.push_back(n);
      }
      random_.shuffle(nodes);
      bool done = false;
      for (std::size_t i = 0; i < nodes.size() && !done; ++i) done = one_more_piece(nodes[i], piece);
      if (!done) return false;
    }
    return true;
  }

  bool free_on_node(std::int32_t n, std::int64_t gpus) {
    while (gpus > 0 && free_one(n)) --gpus;
    return gpus == 0;
  }

  bool one_more_piece(std::int32_t n, std::int64_t piece) {
    const std::int64_t free = free_on(n), lacks = piece - free % piece;
    if (pieces_on(free + lacks, piece) == pieces_on(free, piece) || held_by_fillers(n) < lacks) return false;
    return free_on_node(n, lacks) && bring_cpu_and_memory(n, piece);
  }

  /// Frees cores and memory for all members that fit now, and no more.
  bool bring_cpu_and_memory(std::int32_t n, std::int64_t piece) {
    if (!r_.with_cpu_and_memory) return true;
    const auto at = static_cast<std::size_t>(n);
    const std::int64_t gpus = pieces_on(free_on(n), piece) * piece;
    const StateImpl& s = state_.impl();
    const std::int64_t cpu = std::max<std::int64_t>(0, gpus * job_.constraints.cpu_milli_per_gpu - s.node.cpu[at]);
    const std::int64_t memory = std::max<std::int64_t>(0, gpus * job_.constraints.memory_bytes_per_gpu - s.node.memory[at]);
    return change_node(n, [&](Node& node) {
      if (node.cpu_milli >= 0) node.cpu_milli += cpu;
      if (node.memory_bytes >= 0) node.memory_bytes += memory;
    });
  }

  std::int64_t held_by_fillers(std::int32_t n) const { return static_cast<std::int64_t>(fillers_on(state_.node(n)).size()); }

  test::Random& random_;
  ClusterState& state_;
  const Job& job_;
  const Reason& r_;
};

/// The cluster after the plan is applied, with only this job waiting.
ClusterState carried_out(const Snapshot& snapshot, const Request& request, const std::string& keep) {
  ClusterState state(snapshot);
  commit(state, Engine().decide(state, request));
  std::vector<std::string> gone;
  for (std::int32_t job_index = 0; job_index < state.job_index_end(); ++job_index) {
    const Job* job = state.job(job_index);
    if (job != nullptr && job->state == JobState::kWaiting && job->id != keep) gone.push_back(job->id);
  }
  for (const std::string& id : gone) state.apply(delta::RemoveJob{id, ""});
  return state;
}

/// The action for the job when no other job runs.
Action decided_alone(const Snapshot& snapshot, const Request& request, const std::string& id) {
  ClusterState alone = carried_out(snapshot, request, id);
  std::vector<std::string> gone;
  for (std::int32_t job_index = 0; job_index < alone.job_index_end(); ++job_index) {
    if (const Job* job = alone.job(job_index); job != nullptr && job->id != id) gone.push_back(job->id);
  }
  for (const std::string& other : gone) alone.apply(delta::RemoveJob{other, ""});
  const Plan plan = Engine().decide(alone, request);
  return plan.decisions.at(0).action;
}

/// The decision about the job after the change; none where the change is impossible.
std::optional<Decision> decided_after(test::Random& random, const Snapshot& snapshot, const Request& request, const Job& job,
                                      const Reason& change, std::string& why) {
  ClusterState then = carried_out(snapshot, request, job.id);
  if (change.missing > 0 && !Freeing(random, then, job, change).run()) return std::nullopt;
  const Plan plan = Engine().decide(then, request);
  const std::int32_t job_index = then.find_job(job.id);
  const auto found = std::find_if(plan.decisions.begin(), plan.decisions.end(), [&](const Decision& d) { return d.job == job_index; });
  why = render_reason(then, found->reason, job_index);
  return *found;
}

/// The next smaller change of the same kind.
Reason less(Reason reason) {
  const std::int64_t piece = reason.members > 0 ? reason.asked / reason.members : 1;
  const bool in_pieces = reason.code != ReasonCode::kCpu && reason.code != ReasonCode::kMemory && piece > 1 && reason.missing % piece == 0;
  reason.missing -= in_pieces ? piece : 1;
  return reason;
}

TEST(StartsIf, WhatItSaysIsEnoughAndLessIsNot) {
  test::Random random(5);
  std::map<std::string, std::int32_t> tried;
  for (std::int32_t round = 0; round < 16'000; ++round) {
    const bool requested = round % 3 == 0;
    const Snapshot as_drawn = drawn(random);
    const Snapshot snapshot = test::some_overtaken(requested ? with_equal_shapes(as_drawn) : as_drawn, static_cast<std::uint64_t>(round));
    Request request;
    request.params = {{"discipline", random.of(std::vector<std::string>{"greedy", "greedy", "easy", "strict"})},
                      {"packing", random.percent(70) ? "topology" : "count"},
                      {"shape", requested ? "requested" : "least_gpu_time"}};
    const ClusterState state(snapshot);
    const Plan plan = Engine().decide(state, request);
    for (const Decision& d : plan.decisions) {
      const std::string change = render_would_start_if(state, d.reason, d.job);
      if (change.empty()) continue;
      const Job job = *state.job(d.job);
      const std::string said = "round " + std::to_string(round) + ", job " + job.id + ": " + render_reason(state, d.reason, d.job) +
                               "; would start if " + change;
      // The stated change must be possible.
      EXPECT_EQ(decided_alone(snapshot, request, job.id), Action::kStart) << said << "\nand it cannot";
      std::string why;
      const auto after = decided_after(random, snapshot, request, job, d.reason, why);
      if (!after) continue;
      ++tried[std::string(to_string(d.reason.code)) + (d.reason.apart > 0 ? ", apart" : "") +
              (d.reason.with_cpu_and_memory ? ", with_cpu_and_memory" : "") + (d.reason.where >= 0 ? ", there" : "")];
      EXPECT_EQ(after->action, Action::kStart) << said << "\nand then: " << why;
      // Other shapes may start with what is freed along with the GPUs.
      if (job.shapes.size() > 1) continue;
      const auto too_little = decided_after(random, snapshot, request, job, less(d.reason), why);
      EXPECT_FALSE(too_little && too_little->action == Action::kStart) << said << "\nand it starts for less";
    }
  }
  for (const auto& [what, times] : tried) RecordProperty(what, times);
  for (const char* what : {"insufficient_gpus", "insufficient_gpus, with_cpu_and_memory", "insufficient_gpus, apart",
                           "insufficient_gpus, apart, with_cpu_and_memory", "insufficient_gpus, apart, there", "insufficient_gpus, there",
                           "fragmented, apart", "fragmented, apart, there", "fragmented, there", "fragmented", "node_constraint",
                           "node_constraint, apart", "topology_required, there", "cpu, there", "memory, there", "quota"}) {
    EXPECT_GT(tried[what], 10) << what << ": otherwise it was not tried";
  }
}

}  // namespace
}  // namespace berth::starts_if_test
