// Reasons against the state and the rest of the plan. What is checked follows from what the codes mean (berth/plan.hpp), not from how
// the evidence is found; where a number depends on the search (the best of many places), only its bounds are known here.
#include <algorithm>
#include <bit>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/decimal.hpp"
#include "host/core/held_facts.hpp"
#include "host/core/names.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/stated_figures.hpp"

namespace berth::core {
namespace {

bool needs_reason(Action action) {
  return action == Action::kWait || action == Action::kPreempt || action == Action::kDecline || action == Action::kReserve;
}

bool shares(const Job& job) {
  return std::any_of(job.shapes.begin(), job.shapes.end(), [](const Shape& shape) {
    return shape.share_ppm < kWholeGpu ||
           std::any_of(shape.groups.begin(), shape.groups.end(), [](const Group& g) { return g.share_ppm < kWholeGpu; });
  });
}

class Evidence {
 public:
  Evidence(const StateImpl& state, const Plan& plan, Violations& found) : s_(state), plan_(plan), found_(found) {
    decision_of_.assign(s_.jobs.size(), nullptr);
    free_.assign(s_.nodes.size(), 0);
    for (std::size_t n = 0; n < s_.nodes.size(); ++n) free_[n] = s_.node.usable[n];
    columns_ = s_.gpu_types.size() + 1;
    queue_used_.assign(s_.queues.size() * columns_, 0);
    for (const Decision& d : plan_.decisions) {
      if (d.job < 0 || at(d.job) >= s_.jobs.size() || s_.jobs[at(d.job)].job == nullptr) continue;
      decision_of_[at(d.job)] = &d;
      if (runs_now(d.action)) charge(d);
    }
  }

  void check(const Decision& d) {
    if (d.job < 0 || at(d.job) >= s_.jobs.size() || s_.jobs[at(d.job)].job == nullptr) return;
    const Job& job = *s_.jobs[at(d.job)].job;
    const Reason& r = d.reason;
    if (!needs_reason(d.action)) {
      if (r != Reason{}) found_.of(job, "has the action {} and yet the reason {}", name(d.action), name(r.code));
      return;
    }
    if (!indices_exist(job, r)) return;
    const bool below_nothing = r.code == ReasonCode::kOutbid;  // what GPUs are worth to a job
    if (r.asked < 0 || (r.best < 0 && !below_nothing) || r.missing < 0) {
      found_.of(job, "has a reason with asked {}, best {}, missing {}: none of them is negative", r.asked, r.best, r.missing);
      return;
    }
    others(d, job);
    numbers(d, job);
  }

 private:
  void charge(const Decision& d) {
    if (d.entry_begin < 0 || d.entry_end < d.entry_begin || d.entry_end > static_cast<std::int64_t>(plan_.entries.size())) return;
    std::int64_t quota = 0;
    std::int32_t type = -1;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan_.entries[at(e)];
      if (entry.node < 0 || at(entry.node) >= s_.nodes.size()) continue;
      free_[at(entry.node)] &= ~entry.gpus;
      type = s_.node.type[at(entry.node)];
      quota += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
    }
    for (std::int32_t q = s_.job.queue[at(d.job)]; q >= 0 && type >= 0; q = s_.queue_parent[at(q)]) {
      queue_used_[at(q) * columns_ + at(type)] += quota;
      queue_used_[at(q) * columns_ + columns_ - 1] += quota;
    }
    mends_ = mends_ || d.action == Action::kReplace;
  }

  bool indices_exist(const Job& job, const Reason& r) {
    const auto wrong = [&](std::string_view what, std::int64_t value) {
      found_.of(job, "has a reason about {} {}, which does not exist", what, value);
      return false;
    };
    if (r.facet >= kFacets) return wrong("facet", r.facet);
    if (r.level < -1 || r.level >= s_.topology.levels(r.facet)) return wrong("level", r.level);
    if (r.queue < -1 || r.queue >= static_cast<std::int32_t>(s_.queues.size())) return wrong("queue", r.queue);
    if (r.gpu_type < -1 || r.gpu_type >= static_cast<std::int32_t>(s_.gpu_types.size())) return wrong("GPU type", r.gpu_type);
    if (r.other_job < -1 || r.other_job >= static_cast<std::int32_t>(s_.jobs.size()) ||
        (r.other_job >= 0 && s_.jobs[at(r.other_job)].job == nullptr)) {
      return wrong("job slot", r.other_job);
    }
    if (r.where < -1 || (r.level < 0 && r.where != -1)) return wrong("place", r.where);
    if (r.level == 0 && r.where >= static_cast<std::int32_t>(s_.nodes.size())) return wrong("node", r.where);
    if (r.level > 0 && r.where >= 0 &&
        (r.where >= s_.topology.size() || s_.topology.facet_of(r.where) != r.facet || s_.topology.level_of(r.where) != r.level)) {
      return wrong("domain", r.where);
    }
    return true;
  }

  // Who stands in the way must be there, and must do what the code says of it.
  void others(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const bool names_one = r.code == ReasonCode::kBehind || r.code == ReasonCode::kReservedFor || r.code == ReasonCode::kLostPriority;
    if (!names_one) return;
    if (r.other_job < 0 || r.other_job == d.job) {
      found_.of(job, "has the reason {} without another job", name(r.code));
      return;
    }
    const Decision* other = decision_of_[at(r.other_job)];
    if (other == nullptr) return;
    const bool waits = other->action == Action::kWait || other->action == Action::kPreempt || other->action == Action::kReserve;
    if (r.code != ReasonCode::kLostPriority && !waits) {
      found_.of(job, "has the reason {}; job {}, which it names, has the action {}", name(r.code), s_.jobs[at(r.other_job)].job->id,
                name(other->action));
    }
  }

