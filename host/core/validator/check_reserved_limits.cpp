// Every reservation against the limits of its queues, with what is still charged when it begins.
#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "host/core/base/decimal.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::core {
namespace {

/// An end, and the decision that says so.
using QuotaEnd = std::pair<TimeUs, const Decision*>;

}  // namespace

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
  std::vector<const Decision*> begins;
  bool limited = false;
  for (const Decision& d : plan_->decisions) {
    if (d.action != Action::kReserve || facts_->job(d.job).queue < 0) continue;
    begins.push_back(&d);
    limited = limited || has_limit(facts_->job(d.job).queue);
  }
  if (!limited) return;
  std::sort(begins.begin(), begins.end(),
            [](const Decision* a, const Decision* b) { return std::tie(a->start_us, a) < std::tie(b->start_us, b); });
  std::vector<QuotaEnd> known;
  for (const Decision& d : plan_->decisions) {
    const bool ends = runs_now(d.action) && d.finish_us != kNever && d.entry_begin < d.entry_end;
    if (ends && facts_->job(d.job).queue >= 0) known.emplace_back(d.finish_us, &d);
  }
  std::priority_queue<QuotaEnd, std::vector<QuotaEnd>, std::greater<>> ends(std::greater<>{}, std::move(known));
  for (std::size_t first = 0, last = 0; first < begins.size() && !found.full(); first = last) {
    const TimeUs start = begins[first]->start_us;
    for (; !ends.empty() && ends.top().first <= start; ends.pop()) charge_decision(*ends.top().second, -1);
    for (; last < begins.size() && begins[last]->start_us == start; ++last) {
      if (begins[last]->finish_us <= start) continue;
      charge_decision(*begins[last], 1);
      if (begins[last]->finish_us != kNever) ends.emplace(begins[last]->finish_us, begins[last]);
    }
    for (std::size_t i = first; i < last; ++i) check_limits_then(*begins[i], found);
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
