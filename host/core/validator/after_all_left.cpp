#include "host/core/validator/after_all_left.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/held_facts.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

std::int64_t members_in(std::int64_t has, std::int64_t each) {
  return each <= 0 || has == kernel::kNoLimit ? INT64_MAX : std::max<std::int64_t>(0, has / each);
}

}  // namespace

AfterAllLeft::AfterAllLeft(const StateImpl& state, const Plan& plan, const QuotaRecount& recount)
    : AfterAllLeft(state, plan, recount, -1) {}

AfterAllLeft::AfterAllLeft(const StateImpl& state, const Plan& plan, const QuotaRecount& recount, std::int32_t without)
    : s_(state), p_(state.problem()) {
  used_ = s_.queue_used;
  free_.assign(p_.node_free, p_.node_free + p_.n_nodes);
  cpu_.assign(p_.node_cpu, p_.node_cpu + p_.n_nodes);
  memory_.assign(p_.node_memory, p_.node_memory + p_.n_nodes);
  const auto standing = [&](std::int32_t job) { return without < 0 ? recount.standing(job) : recount.oldest_first(job); };
  const auto leaves = [&](const Decision& d) {
    return !stays(d) || (standing(d.job) == QuotaStanding::kBorrowing && s_.job.victim_from[to_index(d.job)] <= s_.now);
  };
  for (const Decision& d : plan.decisions) {
    if (s_.job.running[to_index(d.job)] != 0 && leaves(d)) release(d.job, 1);
  }
  for (const Decision& d : plan.decisions) {
    if (runs_now(d.action) && !stays(d) && d.job != without) take(plan, d);
    if (without >= 0 && d.action == Action::kPreempt && standing(d.job) == QuotaStanding::kGuaranteed) release(d.job, -1);
  }
}

bool AfterAllLeft::has_room(std::int32_t job) const {
  for (std::int32_t o = p_.option_begin[job]; o < p_.option_end[job]; ++o) {
    const kernel::DemandRow& demand = p_.demands[p_.options[o].demand];
    const kernel::GroupRow& row = p_.groups[demand.group_begin];
    if (!has_quota(job, demand)) continue;
    if (demand.exact == 0 || row.share_ppm != kWholeGpu || row.segment_size != 0 || row.spread_most != 0) return true;  // not claimed
    std::map<std::int32_t, std::int64_t> in;  // members by required domain
    for (std::int32_t n = 0; n < p_.n_nodes; ++n) {
      if ((p_.filter_words[std::int64_t{demand.filter} * p_.n_words + n / 64] >> (n % 64) & 1) == 0) continue;
      std::int32_t domain = -1;
      if (row.require_level == 0) {
        domain = n;
      } else if (row.require_level > 0) {
        const kernel::TopologyView& tree = p_.topology[row.require_topology];
        domain = tree.node_domain[std::int64_t{row.require_level} * p_.n_nodes + n];
        if (row.require_level < tree.levels - 1 && p_.domains.named[domain] == 0) continue;
      }
      const std::int64_t members = std::min({std::int64_t{std::popcount(free_[to_index(n)])} / row.gpus,
                                             members_in(cpu_[to_index(n)], row.cpu), members_in(memory_[to_index(n)], row.memory)});
      if ((in[domain] += members) >= row.members) return true;
    }
  }
  return false;
}

bool AfterAllLeft::stays(const Decision& d) const { return s_.job.running[to_index(d.job)] != 0 && d.action == Action::kKeep; }

// Limits hold for what runs after the plan.
bool AfterAllLeft::has_quota(std::int32_t job, const kernel::DemandRow& demand) const {
  for (const std::int32_t column : {demand.gpu_type, p_.n_types}) {
    std::int64_t more = demand.quota;
    for (std::int32_t q = s_.job.queue[to_index(job)]; q >= 0; q = s_.queue_parent[to_index(q)]) {
      const std::size_t at = cell(q, column);
      if (s_.queue_cap[at] != kernel::kNoLimit && used_[at] + more > s_.queue_cap[at]) return false;
      more = to_parent(at, used_[at] + more) - to_parent(at, used_[at]);
    }
  }
  return true;
}

// A parent is charged for what a queue keeps, used or not.
std::int64_t AfterAllLeft::to_parent(std::size_t cell, std::int64_t used) const {
  return s_.queue_kept.empty() ? used : std::max(used, s_.queue_kept[cell]);
}

std::size_t AfterAllLeft::cell(std::int32_t queue, std::int32_t column) const {
  return to_index(queue) * to_index(p_.n_types + 1) + to_index(column);
}

void AfterAllLeft::charge(std::int32_t job, std::int32_t type, std::int64_t quota) {
  for (const std::int32_t column : {type, p_.n_types}) {
    std::int64_t more = quota;
    for (std::int32_t q = s_.job.queue[to_index(job)]; column >= 0 && q >= 0; q = s_.queue_parent[to_index(q)]) {
      const std::size_t at = cell(q, column);
      const std::int64_t before = to_parent(at, used_[at]);
      used_[at] += more;
      more = to_parent(at, used_[at]) - before;
    }
  }
}

void AfterAllLeft::release(std::int32_t job, std::int64_t sign) {
  std::int64_t quota = 0;
  for (const kernel::HeldRow& row : s_.jobs[to_index(job)].held) {
    const std::size_t n = to_index(row.node);
    free_[n] = sign > 0 ? free_[n] | (row.mask & p_.node_open[n]) : free_[n] & ~row.mask;
    if (cpu_[n] != kernel::kNoLimit) cpu_[n] += sign * row.cpu;
    if (memory_[n] != kernel::kNoLimit) memory_[n] += sign * row.memory;
    quota += std::int64_t{row.share_ppm} * std::popcount(row.mask);
  }
  charge(job, s_.job.held_type[to_index(job)], -sign * quota);
}

void AfterAllLeft::take(const Plan& plan, const Decision& d) {
  const Constraints& c = s_.jobs[to_index(d.job)].job->constraints;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[to_index(e)];
    const std::size_t n = to_index(entry.node);
    const std::int64_t gpus = std::popcount(entry.gpus);
    free_[n] &= ~entry.gpus;
    charge(d.job, s_.node.type[n], gpus * entry.share_ppm);
    if (cpu_[n] != kernel::kNoLimit) cpu_[n] -= gpus * c.cpu_milli_per_gpu;
    if (memory_[n] != kernel::kNoLimit) memory_[n] -= gpus * c.memory_bytes_per_gpu;
  }
}

}  // namespace berth::core
