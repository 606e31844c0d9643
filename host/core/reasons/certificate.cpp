#include "host/core/reasons/certificate.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/core/model/held_facts.hpp"

namespace berth::core {
namespace {

struct Lack {
  ReasonCode code;
  std::int64_t asked, best;
};

constexpr std::int64_t kPlenty = INT64_MAX;

// Members of a group that a whole, empty node holds, by GPUs, cores and memory; kPlenty: no limit by that resource.
struct Holds {
  std::int64_t gpus, cpu, memory;
  std::int64_t all() const { return std::min({gpus, cpu, memory}); }
};

std::int64_t stated(std::int64_t has) { return has == kUnlimited ? kPlenty : has; }

std::int64_t fits(std::int64_t has, std::int64_t per_member) { return has == kUnlimited || per_member == 0 ? kPlenty : has / per_member; }

Holds holds(const NodeFacts& node, const GroupFacts& group, const Job& job) {
  const Constraints& c = job.constraints;
  const bool whole = group.share_ppm == kWholeGpu;
  const std::int64_t gpus = whole                         ? node.gpus / group.gpus
                            : node.sharing && job.sharing ? std::int64_t{node.gpus} * (kWholeGpu / group.share_ppm)
                                                          : 0;
  return {gpus, fits(node.node->cpu_milli, group.gpus * c.cpu_milli_per_gpu),
          fits(node.node->memory_bytes, group.gpus * c.memory_bytes_per_gpu)};
}

bool inside(const Shape& shape, std::size_t group, std::size_t ancestor) {
  for (std::size_t steps = 0; steps <= shape.groups.size(); ++steps) {
    if (group == ancestor) return true;
    std::size_t up = 0;
    while (up < shape.groups.size() && shape.groups[up].name != shape.groups[group].parent) ++up;
    if (up == shape.groups.size()) return false;
    group = up;
  }
  return false;
}

class Alternative {
 public:
  Alternative(const ClusterFacts& facts, const Job& job, const Shape& shape, std::int32_t type, bool smallest)
      : facts_(facts), job_(job), shape_(shape), type_(type), smallest_(smallest) {}

  /// Every necessary condition that fails.
  std::vector<Lack> lacks() {
    const GpuType& type = facts_.gpu_types()[static_cast<std::size_t>(type_)];
    const std::int64_t asked = whole_gpus(shape_, smallest_);
    const bool small = type.memory_bytes != 0 && job_.constraints.gpu_memory_bytes > type.memory_bytes;
    std::int64_t of_type = 0, allowed = 0;
    for (std::int32_t n = 0; n < facts_.node_count(); ++n) {
      if (facts_.node(n).type != type_ || facts_.node(n).gpus == 0) continue;
      of_type += facts_.node(n).gpus;
      if (small || !facts_.refuses(job_, n).empty()) continue;
      allowed += facts_.node(n).gpus;
      nodes_.push_back(n);
    }
    if (of_type == 0) add(ReasonCode::kNoGpuType, asked, 0);
    if (small) add(ReasonCode::kGpuMemory, job_.constraints.gpu_memory_bytes, type.memory_bytes);
    if (of_type < asked) add(ReasonCode::kInsufficientGpus, asked, of_type);
    if (allowed < asked || nodes_.empty()) add(ReasonCode::kNodeConstraint, asked, allowed);
    const std::int64_t quota = quota_of(shape_, smallest_);
    for (std::int32_t q = facts_.job_queue(job_); q >= 0; q = facts_.queue_parent(q)) {
      for (const std::int32_t column : {type_, static_cast<std::int32_t>(facts_.gpu_types().size())}) {
        const std::int64_t cap = facts_.queue_cap(q, column);
        if (cap != kUnlimited && cap < quota / kWholeGpu + (quota % kWholeGpu > 0 ? 1 : 0)) {
          add(ReasonCode::kQuota, quota / kWholeGpu + (quota % kWholeGpu > 0 ? 1 : 0), cap);
        }
      }
    }
    for (std::int32_t g = 0; g < group_count(shape_); ++g) group(g);
    return lacks_;
  }

 private:
  void add(ReasonCode code, std::int64_t asked, std::int64_t best) { lacks_.push_back({code, asked, best}); }

  GroupFacts facts_of(std::int32_t index) const {
    GroupFacts g = group_facts(shape_, index);
    if (smallest_) g.members = g.smallest;
    return g;
  }

