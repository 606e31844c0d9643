// Every reservation against what is still held or reserved during it.
#include <algorithm>
#include <bit>
#include <tuple>

#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::core {

// Use of a node only grows where something begins, so the instants at which reservations begin are enough.
void PlanValidator::check_reservations(Violations& found) {
  find_stays();
  for (std::size_t begin = 0, end = 0; begin < stays_.size(); begin = end) {
    while (end < stays_.size() && stays_[end].node == stays_[begin].node) ++end;
    check_stays(std::span(stays_).subspan(begin, end - begin), found);
  }
}

// Entries on nodes with reservations, by node and start.
void PlanValidator::find_stays() {
  stays_.clear();
  std::fill(use_.begin(), use_.end(), Use{});
  for (const Decision& d : plan_->decisions) {
    if (d.action != Action::kReserve) continue;
    for (const PlanEntry& entry : entries_of(d)) use_[static_cast<std::size_t>(entry.node)].changed = true;
  }
  for (const Decision& d : plan_->decisions) {
    const bool later = d.action == Action::kReserve;
    if (!later && !runs_now(d.action)) continue;
    for (const PlanEntry& entry : entries_of(d)) {
      if (entry.node < 0 || entry.node >= facts_->node_count() || !use_[static_cast<std::size_t>(entry.node)].changed) continue;
      stays_.push_back({entry.node, later ? d.start_us : facts_->now(), d.finish_us, later, &d, &entry});
    }
  }
  std::sort(stays_.begin(), stays_.end(), [](const Stay& a, const Stay& b) {
    return std::tie(a.node, a.from, a.later, a.decision, a.entry) < std::tie(b.node, b.from, b.later, b.decision, b.entry);
  });
}

void PlanValidator::check_stays(std::span<const Stay> stays, Violations& found) {
  present_.clear();
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const Stay& stay = stays[i];
    if (stay.later) {
      std::erase_if(present_, [&](const Stay* other) { return other->to <= stay.from; });
      for (const Stay* other : present_) check_apart(stay, *other, found);
    }
    present_.push_back(&stay);
    const bool last = i + 1 == stays.size() || stays[i + 1].from != stay.from;
    if (stay.later && last && !sums_fit(stay.node, found)) return;
  }
}

void PlanValidator::check_apart(const Stay& stay, const Stay& other, Violations& found) {
  if (other.decision == stay.decision) return;
  const bool both_share = stay.entry->share_ppm != kWholeGpu && other.entry->share_ppm != kWholeGpu;
  const std::uint64_t clash = both_share ? 0 : stay.entry->gpus & other.entry->gpus;
  if (clash == 0) return;
  found.of(*facts_->job(stay.decision->job).job, "is reserved for GPU {} of node {} at {}; job {} {} it then", std::countr_zero(clash),
           facts_->node(stay.node).node->id, seconds_text(stay.from), facts_->job(other.decision->job).job->id,
           other.later ? "has" : "still has");
}

// Shares, cores and memory of all that are present.
bool PlanValidator::sums_fit(std::int32_t node, Violations& found) {
  Use& use = use_[static_cast<std::size_t>(node)];
  use = Use{};
  shares_.clear();
  for (const Stay* stay : present_) {
    add_use(*facts_->job(stay->decision->job).job, *stay->entry, stay->decision - plan_->decisions.data(), true);
  }
  const std::size_t before = out_.size();
  check_shares(found);
  check_node(node, found);
  return out_.size() == before;
}

}  // namespace berth::core
