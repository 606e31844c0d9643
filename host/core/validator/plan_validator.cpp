#include "host/core/validator/plan_validator.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/model/held_facts.hpp"
#include "host/core/reasons/certificate.hpp"

namespace berth::core {
namespace {

// Whether both have the same GPUs, whichever members are on them.
bool covers(std::span<const PlanEntry> entries, std::span<const HeldFact> held) {
  if (entries.size() != held.size()) return false;
  // Several members with shares may be on one GPU.
  return std::all_of(entries.begin(), entries.end(), [&](const PlanEntry& entry) {
    const auto before = std::count_if(held.begin(), held.end(), [&](const HeldFact& row) {
      return row.node == entry.node && row.mask == entry.gpus && row.share_ppm == entry.share_ppm;
    });
    const auto after = std::count_if(entries.begin(), entries.end(), [&](const PlanEntry& other) {
      return other.node == entry.node && other.gpus == entry.gpus && other.share_ppm == entry.share_ppm;
    });
    return before == after;
  });
}

bool places(Action action) { return runs_now(action) && action != Action::kKeep; }

}  // namespace

const std::vector<std::string>& PlanValidator::check(const ClusterFacts& facts, const Plan& plan, const ValidateOptions& options) {
  facts_ = &facts;
  plan_ = &plan;
  options_ = options;
  out_.clear();
  Violations found(out_, options.most);
  reset(facts);

  if (plan.now_us != facts.now())
    found.add("the plan is for time {}; the state is at {}", seconds_text(plan.now_us), seconds_text(facts.now()));
  const std::span<const std::int32_t> order = facts.by_rank();
  if (plan.decisions.size() != order.size()) {
    found.add("the plan has {}; the state has {}", counted(static_cast<std::int64_t>(plan.decisions.size()), "decision"),
              counted(static_cast<std::int64_t>(order.size()), "job"));
    return out_;
  }
  if (plan.policy == "priority") find_highest_class();
  // Decisions are read once: there are many, and they do not fit in a cache.
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Decision& decision = plan.decisions[i];
    if (decision.job != order[i]) {
      found.add("decision {} is about job index {}; by job rank it must be about job {}", i, decision.job, facts.job(order[i]).job->id);
      return out_;
    }
    ++actions_[static_cast<std::size_t>(decision.action)];
    check_decision(decision, found);
    if (found.full()) return out_;
  }
  check_shares(found);
  check_nodes(found);
  check_queues(found);
  if (actions_[static_cast<std::size_t>(Action::kReserve)] > 0 && out_.empty()) check_reservations(found);
  if (actions_[static_cast<std::size_t>(Action::kReserve)] > 0 && out_.empty()) check_reserved_limits(found);
  check_totals(found);
  return out_;
}

const std::vector<std::string>& PlanValidator::check_changes(const ClusterFacts& facts, const HeldSums& held, const Plan& plan,
                                                             const ValidateOptions& options) {
  facts_ = &facts;
  plan_ = &plan;
  options_ = options;
  out_.clear();
  Violations found(out_, options.most);
  if (plan.now_us != facts.now())
    found.add("the plan is for time {}; the state is at {}", seconds_text(plan.now_us), seconds_text(facts.now()));
  if (!in_order(found)) return out_;
  read_held(held);
  // A job that is not listed goes on with what it holds.
  for (const std::int32_t node : held.broken) {
    const Use& use = use_[static_cast<std::size_t>(node)];
    if (const std::uint64_t failed = use.whole & ~use.works; failed != 0) {
      found.add("GPU {} of node {} does not work, and the plan of changes does not list the job that holds it", std::countr_zero(failed),
                facts.node(node).node->id);
    }
  }
  if (plan.policy == "priority") find_highest_class();
  for (const Decision& decision : plan.decisions) {
    ++actions_[static_cast<std::size_t>(decision.action)];
    const Job& job = *facts.job(decision.job).job;
    if (decision.action == Action::kKeep || decision.action == Action::kWait || decision.action == Action::kReserve)
      found.of(job, "has the action {}, which a plan of changes does not list", name(decision.action));
    check_decision(decision, found);
    if (found.full()) return out_;
  }
  if (!shares_.empty()) found.add("a plan of changes gives out shares of GPUs");
  for (const std::int32_t node : nodes_) {
    if (use_[static_cast<std::size_t>(node)].changed) check_node(node, found);
  }
  check_queues(found);
  check_actions(false, found);
  const std::int64_t stay = plan.totals.keeps + plan.totals.waits;
  const auto jobs = static_cast<std::int64_t>(facts.by_rank().size()), listed = static_cast<std::int64_t>(plan.decisions.size());
  if (stay + listed != jobs) found.add("totals: {} jobs wait or are kept and {} are listed; the state has {}", stay, listed, jobs);
  return out_;
}

