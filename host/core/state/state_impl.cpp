#include "host/core/state/state_impl.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <numeric>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/span.hpp"

namespace berth {
namespace {

// Of its guarantee.
std::int64_t kept_gpus(const Quota& quota) {
  return quota.lending == kUnlimited ? 0 : std::max<std::int64_t>(0, quota.guarantee - quota.lending);
}

void prefetch(const void* memory, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(memory) + at);
}

}  // namespace

void JobStore::resize(std::size_t n) {
  for (auto* c :
       {&submit, &estimate, &deadline, &time_limit, &run, &progress_at, &victim_from, &waiting_since, &hard_deadline, &waiting_left, &end})
    c->resize(n, kNever);
  for (auto* c : {&estimate_rate, &work_left, &rate, &attained, &learning_rate_pico}) c->resize(n, 0);
  for (auto* c : {&priority, &gpus, &preemption_class, &queue, &held_type, &shape, &local_batch}) c->resize(n, -1);
  running.resize(n, 0);
  version.resize(n, 0);
  id.resize(n, nullptr);
}

core::FilterTable::Cluster StateImpl::filter_cluster() const { return {&nodes, &gpu_types, &node.type, &node_rank, &node_reservations_}; }

void StateImpl::load(Snapshot s, const std::string& source) {
  check_snapshot(s, source);
  now = s.now_us;
  name = std::move(s.name);
  origin_iso = std::move(s.origin_iso);
  x = std::move(s.x);
  gpu_types = std::move(s.gpu_types);
  domains = std::move(s.domains);
  nodes = std::move(s.nodes);
  queues = std::move(s.queues);
  reservations = std::move(s.reservations);
  history = std::move(s.history);
  history_version += std::uint64_t{1} << 32;  // more than by jobs that end
  jobs.clear();
  several_shapes_ = 0;
  longest_waits_ = 0;
  all_rows_changed_ = true;
  changed_rows_.clear();
  free_indices.clear();
  step_instants_.clear();
  job_order.clear();
  job_label.clear();
  index_of_job.clear();
  new_jobs_.clear();
  removed_jobs_.clear();
  log_.everything();
  // By id, so that the order of rows in a file never matters.
  std::sort(gpu_types.begin(), gpu_types.end(), [](const GpuType& a, const GpuType& b) { return a.id < b.id; });
  type_index.clear();
  type_memory.clear();
  for (std::size_t t = 0; t < gpu_types.size(); ++t) {
    type_index.emplace(gpu_types[t].id, static_cast<std::int32_t>(t));
    type_memory.push_back(gpu_types[t].memory_bytes);
  }
  filters.clear();
  demands.clear();
  rebuild_nodes();
  rebuild_queues();
  // Jobs by rank, so that the order of rows in a file never matters.
  loaded_jobs_ = std::move(s.jobs);
  std::vector<std::pair<TimeUs, Job*>> by_rank;
  by_rank.reserve(loaded_jobs_.size());
  for (Job& one : loaded_jobs_) by_rank.emplace_back(one.submit_us, &one);
  std::sort(by_rank.begin(), by_rank.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second->id < b.second->id; });
  facts_.reset();
  tables_ = 0;
  jobs.resize(loaded_jobs_.size());
  job = JobStore{};
  job.resize(jobs.size());
  index_of_job.reserve(jobs.size());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto job_index = static_cast<std::int32_t>(j);
    // Descriptions are large and in the order of the file.
    if (j + 2 < jobs.size()) prefetch(by_rank[j + 2].second, sizeof(Job));
    if (j + 1 < jobs.size()) prefetch(by_rank[j + 1].second->shapes.data(), sizeof(Shape));
    jobs[j].job = JobPtr(by_rank[j].second, {false});
    index_of_job.emplace(jobs[j].job->id, job_index);
    job.progress_at[j] = now;
    compile_job(job_index);
    if (jobs[j].job->state == JobState::kRunning) hold(job_index);
    store_columns(job_index);
    note_steps(job_index);
    new_jobs_.push_back(job_index);
  }
  rank_jobs();
  view_stale_ = true;
}

