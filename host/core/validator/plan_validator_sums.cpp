// The sums over the whole plan: shares, cores, memory, quotas, totals.
#include <algorithm>
#include <bit>

#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::core {

// Only now look for the other job, because the search is slow.
void PlanValidator::report_clash(const Job& job, const PlanEntry& entry, std::uint64_t clash, std::int64_t decision, Violations& found) {
  const std::string* other = &job.id;
  for (std::int64_t i = 0; i <= decision; ++i) {
    const Decision& before = plan_->decisions[static_cast<std::size_t>(i)];
    if (!runs_now(before.action) || before.entry_begin < 0 || before.entry_end < before.entry_begin ||
        before.entry_end > static_cast<std::int64_t>(plan_->entries.size())) {
      continue;
    }
    const auto uses = [&](const PlanEntry& row) { return row.node == entry.node && (row.gpus & clash) != 0; };
    const std::span<const PlanEntry> rows = entries_of(before);
    if (std::any_of(rows.begin(), rows.end(), uses)) {
      other = &facts_->job(before.job).job->id;
      break;
    }
  }
  found.of(job, "takes GPU {} of node {}, which job {} has in this plan", std::countr_zero(clash), facts_->node(entry.node).node->id,
           *other);
}

void PlanValidator::check_shares(Violations& found) {
  std::sort(shares_.begin(), shares_.end());
  for (std::size_t begin = 0, end = 0; begin < shares_.size(); begin = end) {
    std::int64_t ppm = 0, memory = 0;
    const Share& first = shares_[begin];
    for (; end < shares_.size() && shares_[end].node == first.node && shares_[end].gpu == first.gpu; ++end) {
      ppm += shares_[end].ppm;
      memory += shares_[end].memory;
    }
    const NodeFacts& node = facts_->node(first.node);
    if (ppm > kWholeGpu) {
      found.add("GPU {} of node {}: shares of {} in {} add up to more than a GPU", first.gpu, node.node->id, part_text(ppm),
                counted(static_cast<std::int64_t>(end - begin), "piece"));
    }
    const std::int64_t has = node.type < 0 ? 0 : facts_->gpu_types()[static_cast<std::size_t>(node.type)].memory_bytes;
    if (has != 0 && memory > has) {
      found.add("GPU {} of node {}: shares take {} bytes of its {} bytes of memory", first.gpu, node.node->id, memory, has);
    }
  }
}

void PlanValidator::check_nodes(Violations& found) {
  for (std::int32_t rank = 0; rank < facts_->node_count(); ++rank) {
    if (use_[static_cast<std::size_t>(rank)].changed) check_node(rank, found);
  }
}

void PlanValidator::check_node(std::int32_t rank, Violations& found) {
  const Use& use = use_[static_cast<std::size_t>(rank)];
  const Node& node = *facts_->node(rank).node;
  if (node.cpu_milli != kUnlimited && use.cpu > node.cpu_milli) {
    found.add("node {}: its jobs need {}; it has {}", node.id, cores_text(use.cpu), cores_text(node.cpu_milli));
  }
  if (node.memory_bytes != kUnlimited && use.memory > node.memory_bytes) {
    found.add("node {}: its jobs need {} bytes of memory; it has {}", node.id, use.memory, node.memory_bytes);
  }
}

void PlanValidator::check_queues(Violations& found) {
  const auto types = static_cast<std::int32_t>(facts_->gpu_types().size());
  for (std::int32_t q = 0; q < static_cast<std::int32_t>(facts_->queues().size()); ++q) {
    for (std::int32_t type = 0; type <= types; ++type) {
      const std::size_t at = static_cast<std::size_t>(q) * static_cast<std::size_t>(types + 1) + static_cast<std::size_t>(type);
      const std::int64_t cap = facts_->queue_cap(q, type);
      const std::int64_t held = (queue_use_[at] + kWholeGpu - 1) / kWholeGpu;  // a cap is whole
      if (queue_changed_[at] == 0 || cap == kUnlimited || held <= cap) continue;
      found.add("queue {}: its jobs hold{} {} {}; it may have {}", facts_->queues()[static_cast<std::size_t>(q)].id,
                facts_->any_queue_keeps() ? ", and queues below it keep," : "", held,
                type == types ? "GPUs" : facts_->gpu_types()[static_cast<std::size_t>(type)].id + " GPUs", cap);
    }
  }
}

// A GPU that is being released works for the job that holds it, and counts for no other job.
std::int64_t PlanValidator::working_gpus() {
  std::int64_t gpus = 0;
  bool leaving = false;
  for (std::int32_t rank = 0; rank < facts_->node_count(); ++rank) {
    const NodeFacts& node = facts_->node(rank);
    gpus += std::popcount(node.ok);
    leaving = leaving || node.works != node.ok;
  }
  if (!leaving) return gpus;
  held_.assign(static_cast<std::size_t>(facts_->node_count()), 0);
  for (const std::int32_t job : facts_->by_rank()) {
    for (const HeldFact& row : facts_->held(facts_->job(job))) {
      if (row.node >= 0) held_[static_cast<std::size_t>(row.node)] |= row.mask;
    }
  }
  for (std::int32_t rank = 0; rank < facts_->node_count(); ++rank) {
    const NodeFacts& node = facts_->node(rank);
    gpus += std::popcount(held_[static_cast<std::size_t>(rank)] & node.works & ~node.ok);
  }
  return gpus;
}

void PlanValidator::check_totals(Violations& found) {
  const Totals& t = plan_->totals;
  check_actions(true, found);  // first: a job that is missing is why GPUs are
  if (const std::int64_t gpus = working_gpus(); t.gpus != gpus) found.add("totals: gpus is {}; the cluster has {} that work", t.gpus, gpus);
  if (t.gpus_used != gpus_used_ && out_.empty()) {
    found.add("totals: gpus_used is {}; the decisions give out {}", t.gpus_used, gpus_used_);
  }
}

// A plan of changes lists no job that is kept or waits.
void PlanValidator::check_actions(bool all_jobs, Violations& found) {
  const auto of = [&](Action action) { return actions_[static_cast<std::size_t>(action)]; };
  const Totals& t = plan_->totals;
  const auto compare = [&](std::string_view what, std::int64_t stated, std::int64_t counted_now) {
    if (stated != counted_now) found.add("totals: {} is {}; the decisions have {}", what, stated, counted_now);
  };
  compare("starts", t.starts, of(Action::kStart));
  if (all_jobs) compare("keeps", t.keeps, of(Action::kKeep));
  compare("moves", t.moves, of(Action::kMigrate) + of(Action::kResize));
  compare("preempts", t.preempts, of(Action::kPreempt));
  if (all_jobs) compare("waits", t.waits, of(Action::kWait));
  compare("rejects", t.rejects, of(Action::kReject));
  compare("replaces", t.replaces, of(Action::kReplace));
  compare("reserves", t.reserves, of(Action::kReserve));
}

}  // namespace berth::core