// By job rank, each job once.
bool PlanValidator::in_order(Violations& found) const {
  const Job* last = nullptr;
  for (const Decision& decision : plan_->decisions) {
    const bool known = decision.job >= 0 && decision.job < facts_->job_index_end() && facts_->job(decision.job).job != nullptr;
    if (!known) {
      found.add("the plan names the unused job index {}", decision.job);
      return false;
    }
    const Job* job = facts_->job(decision.job).job;
    if (last != nullptr && std::tie(job->submit_us, job->id) <= std::tie(last->submit_us, last->id)) {
      found.of(*job, "is listed after job {}, which is not before it by job rank", last->id);
      return false;
    }
    last = job;
  }
  return true;
}

// What is held on the nodes that the plan names, without the jobs that leave them.
void PlanValidator::read_held(const HeldSums& held) {
  reset_sums(*facts_);
  queue_use_.assign(held.queue.begin(), held.queue.end());
  nodes_.assign(held.broken.begin(), held.broken.end());
  const auto leaves = [](Action action) { return action != Action::kStart && action != Action::kReject; };
  for (const Decision& decision : plan_->decisions) {
    for (const HeldFact& row : facts_->held(facts_->job(decision.job))) nodes_.push_back(row.node);
    const bool exists = decision.entry_begin >= 0 && decision.entry_begin <= decision.entry_end &&
                        decision.entry_end <= static_cast<std::int64_t>(plan_->entries.size());
    for (std::int32_t e = decision.entry_begin; exists && e < decision.entry_end; ++e)
      nodes_.push_back(plan_->entries[static_cast<std::size_t>(e)].node);
  }
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  std::erase_if(nodes_, [&](std::int32_t node) { return node < 0 || node >= facts_->node_count(); });
  use_.resize(static_cast<std::size_t>(facts_->node_count()));
  for (const std::int32_t node : nodes_) {
    const auto n = static_cast<std::size_t>(node);
    use_[n] = {held.gpus[n], 0, held.cpu[n], held.memory[n], facts_->node(node).works, facts_->node(node).type, false};
  }
  for (const Decision& decision : plan_->decisions) {
    const JobFacts& job = facts_->job(decision.job);
    if (!job.running || !leaves(decision.action)) continue;
    std::int64_t quota = 0;
    for (const HeldFact& row : facts_->held(job)) {
      if (row.node < 0) continue;
      Use& use = use_[static_cast<std::size_t>(row.node)];
      use.whole &= ~row.mask;
      use.cpu -= row.cpu;
      use.memory -= row.memory;
      quota += std::int64_t{row.share_ppm} * std::popcount(row.mask);
    }
    if (quota > 0) charge_queue(job, facts_->node(facts_->held(job).front().node).type, -quota, false);
  }
}

void PlanValidator::find_highest_class() {
  const std::span<const std::int32_t> order = facts_->by_rank();
  for (std::size_t i = 0; i < plan_->decisions.size(); ++i) {
    const Action action = plan_->decisions[i].action;
    const JobFacts& job = facts_->job(plan_->changes_only ? plan_->decisions[i].job : order[i]);
    // A job that lost GPUs and runs on elsewhere has to start again: others leave for it, too.
    const bool again = (action == Action::kMigrate || action == Action::kResize) && lost_gpus(job);
    if (action != Action::kStart && !again) continue;
    const std::int32_t its = job.job->preemption.preemption_class;
    highest_class_ = any_start_ ? std::max(highest_class_, its) : its;
    any_start_ = true;
  }
}

