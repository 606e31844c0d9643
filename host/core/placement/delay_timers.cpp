#include "host/core/placement/delay_timers.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr auto kSwitches = static_cast<std::int32_t>(TopologyKind::kSwitch);
constexpr auto kNvlinks = static_cast<std::int32_t>(TopologyKind::kNvlink);

// Since when the job has had no GPUs. One that runs has them until this pass takes them.
TimeUs waits_since(const StateImpl& s, std::int32_t job) {
  if (s.job.running[to_index(job)] != 0) return s.now;
  const TimeUs since = s.job.waiting_since[to_index(job)];
  return std::min(s.now, since == kNever ? s.job.submit[to_index(job)] : since);
}

std::int32_t place(const StateImpl& s, std::int32_t topology, std::int32_t level, std::int32_t node) {
  return level == 0 ? node : s.topologies.domain_of(topology, level, node);
}

}  // namespace

bool DelayTimers::apply_to(const StateImpl& s, const PassRules& rules) { return rules.delays || s.any_longest_wait(); }

void DelayTimers::read_levels(const StateImpl& s) {
  empty_.begin(s);
  begin_.assign(s.jobs.size(), 0);
  end_.assign(s.jobs.size(), 0);
  timers_.clear();
  const std::uint64_t structure = s.structure_version() >> 32;  // the lower half counts demands
  if (served_.lock() == s.identity && structure == structure_) return;
  served_ = s.identity;
  structure_ = structure;
  const kernel::ProblemView& p = s.problem();
  const auto gpus_of = [&](std::int32_t node) { return std::int64_t{p.gpu_begin[node + 1] - p.gpu_begin[node]}; };
  std::int64_t all = 0, node = 0;
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    all += gpus_of(n);
    node = std::max(node, gpus_of(n));
  }
  std::vector<Rung> found{{kSwitches, 0, node}};
  for (const std::int32_t topology : {kNvlinks, kSwitches}) {
    const kernel::TopologyView& f = p.topology[topology];
    for (std::int32_t level = 1; level < f.levels - 1; ++level) {
      std::int64_t most = 0;
      for (std::int32_t d = f.level_begin[level]; d < f.level_begin[level + 1]; ++d) {
        std::int64_t gpus = 0;
        for (std::int32_t i = p.domains.first[d]; i < p.domains.last[d]; ++i) gpus += gpus_of(f.order[i]);
        if (p.domains.named[d] != 0) most = std::max(most, gpus);
      }
      found.push_back({topology, level, most});
    }
  }
  std::stable_sort(found.begin() + 1, found.end(), [](const Rung& a, const Rung& b) { return a.gpus < b.gpus; });
  rungs_.clear();
  names_.clear();
  inside_.clear();
  preferring_.clear();
  forget_stages();
  for (const Rung& rung : found) {
    if (!rungs_.empty() && (rung.gpus <= rungs_.back().gpus || rung.gpus >= all)) continue;
    rungs_.push_back(rung);
    const std::string& name = s.topologies.level_name(rung.topology, rung.level);
    names_.push_back(rung.level == 0 ? name : std::string(core::name(static_cast<TopologyKind>(rung.topology))) + "." + name);
  }
}

TimeUs DelayTimers::end_of(TimeUs since, TimeUs wait) {
  const TimeUs end = saturating_add(since, wait);
  return end > kMaxTimeUs ? kNever : end;
}

TimeUs DelayTimers::timer(const DelayRule& rule, std::int32_t rung, std::int64_t gpus) {
  if (rule.history > 0) return saturating_mul(windows_.leases(rule, rung, gpus), rule.lease_us);
  return rule.timers_of(gpus).at(rung);
}

std::int32_t DelayTimers::inside(const StateImpl& s, std::int32_t demand, const Rung& rung) {
  const std::size_t at = (to_index(demand) * kTopologyKinds + to_index(rung.topology)) * kMaxLevels + to_index(rung.level);
  if (inside_.size() <= at) inside_.resize((to_index(demand) + 1) * kTopologyKinds * kMaxLevels, kernel::kNone);
  if (inside_[at] == kernel::kNone) inside_[at] = s.demands.inside(demand, rung.topology, rung.level);
  return inside_[at];
}

std::int32_t DelayTimers::narrowed(const StateImpl& s, std::int32_t demand, const Timer& timer) {
  timers_.push_back(timer);
  return inside(s, demand, {timer.topology, timer.level, 0});
}

std::int32_t DelayTimers::preferring(const StateImpl& s, std::int32_t demand, std::int32_t level) {
  const std::size_t at = to_index(demand) * kMaxLevels + to_index(level);
  if (preferring_.size() <= at) preferring_.resize((to_index(demand) + 1) * kMaxLevels, kernel::kNone);
  if (preferring_[at] == kernel::kNone) preferring_[at] = s.demands.preferring(demand, kNvlinks, level);
  return preferring_[at];
}

