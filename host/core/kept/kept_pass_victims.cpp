#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/kept/kept_pass.hpp"
#include "host/core/state/state_impl.hpp"

/// Step 5 of the pass: jobs that are displaced for another.
namespace berth::core {

using kernel::kNone;
using kernel::Outcome;

// Whether some victim behind a place holds a node that a demand allows. What jobs held that were displaced counts as well.
bool KeptPass::has_victims(const OrderPlace& place, const kernel::DemandRow& demand) {
  LastVictim& known = last_victim_[to_index(demand.filter)];
  if (known.pass != pass_) {
    known = {pass_, {}};
    victims_.begin(*running_, *keys_);
    victims_.add(kSeveralTypes);
    victims_.add(part_of(demand.gpu_type));
    // Later calls are for places behind this one.
    for (const OrderPlace* one = victims_.next(); one != nullptr && place < *one; one = victims_.next()) {
      if (holds_node_of(one->job, demand.filter)) {
        known.place = *one;
        break;
      }
      victims_.take();
    }
  }
  return known.place.job >= 0 && place < known.place;
}

bool KeptPass::holds_node_of(std::int32_t victim, std::int32_t filter) const {
  for (std::int32_t h = p_->held_begin[victim]; h < p_->held_end[victim]; ++h) {
    if (kernel::in_filter(*p_, filter, p_->held[h].node)) return true;
  }
  return false;
}

// Whether some option did not already fail with all victims of an earlier job.
bool KeptPass::may_gain(std::int32_t job) const {
  for (std::int32_t o = 0; o < options_of(job); ++o) {
    if (may_take(o) && (rules_.class_rule || infeasible_[row_of(o)] != pass_)) return true;
  }
  return false;
}

std::int32_t KeptPass::displace(Pass& pass, const OrderPlace& place) {
  const std::int32_t job = place.job;
  if (!may_gain(job)) {
    note_failure(pass, job);
    return kNone;
  }
  listed_.clear();
  listed_by_quota_ = false;
  for (std::int32_t o = 0; o < options_of(job); ++o) listed_by_quota_ = listed_by_quota_ || (may_take(o) && !quota_ok(pass, job, o));
  bool any = listed_by_quota_;
  for (std::int32_t o = 0; o < options_of(job); ++o)
    any = any || (may_take(o) && has_victims(place, p_->demands[option_of(job, o).demand]));
  if (!any) {
    note_failure(pass, job);
    for (std::int32_t o = 0; o < options_of(job) && !rules_.class_rule; ++o) {
      if (may_take(o)) infeasible_[row_of(o)] = pass_;
    }
    return kNone;
  }
  victims_.begin(*running_, *keys_);
  victims_.add(kSeveralTypes);
  for (std::int32_t o = 0; o < options_of(job); ++o) victims_.add(part_of(p_->demands[option_of(job, o).demand].gpu_type));
  for (std::size_t part = 0; listed_by_quota_ && part < running_->parts(); ++part) victims_.add(part);
  const std::int32_t from = pass.n_entries;
  const auto undo = [&](std::int32_t o) {
    kernel::undo_entries(pass, p_->groups + p_->demands[option_of(job, o).demand].group_begin, from);
  };
  std::int32_t count = 0, failed = 0, option = kNone;
  is_in_reach_ = false;
  bool out_of_reach = false;
  for (std::int32_t to = 1;; to *= 2) {
    count = release_to(pass, place, count, to);
    if (count < to && more_to_read(place)) {
      count = release_to(pass, place, count, 0);
      out_of_reach = !in_reach(pass, place);
      if (out_of_reach) break;
      is_in_reach_ = true;
      count = release_to(pass, place, count, to);
    }
    const bool ended = count < to;
    if (ended && count == failed) break;
    option = fit(pass, job);
    if (option != kNone) break;
    failed = count;
    if (ended) break;
  }
  if (option == kNone) {
    if (!out_of_reach) note_failure(pass, job);
    release_to(pass, place, count, 0);
    // Behind this job there are fewer victims, and no more is free until some job is displaced: then as much is gone.
    for (std::int32_t o = 0; o < options_of(job) && !rules_.class_rule; ++o) {
      if (!listed_by_quota_ && may_take(o)) infeasible_[row_of(o)] = pass_;
    }
    return kNone;
  }
  std::int32_t fits = count;
  bool placed = true;
  while (fits - failed > 1) {
    const std::int32_t middle = (failed + fits) / 2;
    if (placed) undo(option);
    count = release_to(pass, place, count, middle);
    const std::int32_t o = fit(pass, job);
    placed = o != kNone;
    if (placed) {
      option = o;
      fits = middle;
    } else {
      failed = middle;
    }
  }
  if (!placed) {
    count = release_to(pass, place, count, fits);
    option = fit(pass, job);
  }
  const kernel::DemandRow& demand = p_->demands[option_of(job, option).demand];
  kernel::charge_queue(*p_, pass.s, job, demand.gpu_type, demand.quota);
  give_back(pass, place, demand.gpu_type, count);
  return option;
}

void KeptPass::read_limits(const OrderPlace& place) {
  takes_.assign(to_index(options_of(place.job)), 1);
  for (std::int32_t o = 0; lowered_->any() && o < options_of(place.job); ++o) {
    const std::int32_t type = p_->demands[option_of(place.job, o).demand].gpu_type;
    takes_[to_index(o)] = lowered_->may_displace(s_->job.queue[to_index(place.job)], type, place.level != 0) ? 1 : 0;
  }
}

bool KeptPass::may_displace(const OrderPlace& victim) const {
  return change_of_[to_index(victim.job)] == 0 && s_->job.victim_from[to_index(victim.job)] <= s_->now;
}

void KeptPass::begin_reach(Pass& pass, const OrderPlace& place) {
  has_reach_ = true;
  in_reach_.clear();
  kernel::copy_state(group_, *p_, pass.s, reach_);
  for (std::size_t part = 0; part < running_->parts(); ++part) {
    const std::span<const OrderPlace> running = running_->stored_in(part);
    for (auto one = running.rbegin(); one != running.rend() && place < *one; ++one) {
      if (!may_displace(*one)) continue;
      kernel::release_job(*p_, reach_, one->job);
      in_reach_.push_back(*one);
    }
  }
  std::sort(in_reach_.rbegin(), in_reach_.rend());
}

// False where the job does not fit with all victims behind it gone. No victim is released now. Places come in ascending
// order.
bool KeptPass::in_reach(Pass& pass, const OrderPlace& place) {
  if (!has_reach_) begin_reach(pass, place);
  for (; !in_reach_.empty() && in_reach_.back() < place; in_reach_.pop_back()) {
    // What a displaced job left is free.
    if (change_of_[to_index(in_reach_.back().job)] == 0) kernel::hold_job(*p_, reach_, in_reach_.back().job);
  }
  const std::int32_t from = pass.n_entries;
  std::swap(pass.s, reach_);
  const std::int32_t option = fit(pass, place.job);
  if (option != kNone) {
    kernel::undo_entries(pass, p_->groups + p_->demands[option_of(place.job, option).demand].group_begin, from);
  } else {
    note_failure(pass, place.job);
  }
  std::swap(pass.s, reach_);
  return option != kNone;
}

void KeptPass::take_from_reach(const Pass& pass, const PassChange& change) {
  const kernel::DemandRow& demand = p_->demands[option_of(change.job, change.option).demand];
  for (std::int32_t e = change.entry_begin; e < change.entry_end; ++e) {
    const kernel::PlacedRow& entry = pass.entries[e];
    const kernel::GroupRow& row = p_->groups[demand.group_begin + entry.group];
    kernel::take_mask(*p_, reach_, entry.node, entry.mask, row.share_ppm, row.gpu_memory, entry.members * row.cpu,
                      entry.members * row.memory);
  }
  kernel::charge_queue(*p_, reach_, change.job, demand.gpu_type, demand.quota);
}

// From the most important victim on: one whose GPUs are not needed keeps them.
void KeptPass::give_back(Pass& pass, const OrderPlace& place, std::int32_t gpu_type, std::int32_t count) {
  const kernel::Displacer other{p_->job_queue[place.job], gpu_type};
  for (std::int32_t k = count - 1; k >= 0; --k) {
    const OrderPlace& victim = listed_[to_index(k)];
    if (kernel::hold_again(*p_, pass.s, victim.job, other)) continue;
    for (std::int32_t h = p_->held_begin[victim.job]; h < p_->held_end[victim.job]; ++h) touched_.push_back(p_->held[h].node);
    changes_.push_back({victim.job, Outcome::kPreempted, kNone, 0, 0, place.job, victim});
    change_of_[to_index(victim.job)] = changes_.size();
    push({victim, -1, 0});
    displaced_.push_back(victim);
  }
  ++round_;
}

// Releases or restores until `to` victims are released, or all of them. @returns their number
std::int32_t KeptPass::release_to(Pass& pass, const OrderPlace& place, std::int32_t count, std::int32_t to) {
  for (; count < to; ++count) {
    if (count == static_cast<std::int32_t>(listed_.size()) && !list_next(place)) break;
    kernel::release_job(*p_, pass.s, listed_[to_index(count)].job);
  }
  for (; count > to; --count) kernel::hold_job(*p_, pass.s, listed_[to_index(count - 1)].job);
  return count;
}

bool KeptPass::more_to_read(const OrderPlace& place) {
  if (is_in_reach_ || reads_left_ > 0) return false;
  const OrderPlace* next = victims_.next();
  return next != nullptr && place < *next;
}

bool KeptPass::list_next(const OrderPlace& place) {
  const std::vector<std::int32_t>& classes = s_->job.preemption_class;
  while (is_in_reach_ || reads_left_ > 0) {
    const OrderPlace* next = victims_.next();
    if (next == nullptr || *next < place) return false;
    const OrderPlace one = *next;
    victims_.take();
    if (!is_in_reach_) --reads_left_;
    const bool by_class = rules_.class_rule && one.level == place.level;  // else by guarantees
    if (!may_displace(one) || (by_class && classes[to_index(one.job)] >= classes[to_index(place.job)])) continue;
    if (!matters(place.job, one.job)) continue;
    listed_.push_back(one);
    return true;
  }
  return false;
}

// A victim that holds neither an allowed node nor quota that the job lacks would return at once.
bool KeptPass::matters(std::int32_t job, std::int32_t victim) const {
  for (std::int32_t o = 0; o < options_of(job); ++o) {
    if (holds_node_of(victim, p_->demands[option_of(job, o).demand].filter)) return true;
  }
  return listed_by_quota_ && kernel::share_quota(*p_, job, victim);
}

}  // namespace berth::core