void PlanValidator::reset(const ClusterFacts& facts) {
  reset_sums(facts);
  keep_idle_quotas();
  use_.assign(static_cast<std::size_t>(facts.node_count()), Use{});
  for (std::int32_t n = 0; n < facts.node_count(); ++n) {
    use_[static_cast<std::size_t>(n)].works = facts.node(n).works;
    use_[static_cast<std::size_t>(n)].type = facts.node(n).type;
  }
}

void PlanValidator::reset_sums(const ClusterFacts& facts) {
  shares_.clear();
  const std::size_t columns = facts.queues().size() * (facts.gpu_types().size() + 1);
  queue_use_.assign(columns, 0);
  queue_changed_.assign(columns, 0);
  any_start_ = false;
  gpus_used_ = 0;
  actions_ = {};
}

void PlanValidator::check_decision(const Decision& decision, Violations& found) {
  const JobFacts& job = facts_->job(decision.job);
  const auto size = static_cast<std::int64_t>(plan_->entries.size());
  if (decision.entry_begin < 0 || decision.entry_end < decision.entry_begin || decision.entry_end > size) {
    found.of(*job.job, "names entries {} to {} of {}", decision.entry_begin, decision.entry_end, size);
    return;
  }
  check_action(decision, job, found);
  if (decision.action == Action::kKeep) {
    check_kept(decision, job, found);
  } else if (places(decision.action) || decision.action == Action::kReserve) {
    check_placed(decision, job, found);
  }
}

void PlanValidator::check_action(const Decision& decision, const JobFacts& job, Violations& found) {
  const Action action = decision.action;
  const bool for_running = action == Action::kKeep || action == Action::kResize || action == Action::kMigrate ||
                           action == Action::kPreempt || action == Action::kReplace;
  if (for_running != job.running) {
    found.of(*job.job, "is {} and cannot be given the action {}", job.running ? "running" : "waiting", name(action));
    return;
  }
  if (action == Action::kKeep) return;
  const bool with_entries = runs_now(action) || action == Action::kReserve;
  if (!with_entries && decision.entry_begin != decision.entry_end) {
    found.of(*job.job, "has the action {} and yet {}", name(action),
             counted(decision.entry_end - decision.entry_begin, "allocation entry"));
  }
  const bool says_why = decision.reason.code != ReasonCode::kNone || (plan_->changes_only && action == Action::kWait);
  if (!with_entries && !says_why) found.of(*job.job, "has the action {} without a reason", name(action));
  if (action == Action::kPreempt || action == Action::kMigrate || action == Action::kResize) check_displaced(decision, job, found);
  CertificateMemory& certificates = options_.known != nullptr ? *options_.known : certificates_;
  // A missed deadline depends on predictions, which check_evidence recomputes; here the job must at least have one.
  // That a promise is not possible is the policy's to say; check_evidence compares it with what the job needs.
  const bool by_deadline = decision.reason.code == ReasonCode::kDeadlineImpossible || decision.reason.code == ReasonCode::kNotAdmitted;
  const bool late = by_deadline && job.job->deadline.hard && decision.reason.until_us > job.job->deadline.at_us;
  if (action == Action::kReject && !late && !certificates.holds(*facts_, decision.job, decision.reason)) {
    found.of(*job.job, "is rejected, and its certificate ({}, asked {}, best {}) does not hold", name(decision.reason.code),
             decision.reason.asked, decision.reason.best);
  }
}

bool PlanValidator::lost_gpus(const JobFacts& job) const {
  for (const HeldFact& held : facts_->held(job)) {
    if (held.node < 0 || (held.mask & ~facts_->node(held.node).works) != 0) return true;
  }
  return false;
}