// The same demand, that prefers the NVLink domains of levels below this one.
std::int32_t DelayTimers::preferring_below(const StateImpl& s, std::int32_t demand, std::int32_t rung) {
  while (--rung > 0) {
    if (rungs_[to_index(rung)].topology == kNvlinks) return preferring(s, demand, rungs_[to_index(rung)].level);
  }
  return demand;
}

// A level of which no domain could hold the gang has no timer.
DelayTimers::Stage* DelayTimers::stages_of(const StateImpl& s, const DelayRule& rule, std::int32_t asked) {
  const std::size_t n = rungs_.size();
  const std::size_t at = to_index(asked) * (n + 1);
  if (stages_.size() <= at) stages_.resize((to_index(asked) + 1) * (n + 1), {0, -1, kernel::kNone});
  Stage* const stages = &stages_[at];
  if (stages->to >= 0) return stages;
  const std::int64_t gpus = s.demands.rows()[to_index(asked)].gpus;
  stages[n].to = kNever;
  for (std::size_t rung = n; rung-- > 0;) {
    const bool holds = empty_.hold(s, asked, rungs_[rung].topology, rungs_[rung].level);
    stages[rung + 1].from = holds ? timer(rule, static_cast<std::int32_t>(rung), gpus) : 0;
    stages[rung].to = std::min(stages[rung + 1].from, stages[rung + 1].to);
  }
  return stages;
}

void DelayTimers::forget_stages() {
  stages_.clear();
  changed_.clear();
  all_changed_ = ++version_;
}

// Gangs got places, and windows have their waits.
void DelayTimers::forget_stages_of(const StateImpl& s, std::span<const std::int64_t> gpus) {
  ++version_;
  const std::size_t n = rungs_.size() + 1;
  for (const std::int64_t one : gpus) {
    if (std::find(changed_.begin(), changed_.end(), one) == changed_.end()) changed_.push_back(one);
  }
  for (std::size_t demand = 0; (demand + 1) * n <= stages_.size(); ++demand) {
    if (std::find(gpus.begin(), gpus.end(), s.demands.rows()[demand].gpus) == gpus.end()) continue;
    std::fill_n(stages_.begin() + static_cast<std::ptrdiff_t>(demand * n), n, Stage{0, -1, kernel::kNone});
  }
}

std::size_t DelayTimers::stage_at(const Stage* stages, TimeUs waited) const {
  std::size_t at = rungs_.size();
  while (at > 0 && waited < stages[at].from) --at;
  return at;
}

TimeUs DelayTimers::next_change(const StateImpl& s, std::int32_t asked, TimeUs waited) {
  if (!rule_ || s.demands.rows()[to_index(asked)].gpus == 0) return kNever;
  const Stage* const stages = stages_of(s, *rule_, asked);
  return stages[stage_at(stages, waited)].to;
}

// The loosest level is that above the highest of which no domain could hold the gang, or of which the timer has run out.
std::int32_t DelayTimers::by_rule(const StateImpl& s, const DelayRule& rule, TimeUs since, std::int32_t asked) {
  if (s.demands.rows()[to_index(asked)].gpus == 0) return asked;  // shares of GPUs
  Stage* const stages = stages_of(s, rule, asked);
  const std::size_t loosest = stage_at(stages, s.now - since);
  Stage& stage = stages[loosest];
  const bool any = loosest == rungs_.size();
  if (!any) timers_.push_back({rungs_[loosest].topology, rungs_[loosest].level, end_of(since, stage.to)});
  if (stage.demand == kernel::kNone) {
    const std::int32_t preferred = preferring_below(s, asked, static_cast<std::int32_t>(loosest));
    stage.demand = any ? preferred : inside(s, preferred, rungs_[loosest]);
  }
  return stage.demand;
}

std::int32_t DelayTimers::by_job(const StateImpl& s, const Job& job, TimeUs since, std::int32_t asked, std::int32_t demand) {
  for (std::int32_t topology = 0; topology < kTopologyKinds; ++topology) {
    std::int32_t tightest = s.topologies.levels(topology) - 1;
    TimeUs longest = -1;
    for (const auto& [ref, wait] : job.constraints.longest_wait) {
      if (static_cast<std::int32_t>(ref.topology) != topology || s.now - since >= wait) continue;
      const std::int32_t level = s.topologies.level(ref.topology, ref.level);
      if (level < 0 || level > tightest || level == s.topologies.levels(topology) - 1 || !empty_.hold(s, asked, topology, level)) continue;
      longest = level < tightest ? wait : std::max(longest, wait);
      tightest = level;
    }
    if (longest >= 0) demand = narrowed(s, demand, {topology, tightest, end_of(since, longest)});
  }
  return demand;
}

