#include "host/core/model/cluster_facts.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "host/core/model/held_facts.hpp"

namespace berth::core {

FactsSource facts_source(const Snapshot& snapshot) {
  FactsSource source{snapshot.now_us, snapshot.gpu_types, snapshot.domains, snapshot.queues, snapshot.reservations, {}, {}, {}, 0, {}};
  for (const Node& node : snapshot.nodes) source.nodes.push_back(&node);
  std::sort(source.nodes.begin(), source.nodes.end(),
            [](const Node* a, const Node* b) { return std::tie(a->domain[0], a->id) < std::tie(b->domain[0], b->id); });
  for (const Job& job : snapshot.jobs) source.jobs.push_back(&job);
  source.by_rank.resize(snapshot.jobs.size());
  std::iota(source.by_rank.begin(), source.by_rank.end(), 0);
  std::sort(source.by_rank.begin(), source.by_rank.end(), [&](std::int32_t a, std::int32_t b) {
    const Job& x = snapshot.jobs[static_cast<std::size_t>(a)];
    const Job& y = snapshot.jobs[static_cast<std::size_t>(b)];
    return std::tie(x.submit_us, x.id) < std::tie(y.submit_us, y.id);
  });
  return source;
}

ClusterFacts::ClusterFacts(FactsSource source) : source_(std::move(source)) {
  for (int f = 0; f < kTopologyKinds; ++f)
    levels_[static_cast<std::size_t>(f)] = DomainLevels(static_cast<TopologyKind>(f), source_.domains);
  put_nodes(source_.nodes, source_.reservations);

  for (std::size_t q = 0; q < source_.queues.size(); ++q) queue_index_.emplace(source_.queues[q].id, static_cast<std::int32_t>(q));
  for (const Queue& queue : source_.queues) {
    const auto up = queue_index_.find(queue.parent);
    queue_parent_.push_back(queue.parent.empty() || up == queue_index_.end() ? -1 : up->second);
  }
  set_quotas(source_.queues);

  version_ = source_.version;
  jobs_.resize(source_.jobs.size());
  for (std::size_t job = 0; job < jobs_.size(); ++job) put_job(static_cast<std::int32_t>(job), source_.jobs[job], version_);
}

void ClusterFacts::put_node(std::int32_t rank, const Node& node) {
  NodeFacts& facts = nodes_[static_cast<std::size_t>(rank)];
  const bool reserved = facts.reserved;
  facts = {};
  facts.reserved = reserved;
  facts.node = &node;
  facts.type = find_type(node.gpu_type);
  facts.gpus = node.gpus;
  facts.sharing = node.sharing;
  if (node.gpu_list.empty()) {
    facts.existing = node.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
    facts.ok = facts.works = facts.existing;
  }
  for (const Gpu& gpu : node.gpu_list) {
    const std::uint64_t bit = std::uint64_t{1} << gpu.index;
    facts.existing |= bit;
    if (gpu.state == GpuState::kOk) facts.ok |= bit;
    if (gpu.state != GpuState::kFailed) facts.works |= bit;
  }
  if (node.state == NodeState::kFailed) facts.ok = facts.works = 0;
  for (int f = 0; f < kTopologyKinds; ++f) levels_[static_cast<std::size_t>(f)].put_node(rank, node.domain[static_cast<std::size_t>(f)]);
}

void ClusterFacts::put_nodes(std::span<const Node* const> by_rank, std::span<const Reservation> reservations) {
  Index rank_before;
  rank_before.swap(node_rank_);
  std::vector<std::int32_t> new_rank(nodes_.size(), -1);
  nodes_.assign(by_rank.size(), {});
  for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
    node_rank_.emplace(by_rank[rank]->id, static_cast<std::int32_t>(rank));
    put_node(static_cast<std::int32_t>(rank), *by_rank[rank]);
    const auto before = rank_before.find(by_rank[rank]->id);
    if (before != rank_before.end()) new_rank[static_cast<std::size_t>(before->second)] = static_cast<std::int32_t>(rank);
  }
  for (HeldFact& held : held_) held.node = held.node < 0 ? -1 : new_rank[static_cast<std::size_t>(held.node)];
  source_.reservations = reservations;
  mark_reserved();
}

void ClusterFacts::set_reservations(std::span<const Reservation> reservations) {
  source_.reservations = reservations;
  for (NodeFacts& facts : nodes_) facts.reserved = false;
  mark_reserved();
}

void ClusterFacts::set_quotas(std::span<const Queue> queues) {
  source_.queues = queues;
  const std::size_t columns = source_.gpu_types.size() + 1;
  queue_cap_.assign(queues.size() * columns, kUnlimited);
  queue_kept_.assign(queues.size() * columns, 0);
  any_kept_ = false;
  for (std::size_t q = 0; q < queues.size(); ++q) {
    for (const Quota& quota : queues[q].quotas) {
      const std::size_t at = q * columns + (quota.gpu_type == "*" ? columns - 1 : static_cast<std::size_t>(find_type(quota.gpu_type)));
      std::int64_t& cap = queue_cap_[at];
      cap = quota.limit;
      if (quota.lending != kUnlimited) queue_kept_[at] = quota.guarantee - quota.lending;
      any_kept_ = any_kept_ || queue_kept_[at] > 0;
      if (quota.borrowing != kUnlimited) {
        const std::int64_t most = quota.guarantee + quota.borrowing;
        cap = cap == kUnlimited ? most : std::min(cap, most);
      }
    }
  }
}