bool StateImpl::rebuild_nodes() {
  const std::vector<TypeSize> size_before = type_size;
  const std::vector<std::vector<std::string>> names_before = topologies.level_names();
  topologies.build(domains, nodes);
  const std::size_t n = nodes.size();
  node_rank.clear();
  node_rank.reserve(n);
  for (std::size_t i = 0; i < n; ++i) node_rank.emplace(nodes[i].id, static_cast<std::int32_t>(i));
  node = NodeStore{};
  node.type.resize(n);
  for (auto* c : {&node.usable, &node.held, &node.drained, &node.failed, &node.free, &node.open, &node.spare}) c->resize(n, 0);
  for (auto* c : {&node.cpu, &node.memory, &node.cpu_held, &node.memory_held}) c->resize(n, 0);
  node.until.resize(n, kNever);
  node.sharing.resize(n, 0);
  node.inner_begin.assign(1, 0);
  node.gpu_begin.assign(1, 0);
  type_size.assign(gpu_types.size(), {});
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> in_domain;  // GPUs by (domain, type)
  for (std::size_t i = 0; i < n; ++i) {
    const Node& d = nodes[i];
    node.type[i] = d.gpus == 0 && type_index.count(d.gpu_type) == 0 ? -1 : type_index.at(d.gpu_type);
    if (node.type[i] >= 0) {
      TypeSize& size = type_size[to_index(node.type[i])];
      size.gpus_per_node = std::max(size.gpus_per_node, d.gpus);
      const std::int64_t nic = core::nic_bandwidth(d);
      if (nic > 0 && (size.nic_bytes_per_s == 0 || nic < size.nic_bytes_per_s)) size.nic_bytes_per_s = nic;
      const std::int32_t domain = topologies.nvlink_domain(static_cast<std::int32_t>(i));
      if (domain >= 0) size.nvlink_gpus = std::max(size.nvlink_gpus, in_domain[{domain, node.type[i]}] += d.gpus);
    }
    std::int32_t top = d.gpus;
    std::vector<std::pair<std::int32_t, std::uint64_t>> inner;  // (inner group, mask)
    for (const Gpu& g : d.gpu_list) {
      top = std::max(top, g.index + 1);
      if (g.inner_group < 0) continue;
      const auto found = std::find_if(inner.begin(), inner.end(), [&](const auto& p) { return p.first == g.inner_group; });
      if (found == inner.end()) {
        inner.emplace_back(g.inner_group, std::uint64_t{1} << g.index);
      } else {
        found->second |= std::uint64_t{1} << g.index;
      }
    }
    std::sort(inner.begin(), inner.end(), [](const auto& a, const auto& b) { return (a.second & -a.second) < (b.second & -b.second); });
    for (const auto& [group, mask] : inner) node.inner_mask.push_back(mask);
    node.inner_begin.push_back(static_cast<std::int32_t>(node.inner_mask.size()));
    node.gpu_begin.push_back(node.gpu_begin.back() + top);
  }
  node.gpu_used_ppm.assign(to_index(node.gpu_begin.back()), 0);
  node.gpu_used_memory.assign(to_index(node.gpu_begin.back()), 0);
  broken_nodes_.clear();
  jobs_on_.assign(n, {});
  node_instants_.clear();
  for (std::size_t i = 0; i < n; ++i) note_instants(static_cast<std::int32_t>(i));
  node_reservations_.clear();
  // Demands name levels by their numbers. Filters name no nodes by rank: their rows are read again.
  const bool same = type_size == size_before && topologies.level_names() == names_before;
  if (!same) {
    filters.clear();
    demands.clear();
  }
  ranks_changed_ = true;
  rebuild_reservations();
  view_stale_ = true;
  return same;
}

