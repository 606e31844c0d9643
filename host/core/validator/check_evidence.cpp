// Checks reasons against the state and the rest of the plan. The checks follow from the meaning of the codes
// (berth/plan.hpp), not from how the evidence is found. Where a number depends on the search (the best of many places),
// only its bounds are checked.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/base/names.hpp"
#include "host/core/model/held_facts.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/stated_figures.hpp"

namespace berth::core {
namespace {

bool needs_reason(Action action) {
  return action == Action::kWait || action == Action::kPreempt || action == Action::kReject || action == Action::kReserve;
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
    narrows_ = narrows_demands(plan) || state.any_longest_wait();
    decision_of_.assign(s_.jobs.size(), nullptr);
    free_.assign(s_.nodes.size(), 0);
    set_held_after();
    for (std::size_t n = 0; n < s_.nodes.size(); ++n) {
      free_[n] = s_.node.usable[n];
      if (const OutOfService here = out_of_service(n); here.nodes > 0) out_of_service_.emplace_back(n, here);
    }
    columns_ = s_.gpu_types.size() + 1;
    queue_used_ = idle_charges();
    for (const Decision& d : plan_.decisions) {
      if (d.job < 0 || to_index(d.job) >= s_.jobs.size() || s_.jobs[to_index(d.job)].job == nullptr) continue;
      decision_of_[to_index(d.job)] = &d;
      if (runs_now(d.action)) charge(d);
    }
  }

  void check(const Decision& d) {
    if (d.job < 0 || to_index(d.job) >= s_.jobs.size() || s_.jobs[to_index(d.job)].job == nullptr) return;
    const Job& job = *s_.jobs[to_index(d.job)].job;
    const Reason& r = d.reason;
    if (plan_.changes_only && d.action == Action::kWait && r.code == ReasonCode::kNone) return;
    if (!needs_reason(d.action)) {
      if (r != Reason{}) found_.of(job, "has the action {} and yet the reason {}", name(d.action), name(r.code));
      return;
    }
    if (!indices_exist(job, r)) return;
    const bool below_nothing = r.code == ReasonCode::kOutbid;  // value of GPUs to a job
    if (r.asked < 0 || (r.best < 0 && !below_nothing) || r.missing < 0) {
      found_.of(job, "has a reason with asked {}, best {}, missing {}: none of them is negative", r.asked, r.best, r.missing);
      return;
    }
    others(d, job);
    numbers(d, job);
    unavailable(d, job);
  }

 private:
  void charge(const Decision& d) {
    if (d.entry_begin < 0 || d.entry_end < d.entry_begin || d.entry_end > static_cast<std::int64_t>(plan_.entries.size())) return;
    std::int64_t quota = 0;
    std::int32_t type = -1;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan_.entries[to_index(e)];
      if (entry.node < 0 || to_index(entry.node) >= s_.nodes.size()) continue;
      free_[to_index(entry.node)] &= ~entry.gpus;
      type = s_.node.type[to_index(entry.node)];
      quota += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
    }
    if (type >= 0) charge_column(d.job, to_index(type), quota);
    if (type >= 0) charge_column(d.job, columns_ - 1, quota);
    repairs_ = repairs_ || d.action == Action::kReplace;
  }

  std::int64_t kept(std::size_t cell) const { return s_.queue_kept.empty() ? 0 : s_.queue_kept[cell]; }
  // What queues are charged while all below them are idle: rows of parents come before those of their children.
  std::vector<std::int64_t> idle_charges() const {
    std::vector<std::int64_t> charged(s_.queues.size() * columns_, 0);
    for (std::size_t q = s_.queues.size(); q-- > 0;) {
      for (std::size_t c = 0; s_.queue_parent[q] >= 0 && c < columns_; ++c) {
        charged[to_index(s_.queue_parent[q]) * columns_ + c] += std::max(charged[q * columns_ + c], kept(q * columns_ + c));
      }
    }
    return charged;
  }
  void charge_column(std::int32_t job, std::size_t column, std::int64_t more) {
    for (std::int32_t q = s_.job.queue[to_index(job)]; q >= 0; q = s_.queue_parent[to_index(q)]) {
      const std::size_t cell = to_index(q) * columns_ + column;
      const std::int64_t before = std::max(queue_used_[cell], kept(cell));
      queue_used_[cell] += more;
      more = std::max(queue_used_[cell], kept(cell)) - before;
    }
  }

