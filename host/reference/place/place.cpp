#include "host/reference/place/place.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/reference/base/state.hpp"
#include "host/reference/place/availability.hpp"
#include "host/reference/place/place_demand.hpp"
#include "host/reference/place/reservation.hpp"

namespace berth::reference {
namespace {

using kernel::Discipline;
using kernel::kNone;
using kernel::Outcome;
using kernel::ProblemView;

// The allocation that a job would get.
struct Fit {
  std::int32_t option;  // relative to the job's first
  const kernel::DemandRow* demand;
  TimeUs run;
  std::vector<kernel::PlacedRow> entries;
};

struct PassDecision {
  Outcome outcome = Outcome::kWaits;
  std::int32_t option = kNone;
  std::int32_t displaced_by = kNone;
  TimeUs reserve_at = kNever;
  std::vector<kernel::PlacedRow> entries;
};

class SerialPass {
 public:
  SerialPass(const ProblemView& p, const kernel::PlaceRequest& request, std::span<const kernel::TakenRow> taken)
      : p_(p),
        request_(request),
        now_(p),
        displaced_job_(static_cast<std::size_t>(p.n_jobs)),
        decisions_(static_cast<std::size_t>(request.n)) {
    for (const kernel::TakenRow& row : taken) now_.free[static_cast<std::size_t>(row.node)] &= ~row.mask;
  }

  void run(core::StopToken* stop_token) {
    for (std::int32_t i = 0; i < request_.n; ++i) {
      if (stop_token != nullptr && i < request_.limit && stop_token->stop(i)) request_.limit = i;
      ran_out_ = false;
      visit(i);
    }
  }

  void write(const kernel::PlaceResult& out) const;

 private:
  PassDecision& at(std::int32_t i) { return decisions_[static_cast<std::size_t>(i)]; }
  bool displaced(std::int32_t i) { return at(i).displaced_by != kNone; }
  std::int32_t job_at(std::int32_t i) const { return request_.order[i]; }
  std::int32_t options(std::int32_t job) const { return p_.option_end[job] - p_.option_begin[job]; }
  const kernel::DemandRow& demand(std::int32_t job, std::int32_t o) const {
    return p_.demands[p_.options[p_.option_begin[job] + o].demand];
  }
  TimeUs run_time(std::int32_t job, std::int32_t o) const { return request_.option_run[p_.option_begin[job] + o]; }
  // Whether the job has ended when the reservation of EASY begins.
  bool in_time(std::int32_t job, std::int32_t o) const {
    return run_time(job, o) != kNever && request_.now + run_time(job, o) <= reserve_at_;
  }
  bool quota(const State& s, std::int32_t job, std::int32_t o) const {
    return quota_passes(p_, s, p_.job_queue[job], demand(job, o).gpu_type, demand(job, o).quota);
  }

  // In each state in which the option is tested.
  bool quota_in_both(const State& now, const std::optional<State>& beyond, std::int32_t job, std::int32_t o) const {
    return quota(now, job, o) && (!beyond || in_time(job, o) || quota(*beyond, job, o));
  }
  bool may_come_back_beyond(std::int32_t job, std::int32_t queue, std::int32_t type) const {
    return has_ended_[static_cast<std::size_t>(job)] || quota_returns(p_, *beyond_, job, queue, type);
  }

  std::optional<Fit> fit_option(State& s, std::int32_t job, std::int32_t o, TimeUs start);
  std::optional<Fit> first_fit(State& s, std::int32_t job, TimeUs start, bool displacing = false);
  bool may_displace(std::int32_t job, std::int32_t o) const {
    return request_.may_displace == nullptr || request_.may_displace[p_.option_begin[job] + o] != 0;
  }
  std::optional<Fit> fit_in(State& now, std::optional<State>& beyond, std::int32_t job, bool displacing);
  void release_beyond(State& beyond, std::int32_t job) const;
  void hold_beyond(State& beyond, std::int32_t job) const;
  std::optional<Fit> fit_with_victims(std::int32_t i);
  bool reserve(std::int32_t i);
  std::optional<Fit> fit_or_reserve(std::int32_t i);
  void start(std::int32_t i, Fit fit);
  void visit(std::int32_t i);

