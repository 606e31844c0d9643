#include "host/core/kept/kept_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

using kernel::kNone;
using kernel::Outcome;

void KeptPass::begin(const StateImpl& s, const kernel::ProblemView& p, const VictimOrder& running) {
  p_ = &p;
  const std::int32_t max_gpus = kernel::detail::most_gpus_per_node(p);
  const std::int64_t gpus = p.n_nodes > 0 ? p.gpu_begin[p.n_nodes] : 0;
  const auto carve = [&](std::byte* block) {
    kernel::BumpAllocator allocator{block};
    free_ = kernel::detail::carve_state(allocator, p, max_gpus, gpus);
    reach_ = kernel::detail::carve_state(allocator, p, max_gpus, gpus);
    scratch_ = kernel::detail::carve_scratch(allocator, p);
    return allocator.used;
  };
  constexpr std::size_t kAlign = 16;
  // Zeros that were not touched are not resident: `reach_` is seldom built.
  std::size_t room = carve(nullptr) + kAlign;
  memory_.reset(static_cast<std::byte*>(std::calloc(room, 1)));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* aligned = memory_.get();
  std::align(kAlign, room - kAlign, aligned, room);
  carve(static_cast<std::byte*>(aligned));
  std::copy_n(p.node_free, p.n_nodes, free_.free);
  kernel::build_index(group_, p, free_);
  open_.assign(p.node_open, p.node_open + p.n_nodes);
  touched_.clear();
  lost_.clear();
  dead_.clear();
  none_dead_ = true;
  queue_used_.clear();
  was_lowered_.clear();
  changes_.clear();
  change_of_.clear();
  more_.clear();
  more_quota_.clear();
  sums_ = {};
  node_sums_.assign(to_index(p.n_nodes), {});
  for (std::int32_t node = 0; node < p.n_nodes; ++node) {
    read_node(node);
    count_gpus(s, node);
  }
  for (std::vector<std::int32_t>& on : victims_on_) on.clear();
  victims_on_.resize(to_index(p.n_nodes));
  for (std::size_t part = 0; part < running.parts(); ++part) {
    for (const OrderPlace& one : running.stored_in(part)) add_victim(running, one.job);
  }
}

// Those that run no longer are dropped when another comes.
void KeptPass::add_victim(const VictimOrder& running, std::int32_t job) {
  for (std::int32_t h = p_->held_begin[job]; h < p_->held_end[job]; ++h) {
    std::vector<std::int32_t>& on = victims_on_[to_index(p_->held[h].node)];
    std::erase_if(on, [&](std::int32_t other) { return other == job || !running.has(other); });
    on.push_back(job);
  }
}

void KeptPass::count_gpus(const StateImpl& s, std::int32_t node) {
  const std::size_t n = to_index(node);
  Sums& known = node_sums_[n];
  Sums now{std::popcount(s.node.usable[n]), std::popcount(s.node.held[n])};
  for (std::int32_t g = p_->gpu_begin[node]; g < p_->gpu_begin[node + 1]; ++g) now.held -= s.node.gpu_used_ppm[to_index(g)] > 0 ? 1 : 0;
  sums_.usable += now.usable - known.usable;
  sums_.held += now.held - known.held;
  known = now;
}

std::int64_t KeptPass::free_after() const {
  std::int64_t free = 0;
  for (std::int32_t type = 0; type < p_->n_types; ++type) free += free_.type_free[type];
  return free + withdrawn_gpus_;
}

