#include "tests/fuzz/random_cluster.hpp"

#include <string>
#include <utility>

#include "tests/support/random_loss.hpp"

namespace berth::fuzz {
namespace {

LevelRef level(Bytes& in) {
  switch (in.below(4)) {
    case 0:
      return {TopologyKind::kSwitch, "node"};
    case 1:
      return {TopologyKind::kSwitch, "pod"};
    case 2:
      return {TopologyKind::kNvlink, "island"};
    default:
      return {TopologyKind::kSwitch, "rack"};
  }
}

void add_domains(Bytes& in, Snapshot& s) {
  const std::int32_t pods = in.within(1, 2);
  for (std::int32_t p = 0; p < pods; ++p) {
    Domain pod;
    pod.id = "p" + std::to_string(p);
    pod.level = "pod";
    s.domains.push_back(pod);
    for (std::int32_t r = 0; r < 2; ++r) {
      Domain rack;
      rack.id = "r" + std::to_string(r);
      rack.level = "rack";
      rack.parent = pod.id;
      s.domains.push_back(rack);
    }
  }
  for (std::int32_t i = 0; i < 2; ++i) {
    Domain island;
    island.id = "i" + std::to_string(i);
    island.topology = TopologyKind::kNvlink;
    island.level = "island";
    s.domains.push_back(island);
  }
}

Node random_node(Bytes& in, const Snapshot& s, const std::string& id) {
  Node n;
  n.id = id;
  n.gpu_type = in.of(s.gpu_types).id;
  n.gpus = in.below(9);
  if (in.one_in(3)) {
    for (std::int32_t g = 0; g < n.gpus; ++g) {
      Gpu gpu;
      gpu.index = g;
      gpu.state = in.one_in(6) ? static_cast<GpuState>(in.below(3)) : GpuState::kOk;
      gpu.inner_group = in.one_in(2) ? g / 2 : -1;
      if (gpu.state == GpuState::kReleasing) gpu.free_at_us = in.below(2000) * kSecond;
      n.gpu_list.push_back(gpu);
    }
  }
  if (!in.one_in(5)) {
    const Domain& d = in.of(s.domains);
    if (d.topology == TopologyKind::kSwitch) n.domain[0] = d.parent.empty() ? d.id : d.parent + "/" + d.id;
  }
  if (in.one_in(3)) n.domain[static_cast<std::size_t>(TopologyKind::kNvlink)] = in.one_in(2) ? "i0" : "i1";
  if (in.one_in(3)) n.cpu_milli = in.below(65) * 1000;
  if (in.one_in(3)) n.memory_bytes = in.below(65);
  if (in.one_in(4)) n.labels = {{"disk", in.one_in(2) ? "ssd" : "hdd"}};
  if (in.one_in(6)) n.virtual_clusters = {"v"};
  n.sharing = in.one_in(2);
  if (in.one_in(5)) n.state = static_cast<NodeState>(in.below(5));
  if (in.one_in(8)) n.available_until_us = in.below(5000) * kSecond;
  n.nics = in.below(3);
  n.nic_bytes_per_s = in.below(20);
  return n;
}

void add_queues(Bytes& in, Snapshot& s) {
  for (std::int32_t i = in.below(4); i > 0; --i) {
    Queue q;
    q.id = "q" + std::to_string(i);
    if (!s.queues.empty() && in.one_in(2)) q.parent = in.of(s.queues).id;
    if (in.one_in(2)) {
      Quota quota;
      quota.gpu_type = in.one_in(2) ? in.of(s.gpu_types).id : "*";
      quota.limit = in.below(12);
      quota.guarantee = in.one_in(3) ? in.below(4) : 0;
      quota.borrowing = in.one_in(4) ? in.below(4) : kUnlimited;
      if (!q.parent.empty() && quota.guarantee > 0 && in.one_in(2))
        quota.lending = in.below(static_cast<std::int32_t>(quota.guarantee) + 1);
      q.quotas.push_back(quota);
    }
    s.queues.push_back(q);
  }
}

Group random_group(Bytes& in, const std::string& name) {
  Group g;
  g.name = name;
  g.members_want = in.within(1, 4);
  g.members_min = in.one_in(3) ? in.within(1, g.members_want) : g.members_want;
  g.members_max = g.members_want + (in.one_in(4) ? 1 : 0);
  g.gpus_per_member = in.of(std::vector<std::int32_t>{1, 2, 4, 8});
  if (in.one_in(2)) g.require = level(in);
  if (in.one_in(4)) g.prefer = level(in);
  if (in.one_in(5)) g.spread = Spread{level(in), in.within(1, 2)};
  if (in.one_in(6)) g.segment = Segment{in.within(1, 2), level(in)};
  if (in.one_in(6)) g.spares = 1;
  return g;
}

Shape random_shape(Bytes& in, const Snapshot& s, std::int32_t number) {
  Shape shape;
  shape.id = "s" + std::to_string(number);
  if (in.one_in(3)) shape.gpu_type = in.of(s.gpu_types).id;
  shape.gpus = in.of(std::vector<std::int32_t>{1, 2, 3, 4, 8, 16, 40});
  shape.rate = in.one_in(3) ? in.below(4) * 500'000 : 0;
  shape.local_batch = in.below(3);
  if (in.one_in(6)) {
    shape.gpus = in.within(1, 2);
    shape.share_ppm = in.of(std::vector<std::int32_t>{250'000, 500'000, 333'333});
  } else if (in.one_in(3)) {
    shape.gpus = 0;
    const std::int32_t n = in.within(1, 3);
    for (std::int32_t i = 0; i < n; ++i) {
      Group g = random_group(in, "g" + std::to_string(i));
      if (i > 0 && in.one_in(2)) g.parent = "g" + std::to_string(in.below(i));
      shape.gpus += g.members_want * g.gpus_per_member;
      shape.groups.push_back(g);
    }
  }
  return shape;
}

}  // namespace

Job random_job(Bytes& in, const Snapshot& cluster, const std::string& id) {
  Job j;
  j.id = id;
  j.user = in.one_in(2) ? "ann" : "bob";
  if (!cluster.queues.empty() && in.one_in(2)) j.queue = in.of(cluster.queues).id;
  if (in.one_in(5)) j.virtual_cluster = "v";
  j.submit_us = in.below(1000) * kSecond;
  j.priority = in.within(-2, 3);
  if (in.one_in(5)) j.time_limit_us = in.below(4000) * kSecond;
  if (in.one_in(4)) {
    j.deadline.at_us = in.below(6000) * kSecond;
    j.deadline.hard = in.one_in(2);
    if (!j.deadline.hard && in.one_in(2)) {
      j.deadline.value = 3;
      const TimeUs later = std::max(j.deadline.at_us, j.submit_us) + in.within(1, 4000) * kSecond;
      j.deadline.later = {{later, 2}, {later + kSecond, 1}};
    }
  }
  if (in.one_in(2)) j.estimate.run_us = in.below(5000) * kSecond;
  const std::int32_t shapes = in.within(1, 3);
  for (std::int32_t i = 0; i < shapes; ++i) j.shapes.push_back(random_shape(in, cluster, i));
  j.sharing = in.one_in(2);
  Constraints& c = j.constraints;
  if (in.one_in(6)) c.labels = {{"disk", {"ssd"}}};
  if (in.one_in(8)) c.required_nodes = {"n0", "n1"};
  if (in.one_in(8)) c.excluded_nodes = {"n2"};
  if (in.one_in(4)) c.cpu_milli_per_gpu = in.below(9) * 1000;
  if (in.one_in(4)) c.memory_bytes_per_gpu = in.below(9);
  if (in.one_in(6)) c.gpu_memory_bytes = in.below(100);
  j.preemption.preemptible = !in.one_in(4);
  j.preemption.preemption_class = in.below(2);
  if (in.one_in(6)) j.preemption.minimum_run_us = in.below(2000) * kSecond;
  if (in.one_in(6)) j.preemption.guaranteed_until_us = in.below(3000) * kSecond;
  j.costs.restart_us = in.below(100) * kSecond;
  j.costs.migrate_us = in.below(100) * kSecond;
  if (in.one_in(4)) j.progress.work_total = in.below(1000) * kSecond;
  return j;
}

Snapshot random_cluster(Bytes& in) {
  Snapshot s;
  s.now_us = 1000 * kSecond;
  const std::int32_t types = in.within(1, 2);
  for (std::int32_t t = 0; t < types; ++t) {
    GpuType type;
    type.id = t == 0 ? "A" : "B";
    type.memory_bytes = in.of(std::vector<std::int64_t>{0, 80, 40});
    s.gpu_types.push_back(type);
  }
  add_domains(in, s);
  const std::int32_t nodes = in.within(1, 7);
  for (std::int32_t i = 0; i < nodes; ++i) s.nodes.push_back(random_node(in, s, "n" + std::to_string(i)));
  add_queues(in, s);
  const std::int32_t jobs = in.below(12);
  for (std::int32_t i = 0; i < jobs; ++i) s.jobs.push_back(random_job(in, s, "j" + std::to_string(i)));
  return s;
}

namespace {

Delta random_loss(Bytes& in, const Snapshot& s) {
  const std::vector<const Job*> running = test::losing_jobs(s);
  if (running.empty()) return delta::SetTime{s.now_us};
  const Job& job = *in.of(running);
  return test::random_loss(in, s, job, in.below(2));
}

Delta random_delta(Bytes& in, const Snapshot& s) {
  const std::string job = s.jobs.empty() ? "none" : in.of(s.jobs).id;
  const std::string node = s.nodes.empty() ? "none" : in.of(s.nodes).id;
  switch (in.below(17)) {
    case 0:
    case 1:
      return delta::SetTime{s.now_us + in.below(3000) * kSecond};
    case 2:
      return delta::RemoveJob{job, in.one_in(2) ? "completed" : ""};
    case 3:
      return delta::StopJob{job};
    case 4:
      return delta::SetNodeState{node, static_cast<NodeState>(in.below(5)), in.one_in(4) ? in.below(4000) * kSecond : 0};
    case 5:
      return delta::SetGpuState{node, in.below(9), static_cast<GpuState>(in.below(3)), in.one_in(3) ? kNever : in.below(4000) * kSecond};
    case 6:
      return delta::PutNode{random_node(in, s, in.one_in(2) ? node : "m" + std::to_string(in.below(3)))};
    case 7:
      return s.nodes.size() > 1 ? Delta(delta::RemoveNode{node}) : Delta(delta::SetTime{s.now_us});
    case 8: {
      Queue q;
      q.id = "q" + std::to_string(in.below(4));
      q.quotas.push_back({"*", 0, in.below(20), kUnlimited});
      return delta::PutQueue{q};
    }
    case 9: {
      Reservation r;
      r.id = "r" + std::to_string(in.below(2));
      r.nodes = {node};
      r.from_us = in.below(4000) * kSecond;
      r.to_us = r.from_us + in.within(1, 3000) * kSecond;
      r.jobs = {job};
      return delta::PutReservation{r};
    }
    case 10:
      return delta::RemoveReservation{"r" + std::to_string(in.below(2))};
    case 11: {
      Progress p;
      p.work_total = in.below(1000) * kSecond;
      p.work_done = in.below(1000) * kSecond;
      p.run_us = in.below(1000) * kSecond;
      p.attained_gpu_us = in.below(5000) * kSecond;
      return delta::SetProgress{job, p};
    }
    case 12:
    case 13:
    case 14:
    case 15:
      return random_loss(in, s);
    default:
      return delta::PutJob{random_job(in, s, "k" + std::to_string(in.below(6)))};
  }
}

}  // namespace

std::vector<Delta> random_batch(Bytes& in, const Snapshot& now) {
  std::vector<Delta> batch;
  for (std::int32_t i = in.within(1, 4); i > 0; --i) batch.push_back(random_delta(in, now));
  return batch;
}

}  // namespace berth::fuzz