void StateImpl::hold_again(const std::unordered_map<std::string, std::int32_t>& rank_before, std::span<const std::int32_t> others) {
  std::vector<std::int32_t> new_rank(rank_before.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto before = rank_before.find(nodes[i].id);
    if (before != rank_before.end()) new_rank[to_index(before->second)] = static_cast<std::int32_t>(i);
  }
  for (std::int32_t job_index = 0; job_index < static_cast<std::int32_t>(jobs.size()); ++job_index) {
    JobRecord& record = jobs[to_index(job_index)];
    if (record.held.empty() || std::binary_search(others.begin(), others.end(), job_index)) continue;
    for (PlanEntry& entry : record.entries) entry.node = new_rank[to_index(entry.node)];
    for (kernel::HeldRow& row : record.held) {
      row.node = new_rank[to_index(row.node)];
      occupy(job_index, row);
    }
  }
  // The rows of the view. Those of jobs that changed since are written again.
  const auto renumber = [&](auto& row) { row.node = row.node < 0 ? -1 : new_rank[to_index(row.node)]; };
  if (!all_rows_changed_) {
    held_.edit(renumber);
    entries_.edit(renumber);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) refresh_node(static_cast<std::int32_t>(i));
}

void StateImpl::rebuild_reservations() {
  node_reservations_.clear();
  std::vector<TimeUs> next(nodes.size(), kNever);
  for (std::size_t r = 0; r < reservations.size(); ++r) {
    const Reservation& reservation = reservations[r];
    if (reservation.to_us <= now) continue;
    std::vector<std::int32_t> ranks;
    for (const auto& id : reservation.nodes) ranks.push_back(node_rank.at(id));
    for (const auto& ref : reservation.domains) {
      const std::int32_t d = topologies.find(ref.topology, ref.path);
      for (std::int32_t n = 0; d >= 0 && n < static_cast<std::int32_t>(nodes.size()); ++n) {
        if (topologies.domain_of(static_cast<std::int32_t>(ref.topology), topologies.level_of(d), n) == d) ranks.push_back(n);
      }
    }
    for (const std::int32_t n : ranks) {
      if (reservation.from_us > now) {
        next[to_index(n)] = std::min(next[to_index(n)], reservation.from_us);
        continue;
      }
      if (node_reservations_.empty()) node_reservations_.resize(nodes.size());
      auto& held_for = node_reservations_[to_index(n)];
      if (held_for.empty() || held_for.back() != static_cast<std::int32_t>(r)) held_for.push_back(static_cast<std::int32_t>(r));
    }
  }
  node.has_until = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    node.until[i] = std::min(nodes[i].available_until_us, next[i]);
    node.has_until = node.has_until || node.until[i] != kNever;
  }
  filters.rebuild(filter_cluster());
  ++structure_;
  log_.everything();
  reservations_changed_ = true;
  total_gpus_.assign(nodes.size(), 0);
  total_cpu_.assign(nodes.size(), kernel::kNoLimit);
  total_memory_.assign(nodes.size(), kernel::kNoLimit);
  total_sharing_.assign(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& d = nodes[i];
    for (const Gpu& g : d.gpu_list) total_gpus_[i] |= std::uint64_t{1} << g.index;
    if (d.gpu_list.empty()) total_gpus_[i] = d.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << d.gpus) - 1;
    if (d.cpu_milli >= 0) total_cpu_[i] = d.cpu_milli;
    if (d.memory_bytes >= 0) total_memory_[i] = d.memory_bytes;
    total_sharing_[i] = d.sharing ? 1 : 0;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) refresh_node(static_cast<std::int32_t>(i));
  view_stale_ = true;
}