  const ProblemView& p_;
  kernel::PlaceRequest request_;
  State now_;
  std::optional<State> beyond_;             // with a reservation: resources for jobs that overlap it in time
  std::vector<std::uint64_t> beyond_mask_;  // [nodes] GPUs of that reservation
  std::vector<bool> has_ended_;             // [jobs] one of the events before it
  TimeUs reserve_at_ = kNever;
  bool tried_reservation_ = false;
  bool blocked_ = false;  // an earlier job failed
  bool ran_out_ = false;
  std::vector<Started> started_;
  std::vector<Reserved> reserved_;  // conservative
  std::vector<bool> displaced_job_;
  std::vector<PassDecision> decisions_;
};

// Places option o in s, and charges quota too.
std::optional<Fit> SerialPass::fit_option(State& s, std::int32_t job, std::int32_t o, TimeUs start) {
  if (!quota(s, job, o)) return std::nullopt;
  const kernel::DemandRow& row = demand(job, o);
  const Trial ask{&p_, &row, run_time(job, o), start};
  Tries tries{request_.packing, request_.max_tries};
  Fit fit{o, &row, ask.run, {}};
  const bool placed = place_demand(ask, s, tries, fit.entries);
  ran_out_ = ran_out_ || tries.ran_out;
  if (!placed) return std::nullopt;
  charge_quota(p_, s, p_.job_queue[job], row.gpu_type, row.quota);
  return fit;
}

std::optional<Fit> SerialPass::first_fit(State& s, std::int32_t job, TimeUs start, bool displacing) {
  for (std::int32_t o = 0; o < options(job); ++o) {
    if (displacing && !may_displace(job, o)) continue;
    auto fit = fit_option(s, job, o, start);
    if (fit) return fit;
  }
  return std::nullopt;
}

// Step 4. Beside a reservation each option is tried in its own state.
std::optional<Fit> SerialPass::fit_in(State& now, std::optional<State>& beyond, std::int32_t job, bool displacing) {
  if (!beyond) return first_fit(now, job, request_.now, displacing);
  for (std::int32_t o = 0; o < options(job); ++o) {
    if (displacing && !may_displace(job, o)) continue;
    if (!quota_in_both(now, beyond, job, o)) continue;
    const bool ends = in_time(job, o);
    State& own = ends ? now : *beyond;
    State& other = ends ? *beyond : now;
    auto fit = fit_option(own, job, o, request_.now);
    if (!fit) continue;
    for (const kernel::PlacedRow& row : fit->entries) take(p_, other, piece_of(p_.groups[fit->demand->group_begin + row.group], row));
    if (!ends) charge_quota(p_, other, p_.job_queue[job], fit->demand->gpu_type, fit->demand->quota);
    return fit;
  }
  return std::nullopt;
}

// What a running job holds apart from the reservation.
std::vector<Piece> pieces_beyond(const ProblemView& p, const std::vector<std::uint64_t>& reserved, std::int32_t job) {
  std::vector<Piece> pieces;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    Piece piece = piece_of(p.held[h]);
    const std::uint64_t mask = reserved[static_cast<std::size_t>(piece.node)];
    piece.mask &= ~mask;
    if (mask != 0) piece.cpu = piece.memory = 0;
    pieces.push_back(piece);
  }
  return pieces;
}

void SerialPass::release_beyond(State& beyond, std::int32_t job) const {
  for (const Piece& piece : pieces_beyond(p_, beyond_mask_, job)) give(p_, beyond, piece);
  if (has_ended_[static_cast<std::size_t>(job)]) return;
  charge_quota(p_, beyond, p_.job_queue[job], p_.held_type[job], -quota_held_by(p_, job));
}

void SerialPass::hold_beyond(State& beyond, std::int32_t job) const {
  for (const Piece& piece : pieces_beyond(p_, beyond_mask_, job)) take(p_, beyond, piece);
  if (has_ended_[static_cast<std::size_t>(job)]) return;
  charge_quota(p_, beyond, p_.job_queue[job], p_.held_type[job], quota_held_by(p_, job));
}

// Step 5.
std::optional<Fit> SerialPass::fit_with_victims(std::int32_t i) {
  std::vector<std::int32_t> victims;  // positions
  for (std::int32_t v = request_.n - 1; v > i; --v) {
    if (request_.running[v] == 0 || displaced(v) || request_.victim_ok[v] == 0) continue;
    if (request_.class_rule != 0 && request_.preemption_class[job_at(v)] >= request_.preemption_class[job_at(i)]) continue;
    victims.push_back(v);
  }
  std::optional<Fit> fit;
  State best = now_;
  std::optional<State> best_beyond;
  const auto count = smallest_prefix(static_cast<std::int32_t>(victims.size()), [&](std::int32_t n) {
    State trial = now_;
    std::optional<State> beyond = beyond_;
    for (std::int32_t k = 0; k < n; ++k) {
      const std::int32_t victim = job_at(victims[static_cast<std::size_t>(k)]);
      release_job(p_, trial, victim);
      if (beyond) release_beyond(*beyond, victim);
    }
    auto one = fit_in(trial, beyond, job_at(i), true);
    if (!one) return false;
    fit = std::move(one);
    best = std::move(trial);
    best_beyond = std::move(beyond);
    return true;
  });
  if (!count) return std::nullopt;
  now_ = std::move(best);
  beyond_ = std::move(best_beyond);
  const std::int32_t queue = p_.job_queue[job_at(i)], type = fit->demand->gpu_type;
  for (std::int32_t k = *count - 1; k >= 0; --k) {
    const std::int32_t v = victims[static_cast<std::size_t>(k)];
    if ((!beyond_ || may_come_back_beyond(job_at(v), queue, type)) && take_back(p_, now_, job_at(v), queue, type)) {
      if (beyond_) hold_beyond(*beyond_, job_at(v));
      continue;
    }
    at(v).displaced_by = i;
    displaced_job_[static_cast<std::size_t>(job_at(v))] = true;
  }
  return fit;
}

// Section 7.
bool SerialPass::reserve(std::int32_t i) {
  const std::vector<TimedRelease> events = events_of(request_, displaced_job_, started_);
  std::optional<Fit> fit;
  State later = now_;
  const auto count = smallest_prefix(static_cast<std::int32_t>(events.size()), [&](std::int32_t n) {
    State trial = now_;
    for (std::int32_t e = 0; e < n; ++e) happen(p_, trial, events[static_cast<std::size_t>(e)]);
    auto one = first_fit(trial, job_at(i), std::max(request_.now, events[static_cast<std::size_t>(n) - 1].at));
    if (!one) return false;
    fit = std::move(one);
    later = std::move(trial);
    return true;
  });
  if (!count) return false;
  reserve_at_ = std::max(request_.now, events[static_cast<std::size_t>(*count) - 1].at);
  beyond_ = without_reserved(p_, now_, later, fit->entries);
  beyond_mask_.assign(now_.free.size(), 0);
  for (const kernel::PlacedRow& row : fit->entries) beyond_mask_[static_cast<std::size_t>(row.node)] |= row.mask;
  has_ended_.assign(displaced_job_.size(), false);
  for (std::int32_t e = 0; e < *count; ++e) {
    const std::int32_t ended = events[static_cast<std::size_t>(e)].job;
    if (ended != kNone) has_ended_[static_cast<std::size_t>(ended)] = true;
  }
  at(i).outcome = Outcome::kReserved;
  at(i).reserve_at = reserve_at_;
  at(i).option = fit->option;
  at(i).entries = std::move(fit->entries);
  return true;
}

// Section 7, conservative: what fits now is charged and returned; else the job may be reserved.
std::optional<Fit> SerialPass::fit_or_reserve(std::int32_t i) {
  const std::int32_t job = job_at(i);
  const std::vector<TimedRelease> events = events_of(request_, displaced_job_, started_);
  const Availability available(p_, request_.now, now_, events, reserved_);
  std::vector<std::optional<TimeUs>> starts{std::nullopt};
  for (const TimeUs at : available.releases()) starts.emplace_back(at);
  for (const std::optional<TimeUs> start : starts) {
    const TimeUs from = start.value_or(request_.now);
    for (std::int32_t o = 0; o < options(job); ++o) {
      const TimeUs run = run_time(job, o);
      const TimeUs to = run == kNever || run > kNever - 1 - from ? kNever : from + run;
      if (!available.has_quota(start, to, p_.job_queue[job], demand(job, o))) continue;
      State window = available.window(start, to);
      auto fit = fit_option(window, job, o, from);
      if (!fit) continue;
      if (!start) {
        for (const kernel::PlacedRow& row : fit->entries) take(p_, now_, piece_of(p_.groups[fit->demand->group_begin + row.group], row));
        charge_quota(p_, now_, p_.job_queue[job], fit->demand->gpu_type, fit->demand->quota);
        return fit;
      }
      at(i).outcome = Outcome::kReserved;
      at(i).reserve_at = from;
      at(i).option = fit->option;
      at(i).entries = fit->entries;
      reserved_.push_back({job, fit->demand, std::move(fit->entries), from, to});
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void SerialPass::start(std::int32_t i, Fit fit) {
  at(i).outcome = displaced(i) ? Outcome::kMoved : Outcome::kPlaced;
  at(i).option = fit.option;
  at(i).entries = fit.entries;
  const TimeUs end = fit.run == kNever ? kNever : request_.now + fit.run;
  started_.push_back({job_at(i), end, fit.demand, std::move(fit.entries)});
}

void SerialPass::visit(std::int32_t i) {
  const std::int32_t job = job_at(i);
  const bool was_running = request_.running[i] != 0;
  if (was_running && !displaced(i)) {
    at(i).outcome = Outcome::kKept;
    return;
  }
  if (i >= request_.limit) {
    at(i).outcome = was_running ? Outcome::kPreempted : Outcome::kBudget;
    return;
  }
  if (request_.discipline == Discipline::kStrict && blocked_) {
    at(i).outcome = was_running ? Outcome::kPreempted : Outcome::kBehind;
    return;
  }
  bool quota_open = options(job) == 0;
  for (std::int32_t o = 0; o < options(job); ++o) quota_open = quota_open || quota_in_both(now_, beyond_, job, o);
  const bool ahead = request_.discipline == Discipline::kConservative;
  const bool in_windows = !reserved_.empty();  // conservative, from the first reservation on
  std::optional<Fit> fit;
  if (!in_windows) fit = fit_in(now_, beyond_, job, false);
  if (!fit && request_.preemptive != 0 && !in_windows) fit = fit_with_victims(i);
  if (!fit && ahead) fit = fit_or_reserve(i);
  if (at(i).outcome == Outcome::kReserved) return;
  if (fit) {
    start(i, std::move(*fit));
    return;
  }
  blocked_ = true;
  at(i).outcome = was_running ? Outcome::kPreempted : quota_open ? (ran_out_ ? Outcome::kGaveUp : Outcome::kWaits) : Outcome::kQuota;
  if (request_.discipline == Discipline::kEasy && quota_open && !tried_reservation_) {
    tried_reservation_ = true;
    reserve(i);
  }
}

void SerialPass::write(const kernel::PlaceResult& out) const {
  std::int32_t rows = 0;
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    const PassDecision& decision = decisions_[i];
    out.outcome[i] = decision.outcome;
    out.option[i] = decision.option;
    out.displaced_by[i] = decision.displaced_by;
    out.reserve_at[i] = decision.reserve_at;
    out.entry_begin[i] = 0;
    out.entry_end[i] = 0;
    const auto count = static_cast<std::int32_t>(decision.entries.size());
    if (count == 0) continue;
    if (count > out.max_entries - rows) throw std::length_error("place: max_entries is too small");
    std::copy(decision.entries.begin(), decision.entries.end(), out.entries + rows);
    out.entry_begin[i] = rows;
    out.entry_end[i] = rows += count;
  }
  *out.n_entries = rows;
}

}  // namespace

void place(const ProblemView& p, const kernel::PlaceRequest& request, std::span<const kernel::TakenRow> taken,
           const kernel::PlaceResult& result, core::StopToken* stop_token) {
  SerialPass pass(p, request, taken);
  pass.run(stop_token);
  pass.write(result);
}

}  // namespace berth::reference