  bool indices_exist(const Job& job, const Reason& r) {
    const auto wrong = [&](std::string_view what, std::int64_t value) {
      found_.of(job, "has a reason about {} {}, which does not exist", what, value);
      return false;
    };
    if (r.topology >= kTopologyKinds) return wrong("topology", r.topology);
    if (r.level < -1 || r.level >= s_.topologies.levels(r.topology)) return wrong("level", r.level);
    if (r.queue < -1 || r.queue >= static_cast<std::int32_t>(s_.queues.size())) return wrong("queue", r.queue);
    if (r.gpu_type < -1 || r.gpu_type >= static_cast<std::int32_t>(s_.gpu_types.size())) return wrong("GPU type", r.gpu_type);
    if (r.other_job < -1 || r.other_job >= static_cast<std::int32_t>(s_.jobs.size()) ||
        (r.other_job >= 0 && s_.jobs[to_index(r.other_job)].job == nullptr)) {
      return wrong("job index", r.other_job);
    }
    if (r.where < -1 || (r.level < 0 && r.where != -1)) return wrong("place", r.where);
    if (r.level == 0 && r.where >= static_cast<std::int32_t>(s_.nodes.size())) return wrong("node", r.where);
    if (r.level > 0 && r.where >= 0 &&
        (r.where >= s_.topologies.size() || s_.topologies.topology_of(r.where) != r.topology ||
         s_.topologies.level_of(r.where) != r.level)) {
      return wrong("domain", r.where);
    }
    return true;
  }

  // Blocking jobs must exist and must do what the code says about them.
  void others(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const bool names_one = r.code == ReasonCode::kBehind || r.code == ReasonCode::kReservedFor || r.code == ReasonCode::kLostPriority;
    if (!names_one) return;
    if (r.other_job < 0 || r.other_job == d.job) {
      found_.of(job, "has the reason {} without another job", name(r.code));
      return;
    }
    const Decision* other = decision_of_[to_index(r.other_job)];
    if (other == nullptr) return;
    const bool waits = other->action == Action::kWait || other->action == Action::kPreempt || other->action == Action::kReserve;
    if (r.code != ReasonCode::kLostPriority && !waits) {
      found_.of(job, "has the reason {}; job {}, which it names, has the action {}", name(r.code), s_.jobs[to_index(r.other_job)].job->id,
                name(other->action));
    }
  }

  // A queue got GPUs back that it is entitled to.
  void reclaimed(std::int32_t victim, const Job& job, const Reason& r) {
    if (r.other_job < 0) return;  // `others` says so
    const std::int32_t queue = s_.job.queue[to_index(r.other_job)];
    if (r.queue != queue) {
      found_.of(job, "is displaced for queue {}; the job that displaces it is of another", s_.queues[to_index(r.queue)].id);
    }
    const Decision* const other = decision_of_[to_index(r.other_job)];
    std::int64_t gpus = 0;
    for (std::int32_t e = other == nullptr ? 0 : other->entry_begin; other != nullptr && e < other->entry_end; ++e) {
      gpus += std::int64_t{plan_.entries[to_index(e)].share_ppm} * std::popcount(plan_.entries[to_index(e)].gpus);
    }
    const bool no_number = r.asked == 0 && r.best == 0 && r.free == 0;  // a dominant share, or less than one GPU
    if ((!no_number && r.best + gpus / kWholeGpu > r.asked) || r.missing != 0) {
      found_.of(job, "is displaced for {} GPUs of a queue that has {} of the {} that it is entitled to", gpus / kWholeGpu, r.best, r.asked);
    }
    const std::int32_t own = s_.job.queue[to_index(victim)];
    const std::int64_t used = own < 0 ? 0 : s_.queue_used[to_index(own) * columns_ + columns_ - 1];
    if (r.free < 0 || r.free > used / kWholeGpu) {
      found_.of(job, "is displaced, and its queue borrows {} GPUs; it is charged {}", r.free, used / kWholeGpu);
    }
  }