void ClusterFacts::put_job(std::int32_t job_index, const Job* job, std::uint64_t version) {
  if (static_cast<std::size_t>(job_index) >= jobs_.size()) jobs_.resize(static_cast<std::size_t>(job_index) + 1);
  JobFacts& facts = jobs_[static_cast<std::size_t>(job_index)];
  live_held_ -= facts.held_end - facts.held_begin;
  facts = {};
  facts.job = job;
  facts.version = version;
  if (job == nullptr) return;
  facts.queue = job_queue(*job);
  facts.running = job->state == JobState::kRunning;
  if (!facts.running) return;
  facts.shape = find_shape(*job, job->allocation.shape);
  if (facts.shape >= 0) {
    const Shape& shape = job->shapes[static_cast<std::size_t>(facts.shape)];
    facts.local_batch = shape.local_batch;
    facts.learning_rate_pico = shape.learning_rate_pico;
  }
  facts.held_begin = static_cast<std::int32_t>(held_.size());
  append_held(*this, *job, facts.shape, held_);
  facts.held_end = static_cast<std::int32_t>(held_.size());
  live_held_ += facts.held_end - facts.held_begin;
  if (static_cast<std::int64_t>(held_.size()) > 2 * live_held_ + 1024) compact_held();
}

void ClusterFacts::compact_held() {
  std::vector<HeldFact> kept;
  kept.reserve(static_cast<std::size_t>(live_held_));
  for (JobFacts& job : jobs_) {
    const auto begin = static_cast<std::int32_t>(kept.size());
    kept.insert(kept.end(), held_.begin() + job.held_begin, held_.begin() + job.held_end);
    job.held_begin = begin;
    job.held_end = static_cast<std::int32_t>(kept.size());
  }
  held_.swap(kept);
}

std::int64_t ClusterFacts::queue_cap(std::int32_t queue, std::int32_t type) const {
  return queue_cap_[static_cast<std::size_t>(queue) * (source_.gpu_types.size() + 1) + static_cast<std::size_t>(type)];
}

std::int64_t ClusterFacts::queue_kept(std::int32_t queue, std::int32_t type) const {
  return queue_kept_[static_cast<std::size_t>(queue) * (source_.gpu_types.size() + 1) + static_cast<std::size_t>(type)];
}

std::int32_t ClusterFacts::job_queue(const Job& job) const {
  const auto queue = queue_index_.find(job.queue);
  return queue == queue_index_.end() ? -1 : queue->second;
}

std::int32_t ClusterFacts::find_node(std::string_view id) const {
  const auto found = node_rank_.find(id);
  return found == node_rank_.end() ? -1 : found->second;
}

std::int32_t ClusterFacts::find_type(std::string_view id) const {
  for (std::size_t t = 0; t < source_.gpu_types.size(); ++t) {
    if (source_.gpu_types[t].id == id) return static_cast<std::int32_t>(t);
  }
  return -1;
}

bool ClusterFacts::reservation_covers(const Reservation& reservation, std::int32_t rank) const {
  const Node& described = *node(rank).node;
  if (std::find(reservation.nodes.begin(), reservation.nodes.end(), described.id) != reservation.nodes.end()) return true;
  return std::any_of(reservation.domains.begin(), reservation.domains.end(), [&](const DomainRef& ref) {
    const std::string& path = described.domain[static_cast<std::size_t>(ref.topology)];
    return path == ref.path ||
           (path.size() > ref.path.size() && path.compare(0, ref.path.size(), ref.path) == 0 && path[ref.path.size()] == '/');
  });
}

void ClusterFacts::mark_reserved() {
  for (const Reservation& reservation : source_.reservations) {
    for (std::int32_t rank = 0; rank < node_count(); ++rank) {
      NodeFacts& facts = nodes_[static_cast<std::size_t>(rank)];
      facts.reserved = facts.reserved || reservation_covers(reservation, rank);
    }
  }
}

std::string_view ClusterFacts::refuses(const Job& job, std::int32_t rank) const {
  const Node& described = *node(rank).node;
  const Constraints& c = job.constraints;
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const auto& wanted : c.labels) {
    const bool matches = std::any_of(described.labels.begin(), described.labels.end(),
                                     [&](const auto& label) { return label.first == wanted.first && has(wanted.second, label.second); });
    if (!matches) return "its labels do not match";
  }
  if (!c.required_nodes.empty() && !has(c.required_nodes, described.id)) return "it is not one of the required nodes";
  if (has(c.excluded_nodes, described.id)) return "the job excludes it";
  if (!described.virtual_clusters.empty() && !has(described.virtual_clusters, job.virtual_cluster))
    return "it serves other virtual clusters";
  return {};
}

}  // namespace berth::core