void PlanValidator::check_displaced(const Decision& decision, const JobFacts& job, Violations& found) {
  if (lost_gpus(job)) return;  // its nodes failed; the plan did not stop it
  if (decision.action == Action::kMigrate && decision.shape == job.shape && covers(entries_of(decision), facts_->held(job)))
    found.of(*job.job, "is moved onto the GPUs that it holds");
  const Preemption& p = job.job->preemption;
  const TimeUs now = facts_->now();
  if (!p.preemptible) found.of(*job.job, "is displaced and is not preemptible");
  if (now < p.guaranteed_until_us) {
    found.of(*job.job, "is displaced at {}; it is guaranteed to run until {}", seconds_text(now), seconds_text(p.guaranteed_until_us));
  }
  const TimeUs since = facts_->run_now(decision.job);
  if (since < p.minimum_run_us) {
    found.of(*job.job, "is displaced after {}; its minimum run time is {}", seconds_text(since), seconds_text(p.minimum_run_us));
  }
  if (plan_->policy != "priority" || decision.reason.queue >= 0) return;
  const std::int32_t other = decision.reason.other_job;
  const bool named = other >= 0 && other < facts_->job_index_end() && facts_->job(other).job != nullptr;
  const std::int32_t highest = named ? facts_->job(other).job->preemption.preemption_class : highest_class_;
  // A job that moves has no reason. A queue may have got its GPUs back.
  if (!named && !facts_->queues().empty()) return;
  if ((named || any_start_) && highest <= p.preemption_class) {
    found.of(*job.job, "of preemption class {} is displaced; {} is of class {}, which is not greater", p.preemption_class,
             named ? "job " + facts_->job(other).job->id : "the best job that starts", highest);
  }
}

// Usually both sides have the same rows; otherwise the same GPUs in the same shares count.
bool PlanValidator::same_as_held(std::span<const PlanEntry> entries, std::span<const HeldFact> held) {
  bool same = entries.size() == held.size();
  for (std::size_t i = 0; same && i < held.size(); ++i) {
    same = entries[i].node == held[i].node && entries[i].gpus == held[i].mask && entries[i].share_ppm == held[i].share_ppm &&
           entries[i].group == held[i].group && entries[i].member == held[i].member && entries[i].time_shared == held[i].time_shared;
  }
  if (same) return true;
  const auto canonical = [](std::vector<PlanEntry>& rows) {
    std::vector<PlanEntry> single;
    for (const PlanEntry& row : rows) {
      for (std::uint64_t left = row.gpus; left != 0; left &= left - 1) {
        single.push_back({row.node, row.group, 0, 0, left & (~left + 1), row.share_ppm, row.time_shared});
      }
    }
    rows.swap(single);
    std::sort(rows.begin(), rows.end(), [](const PlanEntry& a, const PlanEntry& b) {
      return std::tie(a.node, a.group, a.gpus, a.share_ppm, a.time_shared) < std::tie(b.node, b.group, b.gpus, b.share_ppm, b.time_shared);
    });
  };
  sorted_a_.assign(entries.begin(), entries.end());
  sorted_b_.clear();
  for (const HeldFact& h : held) sorted_b_.push_back({h.node, h.group, 0, 0, h.mask, h.share_ppm, h.time_shared});
  canonical(sorted_a_);
  canonical(sorted_b_);
  return sorted_a_ == sorted_b_;
}

void PlanValidator::check_kept(const Decision& decision, const JobFacts& job, Violations& found) {
  if (!job.running) return;
  const std::span<const HeldFact> held = facts_->held(job);
  if (!same_as_held(entries_of(decision), held)) {
    found.of(*job.job, "is kept with other GPUs than it holds");
    return;
  }
  if (decision.shape != job.shape) found.of(*job.job, "is kept in shape {}; it runs in shape {}", decision.shape, job.shape);
  const bool same_batch = decision.local_batch == job.local_batch && decision.learning_rate_pico == job.learning_rate_pico;
  if (job.shape >= 0 && !same_batch) check_batch(decision, *job.job, job.job->shapes[static_cast<std::size_t>(job.shape)], found);
  const std::int64_t index = &decision - plan_->decisions.data();
  std::int64_t quota = 0;
  std::int32_t type = -1;
  for (const HeldFact& row : held) {
    if (row.node < 0) continue;  // a removed node: the state rejects that
    Use& use = use_[static_cast<std::size_t>(row.node)];
    if (const std::uint64_t failed = row.mask & ~use.works; failed != 0) {
      found.of(*job.job, "is kept on GPU {} of node {}, which does not work", std::countr_zero(failed), facts_->node(row.node).node->id);
    }
    const bool whole = row.share_ppm == kWholeGpu;
    const std::uint64_t clash = row.mask & (whole ? use.whole | use.shared : use.whole);
    if (clash != 0) report_clash(*job.job, {row.node, 0, 0, 0, row.mask, row.share_ppm}, clash, index, found);
    (whole ? use.whole : use.shared) |= row.mask;
    use.cpu += row.cpu;
    use.memory += row.memory;
    quota += std::int64_t{row.share_ppm} * std::popcount(row.mask);
    type = use.type;
    if (whole) {
      gpus_used_ += std::popcount(row.mask);
      continue;
    }
    for (std::uint64_t left = row.mask; left != 0; left &= left - 1) {
      shares_.push_back({row.node, std::countr_zero(left), row.share_ppm, job.job->constraints.gpu_memory_bytes, index});
    }
  }
  charge_queue(job, type, quota, false);
}

