// Every reservation against the limits of its queues, with what is still charged when it begins.
#include <algorithm>
#include <bit>
#include <tuple>

#include "host/core/base/decimal.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::core {

bool PlanValidator::has_limit(std::int32_t queue) const {
  const auto types = static_cast<std::int32_t>(facts_->gpu_types().size());
  for (std::int32_t q = queue; q >= 0; q = facts_->queue_parent(q)) {
    for (std::int32_t column = 0; column <= types; ++column) {
      if (facts_->queue_cap(q, column) != kUnlimited) return true;
    }
  }
  return false;
}

void PlanValidator::charge_decision(const Decision& decision, std::int64_t sign) {
  std::int64_t quota = 0;
  for (const PlanEntry& entry : entries_of(decision)) quota += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
  const JobFacts& job = facts_->job(decision.job);
  charge_queue(job, facts_->node(entries_of(decision).front().node).type, sign * quota, false);
}

// Charges only grow where something begins. At one instant all that ends comes first, then all that begins.
void PlanValidator::check_reserved_limits(Violations& found) {
  begins_.clear();
  ends_.clear();
  bool limited = false;
  for (const Decision& d : plan_->decisions) {
    if (d.action != Action::kReserve || facts_->job(d.job).queue < 0) continue;
    begins_.push_back(&d);
    limited = limited || has_limit(facts_->job(d.job).queue);
  }
  if (!limited) return;
  const auto by_start = [](const Decision* a, const Decision* b) { return std::tie(a->start_us, a) < std::tie(b->start_us, b); };
  const auto ends_later = [](const Decision* a, const Decision* b) { return a->finish_us > b->finish_us; };
  std::sort(begins_.begin(), begins_.end(), by_start);
  for (const Decision& d : plan_->decisions) {
    const bool ends = runs_now(d.action) && d.finish_us != kNever && d.entry_begin < d.entry_end;
    if (ends && facts_->job(d.job).queue >= 0) ends_.push_back(&d);
  }
  std::make_heap(ends_.begin(), ends_.end(), ends_later);
  for (std::size_t first = 0, last = 0; first < begins_.size() && !found.full(); first = last) {
    const TimeUs start = begins_[first]->start_us;
    for (; !ends_.empty() && ends_.front()->finish_us <= start; ends_.pop_back()) {
      charge_decision(*ends_.front(), -1);
      std::pop_heap(ends_.begin(), ends_.end(), ends_later);
    }
    for (; last < begins_.size() && begins_[last]->start_us == start; ++last) {
      if (begins_[last]->finish_us <= start) continue;
      charge_decision(*begins_[last], 1);
      if (begins_[last]->finish_us == kNever) continue;
      ends_.push_back(begins_[last]);
      std::push_heap(ends_.begin(), ends_.end(), ends_later);
    }
    for (std::size_t i = first; i < last; ++i) check_limits_then(*begins_[i], found);
  }
}

void PlanValidator::check_limits_then(const Decision& decision, Violations& found) {
  const auto types = static_cast<std::int32_t>(facts_->gpu_types().size());
  const JobFacts& job = facts_->job(decision.job);
  for (std::int32_t q = job.queue; q >= 0; q = facts_->queue_parent(q)) {
    for (const std::int32_t column : {facts_->node(entries_of(decision).front().node).type, types}) {
      if (column < 0) continue;
      const std::int64_t cap = facts_->queue_cap(q, column);
      const std::int64_t held =
          (queue_use_[static_cast<std::size_t>(q) * static_cast<std::size_t>(types + 1) + static_cast<std::size_t>(column)] + kWholeGpu -
           1) /
          kWholeGpu;
      if (cap == kUnlimited || held <= cap) continue;
      found.of(*job.job, "is reserved for {}; jobs of queue {} would hold{} {} {} then, and it may have {}",
               seconds_text(decision.start_us), facts_->queues()[static_cast<std::size_t>(q)].id,
               facts_->any_queue_keeps() ? ", and queues below it keep," : "", held,
               column == types ? "GPUs" : facts_->gpu_types()[static_cast<std::size_t>(column)].id + " GPUs", cap);
      return;
    }
  }
}

}  // namespace berth::core