  void numbers(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const auto states = [&] { return fmt::format("the reason {}, asked {} and best {}", name(r.code), r.asked, r.best); };
    switch (r.code) {
      case ReasonCode::kNodeFailed:
        if (!s_.lost_gpus(d.job)) found_.of(job, "has the reason {}; it lost no GPU", name(r.code));
        [[fallthrough]];
      case ReasonCode::kBehind:
      case ReasonCode::kReservedFor:
      case ReasonCode::kLostPriority:
      case ReasonCode::kBudget:
        if (r.asked != 0 || r.best != 0 || r.missing != 0) found_.of(job, "has {}: that reason has no numbers", states());
        return;
      case ReasonCode::kDeadlineImpossible:
        if (const TimeUs end = s_.too_late(d.job); r.until_us != end || d.action != Action::kDecline) {
          found_.of(job, "has the action {} and the reason {} with an end at {}; {}", name(d.action), name(r.code),
                    instant_text(r.until_us),
                    end == kNever ? std::string("it has no hard deadline that is out of reach") : "it would end at " + seconds_text(end));
        }
        if (r.asked != 0 || r.best != 0 || r.missing != 0) found_.of(job, "has {}: that reason has no numbers", states());
        return;
      case ReasonCode::kQuota:
        quota(d, job);
        return;
      case ReasonCode::kInsufficientGpus:
      case ReasonCode::kTopologyRequired:
      case ReasonCode::kCpu:
      case ReasonCode::kMemory:
        if (r.asked <= r.best) found_.of(job, "has {}: nothing lacks", states());
        break;
      default:
        break;
    }
    if (r.missing > r.asked) found_.of(job, "has {}: {} cannot be missing", states(), r.missing);
    const bool of_gpus = r.code == ReasonCode::kInsufficientGpus || r.code == ReasonCode::kTopologyRequired ||
                         r.code == ReasonCode::kFragmented || r.code == ReasonCode::kNodeConstraint;
    if (of_gpus && !r.certified && !shares(job)) gpus(d, job);
  }

  void quota(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    std::int32_t q = s_.job.queue[at(d.job)];
    while (q >= 0 && q != r.queue) q = s_.queue_parent[at(q)];
    if (q < 0) {
      found_.of(job, "has the reason quota of a queue that it does not stand in");
      return;
    }
    const std::size_t column = at(q) * columns_ + (r.gpu_type < 0 ? columns_ - 1 : at(r.gpu_type));
    const std::int64_t cap = s_.queue_cap[column];
    if (cap == kernel::kNoLimit) {
      found_.of(job, "has the reason quota of queue {}, which has no limit", s_.queues[at(q)].id);
      return;
    }
    if (d.action == Action::kDecline || mends_) return;  // its certificate is checked; mended gangs change what is used
    const std::int64_t left = std::max<std::int64_t>(0, cap - (r.certified ? 0 : queue_used_[column])) / kWholeGpu;
    if (r.best == left && r.asked > r.best) return;
    found_.of(job, "has the reason quota, asked {} and best {}; the limit of queue {} leaves {}", r.asked, r.best, s_.queues[at(q)].id,
              left);
  }

  // So many cannot be free, and so many it does not ask for.
  void gpus(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    std::int64_t free = 0;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<std::int32_t>(n);
      // Pieces may lie on many nodes; `where` is then the one that lacks the least.
      const bool there = r.level < 0 || r.where < 0 || r.code == ReasonCode::kFragmented || r.apart > 0 ||
                         (r.level == 0 ? node == r.where : s_.topology.domain_of(r.facet, r.level, node) == r.where);
      if (there && (r.gpu_type < 0 || s_.node.type[n] == r.gpu_type)) free += std::popcount(free_[n]);
    }
    if (r.best > free) {
      found_.of(job, "has the reason {} and best {}; {} free there", name(r.code), r.best,
                free == 1 ? "1 GPU is" : fmt::format("{} GPUs are", free));
    }
    std::int64_t most = 0;
    for (const Shape& shape : job.shapes) most = std::max(most, whole_gpus(shape));
    if (r.asked > most)
      found_.of(job, "has the reason {} and asked {}; its largest shape has {}", name(r.code), r.asked, counted(most, "GPU"));
  }

  const StateImpl& s_;
  const Plan& plan_;
  Violations& found_;
  std::vector<const Decision*> decision_of_;  // [slots]
  std::vector<std::uint64_t> free_;           // [nodes] that work and that nobody has after the plan
  std::vector<std::int64_t> queue_used_;      // [queues * (types + 1)] after the plan, millionths of a GPU
  std::size_t columns_ = 1;
  bool mends_ = false;
};

}  // namespace

void check_evidence(const StateImpl& state, const Plan& plan, Violations& found) {
  Evidence evidence(state, plan, found);
  for (const Decision& d : plan.decisions) {
    if (found.full()) return;
    evidence.check(d);
  }
}

}  // namespace berth::core