bool KeptPass::runs_as_placed(const StateImpl& s, const OrderPlace& place) const {
  const PassChange* const change = change_of(place.job);
  if (change == nullptr || change->option < 0 || change->place < place) return false;
  if (s.job.queue[to_index(place.job)] != change->queue) return false;
  const kernel::GroupRow* const groups = s.demands.groups().data() + s.demands.rows()[to_index(change->demand)].group_begin;
  const std::vector<kernel::HeldRow>& held = s.jobs[to_index(place.job)].held;
  const auto placed = entries().subspan(to_index(change->entry_begin), to_index(change->entry_end - change->entry_begin));
  return std::equal(placed.begin(), placed.end(), held.begin(), held.end(), [&](const kernel::PlacedRow& a, const kernel::HeldRow& b) {
    const kernel::GroupRow& row = groups[a.group];
    return a.node == b.node && a.mask == b.mask && a.members * row.cpu == b.cpu && a.members * row.memory == b.memory;
  });
}

void KeptPass::follow(const StateImpl& s, const kernel::ProblemView& p, const VictimOrder& running, std::span<const std::int32_t> nodes,
                      std::span<const std::int32_t> changed, std::span<const std::int32_t> gain) {
  p_ = &p;
  for (const std::int32_t job : changed) {
    if (running.has(job)) add_victim(running, job);
  }
  for (const std::int32_t node : touched_) more_.push_back(read_node(node));
  for (const std::int32_t node : nodes) {
    more_.push_back(read_node(node));
    count_gpus(s, node);
  }
  touched_.clear();
  more_quota_.resize(to_index(p.n_queues), 0);
  for (const std::int32_t job : gain) {
    add_held(job);
    add_queues(s, job);
  }
  for (std::size_t i = 0; i < queue_used_.size(); ++i) {
    if (p.queue_used[i] < queue_used_[i]) more_quota_[i / to_index(p.n_types + 1)] = 1;
  }
  // Changes may be followed for long without a pass.
  if (more_.size() > 2 * to_index(p.n_nodes)) add_up_more();
}

// The nodes differ from the state's, so the next pass reads them again.
void KeptPass::take_failures(const StateImpl& s, const Failures& failures) {
  lost_.clear();
  const auto read = [&](std::int32_t node) {
    more_.push_back(read_node(node));
    touched_.push_back(node);
  };
  for (const std::int32_t job : failures.jobs()) {
    for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) read(row.node);
    const std::int32_t repaired = failures.repaired()[to_index(job)];
    if (repaired < 0) {
      lost_.push_back(job);
      continue;
    }
    for (const PlanEntry& entry : failures.repairs()[to_index(repaired)]) read(entry.node);
  }
}

// Like displaced jobs they hold nothing, and are tried at their places.
void KeptPass::list_lost() {
  for (const std::int32_t job : lost_) {
    const OrderPlace place{keys_->key_of(job), s_->job_label[to_index(job)], job};
    changes_.push_back({job, Outcome::kPreempted, kNone, 0, 0, -1, place});
    change_of_[to_index(job)] = changes_.size();
    heads_.push_back({place, -1, 0});
  }
}

/// @returns what is free and was not
KeptPass::NodeMore KeptPass::read_node(std::int32_t node) {
  const kernel::ProblemView& p = *p_;
  // GPUs of an open node are those that a job which leaves gives back.
  const std::uint64_t gpus = (p.node_free[node] & ~free_.free[node]) | (p.node_open[node] & ~open_[to_index(node)]);
  const NodeMore more{node, std::popcount(gpus), std::max<std::int64_t>(0, p.node_cpu[node] - free_.cpu[node]),
                      std::max<std::int64_t>(0, p.node_memory[node] - free_.memory[node])};
  open_[to_index(node)] = p.node_open[node];
  kernel::set_free(p, free_, node, p.node_free[node]);
  free_.cpu[node] = p.node_cpu[node];
  free_.memory[node] = p.node_memory[node];
  for (std::int32_t g = p.gpu_begin[node]; g < p.gpu_begin[node + 1]; ++g) {
    free_.used_ppm[g] = p.gpu_used_ppm[g];
    free_.used_memory[g] = p.gpu_used_memory[g];
  }
  return more;
}

void KeptPass::add_queues(const StateImpl& s, std::int32_t job) {
  for (std::int32_t q = s.job.queue[to_index(job)]; q >= 0; q = p_->queue_parent[q]) more_quota_[to_index(q)] = 1;
}