void DelayTimers::begin(const StateImpl& s, const std::optional<DelayRule>& rule, const PolicyState* kept,
                        std::span<const kernel::OptionRow> options) {
  read_levels(s);
  if (rule_ != rule) forget_stages();
  rule_ = rule;
  if (rule && rule->history > 0) {
    windows_.load(kept, names_, *rule);
    const std::vector<std::int64_t>& added = windows_.added();
    const std::uint64_t ago = windows_.version() - stages_of_;
    if (ago > added.size()) {
      forget_stages();
    } else if (ago > 0) {
      forget_stages_of(s, std::span(added).last(ago));
    }
    stages_of_ = windows_.version();
  }
  free_.resize(rungs_.size());
  most_free_.resize(rungs_.size());
  for (std::vector<std::int64_t>& free : free_) free.clear();
  asked_.clear();
  if (rule && rule->lease_end != LeaseEnd::kKeep) {
    asked_.resize(options.size());
    std::transform(options.begin(), options.end(), asked_.begin(), [](const kernel::OptionRow& option) { return option.demand; });
  }
  narrowed_ = asked_;
}

void DelayTimers::narrow(const StateImpl& s, const std::optional<DelayRule>& rule, const PolicyState* kept,
                         std::span<kernel::OptionRow> options) {
  begin(s, rule, kept, options);
  const kernel::ProblemView& p = s.problem();
  const bool some_state_waits = s.any_longest_wait();
  for (const std::int32_t job : s.job_order) {
    const bool states_waits = some_state_waits && s.jobs[to_index(job)].longest_wait;
    if (!rule && !states_waits) continue;
    const TimeUs since = waits_since(s, job);
    begin_[to_index(job)] = static_cast<std::int32_t>(timers_.size());
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const std::int32_t asked = options[to_index(o)].demand;
      std::int32_t demand = rule ? by_rule(s, *rule, since, asked) : asked;
      if (states_waits) demand = by_job(s, *s.jobs[to_index(job)].job, since, asked, demand);
      options[to_index(o)].demand = demand;
    }
    end_[to_index(job)] = static_cast<std::int32_t>(timers_.size());
  }
  for (std::size_t o = 0; o < narrowed_.size(); ++o) narrowed_[o] = options[o].demand;
}

void DelayTimers::narrow(const StateImpl& s, std::span<const std::int32_t> jobs, std::span<kernel::OptionRow> options) {
  assert(rule_ && !s.any_longest_wait());
  const kernel::ProblemView& p = s.problem();
  for (const std::int32_t job : jobs) {
    const TimeUs since = waits_since(s, job);
    begin_[to_index(job)] = static_cast<std::int32_t>(timers_.size());
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      options[to_index(o)].demand = by_rule(s, *rule_, since, p.options[o].demand);
      if (!narrowed_.empty()) narrowed_[to_index(o)] = options[to_index(o)].demand;
    }
    end_[to_index(job)] = static_cast<std::int32_t>(timers_.size());
  }
}

// The lowest rung of which some domain could hold the demand; as many as there are: none.
std::int32_t DelayTimers::tightest_of(const StateImpl& s, std::int32_t asked) {
  std::int32_t rung = 0;
  while (rung < std::ssize(rungs_) && !empty_.hold(s, asked, rungs_[to_index(rung)].topology, rungs_[to_index(rung)].level)) ++rung;
  return rung;
}

// Whether some named domain has this number of GPUs that are free, or that the job holds.
bool DelayTimers::has_room(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::int32_t rung, std::int64_t gpus) {
  const auto [topology, level, most] = rungs_[to_index(rung)];
  std::vector<std::int64_t>& free = free_[to_index(rung)];
  if (free.empty()) {
    free.assign(to_index(level == 0 ? p.n_nodes : p.domains.n_domains), 0);
    for (std::int32_t node = 0; node < p.n_nodes; ++node) {
      const std::int32_t there = place(s, topology, level, node);
      if (level == 0 || p.domains.named[there] != 0) free[to_index(there)] += std::popcount(p.node_free[node]);
    }
    most_free_[to_index(rung)] = *std::max_element(free.begin(), free.end());
  }
  if (most_free_[to_index(rung)] >= gpus) return true;
  bool has = false;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const std::int32_t there = place(s, topology, level, p.held[h].node);
    if (level > 0 && p.domains.named[there] == 0) continue;
    free[to_index(there)] += std::popcount(p.held[h].mask);
    has = has || free[to_index(there)] >= gpus;
  }
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    const std::int32_t there = place(s, topology, level, p.held[h].node);
    if (level == 0 || p.domains.named[there] != 0) free[to_index(there)] -= std::popcount(p.held[h].mask);
  }
  return has;
}