bool PlanValidator::entries_exist(const Decision& decision, const Job& job, Violations& found) {
  if (decision.shape < 0 || static_cast<std::size_t>(decision.shape) >= job.shapes.size()) {
    found.of(job, "is placed in shape {} of {}", decision.shape, job.shapes.size());
    return false;
  }
  if (decision.entry_begin == decision.entry_end) {
    found.of(job, "has the action {} and no GPUs", name(decision.action));
    return false;
  }
  for (const PlanEntry& entry : entries_of(decision)) {
    if (entry.node < 0 || entry.node >= facts_->node_count()) {
      found.of(job, "names node {} of {}", entry.node, facts_->node_count());
      return false;
    }
    const NodeFacts& node = facts_->node(entry.node);
    if (const std::uint64_t extra = entry.gpus & ~node.existing; extra != 0) {
      found.of(job, "takes GPU {} of node {}, which has no such GPU", std::countr_zero(extra), node.node->id);
      return false;
    }
  }
  return true;
}

// The trainer must get the batch and the learning rate that belong together.
void PlanValidator::check_batch(const Decision& decision, const Job& job, const Shape& shape, Violations& found) {
  if (decision.local_batch != shape.local_batch) {
    found.of(job, "is given a local batch of {}; shape {} says {}", decision.local_batch, shape.id, shape.local_batch);
  }
  if (decision.learning_rate_pico != shape.learning_rate_pico) {
    found.of(job, "is given a learning rate of {} x 1e-12; shape {} says {}", decision.learning_rate_pico, shape.id,
             shape.learning_rate_pico);
  }
}

void PlanValidator::check_placed(const Decision& decision, const JobFacts& job, Violations& found) {
  if (!entries_exist(decision, *job.job, found)) return;
  const Action action = decision.action;
  const Shape& shape = job.job->shapes[static_cast<std::size_t>(decision.shape)];
  const bool later = action == Action::kReserve;
  const TimeUs now = facts_->now();
  const TimeUs start = later ? decision.start_us : now;
  if (action == Action::kStart && decision.start_us != now) {
    found.of(*job.job, "starts at {}; the plan is for {}", instant_text(decision.start_us), seconds_text(now));
  }
  if (later && (start == kNever || start < now))
    found.of(*job.job, "is reserved for {}; the plan is for {}", instant_text(start), seconds_text(now));
  if (decision.finish_us < start) {
    found.of(*job.job, "would finish at {}, before it starts at {}", seconds_text(decision.finish_us), instant_text(start));
  }

  check_batch(decision, *job.job, shape, found);
  gang_.check(*facts_, *job.job, shape, entries_of(decision), action == Action::kReplace ? facts_->held(job) : std::span<const HeldFact>(),
              found);
  const std::int64_t index = &decision - plan_->decisions.data();
  std::int64_t quota = 0;
  for (const PlanEntry& entry : entries_of(decision)) {
    check_open(decision, *job.job, entry, start, action == Action::kReplace, found);
    quota += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
    if (entry.share_ppm != kWholeGpu && !(facts_->node(entry.node).sharing && job.job->sharing)) {
      found.of(*job.job, "takes a share of a GPU of node {}; {} does not allow sharing", facts_->node(entry.node).node->id,
               job.job->sharing ? "the node" : "the job");
    }
    if (!later && entry.share_ppm == kWholeGpu) gpus_used_ += std::popcount(entry.gpus);
    if (!later) charge(*job.job, entry, index, action != Action::kReplace || !held_before(job, entry), found);
  }
  if (action == Action::kReplace) check_repaired(decision, job, found);
  if (!later) {
    charge_queue(job, facts_->node(entries_of(decision).front().node).type, quota, action != Action::kReplace);
  }
}