void StateImpl::rebuild_queues() {
  // Parents first, then by id: a queue's row follows its ancestors, whatever the order in the file.
  std::unordered_map<std::string, std::size_t> given;
  for (std::size_t q = 0; q < queues.size(); ++q) given.emplace(queues[q].id, q);
  const auto depth = [&](const Queue& queue) {
    int d = 0;
    for (auto up = given.find(queue.parent); up != given.end(); up = given.find(queues[up->second].parent)) ++d;
    return d;
  };
  std::vector<std::pair<int, std::size_t>> by_depth;
  for (std::size_t q = 0; q < queues.size(); ++q) by_depth.emplace_back(depth(queues[q]), q);
  std::sort(by_depth.begin(), by_depth.end(), [this](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : queues[a.second].id < queues[b.second].id;
  });
  std::vector<Queue> sorted;
  sorted.reserve(queues.size());
  for (const auto& [d, q] : by_depth) sorted.push_back(std::move(queues[q]));
  queues = std::move(sorted);

  facts_.reset();
  ++structure_;
  log_.everything();
  queue_index.clear();
  queue_parent.clear();
  for (std::size_t q = 0; q < queues.size(); ++q) {
    queue_index.emplace(queues[q].id, static_cast<std::int32_t>(q));
    const auto parent = queue_index.find(queues[q].parent);
    queue_parent.push_back(parent == queue_index.end() ? kernel::kNone : parent->second);
  }
  read_quotas();
  charge_idle_queues();
  for (std::size_t job_index = 0; job_index < jobs.size(); ++job_index) {
    if (!jobs[job_index].job) continue;
    const auto found = queue_index.find(jobs[job_index].job->queue);
    job.queue[job_index] = found == queue_index.end() ? kernel::kNone : found->second;
    if (job.running[job_index] == 0) continue;
    charge_queues(static_cast<std::int32_t>(job_index), 1);
  }
  view_stale_ = true;
}

void StateImpl::read_quotas() {
  const std::size_t columns = gpu_types.size() + 1;
  queue_cap.assign(queues.size() * columns, kernel::kNoLimit);
  queue_kept.assign(queues.size() * columns, 0);
  for (std::size_t q = 0; q < queues.size(); ++q) {
    for (const Quota& quota : queues[q].quotas) {
      const std::size_t t = quota.gpu_type == "*" ? columns - 1 : to_index(type_index.at(quota.gpu_type));
      std::int64_t cap = quota.limit < 0 ? kernel::kNoLimit : quota.limit;
      if (quota.borrowing >= 0) cap = std::min(cap, quota.guarantee + quota.borrowing);
      // A cap that no cluster can reach is no cap.
      queue_cap[q * columns + t] = cap < kernel::kNoLimit / kWholeGpu ? cap * kWholeGpu : kernel::kNoLimit;
      queue_kept[q * columns + t] = kept_gpus(quota) * kWholeGpu;
    }
  }
}

void StateImpl::swap_quotas(std::size_t index, Queue& queue) {
  std::swap(queues[index], queue);
  const bool kept_before = !queue_kept.empty();
  read_quotas();
  if (kept_before || std::any_of(queue_kept.begin(), queue_kept.end(), [](std::int64_t kept) { return kept != 0; })) {
    charge_idle_queues();
    for (std::size_t job_index = 0; job_index < jobs.size(); ++job_index) {
      if (jobs[job_index].job && job.running[job_index] != 0) charge_queues(static_cast<std::int32_t>(job_index), 1);
    }
  } else {
    queue_kept.clear();
  }
  ++structure_;
  log_.everything();
  quotas_changed_ = true;
  view_stale_ = true;
}

