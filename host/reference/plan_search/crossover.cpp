#include "host/reference/plan_search/crossover.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

namespace berth::reference {
namespace {

using kernel::kNone;
using kernel::PlacedRow;
using kernel::PlanSearchView;

bool same_places(const PlanSearchHolding& a, const PlanSearchHolding& b) {
  const auto key = [](const PlacedRow& entry) { return std::make_tuple(entry.node, entry.mask, entry.group, entry.member); };
  return a.option == b.option && std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                                            [&](const PlacedRow& x, const PlacedRow& y) { return key(x) == key(y); });
}

class SerialPlanSearchCrossover {
 public:
  SerialPlanSearchCrossover(const PlanSearchView& view, const SearchedPlan& parent, SearchedPlan& plan)
      : view_(view), parent_(parent), plan_(plan), part_(static_cast<std::size_t>(view.n_blocks)) {
    for (std::int32_t job = 0; job < view.n_jobs; ++job) {
      if (!same_places(plan.held_by(job), parent.held_by(job))) differing_.push_back(job);
    }
    std::iota(part_.begin(), part_.end(), 0);
    for (const std::int32_t job : differing_) join_blocks(job);
  }

  bool differ() const { return !differing_.empty(); }

  void take_over() {
    const std::map<std::int32_t, std::int64_t> gain = gains();
    std::vector<std::int32_t> jobs;  // by rank
    for (const std::int32_t job : differing_) {
      if (gain.at(part_of(job)) > 0) jobs.push_back(job);
    }
    if (!queues_allow(jobs)) return;
    for (const std::int32_t job : jobs) plan_.give_up(job);
    for (const std::int32_t job : jobs) plan_.get(job, parent_.held_by(job));
  }

 private:
  std::int32_t& part_at(std::int32_t node) { return part_[static_cast<std::size_t>(view_.block[node])]; }

  // Nodes in this plan, then in the other. A job that differs has GPUs in at least one of them.
  std::vector<std::int32_t> nodes_of(std::int32_t job) const {
    std::vector<std::int32_t> nodes;
    for (const SearchedPlan* plan : {static_cast<const SearchedPlan*>(&plan_), &parent_}) {
      for (const PlacedRow& entry : plan->held_by(job).entries) nodes.push_back(entry.node);
    }
    return nodes;
  }

  std::int32_t part_of(std::int32_t job) { return part_at(nodes_of(job).front()); }

  void join_blocks(std::int32_t job) {
    const std::int32_t joined = part_of(job);
    for (const std::int32_t node : nodes_of(job)) std::replace(part_.begin(), part_.end(), std::int32_t{part_at(node)}, joined);
  }

  // Gain by part. Parts without differing jobs are included, with no gain.
  std::map<std::int32_t, std::int64_t> gains() {
    std::map<std::int32_t, std::int64_t> gain;
    for (const std::int32_t job : differing_) {
      gain[part_of(job)] += plan_search_value(view_, job, parent_.held_by(job)) - plan_search_value(view_, job, plan_.held_by(job));
    }
    for (std::int32_t node = 0; node < view_.problem.n_nodes; ++node) {
      gain[part_at(node)] += plan_search_loss(view_, plan_.state(), node) - plan_search_loss(view_, parent_.state(), node);
    }
    return gain;
  }

  // Whether no queue exceeds its limits once these jobs take their places in the other plan. A limit may be lowered below what runs: a
  // queue may exceed it no further than before, and only where none of these jobs starts or moves.
  bool queues_allow(const std::vector<std::int32_t>& jobs) const {
    const kernel::ProblemView& p = view_.problem;
    State after = plan_.state();
    const auto charge = [&](std::int32_t job, std::int32_t option, std::int64_t sign) {
      if (option == kNone) return;
      const kernel::DemandRow& demand = p.demands[view_.demand[option]];
      charge_quota(p, after, p.job_queue[view_.problem_job[job]], demand.gpu_type, sign * demand.quota);
    };
    for (const std::int32_t job : jobs) {
      charge(job, plan_.option_of(job), -1);
      charge(job, parent_.option_of(job), 1);
    }
    for (std::size_t q = 0; q < after.queue_used.size(); ++q) {
      for (std::size_t column = 0; column < after.queue_used[q].size(); ++column) {
        const std::int64_t used = after.queue_used[q][column];
        if (used > p.queue_cap[q * after.queue_used[q].size() + column] && used > plan_.state().queue_used[q][column]) return false;
      }
    }
    return std::all_of(jobs.begin(), jobs.end(), [&](std::int32_t job) {
      const PlanSearchHolding& there = parent_.held_by(job);
      if (there.option == kNone || there.home) return true;
      return quota_passes(p, after, p.job_queue[view_.problem_job[job]], p.demands[view_.demand[there.option]].gpu_type, 0);
    });
  }

  const PlanSearchView& view_;
  const SearchedPlan& parent_;
  SearchedPlan& plan_;
  std::vector<std::int32_t> differing_;  // jobs by rank
  std::vector<std::int32_t> part_;       // of each block: one of the blocks of its part
};

}  // namespace

bool take_from_parent(const PlanSearchView& view, const SearchedPlan& parent, SearchedPlan& plan) {
  SerialPlanSearchCrossover crossover(view, parent, plan);
  if (!crossover.differ()) return false;
  crossover.take_over();
  return true;
}

}  // namespace berth::reference
