#include "host/core/reasons/smallest_change.hpp"

#include <algorithm>

namespace berth::core {
namespace {

using kernel::GroupRow;

class ChangeSearch {
 public:
  ChangeSearch(const ChangeInput& in, const GroupRow& group) : in_(in), p_(*in.problem), group_(group), most_(most_on_node(group)) {}

  Change find(bool may_name) {
    std::int64_t of_gpus = 0, have = 0;
    for (const Capacity::Row& row : *in_.rows) {
      if (!inside(row.node)) continue;
      of_gpus += members(*in_.free, row, Stage::kGpus);
      have += members(*in_.free, row, Stage::kUntil);
    }
    need_ = group_.members - have;
    if (need_ <= 0 || of_gpus != have) return {};
    // A share that becomes free may leave its GPU without memory.
    if (group_.share_ppm < kWholeGpu && group_.gpu_memory > 0) return {};
    if (may_name && need_ == 1 && group_.share_ppm == kWholeGpu) {
      if (const Change named = nearest(); named.missing > 0) return named;
    }
    return anywhere();
  }

 private:
  std::int64_t members(const Capacity& supply, const Capacity::Row& row, Stage stage) const {
    return std::min(most_, supply.members(row, group_, stage, in_.end));
  }

  bool inside(std::int32_t node) const {
    if (in_.level < 0) return true;
    if (in_.level == 0) return node == in_.where;
    return p_.topology[in_.topology].node_domain[std::int64_t{in_.level} * p_.n_nodes + node] == in_.where;
  }

  bool stays(std::int32_t node) const {
    const std::int64_t until = p_.node_until[node];
    return p_.has_until == 0 || until == kNever || (in_.end != kNever && in_.end <= until);
  }

  // Cores and memory for N members are free.
  bool has_cpu_and_memory(const Capacity::Row& row, std::int64_t members) const {
    return (group_.cpu == 0 || row.cpu / group_.cpu >= members) && (group_.memory == 0 || row.memory / group_.memory >= members);
  }

  // The node that needs the fewest more GPUs for one more member, has the rest already, and could ever hold it.
  Change nearest() const {
    Change change;
    for (const Capacity::Row& row : *in_.rows) {
      if (!inside(row.node) || !stays(row.node)) continue;
      const std::int64_t then = members(*in_.free, row, Stage::kUntil) + 1;
      const std::int64_t lacks = then * group_.gpus - row.gpus;
      // A missing whole member is stated without naming a node.
      if (then > most_ || lacks <= 0 || lacks >= group_.gpus || (change.missing != 0 && lacks >= change.missing)) continue;
      if (in_.total->row(row.node).gpus < then * group_.gpus || !has_cpu_and_memory(row, then)) continue;
      change.missing = lacks;
      change.where = row.node;
    }
    return change;
  }

  Change anywhere() const {
    Change change;
    std::int64_t possible = 0;
    const bool looks_further = p_.has_until != 0 || group_.cpu > 0 || group_.memory > 0;
    for (std::int32_t node = 0; node < p_.n_nodes; ++node) {
      const bool known = possible >= group_.members && (!looks_further || (change.with_cpu_and_memory && p_.has_until == 0));
      if (known) break;
      if (!in_.free->allowed(in_.filter, node) || !inside(node)) continue;
      const std::int64_t could = members(*in_.total, in_.total->row(node), Stage::kGpus);
      if (could == 0) continue;
      if (!stays(node)) return {};
      possible += members(*in_.total, in_.total->row(node), Stage::kMemory);
      const Capacity::Row row = in_.free->row(node);
      const std::int64_t here = members(*in_.free, row, Stage::kUntil);
      const std::int64_t then = std::min(could, here + need_);
      change.with_cpu_and_memory = change.with_cpu_and_memory || (then > here && !has_cpu_and_memory(row, then));
    }
    if (possible < group_.members) return {};
    change.missing = need_ * group_.gpus;
    return change;
  }

  const ChangeInput& in_;
  const kernel::ProblemView& p_;
  const GroupRow& group_;
  std::int64_t most_, need_ = 0;
};

}  // namespace

std::int64_t most_on_node(const GroupRow& group) {
  return group.spread_most > 0 && group.spread_level == 0 ? group.spread_most : INT64_MAX;
}

Change smallest_change(const ChangeInput& in, const GroupRow& group, bool may_name) { return ChangeSearch(in, group).find(may_name); }

}  // namespace berth::core