// What queues keep matters below a limit only. The columns begin with what parents are charged while all queues are idle.
void StateImpl::charge_idle_queues() {
  const std::size_t columns = gpu_types.size() + 1;
  queue_used.assign(queue_kept.size(), 0);
  if (std::all_of(queue_kept.begin(), queue_kept.end(), [](std::int64_t kept) { return kept == 0; })) return queue_kept.clear();
  std::vector<std::uint8_t> below_limit(queue_kept.size(), 0);
  for (std::size_t i = 0; i < queue_kept.size(); ++i) {
    const std::int32_t parent = queue_parent[i / columns];
    if (parent < 0) continue;
    const std::size_t above = to_index(parent) * columns + i % columns;
    below_limit[i] = below_limit[above] != 0 || queue_cap[above] != kernel::kNoLimit ? 1 : 0;
  }
  for (std::size_t i = queue_kept.size(); i-- > 0;) {
    if (below_limit[i] == 0) queue_kept[i] = 0;
    if (queue_parent[i / columns] < 0) continue;
    queue_used[to_index(queue_parent[i / columns]) * columns + i % columns] += std::max(queue_used[i], queue_kept[i]);
  }
  if (std::all_of(queue_kept.begin(), queue_kept.end(), [](std::int64_t kept) { return kept == 0; })) queue_kept.clear();
}

void StateImpl::touch_job(std::int32_t job_index) {
  job.version[to_index(job_index)] = jobs[to_index(job_index)].version = ++job_versions_;
  log_.job(job_index);
  if (!facts_) return;
  changed_jobs_.push_back(job_index);
  if (changed_jobs_.size() > most_changes()) facts_.reset();
}

void StateImpl::change_rows(std::int32_t job_index) {
  if (all_rows_changed_) return;
  changed_rows_.push_back(job_index);
  if (changed_rows_.size() > most_changes()) change_all_rows();
}

void StateImpl::change_all_rows() {
  all_rows_changed_ = true;
  changed_rows_.clear();
  ++options_version_;  // option rows may have other numbers
}

const std::vector<std::int32_t>& StateImpl::job_rank() const {
  if (!ranks_stale_) return job_rank_;
  job_rank_.assign(jobs.size(), -1);
  for (std::size_t r = 0; r < job_order.size(); ++r) job_rank_[to_index(job_order[r])] = static_cast<std::int32_t>(r);
  ranks_stale_ = false;
  return job_rank_;
}

constexpr std::int64_t kLabelStep = std::int64_t{1} << 24;

void StateImpl::label_all() {
  for (std::size_t r = 0; r < job_order.size(); ++r) job_label[to_index(job_order[r])] = static_cast<std::int64_t>(r + 1) * kLabelStep;
  log_.everything();
}

// In front of what is there. Most new jobs are the latest and move nothing.
void StateImpl::insert_job(std::size_t place, std::int32_t job_index) {
  const auto label_at = [this](std::size_t r) { return job_label[to_index(job_order[r])]; };
  const std::int64_t below = place == 0 ? 0 : label_at(place - 1);
  const bool last = place == job_order.size();
  std::int64_t& label = job_label[to_index(job_index)];
  label = last ? below + kLabelStep : below + (label_at(place) - below) / 2;
  job_order.insert(job_order.begin() + static_cast<std::ptrdiff_t>(place), job_index);
  if (label == below || label > INT64_MAX - kLabelStep) label_all();
}