bool DelayTimers::tighten(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::span<kernel::OptionRow> options) {
  const std::int32_t here = rung_of(s, s.held_entries(job));
  bool some = false;
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const std::int32_t asked = asked_[to_index(o)];
    const std::int64_t gpus = s.demands.rows()[to_index(asked)].gpus;
    std::int32_t rung = here;
    const auto fits = [&](const Rung& one, std::int32_t at) {
      return empty_.hold(s, asked, one.topology, one.level) && has_room(s, p, job, at, gpus);
    };
    while (--rung >= 0 && !fits(rungs_[to_index(rung)], rung)) {
    }
    // An option without room in a tighter level stays as the timers have it; a place that it finds is judged like the others.
    if (rung < 0 || gpus == 0) continue;
    const std::int32_t demand = inside(s, preferring_below(s, asked, rung), rungs_[to_index(rung)]);
    options[to_index(o)].demand = by_job(s, *s.jobs[to_index(job)].job, s.now, asked, demand);
    some = true;
  }
  return some;
}

void DelayTimers::loosen(std::int32_t job, const kernel::ProblemView& p, std::span<kernel::OptionRow> options) const {
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) options[to_index(o)].demand = narrowed_[to_index(o)];
}

bool DelayTimers::is_tighter(const StateImpl& s, std::int32_t job, std::span<const kernel::PlacedRow> entries) const {
  return rung_of(s, entries) < rung_of(s, s.held_entries(job));
}

bool DelayTimers::is_loose(const StateImpl& s, std::int32_t option, std::span<const kernel::PlacedRow> entries) {
  return !entries.empty() && rung_of(s, entries) > tightest_of(s, asked_[to_index(option)]);
}

bool DelayTimers::is_loose(const StateImpl& s, std::int32_t job) {
  const std::int32_t here = rung_of(s, s.held_entries(job));
  const kernel::ProblemView& p = s.problem();
  for (std::int32_t o = p.option_begin[job]; here > 0 && o < p.option_end[job]; ++o) {
    if (here > tightest_of(s, asked_[to_index(o)])) return true;
  }
  return false;
}

std::span<const DelayTimers::Timer> DelayTimers::timers_of(std::int32_t job) const {
  return std::span(timers_).subspan(to_index(begin_[to_index(job)]), to_index(end_[to_index(job)] - begin_[to_index(job)]));
}

// The lowest rung of which one named domain has all nodes; as many as there are: none has.
template <class Rows>
std::int32_t DelayTimers::rung_of(const StateImpl& s, Rows entries) const {
  const auto together = [&](const Rung& rung) {
    const std::int32_t there = place(s, rung.topology, rung.level, entries.front().node);
    return std::all_of(entries.begin(), entries.end(), [&](const auto& e) { return place(s, rung.topology, rung.level, e.node) == there; });
  };
  return static_cast<std::int32_t>(std::find_if(rungs_.begin(), rungs_.end(), together) - rungs_.begin());
}

void DelayTimers::look(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                       const kernel::PlaceResult& placed) {
  until_ = kNever;
  const bool tunes = rule_ && rule_->history > 0;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    const kernel::Outcome outcome = placed.outcome[i];
    if (outcome == kernel::Outcome::kKept || outcome == kernel::Outcome::kMoved) continue;
    if (outcome != kernel::Outcome::kPlaced) {
      for (const Timer& timer : timers_of(job)) until_ = std::min(until_, timer.until);
      continue;
    }
    const std::span<const kernel::PlacedRow> entries(placed.entries + placed.entry_begin[i], placed.entries + placed.entry_end[i]);
    if (!tunes || s.job.running[to_index(job)] != 0 || entries.empty()) continue;
    const std::int32_t rung = rung_of(s, entries);
    const std::int64_t gpus = p.demands[p.options[p.option_begin[job] + placed.option[i]].demand].gpus;
    if (rung < std::ssize(rungs_) && gpus > 0) windows_.add(*rule_, rung, gpus, s.now, s.now - waits_since(s, job));
  }
}

void DelayTimers::say_until(Plan& plan) const {
  for (Decision& d : plan.decisions) {
    Reason& r = d.reason;
    // No domain has the GPUs, or a tree's groups find no place together in one.
    const bool of_domain = r.code == ReasonCode::kTopologyRequired || (r.code == ReasonCode::kFragmented && r.members == 0);
    const bool may_wait = d.action == Action::kWait || d.action == Action::kPreempt || d.action == Action::kReserve;
    if (!may_wait || !of_domain || r.certified) continue;
    for (const Timer& timer : timers_of(d.job)) {
      if (timer.topology != r.topology || timer.level != r.level) continue;
      // A reservation in the level that begins before the timer runs out.
      if (d.action == Action::kReserve && d.start_us <= timer.until) continue;
      r.code = ReasonCode::kDelayTimer;
      r.until_us = timer.until;
      break;
    }
  }
}

}  // namespace berth::core
