#include "host/core/validator/check_displaced.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/names.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/quota/lowered_limits.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/after_all_left.hpp"
#include "host/core/validator/quota_recount.hpp"
#include "host/core/validator/stated_figures.hpp"

namespace berth::core {
namespace {

class Displacements {
 public:
  Displacements(const StateImpl& state, const Plan& plan, Violations& found)
      : s_(state), plan_(plan), found_(found), policy_(find_policy(plan.policy)), rules_(pass_rules(policy_, plan.params)) {
    if (!rules_.admits_by_count && !rules_.displaces_over_limit) lowered_.read(s_.problem());
    decision_of_.assign(s_.jobs.size(), nullptr);
    for (const Decision& d : plan_.decisions) decision_of_[to_index(d.job)] = &d;
  }

  void check(const Decision& d) {
    const Job& job = *s_.jobs[to_index(d.job)].job;
    const Reason& r = d.reason;
    // Without quotas such a policy displaces no job; those that lost GPUs may have to wait.
    if (!policy_.preemptive && r.code != ReasonCode::kNodeFailed && (r.code != ReasonCode::kLostPriority || r.queue < 0)) {
      found_.of(job, "is displaced with the reason {}; policy {} displaces jobs only for what a queue is entitled to", name(r.code),
                plan_.policy);
      return;
    }
    if (r.code != ReasonCode::kLostPriority) return;
    const Decision& other = *decision_of_[to_index(r.other_job)];
    if (!may_displace(other)) {
      found_.of(job, "is displaced by job {}, which has the action {} and takes no GPUs", s_.jobs[to_index(r.other_job)].job->id,
                name(other.action));
      return;
    }
    const std::int32_t queue = s_.job.queue[to_index(r.other_job)];
    if (is_taken_over_limit(other)) {
      found_.of(job, "is displaced by job {}, although its queue {}, or one above it, uses more than its limit",
                s_.jobs[to_index(r.other_job)].job->id, s_.queues[to_index(queue)].id);
      return;
    }
    if (r.queue < 0) return;
    if (!QuotaOrder::applies(s_, rules_.quotas)) {
      found_.of(job, "is displaced for queue {}; no queue gets GPUs back here: there are no guarantees, or the plan is made without them",
                s_.queues[to_index(r.queue)].id);
      return;
    }
    figures(d.job, r);
    victim(d.job, r);
  }

 private:
  // With counted admission GPUs stay free for the job that waits, or that has lost its own. A job may displace others and find its own GPUs
  // again, where it was displaced by one that is more important still.
  bool may_displace(const Decision& other) const {
    switch (other.action) {
      case Action::kStart:
      case Action::kMigrate:
      case Action::kResize:
        return true;
      case Action::kKeep:
        return policy_.preemptive || has_fair_shares(rules_.quotas);
      case Action::kWait:
      case Action::kPreempt:
        return rules_.admits_by_count;
      default:
        return false;
    }
  }

  // Of the queue itself: below others it may be entitled to more.
  bool is_taken_over_limit(const Decision& other) const {
    if (!lowered_.any() || other.entry_begin == other.entry_end) return false;
    const std::int32_t node = plan_.entries[to_index(other.entry_begin)].node;
    return !lowered_.may_displace(s_.job.queue[to_index(other.job)], s_.node.type[to_index(node)], QuotaOrder::applies(s_, rules_.quotas));
  }

  // A pass tries all shapes of as many GPUs as the first one has.
  bool asks_for_one_number(std::int32_t index) const {
    const Job& job = *s_.jobs[to_index(index)].job;
    return job.shapes.size() < 2 || std::all_of(job.shapes.begin(), job.shapes.end(), [&](const Shape& shape) {
             return shape.groups.empty() && shape.share_ppm == kWholeGpu && shape.gpus == job.shapes[0].gpus;
           });
  }

  // Whether what jobs ask for is known without the pass: a job of several sizes asks for those that it tries. Nor are jobs known that
  // are left out of it, or that a policy of shapes moves before.
  bool is_exact() const {
    const auto is_left_out = [](const Decision& d) { return d.reason.code == ReasonCode::kPromised; };
    return policy_.make != nullptr && !s_.any_lost_gpus() && s_.problem().has_until == 0 && !narrows_demands(plan_) &&
           !s_.any_longest_wait() && !rules_.delays && std::none_of(plan_.decisions.begin(), plan_.decisions.end(), is_left_out) &&
           (!s_.any_several_shapes() ||
            std::all_of(s_.job_order.begin(), s_.job_order.end(), [&](std::int32_t job) { return asks_for_one_number(job); }));
  }

  const QuotaRecount& recount() {
    if (!recount_) {
      exact_ = is_exact();
      recount_.emplace(s_, plan_, rules_.quotas);
    }
    return *recount_;
  }

  std::int32_t root_of(std::int32_t queue) const {
    while (s_.queue_parent[to_index(queue)] >= 0) queue = s_.queue_parent[to_index(queue)];
    return queue;
  }

  std::int64_t most_entitled(const QuotaLedger& ledger, std::int32_t queue, std::int32_t column) const {
    std::int64_t most = ledger.guarantee(root_of(queue), column) / kWholeGpu;
    if (!has_fair_shares(rules_.quotas)) return most;
    std::int64_t working = 0;
    for (std::int32_t node = 0; node < std::ssize(s_.nodes); ++node) working += std::popcount(s_.working_gpus(node));
    return std::max(most, working);
  }