void StateImpl::rank_jobs() {
  if (new_jobs_.empty() && removed_jobs_.empty()) return;
  order_changed_ = true;
  ranks_stale_ = true;
  job_label.resize(jobs.size(), -1);
  constexpr std::size_t kFew = 16;  // more are put in order in one pass
  if (removed_jobs_.size() > kFew) {
    for (const std::int32_t s : removed_jobs_) job_label[to_index(s)] = -1;
    job_order.erase(std::remove_if(job_order.begin(), job_order.end(), [this](std::int32_t s) { return job_label[to_index(s)] < 0; }),
                    job_order.end());
  }
  for (std::size_t i = 0; i < removed_jobs_.size() && removed_jobs_.size() <= kFew; ++i) {
    std::int64_t& label = job_label[to_index(removed_jobs_[i])];
    if (label < 0) continue;  // it was never in the order, or it was removed twice
    const auto by_label = [this](std::int32_t s, std::int64_t of) { return job_label[to_index(s)] < of; };
    job_order.erase(std::lower_bound(job_order.begin(), job_order.end(), label, by_label));
    label = -1;
  }
  removed_jobs_.clear();
  std::sort(new_jobs_.begin(), new_jobs_.end());
  new_jobs_.erase(std::unique(new_jobs_.begin(), new_jobs_.end()), new_jobs_.end());
  new_jobs_.erase(std::remove_if(new_jobs_.begin(), new_jobs_.end(), [this](std::int32_t s) { return !jobs[to_index(s)].job; }),
                  new_jobs_.end());
  const auto before = [this](std::int32_t a, std::int32_t b) {
    if (job.submit[to_index(a)] != job.submit[to_index(b)]) return job.submit[to_index(a)] < job.submit[to_index(b)];
    return *job.id[to_index(a)] < *job.id[to_index(b)];
  };
  if (new_jobs_.size() > kFew) {
    const std::size_t known = job_order.size();
    std::sort(new_jobs_.begin(), new_jobs_.end(), before);
    job_order.insert(job_order.end(), new_jobs_.begin(), new_jobs_.end());
    std::inplace_merge(job_order.begin(), job_order.begin() + static_cast<std::ptrdiff_t>(known), job_order.end(), before);
    label_all();
  } else {
    for (const std::int32_t s : new_jobs_) {
      const auto place = std::upper_bound(job_order.begin(), job_order.end(), s, before);
      insert_job(static_cast<std::size_t>(place - job_order.begin()), s);
    }
  }
  assert(std::is_sorted(job_order.begin(), job_order.end(), before));
  assert(job_order.size() == index_of_job.size());
  new_jobs_.clear();
}

std::int32_t StateImpl::take_index() {
  if (!free_indices.empty()) {
    const std::int32_t job_index = free_indices.back();
    free_indices.pop_back();
    return job_index;
  }
  jobs.emplace_back();
  job.resize(jobs.size());
  return static_cast<std::int32_t>(jobs.size()) - 1;
}

// All but the rows of jobs.
void StateImpl::view_cluster() const {
  kernel::ProblemView& v = view_;
  v.n_nodes = static_cast<std::int32_t>(nodes.size());
  v.n_words = filters.words();
  v.node_type = node.type.data();
  v.node_free = node.free.data();
  v.node_open = node.open.data();
  v.node_spare = node.spare.data();
  v.node_cpu = node.cpu.data();
  v.node_memory = node.memory.data();
  v.node_until = node.until.data();
  v.node_sharing = node.sharing.data();
  v.inner_begin = node.inner_begin.data();
  v.inner_mask = node.inner_mask.data();
  v.gpu_begin = node.gpu_begin.data();
  v.gpu_used_ppm = node.gpu_used_ppm.data();
  v.gpu_used_memory = node.gpu_used_memory.data();
  v.has_until = node.has_until ? 1 : 0;
  v.n_types = static_cast<std::int32_t>(gpu_types.size());
  v.type_memory = type_memory.data();
  topologies.fill(v);
  v.n_filters = filters.size();
  v.filter_words = filters.data();
  view_demands();
  v.n_jobs = static_cast<std::int32_t>(jobs.size());
  v.job_queue = job.queue.data();
  v.n_queues = static_cast<std::int32_t>(queues.size());
  v.queue_parent = queue_parent.data();
  v.queue_cap = queue_cap.data();
  v.queue_kept = queue_kept.empty() ? nullptr : queue_kept.data();
  v.queue_used = queue_used.data();
  v.held_type = job.held_type.data();
}

const kernel::ProblemView& StateImpl::problem() const {
  check_whole();
  if (!view_stale_) {
    // Consolidation adds demands to the table, which may have been reallocated.
    view_demands();
    return view_;
  }
  view_cluster();
  update_rows();
  view_.n_options = static_cast<std::int32_t>(options_.rows().size());
  view_.option_begin = options_.begin().data();
  view_.option_end = options_.end().data();
  view_.options = options_.rows().data();
  view_.n_held = static_cast<std::int32_t>(held_.rows().size());
  view_.held_begin = held_.begin().data();
  view_.held_end = held_.end().data();
  view_.held = held_.rows().data();
  view_stale_ = false;
  return view_;
}

