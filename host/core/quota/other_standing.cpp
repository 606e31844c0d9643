#include "host/core/quota/other_standing.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

class StandingSearch {
 public:
  StandingSearch(const StateImpl& s, const kernel::ProblemView& p, std::int32_t demand, std::span<const DisplaceableJob> running)
      : s_(s), p_(p), demand_(p.demands[demand]), group_(p.groups[demand_.group_begin]) {
    if (group_.require_level == 0) {  // all on one node
      member_gpus_ = demand_.gpus;
    } else {
      member_gpus_ = demand_.gpus / group_.members;
      members_ = group_.members;
    }
    borrowed_.assign(s.queues.size(), 0);
    on_node_.resize(to_index(p.n_nodes));
    for (const DisplaceableJob& one : running) {
      const Held held{held_amount(s, one.job).gpus, s.job.queue[to_index(one.job)], one.job, one.borrows};
      if (one.borrows && held.queue >= 0) borrowed_[to_index(held.queue)] += held.gpus;
      held_.push_back(held);
      for (std::int32_t h = p.held_begin[one.job]; h < p.held_end[one.job]; ++h) {
        const std::int32_t node = p.held[h].node;
        on_node_[to_index(node)].push_back({held_.size() - 1, std::popcount(p.held[h].mask & p.node_open[node])});
      }
    }
    used_in_.assign(held_.size(), -1);
  }

  std::vector<OtherStanding> find(std::size_t most) {
    std::vector<OtherStanding> found;
    for (const auto& [domain, nodes] : domains()) {
      OtherStanding one;
      if (makes_room(domain, nodes, one)) found.push_back(std::move(one));
    }
    std::stable_sort(found.begin(), found.end(), [](const OtherStanding& a, const OtherStanding& b) { return a.gpus < b.gpus; });
    if (found.size() > most) found.resize(most);
    return found;
  }

 private:
  struct Held {
    std::int64_t gpus;  // millionths
    std::int32_t queue, job;
    bool borrows;
  };
  struct HeldHere {
    std::size_t of;  // in `held_`
    std::int64_t gpus;
  };

  // Nodes that the job may use, by domain.
  std::map<std::int32_t, std::vector<std::int32_t>> domains() const {
    std::map<std::int32_t, std::vector<std::int32_t>> found;
    const bool anywhere = group_.require_level < 0 || group_.require_level >= p_.topology[group_.require_topology].levels - 1;
    const std::uint64_t* const allowed = p_.filter_words + std::int64_t{demand_.filter} * p_.n_words;
    for (std::int32_t node = 0; node < p_.n_nodes; ++node) {
      if ((allowed[node / 64] >> (node % 64) & 1) == 0) continue;
      std::int32_t domain = anywhere ? 0 : node;
      if (!anywhere && group_.require_level > 0) {
        domain = s_.topologies.domain_of(group_.require_topology, group_.require_level, node);
        if (p_.domains.named[domain] == 0) continue;
      }
      found[domain].push_back(node);
    }
    return found;
  }

  bool leaves(const Held& one, std::int32_t domain) const { return one.borrows || used_in_[to_index(&one - held_.data())] == domain; }

  std::int64_t without_borrowers(std::int32_t node, std::int32_t domain) const {
    std::int64_t sum = std::popcount(p_.node_free[node]);
    for (const HeldHere& here : on_node_[to_index(node)]) sum += leaves(held_[here.of], domain) ? here.gpus : 0;
    return sum;
  }

  // Nodes first where members fit if those that borrow leave, then those where the fewest GPUs are missing.
  bool makes_room(std::int32_t domain, const std::vector<std::int32_t>& nodes, OtherStanding& out) {
    std::vector<std::tuple<bool, std::int64_t, std::int32_t>> order;
    for (const std::int32_t node : nodes) {
      const std::int64_t has = without_borrowers(node, domain);
      order.emplace_back(has < member_gpus_, (member_gpus_ - has % member_gpus_) % member_gpus_, node);
    }
    std::sort(order.begin(), order.end());
    left_ = borrowed_;
    std::int64_t members = 0;
    for (auto one = order.begin(); one != order.end() && members < members_; ++one) {
      members += members_on(std::get<2>(*one), domain, members_ - members, out);
    }
    return members >= members_ && out.gpus > 0;
  }

  // The members that fit on a node if jobs there are counted last; these are used then.
  std::int64_t members_on(std::int32_t node, std::int32_t domain, std::int64_t most, OtherStanding& out) {
    std::int64_t has = without_borrowers(node, domain), others = 0;
    std::vector<std::size_t> used;
    const std::vector<std::int64_t> left_before = left_;
    const auto is_used = [&](std::size_t one) { return used_in_[one] == domain || std::find(used.begin(), used.end(), one) != used.end(); };
    // What borrows on a node that is used leaves it, and is nothing that others could be counted instead of.
    for (const HeldHere& here : on_node_[to_index(node)]) {
      const Held& one = held_[here.of];
      if (!one.borrows || is_used(here.of)) continue;
      if (one.queue >= 0) left_[to_index(one.queue)] -= one.gpus;
      used.push_back(here.of);
    }
    for (const HeldHere& here : on_node_[to_index(node)]) {
      if (has >= most * member_gpus_) break;
      const Held& one = held_[here.of];
      if (is_used(here.of) || one.queue < 0 || left_[to_index(one.queue)] < one.gpus) continue;
      left_[to_index(one.queue)] -= one.gpus;
      has += here.gpus;
      others += one.gpus;
      used.push_back(here.of);
    }
    const std::int64_t members = std::min(most, has / member_gpus_);
    if (members == 0) {
      left_ = left_before;
      return 0;
    }
    for (const std::size_t one : used) {
      used_in_[one] = domain;
      out.jobs.push_back(held_[one].job);
    }
    out.gpus += others;
    return members;
  }

  const StateImpl& s_;
  const kernel::ProblemView& p_;
  const kernel::DemandRow& demand_;
  const kernel::GroupRow& group_;
  std::int64_t member_gpus_ = 1, members_ = 1;
  std::vector<Held> held_;
  std::vector<std::int32_t> used_in_;          // [held_] domain
  std::vector<std::int64_t> borrowed_, left_;  // [queues] millionths of GPUs
  std::vector<std::vector<HeldHere>> on_node_;
};

}  // namespace

std::vector<OtherStanding> other_standings(const StateImpl& s, const kernel::ProblemView& p, std::int32_t demand,
                                           std::span<const DisplaceableJob> running, std::size_t most) {
  return StandingSearch(s, p, demand, running).find(most);
}

std::vector<std::int64_t> amounts_within(const StateImpl& s, std::span<const std::int32_t> running,
                                         std::span<const std::uint8_t> standing) {
  std::vector<std::int64_t> amounts(s.queues.size() * 2, 0);
  for (const std::int32_t job : running) {
    const std::int32_t queue = s.job.queue[to_index(job)];
    const auto one = static_cast<QuotaStanding>(standing[to_index(job)]);
    if (queue < 0 || one == QuotaStanding::kBorrowing) continue;
    const std::int64_t gpus = held_amount(s, job).gpus;
    if (one == QuotaStanding::kGuaranteed) amounts[to_index(queue) * 2] += gpus;
    amounts[to_index(queue) * 2 + 1] += gpus;
  }
  return amounts;
}

bool none_has_less(std::span<const std::int64_t> now, std::span<const std::int64_t> before) {
  return std::equal(now.begin(), now.end(), before.begin(), before.end(), [](std::int64_t a, std::int64_t b) { return a >= b; });
}

}  // namespace berth::core