  void figures(std::int32_t victim, const Reason& r) {
    const Job& job = *s_.jobs[to_index(victim)].job;
    const QuotaLedger& ledger = recount().with_running();
    const auto all = static_cast<std::int32_t>(s_.gpu_types.size());
    const std::int32_t column = r.gpu_type < 0 ? all : r.gpu_type;
    const bool no_number = r.asked == 0 && r.best == 0 && r.free == 0;  // a dominant share, or less than a GPU
    if (const std::int64_t most = most_entitled(ledger, r.queue, column); r.asked > most) {
      found_.of(job, "is displaced for a queue that is entitled to {} GPUs; {} can be entitled to {} at the most", r.asked,
                s_.queues[to_index(r.queue)].id, most);
      return;
    }
    if (!exact_ || no_number) return;
    const std::int64_t guaranteed = ledger.entitled(r.queue, column, false) / kWholeGpu;
    const bool by_fair = has_fair_shares(rules_.quotas) && !ledger.is_dominant(true) && column == all;
    const std::int64_t fair = by_fair ? ledger.entitled(r.queue, column, true) / kWholeGpu : guaranteed;
    if (r.asked != guaranteed && r.asked != fair) {
      found_.of(job, "is displaced for a queue that is entitled to {} GPUs; {} is entitled to {}", r.asked, s_.queues[to_index(r.queue)].id,
                fair);
      return;
    }
    // Running jobs count before those that wait. A running one that moves displaces others for its fair share.
    const bool waited = s_.job.running[to_index(r.other_job)] == 0;
    const std::int64_t had = std::min(ledger.taken(r.queue, column) / kWholeGpu, r.asked);
    if (!policy_.preemptive && waited && r.best < had) {
      found_.of(job, "is displaced for a queue whose jobs have {} of its GPUs; running jobs of {} have {}", r.best,
                s_.queues[to_index(r.queue)].id, had);
    }
    const std::int32_t own = s_.job.queue[to_index(victim)];
    if (own < 0 || own == r.queue) return;
    const bool over_fair = rules_.quotas == Quotas::kFair;
    const std::int64_t entitled = column == all ? ledger.entitled(own, over_fair) : ledger.entitled(own, column, over_fair);
    const std::int64_t borrows = std::max<std::int64_t>(0, ledger.taken(own, column) - entitled) / kWholeGpu;
    if (r.free != borrows) {
      found_.of(job, "is displaced, and its queue borrows {} GPUs; queue {} borrows {}", r.free, s_.queues[to_index(own)].id, borrows);
    }
  }

  // A job within what its queue is entitled to is not displaced for another's guarantee.
  void victim(std::int32_t victim, const Reason& r) {
    const QuotaLedger& ledger = recount().with_running();
    if (!exact_) return;
    const Job& job = *s_.jobs[to_index(victim)].job;
    const std::int32_t own = s_.job.queue[to_index(victim)];
    const bool is_within = policy_.preemptive ? all_within(ledger, own) : stands_within(victim, r.other_job);
    if (!is_within) return;
    found_.of(job, "is displaced for queue {}; its own queue {} is entitled to it", s_.queues[to_index(r.queue)].id,
              s_.queues[to_index(own)].id);
  }

  // Jobs other than the oldest count within a guarantee only where those that borrow make no room.
  bool stands_within(std::int32_t victim, std::int32_t other) {
    if (recount().standing(victim) == QuotaStanding::kGuaranteed) return true;
    if (recount().oldest_first(victim) != QuotaStanding::kGuaranteed) return false;
    const kernel::ProblemView& p = s_.problem();
    if (p.option_end[other] - p.option_begin[other] != 1) return false;  // its queue may be entitled to it in some of them alone
    if (has_room_.first != other) has_room_ = {other, AfterAllLeft(s_, plan_, recount(), other).has_room(other)};
    return has_room_.second;
  }

  // Whether a queue is entitled to all that its jobs ask for, in whatever order they are counted.
  bool all_within(const QuotaLedger& ledger, std::int32_t queue) const {
    if (queue < 0) return false;
    const auto columns = static_cast<std::int32_t>(s_.gpu_types.size()) + 1;
    for (std::int32_t column = 0; column < columns; ++column) {
      if (ledger.states(queue, column) && ledger.asked(queue, column) > ledger.entitled(queue, column, false)) return false;
    }
    const kernel::ProblemView& p = s_.problem();
    return std::all_of(s_.job_order.begin(), s_.job_order.end(), [&](std::int32_t job) {
      if (s_.job.queue[to_index(job)] != queue) return true;
      const QuotaJob counted = quota_job(s_, p, job);
      const bool runs = s_.job.running[to_index(job)] != 0;
      const bool as_held = counted.held.gpus == counted.asked.gpus && counted.held.type == counted.asked.type;
      const bool counts = ledger.states(queue, counted.asked.type) || ledger.states(queue, columns - 1);
      return p.option_end[job] - p.option_begin[job] <= 1 && (!runs || as_held) && counts;
    });
  }

  const StateImpl& s_;
  const Plan& plan_;
  Violations& found_;
  const PolicyEntry& policy_;
  PassRules rules_;
  LoweredLimits lowered_;
  std::vector<const Decision*> decision_of_;  // [jobs]
  std::optional<QuotaRecount> recount_;
  std::pair<std::int32_t, bool> has_room_{-1, false};  // of a job, without those that borrow where the oldest count first
  bool exact_ = false;
};

}  // namespace

void check_displaced(const StateImpl& state, const Plan& plan, Violations& found) {
  const auto is_displaced = [](const Decision& d) { return d.action == Action::kPreempt; };
  if (std::none_of(plan.decisions.begin(), plan.decisions.end(), is_displaced)) return;
  Displacements displacements(state, plan, found);
  for (const Decision& d : plan.decisions) {
    if (is_displaced(d) && !found.full()) displacements.check(d);
  }
}

}  // namespace berth::core