void StateImpl::update_rows() const {
  if (all_rows_changed_) {
    options_.clear();
    held_.clear();
    entries_.clear();
    changed_rows_.resize(jobs.size());
    std::iota(changed_rows_.begin(), changed_rows_.end(), 0);
  }
  const auto update = [this](auto& rows, auto member) {
    rows.resize(jobs.size());
    if (all_rows_changed_) {
      std::size_t all = 0;
      for (const JobRecord& record : jobs) all += (record.*member).size();
      rows.reserve(all);
    }
    for (const std::int32_t job_index : changed_rows_) rows.set(to_index(job_index), jobs[to_index(job_index)].*member);
    rows.compact();
  };
  update(options_, &JobRecord::options);
  update(held_, &JobRecord::held);
  update(entries_, &JobRecord::entries);
  changed_rows_.clear();
  all_rows_changed_ = false;
}

void StateImpl::view_demands() const {
  view_.n_demands = static_cast<std::int32_t>(demands.rows().size());
  view_.demands = demands.rows().data();
  view_.groups = demands.groups().data();
}

core::SupplyView StateImpl::total_supply() const {
  return {total_gpus_.data(), total_cpu_.data(), total_memory_.data(), nullptr, nullptr, total_sharing_.data()};
}

const core::ClusterFacts& StateImpl::facts() const {
  check_whole();
  if (!facts_) {
    core::FactsSource source;
    source.now = now;
    source.gpu_types = gpu_types;
    source.domains = domains;
    source.queues = queues;
    source.reservations = reservations;
    for (const Node& n : nodes) source.nodes.push_back(&n);
    for (const JobRecord& record : jobs) source.jobs.push_back(record.job.get());
    source.by_rank = job_order;
    source.run_now = [this](std::int32_t job_index) { return run_now(job_index); };
    source.version = ++facts_version_;
    facts_ = std::make_unique<core::ClusterFacts>(std::move(source));
  } else {
    facts_->set_now(now);
    if (ranks_changed_) {
      std::vector<const Node*> by_rank;
      for (const Node& n : nodes) by_rank.push_back(&n);
      facts_->put_nodes(by_rank, reservations);
      changed_nodes_.clear();
    } else if (reservations_changed_) {
      facts_->set_reservations(reservations);
    }
    if (quotas_changed_) facts_->set_quotas(queues);
    if (ranks_changed_ || reservations_changed_ || quotas_changed_) facts_->set_version(++facts_version_);
    for (const std::int32_t n : changed_nodes_) facts_->put_node(n, nodes[to_index(n)]);
    if (!changed_nodes_.empty()) facts_->set_version(++facts_version_);
    for (const std::int32_t j : changed_jobs_) facts_->put_job(j, jobs[to_index(j)].job.get(), ++facts_version_);
    if (order_changed_) facts_->set_order(job_order);
  }
  changed_nodes_.clear();
  changed_jobs_.clear();
  order_changed_ = ranks_changed_ = reservations_changed_ = quotas_changed_ = false;
  return *facts_;
}

void StateImpl::list_jobs_that_lost_gpus(std::vector<std::int32_t>& found) const {
  found.clear();
  for (const std::int32_t rank : broken_nodes_) {
    for (const std::int32_t job_index : jobs_on_[to_index(rank)]) {
      if (lost_gpus(job_index)) found.push_back(job_index);
    }
  }
  std::sort(found.begin(), found.end(), [this](std::int32_t a, std::int32_t b) { return job_label[to_index(a)] < job_label[to_index(b)]; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

bool StateImpl::lost_gpus(std::int32_t job_index) const {
  const auto& held = jobs[to_index(job_index)].held;
  return std::any_of(held.begin(), held.end(), [this](const kernel::HeldRow& h) { return (h.mask & ~node.usable[to_index(h.node)]) != 0; });
}

}  // namespace berth