bool PlanValidator::held_before(const JobFacts& job, const PlanEntry& entry) const {
  std::uint64_t fresh = entry.gpus;
  for (const HeldFact& held : facts_->held(job)) {
    if (held.node == entry.node) fresh &= ~held.mask;
  }
  return fresh == 0;
}

void PlanValidator::check_open(const Decision& decision, const Job& job, const PlanEntry& entry, TimeUs start, bool repairs,
                               Violations& found) {
  const NodeFacts& facts = facts_->node(entry.node);
  const Node& node = *facts.node;
  std::uint64_t taken = entry.gpus;
  if (repairs) {
    for (const HeldFact& held : facts_->held(facts_->job(decision.job))) {
      if (held.node == entry.node) taken &= ~(held.mask & facts.works);
    }
    if (taken == 0) return;  // survivors stay where they are
  }
  const bool later = decision.action == Action::kReserve;
  const bool open =
      node.state == NodeState::kReady || (repairs && node.state == NodeState::kSpare) || (later && node.state == NodeState::kReleasing);
  if (!open) found.of(job, "is placed on node {}, which is in state {}", node.id, name(node.state));
  if (node.available_from_us > start) {
    found.of(job, "is placed at {} on node {}, which is available from {}", instant_text(start), node.id,
             seconds_text(node.available_from_us));
  }
  for (std::uint64_t left = open ? taken & ~facts.ok : 0; left != 0; left &= left - 1) {
    const std::int32_t index = std::countr_zero(left);
    const auto gpu = std::find_if(node.gpu_list.begin(), node.gpu_list.end(), [&](const Gpu& g) { return g.index == index; });
    if (later && gpu != node.gpu_list.end() && gpu->state == GpuState::kReleasing && gpu->free_at_us <= start) continue;
    found.of(job, "takes GPU {} of node {}, which is in state {}", index, node.id,
             gpu == node.gpu_list.end() ? "failed" : name(gpu->state));
  }
  if (node.available_until_us != kNever && (decision.finish_us == kNever || decision.finish_us > node.available_until_us)) {
    found.of(job, "is placed on node {}, which is available until {}; the job {}", node.id, seconds_text(node.available_until_us),
             decision.finish_us == kNever ? "has no predicted end" : "would end at " + seconds_text(decision.finish_us));
  }
  if (!facts.reserved) return;
  for (const Reservation& r : facts_->reservations()) {
    if (r.to_us <= start || decision.finish_us <= r.from_us || !facts_->reservation_covers(r, entry.node)) continue;
    if (std::find(r.jobs.begin(), r.jobs.end(), job.id) != r.jobs.end()) continue;
    found.of(job, "is placed on node {}, which reservation {} keeps for others", node.id, r.id);
  }
}

// A survivor is a member whose GPUs all still work; its GPUs must stay in its group.
void PlanValidator::check_repaired(const Decision& decision, const JobFacts& job, Violations& found) {
  if (decision.shape != job.shape) {
    found.of(*job.job, "has the action replace in shape {}; it runs in shape {}", decision.shape, job.shape);
    return;
  }
  if (!lost_gpus(job)) found.of(*job.job, "has the action replace and has lost no GPU");
  const Shape& shape = job.job->shapes[static_cast<std::size_t>(job.shape)];
  for (const HeldFact& held : facts_->held(job)) {
    if (held.node < 0) continue;
    const std::uint64_t working = facts_->node(held.node).works;
    const std::int32_t per_member = group_facts(shape, held.group).gpus;
    std::uint64_t left = held.mask;
    for (std::int32_t m = 0; m < held.members; ++m) {
      std::uint64_t mine = 0;
      for (std::int32_t g = 0; g < per_member; ++g, left &= left - 1) mine |= left & (~left + 1);
      if ((mine & ~working) != 0) continue;
      std::uint64_t kept = 0;
      for (const PlanEntry& entry : entries_of(decision)) {
        if (entry.node == held.node && entry.group == held.group) kept |= entry.gpus;
      }
      if ((mine & ~kept) != 0) {
        found.of(*job.job, "has the action replace and gives up GPU {} of node {}, where member {} still runs",
                 std::countr_zero(mine & ~kept), facts_->node(held.node).node->id, held.member + m);
      }
    }
  }
}