// What a job holds may be had by others.
void KeptPass::add_held(std::int32_t job) {
  for (std::int32_t h = p_->held_begin[job]; h < p_->held_end[job]; ++h) {
    const kernel::HeldRow& row = p_->held[h];
    more_.push_back({row.node, std::popcount(row.mask), row.cpu, row.memory});
  }
}

// One row for each node, by rank.
void KeptPass::add_up_more() {
  std::sort(more_.begin(), more_.end(), [](const NodeMore& a, const NodeMore& b) { return a.node < b.node; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < more_.size();) {
    NodeMore sum{more_[i].node, 0, 0, 0};
    for (; i < more_.size() && more_[i].node == sum.node; ++i) {
      sum.gpus = std::min(kAll, sum.gpus + more_[i].gpus);
      sum.cpu = std::min(kAll, sum.cpu + more_[i].cpu);
      sum.memory = std::min(kAll, sum.memory + more_[i].memory);
    }
    more_[kept++] = sum;
  }
  more_.resize(kept);
}

// Of the nodes of `more_`, which is empty then.
void KeptPass::list_growth(const VictimOrder& running) {
  DeadClasses::Growth& growth = dead_.grow();
  add_up_more();
  for (const NodeMore& sum : more_) {
    if (sum.gpus == 0 && sum.cpu == 0 && sum.memory == 0) continue;
    growth.add_node(sum);
    for (const std::int32_t job : victims_on_[to_index(sum.node)]) {
      if (!running.has(job) || change_of_[to_index(job)] != 0) continue;
      for (std::int32_t h = p_->held_begin[job]; h < p_->held_end[job]; ++h) {
        const kernel::HeldRow& row = p_->held[h];
        if (row.node == sum.node) growth.add_victim(running.stored(job), std::popcount(row.mask), row.cpu, row.memory);
      }
    }
    growth.end_node();
  }
  more_.clear();
}

void KeptPass::push(const Head& head) {
  heads_.push_back(head);
  std::push_heap(heads_.begin(), heads_.end());
}

void KeptPass::push_at(const WaitingClasses& waiting, std::int32_t of, std::size_t at) {
  const std::vector<OrderPlace>& jobs = waiting.jobs(to_index(of));
  if (at < jobs.size()) push({jobs[at], of, at});
}

void KeptPass::push_first(const WaitingClasses& waiting, const DeadClasses::Woken& woken) {
  const std::vector<OrderPlace>& jobs = waiting.jobs(to_index(woken.of));
  push_at(waiting, woken.of, to_index(std::lower_bound(jobs.begin(), jobs.end(), woken.place) - jobs.begin()));
}

// Classes from a place on that may find room by `more_` have a turn, those that may have quota by `more_quota_` are tried.
void KeptPass::wake(const Pass& pass, const WaitingClasses& waiting, const OrderPlace* from) {
  list_growth(*running_);
  dead_.begin_turns(*p_, pass.s, from);
  if (!more_quota_.empty()) {
    dead_.wake_by_quota(*p_, waiting, more_quota_, from, woken_);
    for (const DeadClasses::Woken& one : woken_) push_first(waiting, one);
  }
  more_quota_.clear();
}

// Displaced jobs left GPUs that some class did not count on: one that may not displace them. Its jobs behind this place may fit.
void KeptPass::wake_by_displaced(const Pass& pass, const WaitingClasses& waiting, const OrderPlace& after) {
  if (rules_.class_rule || lowered_->any()) {
    for (std::size_t c = 0; c < waiting.size(); ++c) {
      if (rules_.class_rule || lowered_->is_below(waiting.queue(c))) revive(waiting, c, after);
    }
    if (rules_.class_rule) return;
  }
  const kernel::ProblemView& p = *p_;
  more_quota_.assign(to_index(p.n_queues), 0);
  for (const OrderPlace& one : displaced_) {
    add_held(one.job);
    add_queues(*s_, one.job);
  }
  wake(pass, waiting, &*std::min_element(displaced_.begin(), displaced_.end()));
}

// If the class is dead. Its jobs behind a place are tried.
void KeptPass::revive(const WaitingClasses& waiting, std::size_t of, const OrderPlace& after) {
  const std::vector<OrderPlace>& jobs = waiting.jobs(of);
  if (jobs.empty() || !dead_.is_dead(of, jobs.back())) return;
  dead_.forget(static_cast<std::int32_t>(of));
  push_at(waiting, static_cast<std::int32_t>(of), to_index(std::upper_bound(jobs.begin(), jobs.end(), after) - jobs.begin()));
}

// Classes below queues that use more than a limit, now or in the last pass: what they may take is other than it was.
void KeptPass::forget_lowered(const WaitingClasses& waiting) {
  if (!lowered_->any() && was_lowered_.empty()) return;
  const std::size_t queues = to_index(p_->n_queues);
  was_lowered_.resize(queues, 0);
  for (std::size_t c = 0; c < waiting.size(); ++c) {
    const std::int32_t queue = waiting.queue(c);
    if (queue < 0 || (was_lowered_[to_index(queue)] == 0 && !lowered_->is_below(queue))) continue;
    dead_.forget(static_cast<std::int32_t>(c));
    if (!none_dead_) started_.push_back(static_cast<std::int32_t>(c));
  }
  for (std::size_t q = 0; q < queues; ++q) was_lowered_[q] = lowered_->is_below(static_cast<std::int32_t>(q)) ? 1 : 0;
  if (!lowered_->any()) was_lowered_.clear();
}

bool KeptPass::quota_ok(const Pass& pass, std::int32_t job, std::int32_t o) const {
  const kernel::DemandRow& d = p_->demands[option_of(job, o).demand];
  return kernel::passes_quota(*p_, pass.s, job, d.gpu_type, d.quota);
}

void KeptPass::make_room_for_rows() {
  const std::size_t rows = demands_->size(*p_);
  known_now_.resize(rows, 0);
  infeasible_.resize(rows, 0);
  missing_of_.resize(rows);
}

// Of a job that held GPUs, they depend on what is left of it now.
void KeptPass::name_rows(const WaitingClasses& waiting, const Head& head) {
  if (head.of >= 0) {
    rows_ = waiting.demands(to_index(head.of));
    return;
  }
  rows_of_head_.clear();
  for (std::int32_t o = 0; o < options_of(head.place.job); ++o) {
    const TimeUs end = demands_->any() ? core::end_of(s_->now, s_->option_run(head.place.job, to_index(o))) : kNever;
    rows_of_head_.push_back(demands_->row(option_of(head.place.job, o).demand, end));
  }
  make_room_for_rows();
  rows_ = rows_of_head_;
}

void KeptPass::run(const StateImpl& s, const Rules& rules, const LoweredLimits& lowered, TimedDemands& demands, WaitingClasses& waiting,
                   VictimOrder& running, KeySource& keys) {
  const kernel::ProblemView& p = *p_;
  s_ = &s;
  rules_ = rules;
  lowered_ = &lowered;
  demands_ = &demands;
  running_ = &running;
  keys_ = &keys;
  running.begin();
  for (const PassChange& change : changes_) change_of_[to_index(change.job)] = 0;
  changes_.clear();
  change_of_.resize(to_index(p.n_jobs), 0);
  make_room_for_rows();
  last_victim_.resize(to_index(p.n_filters));
  ++round_;
  ++pass_;
  blocked_ = -1;
  in_front_.clear();
  withdrawn_gpus_ = 0;
  has_reach_ = false;
  reads_left_ = kReadsPerRelease * (running.size() - std::min(running.size(), kFewVictims));
  std::copy_n(p.queue_used, std::int64_t{p.n_queues} * (p.n_types + 1), free_.queue_used);
  // A gang has at most one entry for each of its GPUs; they are given back before others are tried.
  const std::size_t most = 2 * to_index(p.n_nodes > 0 ? p.gpu_begin[p.n_nodes] : 0) + 64;
  entries_.make_room(most);
  Pass pass{group_, p, free_, scratch_, entries_.data(), 0, false, rules.max_tries, rules.packing, kernel::counted_level_of(p, 0, 1)};

  heads_.clear();
  if (rules.strict || rules.class_rule) {
    dead_.forget();
    none_dead_ = true;
  }
  if (rules.preemptive) forget_lowered(waiting);
  dead_.begin_pass(waiting.size());
  const auto open = [&](std::size_t c) {
    const OrderPlace& first = waiting.first(c);
    if (first.job >= 0 && !dead_.is_dead(c, first)) heads_.push_back({first, static_cast<std::int32_t>(c), 0});
  };
  if (none_dead_) {
    for (std::size_t c = 0; c < waiting.size(); ++c) open(c);
  } else {
    for (const std::int32_t c : started_) open(to_index(c));
    for (const std::int32_t c : waiting.changed()) open(to_index(c));
  }
  waiting.clear_changed();
  started_.clear();
  none_dead_ = false;
  list_lost();
  std::make_heap(heads_.begin(), heads_.end());
  wake(pass, waiting, nullptr);
  while (true) {
    while (const auto woken = dead_.wake_next(p, pass.s, heads_.empty() ? nullptr : &heads_.front().place)) push_first(waiting, *woken);
    if (heads_.empty()) break;
    std::pop_heap(heads_.begin(), heads_.end());
    const Head head = heads_.back();
    heads_.pop_back();
    const std::int32_t job = head.place.job;
    const bool displaced = head.of < 0;  // or lost GPUs
    // A class may have two heads.
    if (!displaced && (change_of_[to_index(job)] != 0 || dead_.is_dead(to_index(head.of), head.place))) continue;
    const std::int32_t from = pass.n_entries;
    displaced_.clear();
    name_rows(waiting, head);
    const std::int32_t option = blocked_ >= 0 ? kNone : start(pass, head.place);
    if (option != kNone) {
      for (std::int32_t e = from; e < pass.n_entries; ++e) touched_.push_back(pass.entries[e].node);
      const std::int32_t by = displaced ? changes_[change_of_[to_index(job)] - 1].displaced_by : -1;
      const PassChange change{job,
                              by >= 0 ? Outcome::kMoved : Outcome::kPlaced,
                              option,
                              from,
                              pass.n_entries,
                              by,
                              head.place,
                              option_of(job, option).demand,
                              s.job.queue[to_index(job)]};
      if (has_reach_) take_from_reach(pass, change);
      if (displaced) {
        changes_[change_of_[to_index(job)] - 1] = change;
      } else {
        changes_.push_back(change);
        change_of_[to_index(job)] = changes_.size();
        started_.push_back(head.of);
        push_at(waiting, head.of, head.at + 1);
      }
      dead_.free_changed();
      if (!displaced_.empty()) wake_by_displaced(pass, waiting, head.place);
      continue;
    }
    if (rules.strict && blocked_ < 0) blocked_ = job;
    if (displaced) continue;  // kPreempted, as it was recorded
    dead_.set(p, demands, waiting, head.of, head.place, missing_, by_quota_);
  }
  if (blocked_ >= 0) in_front_.push_back(blocked_);
  n_entries_ = pass.n_entries;
  free_ = pass.s;
  queue_used_.assign(free_.queue_used, free_.queue_used + std::int64_t{p.n_queues} * (p.n_types + 1));
}

bool KeptPass::withdraw(Overruns& overruns) {
  if (p_->has_until == 0) return true;
  std::vector<OrderPlace> withdrawn;
  for (PassChange& change : changes_) {
    const auto rows = entries().subspan(to_index(change.entry_begin), to_index(change.entry_end - change.entry_begin));
    if (change.option < 0 || !overruns.outstays(*s_, *p_, change.job, change.option, rows, s_->now)) continue;
    const auto by_it = [&](const PassChange& other) { return other.displaced_by == change.job; };
    if (std::any_of(changes_.begin(), changes_.end(), by_it)) return false;
    withdrawn.push_back(change.place);
    for (const kernel::PlacedRow& row : rows) withdrawn_gpus_ += std::popcount(row.mask);
    change = {change.job, Outcome::kPreempted, kNone, 0, 0, change.displaced_by, change.place};
  }
  if (withdrawn.empty()) return true;
  for (const PassChange& change : changes_) change_of_[to_index(change.job)] = 0;
  std::erase_if(changes_, [&](const PassChange& change) { return change.option < 0 && s_->job.running[to_index(change.job)] == 0; });
  for (std::size_t i = 0; i < changes_.size(); ++i) change_of_[to_index(changes_[i].job)] = i + 1;
  if (blocked_ < 0) return true;
  std::sort(withdrawn.begin(), withdrawn.end());
  in_front_.clear();
  for (const OrderPlace& one : withdrawn) in_front_.push_back(one.job);
  in_front_.push_back(blocked_);
  return true;
}

// Steps 3 to 5. @returns the option placed, which is charged; kNone: none.
std::int32_t KeptPass::start(Pass& pass, const OrderPlace& place) {
  const std::int32_t job = place.job;
  for (std::int32_t o = 0; o < options_of(job); ++o) {
    if (!quota_ok(pass, job, o)) continue;
    const std::size_t row = row_of(o);
    const kernel::DemandRow& demand = p_->demands[option_of(job, o).demand];
    if (rules_.preemptive && infeasible_[row] == pass_) continue;
    if (known_now_[row] == round_) continue;
    if (pass.s.type_free[demand.gpu_type] >= demand.gpus && kernel::place_demand(pass, demand, end_of(o))) {
      kernel::charge_queue(*p_, pass.s, job, demand.gpu_type, demand.quota);
      return o;
    }
    known_now_[row] = round_;
  }
  if (rules_.preemptive) {
    read_limits(place);
    if (std::find(takes_.begin(), takes_.end(), 1) != takes_.end()) return displace(pass, place);
    // What it lacks with no victim gone bounds nothing for others. Its class is tried again in any case.
    missing_ = DeadClasses::kOnlyQuota;
    by_quota_ = false;
    return kNone;
  }
  note_failure(pass, job);
  return kNone;
}

// The job found no room in this state. What a demand lacked at an earlier place of the pass is no more than it lacks now.
void KeptPass::note_failure(const Pass& pass, std::int32_t job) {
  missing_ = DeadClasses::kOnlyQuota;
  by_quota_ = false;
  if (rules_.class_rule || rules_.strict) return;  // no class stays dead
  for (std::int32_t o = 0; o < options_of(job); ++o) {
    Missing& known = missing_of_[row_of(o)];
    if (known.pass != pass_) {
      if (!quota_ok(pass, job, o)) {
        by_quota_ = true;
        continue;
      }
      known = {pass_, members_missing(*p_, pass.s, p_->demands[option_of(job, o).demand], end_of(o))};
    }
    missing_ = std::min(missing_, known.members);
  }
}

// With victims gone.
std::int32_t KeptPass::fit(Pass& pass, std::int32_t job) {
  for (std::int32_t o = 0; o < options_of(job); ++o) {
    if (!may_take(o)) continue;
    const kernel::DemandRow& demand = p_->demands[option_of(job, o).demand];
    if (!quota_ok(pass, job, o) || pass.s.type_free[demand.gpu_type] < demand.gpus) continue;
    if (kernel::place_demand(pass, demand, end_of(o))) return o;
  }
  return kNone;
}

}  // namespace berth::core