  void numbers(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const auto states = [&] { return fmt::format("the reason {}, asked {} and best {}", name(r.code), r.asked, r.best); };
    switch (r.code) {
      case ReasonCode::kNodeFailed:
        if (!s_.lost_gpus(d.job)) found_.of(job, "has the reason {}; it lost no GPU", name(r.code));
        [[fallthrough]];
      case ReasonCode::kLostPriority:
        if (r.queue >= 0) {
          reclaimed(d.job, job, r);
          return;
        }
        [[fallthrough]];
      case ReasonCode::kBehind:
      case ReasonCode::kReservedFor:
      case ReasonCode::kBudget:
        if (r.asked != 0 || r.best != 0 || r.missing != 0) found_.of(job, "has {}: that reason has no numbers", states());
        return;
      case ReasonCode::kDeadlineImpossible:
        if (const TimeUs end = s_.too_late(d.job); r.until_us != end || d.action != Action::kReject) {
          found_.of(job, "has the action {} and the reason {} with an end at {}; {}", name(d.action), name(r.code),
                    instant_text(r.until_us),
                    end == kNever ? std::string("it has no hard deadline that is out of reach") : "it would end at " + seconds_text(end));
        }
        if (r.asked != 0 || r.best != 0 || r.missing != 0) found_.of(job, "has {}: that reason has no numbers", states());
        return;
      case ReasonCode::kNotAdmitted:
      case ReasonCode::kPromised:
        refused(d, job);
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
    const bool may_wait =
        d.action == Action::kWait || d.action == Action::kPreempt || (d.action == Action::kReserve && r.until_us < d.start_us);
    if (r.code == ReasonCode::kDelayTimer && (r.level < 0 || r.until_us <= s_.now || !may_wait)) {
      found_.of(job, "has the action {} and the reason {} until {}; a job that waits for a level has both", name(d.action), name(r.code),
                instant_text(r.until_us));
    }
    if (r.missing > r.asked) found_.of(job, "has {}: {} cannot be missing", states(), r.missing);
    const bool of_gpus = r.code == ReasonCode::kInsufficientGpus || r.code == ReasonCode::kTopologyRequired ||
                         r.code == ReasonCode::kFragmented || r.code == ReasonCode::kNodeConstraint || r.code == ReasonCode::kDelayTimer;
    if (of_gpus && !r.certified && !shares(job)) gpus(d, job);
  }

  // No job ends before it could in its fastest shape, and only a job that stays once it runs is held back.
  void refused(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    if (r.code == ReasonCode::kPromised) {
      const bool stays =
          !job.preemption.preemptible || job.preemption.minimum_run_us > job.progress.run_us || job.preemption.guaranteed_until_us > s_.now;
      if (d.action != Action::kWait || !stays || r.until_us <= s_.now) {
        found_.of(job, "has the action {} and the reason {} until {}; it {}", name(d.action), name(r.code), instant_text(r.until_us),
                  stays ? "may not be displaced once it runs" : "could be displaced at any time");
      }
      return;
    }
    TimeUs least = kNever;
    for (std::size_t o = 0; o < s_.jobs[to_index(d.job)].options.size(); ++o) least = std::min(least, s_.option_run(d.job, o));
    const bool too_early = r.until_us <= job.deadline.at_us || (least != kNever && r.until_us < end_of(s_.now, least));
    if (d.action != Action::kReject || !job.deadline.hard || too_early) {
      found_.of(job, "has the action {} and the reason {} with a deadline at {}", name(d.action), name(r.code), instant_text(r.until_us));
    }
  }

  void quota(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const std::size_t of_queue = r.gpu_type < 0 ? columns_ - 1 : to_index(r.gpu_type);
    std::int32_t q = s_.job.queue[to_index(d.job)];
    std::int64_t within = 0;  // what the queues below it keep idle for the job
    for (; q >= 0 && q != r.queue; q = s_.queue_parent[to_index(q)]) {
      const std::size_t below = to_index(q) * columns_ + of_queue;
      within += std::max<std::int64_t>(0, kept(below) - queue_used_[below]);
    }
    if (q < 0) {
      found_.of(job, "has the reason quota of a queue that it does not stand in");
      return;
    }
    const std::size_t column = to_index(q) * columns_ + of_queue;
    const std::int64_t cap = s_.queue_cap[column];
    if (cap == kernel::kNoLimit) {
      found_.of(job, "has the reason quota of queue {}, which has no limit", s_.queues[to_index(q)].id);
      return;
    }
    if (d.action == Action::kReject || repairs_) return;  // its certificate is checked; repaired gangs change the usage
    const std::int64_t room = r.certified ? cap : cap - queue_used_[column];
    const std::int64_t left = room < 0 ? 0 : (room + (r.certified ? 0 : within)) / kWholeGpu;
    if (r.best == left && r.asked > r.best && r.free >= 0) return;
    found_.of(job, "has the reason quota, asked {} and best {}; the limit of queue {} leaves {}", r.asked, r.best,
              s_.queues[to_index(q)].id, left);
  }

  // That many cannot be free, or it does not request that many.
  void gpus(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    std::int64_t free = 0;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      const auto node = static_cast<std::int32_t>(n);
      // Members may be on many nodes; `where` is then the one that lacks the least.
      const bool there = r.level < 0 || r.where < 0 || r.code == ReasonCode::kFragmented || r.apart > 0 ||
                         (r.level == 0 ? node == r.where : s_.topologies.domain_of(r.topology, r.level, node) == r.where);
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

  struct OutOfService {
    std::int64_t drained = 0, failed = 0;
    std::int32_t nodes = 0;
  };

  // A GPU of which jobs have shares counts as held.
  void set_held_after() {
    held_after_ = s_.node.held;
    for (const Decision& d : plan_.decisions) {
      if (d.action == Action::kKeep || d.job < 0 || to_index(d.job) >= s_.jobs.size() || s_.jobs[to_index(d.job)].job == nullptr) continue;
      for (const PlanEntry& held : s_.jobs[to_index(d.job)].entries) {
        if (held.share_ppm == kWholeGpu) held_after_[to_index(held.node)] &= ~held.gpus;
      }
    }
    for (const Decision& d : plan_.decisions) {
      if (d.action != Action::kReplace || d.entry_begin < 0 || d.entry_end > static_cast<std::int64_t>(plan_.entries.size())) continue;
      for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
        const PlanEntry& entry = plan_.entries[to_index(e)];
        if (entry.node >= 0 && to_index(entry.node) < s_.nodes.size()) held_after_[to_index(entry.node)] |= entry.gpus;
      }
    }
  }

  // From the node's description: failed GPUs, and those of a drained node that no job holds after the plan.
  OutOfService out_of_service(std::size_t n) const {
    const Node& node = s_.nodes[n];
    const bool here = node.available_from_us <= s_.now && s_.now < node.available_until_us;
    const bool down = node.state == NodeState::kFailed, drained = here && node.state == NodeState::kDrain;
    OutOfService out;
    const auto count = [&](std::int32_t index, GpuState state) {
      const bool held = (held_after_[n] >> index & 1) != 0;
      if (down || state == GpuState::kFailed) {
        ++out.failed;
      } else if (drained && !held && state == GpuState::kOk) {
        ++out.drained;
      }
    };
    for (const Gpu& gpu : node.gpu_list) count(gpu.index, gpu.state);
    for (std::int32_t i = 0; node.gpu_list.empty() && i < node.gpus; ++i) count(i, GpuState::kOk);
    out.nodes = out.drained + out.failed > 0 ? 1 : 0;
    return out;
  }

  // Of its allocation, what failed.
  OutOfService lost(std::int32_t job) const {
    OutOfService out;
    std::vector<std::uint64_t> on(s_.nodes.size(), 0);
    for (const PlanEntry& held : s_.jobs[to_index(job)].entries) on[to_index(held.node)] |= held.gpus;
    for (std::size_t n = 0; n < on.size(); ++n) {
      const Node& node = s_.nodes[n];
      std::uint64_t works = node.state == NodeState::kFailed ? 0 : ~std::uint64_t{0};
      for (const Gpu& gpu : node.gpu_list) works &= ~(gpu.state == GpuState::kFailed ? std::uint64_t{1} << gpu.index : 0);
      const int gone = std::popcount(on[n] & ~works);
      out.failed += gone;
      out.nodes += gone > 0 ? 1 : 0;
    }
    return out;
  }

  void unavailable(const Decision& d, const Job& job) {
    const Reason& r = d.reason;
    const auto none = static_cast<std::int32_t>(std::count(r.unavailable_on.begin(), r.unavailable_on.end(), -1));
    const auto listed = static_cast<std::int32_t>(r.unavailable_on.size()) - none;
    const auto shown = std::min<std::int32_t>(r.unavailable_nodes, static_cast<std::int32_t>(r.unavailable_on.size()));
    if (r.drained < 0 || r.failed < 0 || listed != shown || (r.drained + r.failed > 0) != (r.unavailable_nodes > 0)) {
      found_.of(job, "has a reason with {} drained and {} failed GPUs on {}, {} of which it lists", r.drained, r.failed,
                counted(r.unavailable_nodes, "node"), listed);
      return;
    }
    const bool own = r.code == ReasonCode::kNodeFailed;
    const bool flat = std::all_of(job.shapes.begin(), job.shapes.end(), [](const Shape& shape) { return shape.groups.empty(); });
    const bool everywhere = r.code == ReasonCode::kInsufficientGpus && r.level < 0 && flat && !shares(job) && s_.reservations.empty();
    const bool exact = own || (everywhere && !r.certified && !narrows_);
    if (!exact && r.unavailable_nodes == 0) return;
    OutOfService all;
    for (const auto& [n, here] : out_of_service_) {
      if (own || !may_serve(job, r, n)) continue;
      all.drained += here.drained;
      all.failed += here.failed;
      all.nodes += here.nodes;
    }
    if (own) all = lost(d.job);
    for (std::int32_t i = 0; i < listed; ++i) {
      const std::int32_t n = r.unavailable_on[to_index(i)];
      const bool exists = n >= 0 && to_index(n) < s_.nodes.size() && (i == 0 || n > r.unavailable_on[to_index(i - 1)]);
      if (exists && (own || may_serve(job, r, to_index(n))) && (own || out_of_service(to_index(n)).nodes > 0)) continue;
      found_.of(job, "has a reason with GPUs out of service on node {}; there are none that it may use, or the nodes are not ascending",
                exists ? s_.nodes[to_index(n)].id : std::to_string(n));
      return;
    }
    const bool within = r.drained <= all.drained && r.failed <= all.failed && r.unavailable_nodes <= all.nodes;
    const bool same = r.drained == all.drained && r.failed == all.failed && r.unavailable_nodes == all.nodes;
    if (exact ? !same : !within) {
      found_.of(job, "has a reason with {} drained and {} failed GPUs on {}; there are {} and {} on {}", r.drained, r.failed,
                counted(r.unavailable_nodes, "node"), all.drained, all.failed, counted(all.nodes, "node"));
    }
  }

  bool may_serve(const Job& job, const Reason& r, std::size_t n) const {
    return (r.gpu_type < 0 || s_.node.type[n] == r.gpu_type) && s_.facts().refuses(job, static_cast<std::int32_t>(n)).empty();
  }

  const StateImpl& s_;
  const Plan& plan_;
  bool narrows_ = false;
  Violations& found_;
  std::vector<const Decision*> decision_of_;                          // [jobs of the state]
  std::vector<std::pair<std::size_t, OutOfService>> out_of_service_;  // nodes of which something is
  std::vector<std::uint64_t> held_after_;                             // [nodes] after the plan
  std::vector<std::uint64_t> free_;                                   // [nodes] that work and are free after the plan
  std::vector<std::int64_t> queue_used_;                              // [queues * (types + 1)] after the plan, millionths of a GPU
  std::size_t columns_ = 1;
  bool repairs_ = false;
};

}  // namespace

bool narrows_demands(const Plan& plan) {
  const auto is_consolidate = [](const auto& param) { return param.first == "packing" && param.second == "consolidate"; };
  const auto consolidates = [&](const PolicyEntry& entry) { return entry.info.name == plan.policy && entry.consolidation != nullptr; };
  const std::span<const PolicyEntry> known = policy_registry();
  return std::any_of(plan.params.begin(), plan.params.end(), is_consolidate) || std::any_of(known.begin(), known.end(), consolidates);
}

void check_evidence(const StateImpl& state, const Plan& plan, Violations& found) {
  Evidence evidence(state, plan, found);
  for (const Decision& d : plan.decisions) {
    if (found.full()) return;
    evidence.check(d);
  }
}

}  // namespace berth::core
