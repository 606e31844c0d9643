#include "tests/support/problem_builder.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>
#include <utility>

namespace berth::test {
namespace {

using kernel::GroupRow;
using kernel::kNoLimit;
using kernel::kNone;

std::uint64_t lowest(std::int32_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

// Appends the group and its descendants; `base` is the demand's first row.
void append_group(const GroupSpec& spec, std::size_t base, std::vector<GroupRow>& rows) {
  const std::size_t at = rows.size();
  GroupRow row{};
  row.members = spec.members;
  row.gpus = spec.gpus;
  row.share_ppm = spec.share_ppm;
  row.cpu = spec.cpu;
  row.memory = spec.memory;
  row.gpu_memory = spec.gpu_memory;
  row.segment_size = spec.segment_size;
  row.segment_topology = spec.segment.topology;
  row.segment_level = spec.segment.level;
  row.require_topology = spec.require.topology;
  row.require_level = spec.require.level;
  row.prefer_topology = spec.prefer.topology;
  row.prefer_level = spec.prefer.level;
  row.spread_most = spec.spread_most;
  row.spread_topology = spec.spread.topology;
  row.spread_level = spec.spread.level;
  row.subtree_gpus = spec.share_ppm == kWholeGpu ? std::int64_t{spec.members} * spec.gpus : 0;
  rows.push_back(row);
  for (const GroupSpec& child : spec.children) {
    const std::size_t child_at = rows.size();
    append_group(child, base, rows);
    rows[at].subtree_gpus += rows[child_at].subtree_gpus;
  }
  rows[at].subtree_end = static_cast<std::int32_t>(rows.size() - base);
}

// Subtracts the holdings of a running job from the node's columns.
void charge(const HeldSpec& held, Problem& p) {
  const auto node = static_cast<std::size_t>(held.node);
  p.node_free[node] &= ~held.mask;
  if (p.node_cpu[node] != kNoLimit) p.node_cpu[node] -= held.cpu;
  if (p.node_memory[node] != kNoLimit) p.node_memory[node] -= held.memory;
  if (held.share_ppm == kWholeGpu) return;
  for (std::int32_t row = p.gpu_begin[node]; row < p.gpu_begin[node + 1]; ++row) {
    if ((held.mask >> (row - p.gpu_begin[node]) & 1) == 0) continue;
    p.gpu_used_ppm[static_cast<std::size_t>(row)] += held.share_ppm;
    p.gpu_used_memory[static_cast<std::size_t>(row)] += held.gpu_memory;
  }
}

}  // namespace

int ProblemBuilder::type(std::int64_t memory_bytes) {
  types_.push_back(memory_bytes);
  return static_cast<int>(types_.size()) - 1;
}

ProblemBuilder& ProblemBuilder::levels(int topology, int named) {
  named_.at(static_cast<std::size_t>(topology)) = named;
  return *this;
}

int ProblemBuilder::node(NodeSpec spec) {
  nodes_.push_back(std::move(spec));
  return static_cast<int>(nodes_.size()) - 1;
}

ProblemBuilder& ProblemBuilder::rack(const std::string& path, const std::vector<std::int32_t>& gpus) {
  for (const std::int32_t n : gpus) {
    NodeSpec spec;
    spec.gpus = n;
    spec.path[kSwitchTopology] = path;
    node(spec);
  }
  return *this;
}

int ProblemBuilder::demand(DemandSpec spec) {
  demands_.push_back(std::move(spec));
  return static_cast<int>(demands_.size()) - 1;
}

int ProblemBuilder::queue(int parent, std::vector<std::int64_t> caps, std::vector<std::int64_t> kept) {
  queues_.push_back({parent, std::move(caps), std::move(kept)});
  return static_cast<int>(queues_.size()) - 1;
}

int ProblemBuilder::job(const std::vector<int>& demands, int queue) {
  jobs_.push_back({demands, queue, {}});
  return static_cast<int>(jobs_.size()) - 1;
}

int ProblemBuilder::gang(std::int32_t members, std::int32_t gpus, int queue) {
  GroupSpec group;
  group.members = members;
  group.gpus = gpus;
  return ask(group, queue);
}

int ProblemBuilder::ask(const GroupSpec& group, int queue) {
  DemandSpec spec;
  spec.groups.push_back(group);
  return job({demand(std::move(spec))}, queue);
}

ProblemBuilder& ProblemBuilder::hold(int job, const HeldSpec& held) {
  jobs_.at(static_cast<std::size_t>(job)).held.push_back(held);
  return *this;
}

Problem ProblemBuilder::build() const {
  Problem p;
  p.type_memory = types_.empty() ? std::vector<std::int64_t>{0} : types_;
  build_nodes(p);
  build_topologies(nodes_, named_, p);
  build_jobs(p);
  build_held(p);
  build_queues(p);
  return p;
}

void ProblemBuilder::build_nodes(Problem& p) const {
  p.inner_begin.push_back(0);
  p.gpu_begin.push_back(0);
  for (const NodeSpec& node : nodes_) {
    const std::uint64_t working = lowest(node.gpus) & ~node.busy;
    const std::uint64_t open = node.spare || node.closed ? 0 : working;
    p.node_type.push_back(node.type);
    p.node_free.push_back(open);
    p.node_open.push_back(open);
    p.node_spare.push_back(node.spare ? working : 0);
    p.node_cpu.push_back(node.cpu);
    p.node_memory.push_back(node.memory);
    p.node_until.push_back(node.until);
    p.node_sharing.push_back(node.sharing && !node.spare && !node.closed ? 1 : 0);
    p.inner_mask.insert(p.inner_mask.end(), node.inner.begin(), node.inner.end());
    p.inner_begin.push_back(static_cast<std::int32_t>(p.inner_mask.size()));
    p.gpu_begin.push_back(p.gpu_begin.back() + node.gpus);
  }
  p.gpu_used_ppm.assign(static_cast<std::size_t>(p.gpu_begin.back()), 0);
  p.gpu_used_memory.assign(static_cast<std::size_t>(p.gpu_begin.back()), 0);
}

void ProblemBuilder::build_jobs(Problem& p) const {
  const std::size_t words = (nodes_.size() + 63) / 64;
  std::map<std::vector<std::uint64_t>, std::int32_t> filters;
  for (const DemandSpec& spec : demands_) {
    std::vector<std::uint64_t> filter(words);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const bool allowed =
          spec.nodes.empty() || std::find(spec.nodes.begin(), spec.nodes.end(), static_cast<std::int32_t>(n)) != spec.nodes.end();
      if (allowed && nodes_[n].type == spec.type) filter[n / 64] |= std::uint64_t{1} << (n % 64);
    }
    const auto found = filters.emplace(filter, p.n_filters);
    if (found.second) {
      p.filter_words.insert(p.filter_words.end(), filter.begin(), filter.end());
      ++p.n_filters;
    }
    kernel::DemandRow row{};
    row.group_begin = static_cast<std::int32_t>(p.groups.size());
    for (const GroupSpec& group : spec.groups) {
      const std::size_t at = p.groups.size();
      append_group(group, static_cast<std::size_t>(row.group_begin), p.groups);
      row.gpus += p.groups[at].subtree_gpus;
    }
    row.group_end = static_cast<std::int32_t>(p.groups.size());
    for (std::int32_t g = row.group_begin; g < row.group_end; ++g) {
      const kernel::GroupRow& group = p.groups[static_cast<std::size_t>(g)];
      row.quota += std::int64_t{group.members} * group.gpus * group.share_ppm;
    }
    row.filter = found.first->second;
    row.gpu_type = spec.type;
    const bool flat = spec.groups.size() == 1 && spec.groups[0].children.empty();
    row.exact = flat && !(spec.groups[0].segment_size > 0 && spec.groups[0].spread_most > 0) ? 1 : 0;
    p.demands.push_back(row);
  }
  p.option_begin.push_back(0);
  for (const JobSpec& job : jobs_) {
    for (std::size_t i = 0; i < job.demands.size(); ++i) p.options.push_back({job.demands[i], static_cast<std::int32_t>(i)});
    p.option_begin.push_back(static_cast<std::int32_t>(p.options.size()));
    p.job_queue.push_back(job.queue);
  }
}

void ProblemBuilder::build_held(Problem& p) const {
  p.held_begin.push_back(0);
  for (const JobSpec& job : jobs_) {
    for (const HeldSpec& held : job.held) {
      p.held.push_back({held.node, held.share_ppm, held.mask, held.cpu, held.memory, held.gpu_memory});
      charge(held, p);
    }
    p.held_begin.push_back(static_cast<std::int32_t>(p.held.size()));
    p.held_type.push_back(job.held.empty() ? kNone : nodes_.at(static_cast<std::size_t>(job.held[0].node)).type);
  }
}

void ProblemBuilder::build_queues(Problem& p) const {
  const std::size_t columns = p.type_memory.size() + 1;
  for (const QueueSpec& queue : queues_) {
    if (queue.parent >= static_cast<int>(p.queue_parent.size())) throw std::logic_error("parents stand before children");
    p.queue_parent.push_back(queue.parent);
    std::vector<std::int64_t> caps = queue.caps;
    caps.resize(columns, kNoLimit);
    for (std::int64_t& cap : caps) cap = cap == kNoLimit ? cap : cap * kWholeGpu;
    p.queue_cap.insert(p.queue_cap.end(), caps.begin(), caps.end());
  }
  p.queue_used.assign(p.queue_cap.size(), 0);
  for (const JobSpec& job : jobs_) {
    for (const HeldSpec& held : job.held) {
      const std::int64_t quota = std::int64_t{held.share_ppm} * std::popcount(held.mask);
      const auto type = static_cast<std::size_t>(nodes_[static_cast<std::size_t>(held.node)].type);
      if (job.queue == kNone) continue;
      p.queue_used[static_cast<std::size_t>(job.queue) * columns + type] += quota;
      p.queue_used[static_cast<std::size_t>(job.queue) * columns + columns - 1] += quota;
    }
  }
  if (std::any_of(queues_.begin(), queues_.end(), [](const QueueSpec& queue) { return !queue.kept.empty(); })) {
    p.queue_kept.assign(p.queue_cap.size(), 0);
  }
  for (std::size_t q = queues_.size(); q-- > 0;) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t cell = q * columns + c;
      if (c < queues_[q].kept.size()) p.queue_kept[cell] = queues_[q].kept[c] * kWholeGpu;
      if (queues_[q].parent == kNone) continue;
      const std::int64_t kept = p.queue_kept.empty() ? 0 : p.queue_kept[cell];
      p.queue_used[static_cast<std::size_t>(queues_[q].parent) * columns + c] += std::max(p.queue_used[cell], kept);
    }
  }
}

}  // namespace berth::test