void PlanValidator::charge(const Job& job, const PlanEntry& entry, std::int64_t decision, bool is_new, Violations& found) {
  const Use& use = use_[static_cast<std::size_t>(entry.node)];
  const std::uint64_t clash = entry.gpus & (entry.share_ppm == kWholeGpu ? use.whole | use.shared : use.whole);
  if (clash != 0) report_clash(job, entry, clash, decision, found);
  add_use(job, entry, decision, is_new);
}

void PlanValidator::add_use(const Job& job, const PlanEntry& entry, std::int64_t decision, bool is_new) {
  Use& use = use_[static_cast<std::size_t>(entry.node)];
  const bool whole = entry.share_ppm == kWholeGpu;
  (whole ? use.whole : use.shared) |= entry.gpus;
  const std::int64_t gpus = std::popcount(entry.gpus);
  use.cpu += gpus * job.constraints.cpu_milli_per_gpu;
  use.memory += gpus * job.constraints.memory_bytes_per_gpu;
  use.changed = use.changed || is_new;
  for (std::uint64_t left = whole ? 0 : entry.gpus; left != 0; left &= left - 1) {
    shares_.push_back({entry.node, std::countr_zero(left), entry.share_ppm, job.constraints.gpu_memory_bytes, decision});
  }
}

void PlanValidator::charge_queue(const JobFacts& job, std::int32_t type, std::int64_t quota, bool is_new) {
  if (quota == 0 || type < 0) return;
  const auto types = static_cast<std::int32_t>(facts_->gpu_types().size());
  for (const std::int32_t column : {type, types}) {
    std::int64_t more = quota;
    for (std::int32_t q = job.queue; q >= 0; q = facts_->queue_parent(q)) {
      const std::size_t at = static_cast<std::size_t>(q) * static_cast<std::size_t>(types + 1) + static_cast<std::size_t>(column);
      const std::int64_t before = queue_use_[at];
      queue_use_[at] += more;
      queue_changed_[at] |= is_new ? 1 : 0;
      if (!facts_->any_queue_keeps()) continue;
      const std::int64_t kept = facts_->queue_kept(q, column) * kWholeGpu;
      more = std::max(kept, queue_use_[at]) - std::max(kept, before);
    }
  }
}

// What a queue keeps counts for those above it before any job does, in whatever order queues stand.
void PlanValidator::keep_idle_quotas() {
  if (!facts_->any_queue_keeps()) return;
  const auto types = static_cast<std::int32_t>(facts_->gpu_types().size());
  const auto cell = [&](std::int32_t q, std::int32_t column) -> std::int64_t& {
    return queue_use_[static_cast<std::size_t>(q) * static_cast<std::size_t>(types + 1) + static_cast<std::size_t>(column)];
  };
  for (std::int32_t column = 0; column <= types; ++column) {
    for (std::int32_t q = 0; q < static_cast<std::int32_t>(facts_->queues().size()); ++q) {
      std::int64_t more = facts_->queue_kept(q, column) * kWholeGpu;
      for (std::int32_t up = facts_->queue_parent(q); more > 0 && up >= 0; up = facts_->queue_parent(up)) {
        const std::int64_t kept = facts_->queue_kept(up, column) * kWholeGpu;
        const std::int64_t before = cell(up, column);
        cell(up, column) += more;
        more = std::max(kept, before + more) - std::max(kept, before);
      }
    }
  }
}

}  // namespace berth::core