  void group(std::int32_t index) {
    const GroupFacts g = facts_of(index);
    const std::int64_t per_cpu = g.gpus * job_.constraints.cpu_milli_per_gpu, per_memory = g.gpus * job_.constraints.memory_bytes_per_gpu;
    std::int64_t largest = 0, most_cpu = 0, most_memory = 0, pieces = 0, with_cpu = 0, with_memory = 0;
    for (const std::int32_t n : nodes_) {
      const Holds h = holds(facts_.node(n), g, job_);
      largest = std::max<std::int64_t>(largest, facts_.node(n).gpus);
      most_cpu = std::max(most_cpu, stated(facts_.node(n).node->cpu_milli));
      most_memory = std::max(most_memory, stated(facts_.node(n).node->memory_bytes));
      pieces += h.gpus;
      with_cpu += std::min(h.gpus, h.cpu);
      with_memory += h.all();
    }
    if (g.members > 0 && g.gpus > largest) add(ReasonCode::kTopologyRequired, g.gpus, largest);
    if (pieces < g.members) add(ReasonCode::kFragmented, std::int64_t{g.members} * g.gpus, pieces * g.gpus);
    if (pieces >= g.members && with_cpu < g.members) {
      const bool none = with_cpu == 0 && most_cpu < per_cpu;
      add(ReasonCode::kCpu, none ? per_cpu : saturating_mul(g.members, per_cpu), none ? most_cpu : saturating_mul(with_cpu, per_cpu));
    }
    if (with_cpu >= g.members && with_memory < g.members) {
      const bool none = with_memory == 0 && most_memory < per_memory;
      add(ReasonCode::kMemory, none ? per_memory : saturating_mul(g.members, per_memory),
          none ? most_memory : saturating_mul(with_memory, per_memory));
    }
    if (!shape_.groups.empty() && shape_.groups[static_cast<std::size_t>(index)].require) required(index, g);
  }

  void required(std::int32_t index, const GroupFacts& g) {
    const LevelRef& at = *shape_.groups[static_cast<std::size_t>(index)].require;
    const DomainLevels& levels = facts_.levels(at.topology);
    const std::int32_t level = levels.find_level(at.level);
    std::int64_t subtree = 0, most_gpus = 0, most_members = 0;
    for (std::int32_t other = 0; other < group_count(shape_); ++other) {
      const GroupFacts o = facts_of(other);
      if (o.share_ppm == kWholeGpu && inside(shape_, static_cast<std::size_t>(other), static_cast<std::size_t>(index)))
        subtree += std::int64_t{o.members} * o.gpus;
    }
    std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> in;  // domain -> GPUs, members
    std::int32_t last = -1;                                            // neighbours by rank are mostly in one domain
    std::pair<std::int64_t, std::int64_t>* sums = nullptr;
    for (const std::int32_t n : nodes_) {
      if (level < 0 || !levels.in_named(level, n)) continue;
      const std::int32_t domain = levels.place(level, n);
      if (domain != last) sums = &in[domain];
      last = domain;
      auto& [gpus, members] = *sums;
      most_gpus = std::max(most_gpus, gpus += facts_.node(n).gpus);
      most_members = std::max(most_members, members += holds(facts_.node(n), g, job_).all());
    }
    if (most_gpus < subtree) add(ReasonCode::kTopologyRequired, subtree, most_gpus);
    if (most_members < g.members) add(ReasonCode::kTopologyRequired, std::int64_t{g.members} * g.gpus, most_members * g.gpus);
  }

  const ClusterFacts& facts_;
  const Job& job_;
  const Shape& shape_;
  std::int32_t type_;
  bool smallest_;                    // with every group's smallest member count
  std::vector<std::int32_t> nodes_;  // that the alternative may use
  std::vector<Lack> lacks_;
};

}  // namespace

bool certificate_holds(const ClusterFacts& facts, const Job& job, const Reason& reason) {
  if (!reason.certified) return false;
  // "No GPU type" covers all alternatives at once, so it has no numbers, and types too small for the job count as
  // missing.
  const bool no_type = reason.code == ReasonCode::kNoGpuType;
  bool stated = no_type, none_suits = true;
  for (const Shape& shape : job.shapes) {
    for (std::int32_t type = 0; type < static_cast<std::int32_t>(facts.gpu_types().size()); ++type) {
      if (!shape.gpu_type.empty() && facts.find_type(shape.gpu_type) != type) continue;
      std::vector<Lack> lacks = Alternative(facts, job, shape, type, false).lacks();
      if (lacks.empty()) return false;
      if (is_elastic(shape)) {
        const std::vector<Lack> small = Alternative(facts, job, shape, type, true).lacks();
        if (small.empty()) return false;
        lacks.insert(lacks.end(), small.begin(), small.end());
      }
      const auto has = [&](auto&& test) { return std::any_of(lacks.begin(), lacks.end(), test); };
      none_suits = none_suits && has([](const Lack& l) { return l.code == ReasonCode::kNoGpuType || l.code == ReasonCode::kGpuMemory; });
      stated = stated || has([&](const Lack& l) { return l.code == reason.code && l.asked == reason.asked && l.best == reason.best; });
    }
  }
  return stated && (!no_type || none_suits);
}

bool CertificateMemory::holds(const ClusterFacts& facts, std::int32_t job_index, const Reason& reason) {
  if (!reason.certified) return false;
  const JobFacts& job = facts.job(job_index);
  if (facts.version() == 0 || job.version == 0) return certificate_holds(facts, *job.job, reason);
  if (known_.size() < static_cast<std::size_t>(facts.job_index_end())) known_.resize(static_cast<std::size_t>(facts.job_index_end()));
  Known& known = known_[static_cast<std::size_t>(job_index)];
  if (known.cluster != facts.version() || known.job != job.version || !(known.reason == reason)) {
    known = {facts.version(), job.version, reason, certificate_holds(facts, *job.job, reason)};
  }
  return known.holds;
}

}  // namespace berth::core
