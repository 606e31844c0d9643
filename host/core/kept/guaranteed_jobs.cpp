#include "host/core/kept/guaranteed_jobs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kUncounted = -1;
constexpr TimeUs kDay = 24 * 3'600 * kSecond;
constexpr std::int32_t kNoClass = -1, kOddClass = -2;
// Before and behind all places.
constexpr OrderPlace kFront{0, 0, -1, std::numeric_limits<std::int32_t>::min()};
constexpr OrderPlace kBack{0, 0, -1, std::numeric_limits<std::int32_t>::max()};

bool is_back(const OrderPlace& place) { return place.level == kBack.level; }

void insert(std::vector<OrderPlace>& order, const OrderPlace& place) {
  order.insert(std::upper_bound(order.begin(), order.end(), place), place);
}

// Of jobs that borrow: the first one is the last of the vector, as most come and go there.
bool is_later(const OrderPlace& a, const OrderPlace& b) { return b < a; }

void insert_borrowing(std::vector<OrderPlace>& order, const OrderPlace& place) {
  order.insert(std::lower_bound(order.begin(), order.end(), place, is_later), place);
}

void erase_borrowing(std::vector<OrderPlace>& order, const OrderPlace& place) {
  order.erase(std::lower_bound(order.begin(), order.end(), place, is_later));
}

}  // namespace

void GuaranteedJobs::begin(const StateImpl& s, const QuotaLedger& ledger) {
  ledger_ = &ledger;
  columns_ = static_cast<std::int32_t>(s.gpu_types.size()) + 1;
  queues_.assign(s.queues.size() + 1, {{}, {}, kNever, s.now, -1, false, false});
  classes_.clear();
  entitled_.clear();
  known_.assign(s.jobs.size(), {});
  share_.assign(s.queues.size() * to_index(columns_), kUncounted);
  for (std::size_t i = 0; i < share_.size(); ++i) {
    const auto queue = static_cast<std::int32_t>(i / to_index(columns_)), column = static_cast<std::int32_t>(i % to_index(columns_));
    if (ledger.states(queue, column)) share_[i] = 0;
  }
  stay_.assign(share_.size(), 0);
  taken_.assign(share_.size(), 0);
  touched_.clear();
  changed_.clear();
  waiting_ = 0;
  judged_at_ = s.now;
  filling_ = true;
}

// Of a job that may start in several options, all of them must count alike.
std::int32_t GuaranteedJobs::class_of(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job) {
  const std::int32_t queue = s.job.queue[to_index(job)];
  if (queue < 0) return kNoClass;
  const auto counted = [&](std::int32_t type) { return type >= 0 && share_[at(queue, type)] != kUncounted ? type : kernel::kNone; };
  const bool counts_all = share_[at(queue, columns_ - 1)] != kUncounted;
  const std::int32_t begin = p.option_begin[job], end = p.option_end[job];
  const bool runs = s.job.running[to_index(job)] != 0;
  const QuotaAmount held = runs && end - begin != 1 ? held_amount(s, job) : QuotaAmount{};
  const QuotaAmount amount = begin == end ? held : asked_in(p, begin);
  bool any = counts_all || counted(amount.type) >= 0, same = true;
  for (std::int32_t o = begin + 1; o < end; ++o) {
    const QuotaAmount one = asked_in(p, o);
    any = any || counted(one.type) >= 0;
    same = same && one.gpus == amount.gpus && (one.type == amount.type || counted(one.type) == counted(amount.type));
  }
  if (!any || (begin == end && amount.gpus == 0)) return kNoClass;
  const bool is_claimed = (held.type == amount.type || counted(held.type) == counted(amount.type)) && held.gpus <= amount.gpus;
  if (!same || amount.gpus <= 0 || (runs && end - begin > 1 && !is_claimed)) return kOddClass;
  const auto is_it = [&](std::int32_t of) {
    const Class& one = classes_[to_index(of)];
    return one.queue == queue && one.gpus == amount.gpus && one.type == counted(amount.type);
  };
  const std::int32_t before = known_[to_index(job)].of;  // mostly it is still that one
  if (before >= 0 && before < std::ssize(classes_) && is_it(before)) return before;
  std::vector<std::int32_t>& of_queue = queues_[to_index(queue)].classes;
  if (const auto at = std::find_if(of_queue.begin(), of_queue.end(), is_it); at != of_queue.end()) return *at;
  of_queue.push_back(static_cast<std::int32_t>(classes_.size()));
  classes_.push_back({queue, counted(amount.type), amount.gpus, kBack, 0, 0, false, -1, kBack, 0, {}, {}});
  return of_queue.back();
}

bool GuaranteedJobs::follow(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, bool is_there, FallingKeys& keys) {
  if (known_.size() < s.jobs.size()) known_.resize(s.jobs.size());
  Known& known = known_[to_index(job)];
  const bool runs = is_there && s.job.running[to_index(job)] != 0;
  const bool stays = runs && s.job.victim_from[to_index(job)] > s.now;
  const std::int32_t of = is_there && !stays ? class_of(s, p, job) : kNoClass;
  const OrderPlace place = of < 0 ? OrderPlace{} : OrderPlace{keys.key_of(job), s.job_label[to_index(job)], job};
  if (known.part == Part::kEntitled && of == known.of) {
    // What it has is the same. Only where it moved back, others may come before it: a stored place may be behind the current one. With
    // another label it is another job.
    const OrderPlace from = entitled_.stored(job);
    if (from.label != place.label || from < place) {
      const Class& in = classes_[to_index(of)];
      loosen(queues_[to_index(in.queue)], in.gpus, from, place);
      entitled_.remove(job);
      entitled_.add(place, to_index(in.queue));
    }
    waiting_ += (runs ? 0 : 1) - (known.runs ? 0 : 1);
    known.runs = runs;
    return true;
  }
  drop(job);
  if (of == kOddClass) return false;
  known.runs = runs;
  if (stays) {
    stay(s, job);
  } else if (of >= 0) {
    borrow(job, of, place, keys);
  }
  return true;
}

void GuaranteedJobs::drop(std::int32_t job) {
  Known& known = known_[to_index(job)];
  switch (std::exchange(known.part, Part::kOut)) {
    case Part::kOut:
      return;
    case Part::kEntitled: {
      const Class& of = classes_[to_index(known.of)];
      loosen(queues_[to_index(of.queue)], of.gpus, entitled_.stored(job), kBack);
      take(of, -of.gpus);
      entitled_.remove(job);
      return leave(job);
    }
    case Part::kRests:
      return erase_borrowing(classes_[to_index(known.of)].resting, known.place);
    case Part::kFalls:
      return erase_borrowing(classes_[to_index(known.of)].falling, known.place);
    case Part::kStays:
      Queue& queue = queues_[to_index(known.of)];
      std::erase_if(queue.stay, [&](const Protected& one) { return one.job == job; });
      queue.stay_changed = true;
  }
}

void GuaranteedJobs::stay(const StateImpl& s, std::int32_t job) {
  const std::int32_t of = s.job.queue[to_index(job)];
  Known& known = known_[to_index(job)];
  known.part = Part::kStays;
  known.of = of < 0 ? static_cast<std::int32_t>(s.queues.size()) : of;
  Queue& queue = queues_[to_index(known.of)];
  const Protected one{s.job_label[to_index(job)], job, held_amount(s, job), true};
  queue.stay.insert(std::upper_bound(queue.stay.begin(), queue.stay.end(), one), one);
  queue.stay_changed = true;
}

// Until it is judged.
void GuaranteedJobs::borrow(std::int32_t job, std::int32_t of, const OrderPlace& place, FallingKeys& keys) {
  Class& in = classes_[to_index(of)];
  Queue& queue = queues_[to_index(in.queue)];
  Known& known = known_[to_index(job)];
  const std::int64_t fall = known.runs ? keys.most_fall(job) : 0;
  known.part = fall > 0 ? Part::kFalls : Part::kRests;
  known.of = of;
  known.place = place;
  std::vector<OrderPlace>& order = fall > 0 ? in.falling : in.resting;
  if (fall > 0) {
    known.place.key = keys.lowest_key(job, queue.horizon);
    in.fall = order.empty() ? fall : std::min(in.fall, fall);
  }
  if (filling_) {
    order.push_back(known.place);
  } else {
    insert_borrowing(order, known.place);
  }
  in.first_in = 0;
  if (place < in.cut) queue.is_dirty = in.may_come = true;
  if (fall > 0 && lowest_place(in, known.place, in.quiet_until) < in.cut) queue.quiet_until = in.quiet_until = -1;
}

void GuaranteedJobs::enter(std::int32_t job) {
  touched_.push_back(job);
  waiting_ += known_[to_index(job)].runs ? 0 : 1;
}

void GuaranteedJobs::leave(std::int32_t job) {
  touched_.push_back(job);
  waiting_ -= known_[to_index(job)].runs ? 0 : 1;
}

// From one place to another the queue has that much less, or may have more.
void GuaranteedJobs::loosen(Queue& queue, std::int64_t gpus, const OrderPlace& from, const OrderPlace& to) {
  for (const std::int32_t c : queue.classes) {
    Class& of = classes_[to_index(c)];
    if (of.cut < from || !(of.cut < to)) continue;
    of.over -= gpus;
    if (of.over > 0) continue;
    set_cut(of, kBack);
    queue.is_dirty = true;
  }
}

// A job of a class has come to the entitled ones. Classes count it that count in no other type.
void GuaranteedJobs::tighten(const Queue& queue, const Class& of, const OrderPlace& from) {
  for (const std::int32_t c : queue.classes) {
    Class& other = classes_[to_index(c)];
    if (!(other.cut < from) && !is_back(other.cut) && (other.type < 0 || other.type == of.type)) other.over += of.gpus;
  }
}

void GuaranteedJobs::take(const Class& of, std::int64_t gpus) {
  if (of.type >= 0) taken_[at(of.queue, of.type)] += gpus;
  taken_[at(of.queue, columns_ - 1)] += gpus;
}

// How much more than a share the queue would have with another job of the class; above 0: there is no room.
std::int64_t GuaranteedJobs::over(const Class& of, const std::vector<std::int64_t>& taken) const {
  const auto in = [&](std::int32_t column) {
    const std::size_t i = at(of.queue, column);
    return share_[i] == kUncounted ? INT64_MIN : taken[i] + of.gpus - share_[i];
  };
  return std::max(of.type < 0 ? INT64_MIN : in(of.type), in(columns_ - 1));
}

bool GuaranteedJobs::is_over(std::int32_t queue) const {
  for (std::size_t i = at(queue, 0); i < at(queue + 1, 0); ++i) {
    if (share_[i] != kUncounted && taken_[i] > share_[i]) return true;
  }
  return false;
}

// Of a job whose key falls: a place that it does not pass until then.
OrderPlace GuaranteedJobs::lowest_place(const Class& of, const OrderPlace& falling, TimeUs until) const {
  const TimeUs left = std::max<TimeUs>(0, queues_[to_index(of.queue)].horizon - until);
  return {saturating_add(falling.key, saturating_mul(of.fall, left)), falling.label, falling.job, falling.level};
}

OrderPlace GuaranteedJobs::place_now(const OrderPlace& falling, FallingKeys& keys) {
  const OrderPlace now{keys.key_of(falling.job), falling.label, falling.job, falling.level};
  if (keys.most_fall(falling.job) == 0) rested_.push_back(now);
  return now;
}

// Takes those of `rested_` from the ones whose keys fall: from now on their keys rest.
void GuaranteedJobs::rest(Class& of) {
  for (const OrderPlace& one : rested_) {
    Known& known = known_[to_index(one.job)];
    erase_borrowing(of.falling, known.place);
    insert_borrowing(of.resting, one);
    known.part = Part::kRests;
    known.place = one;
    if (one < of.cut) queues_[to_index(of.queue)].is_dirty = of.may_come = true;
  }
  rested_.clear();
}

// @returns the first by its current key; kBack: none
const OrderPlace& GuaranteedJobs::first_of(Class& of, FallingKeys& keys) {
  if (std::exchange(of.first_in, judged_) == judged_) return of.first;
  of.first = of.resting.empty() ? kBack : of.resting.back();
  for (auto at = of.falling.crbegin(); at != of.falling.crend() && !(of.first < lowest_place(of, *at, judged_at_)); ++at) {
    of.first = std::min(of.first, place_now(*at, keys));
  }
  rest(of);
  return of.first;
}

void GuaranteedJobs::read_shares() {
  for (std::size_t i = 0; i < share_.size(); ++i) {
    if (share_[i] == kUncounted) continue;
    const auto queue = static_cast<std::int32_t>(i / to_index(columns_)), column = static_cast<std::int32_t>(i % to_index(columns_));
    const std::int64_t share = ledger_->entitled(queue, column, false);
    if (share == share_[i]) continue;
    Queue& of = queues_[to_index(queue)];
    if (share > share_[i]) loosen(of, share - share_[i], kFront, kBack);
    share_[i] = share;
    of.is_dirty = of.stay_changed = true;
  }
}

// Jobs that may not be displaced are judged before all others, by what they hold.
void GuaranteedJobs::read_stay(const StateImpl& s, std::size_t queue) {
  Queue& of = queues_[queue];
  of.stay_changed = false;
  of.victims_from = kNever;
  const bool has_shares = queue < s.queues.size();
  const std::size_t first = has_shares ? at(static_cast<std::int32_t>(queue), 0) : 0, all = first + to_index(columns_) - 1;
  std::vector<std::int64_t> before;
  if (has_shares) before.assign(stay_.begin() + static_cast<std::ptrdiff_t>(first), stay_.begin() + static_cast<std::ptrdiff_t>(all) + 1);
  for (std::size_t i = first; has_shares && i <= all; ++i) stay_[i] = 0;
  for (Protected& one : of.stay) {
    const QuotaAmount& held = one.held;
    const std::size_t type = held.type >= 0 ? first + to_index(held.type) : all;
    bool within = false, fits = held.gpus > 0;
    for (const std::size_t i : {type, all}) {
      if (!has_shares || share_[i] == kUncounted) continue;
      within = true;
      fits = fits && saturating_add(stay_[i], held.gpus) <= share_[i];
    }
    one.borrows = !within || !fits;
    if (one.borrows) {
      of.victims_from = std::min(of.victims_from, s.job.victim_from[to_index(one.job)]);
      continue;
    }
    if (held.type >= 0) stay_[type] += held.gpus;
    stay_[all] += held.gpus;
  }
  for (std::size_t i = first; has_shares && i <= all; ++i) {
    const std::int64_t more = stay_[i] - before[i - first];
    if (more == 0) continue;
    taken_[i] += more;
    if (more < 0) loosen(of, -more, kFront, kBack);
    of.is_dirty = true;
  }
}

void GuaranteedJobs::look_ahead(Queue& queue, TimeUs until, FallingKeys& keys) {
  queue.horizon = until;
  for (const std::int32_t c : queue.classes) {
    Class& of = classes_[to_index(c)];
    for (const OrderPlace& one : of.falling) place_now(one, keys);
    rest(of);
    of.fall = INT64_MAX;
    for (OrderPlace& one : of.falling) {
      one.key = keys.lowest_key(one.job, until);
      known_[to_index(one.job)].place = one;
      of.fall = std::min(of.fall, keys.most_fall(one.job));
    }
    std::sort(of.falling.begin(), of.falling.end(), is_later);
  }
}

// Where it moves back, jobs may stand before it that did not.
void GuaranteedJobs::set_cut(Class& of, const OrderPlace& cut) {
  if (of.cut < cut) of.quiet_until = -1;
  of.cut = cut;
}

// Whether a job of a closed class stands before the cut by now, as its key fell.
bool GuaranteedJobs::passes_cut(Class& of, FallingKeys& keys) {
  if (judged_at_ <= of.quiet_until) return false;
  bool passes = false;
  auto at = of.falling.crbegin();
  while (at != of.falling.crend() && !passes && lowest_place(of, *at, judged_at_) < of.cut) passes = place_now(*at++, keys) < of.cut;
  const bool all_rest = rested_.size() == to_index(at - of.falling.crbegin());
  rest(of);
  if (!passes && all_rest) of.quiet_until = quiet_until(of);
  return passes;
}

// Of a closed class, where no job may stand before the cut now: until when none does.
TimeUs GuaranteedJobs::quiet_until(const Class& of) const {
  const TimeUs horizon = queues_[to_index(of.queue)].horizon;
  if (of.falling.empty() || of.cut.level != of.falling.back().level || of.cut.key < of.falling.back().key) return horizon;
  const Wide left = (Wide{of.cut.key} - of.falling.back().key) / of.fall;
  return left < horizon ? horizon - 1 - static_cast<TimeUs>(left) : -1;
}

void GuaranteedJobs::look_for_passing(Queue& queue, FallingKeys& keys) {
  queue.quiet_until = kNever;
  for (const std::int32_t c : queue.classes) {
    Class& of = classes_[to_index(c)];
    if (!queue.is_dirty) queue.is_dirty = of.may_come = passes_cut(of, keys);
    queue.quiet_until = std::min(queue.quiet_until, of.quiet_until);
  }
}

void GuaranteedJobs::judge(const StateImpl& s, FallingKeys& keys) {
  ++judged_;
  if (std::exchange(filling_, false)) {
    for (Class& of : classes_) {
      for (std::vector<OrderPlace>* const order : {&of.resting, &of.falling}) std::sort(order->begin(), order->end(), is_later);
    }
  }
  changed_.clear();
  entitled_.end_changes();
  entitled_.begin();
  read_shares();
  judged_at_ = s.now;
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    Queue& queue = queues_[q];
    if (queue.stay_changed) read_stay(s, q);
    if (queue.classes.empty()) continue;
    if (queue.horizon < s.now) look_ahead(queue, s.now + kDay, keys);
    if (!queue.is_dirty && queue.quiet_until < s.now) look_for_passing(queue, keys);
    if (queue.is_dirty) judge_queue(static_cast<std::int32_t>(q), keys);
  }
  entitled_.end_changes();
  for (const std::int32_t job : touched_) {
    const bool is_entitled = entitled_.has(job);
    if (std::exchange(known_[to_index(job)].was_entitled, is_entitled) != is_entitled) changed_.push_back(job);
  }
  touched_.clear();
}

// The first job that may come to the entitled ones; kBack: none.
OrderPlace GuaranteedJobs::next_to_try(const Queue& queue, FallingKeys& keys) {
  OrderPlace next = kBack;
  for (const std::int32_t c : queue.classes) {
    Class& of = classes_[to_index(c)];
    if (!is_back(of.cut) && !of.may_come && !passes_cut(of, keys)) continue;
    const OrderPlace& first = first_of(of, keys);
    of.may_come = first < of.cut;
    if (of.may_come) next = std::min(next, first);
  }
  return next;
}

void GuaranteedJobs::accept(std::int32_t job) {
  Known& known = known_[to_index(job)];
  Class& of = classes_[to_index(known.of)];
  erase_borrowing(known.part == Part::kFalls ? of.falling : of.resting, known.place);
  of.first_in = 0;
  known.part = Part::kEntitled;
  take(of, of.gpus);
  enter(job);
}

// None of the jobs that are entitled and not judged again is behind that place: keys fall, so none is behind where it is stored.
OrderPlace GuaranteedJobs::last_stored(std::int32_t q) const {
  OrderPlace last = fresh_.empty() ? kFront : fresh_.back();
  if (to_index(q) >= entitled_.parts()) return last;
  const std::span<const OrderPlace> stored = entitled_.stored_in(to_index(q));
  return stored.size() <= read_ ? last : std::max(last, stored[stored.size() - 1 - read_]);
}

// The last job that is entitled and not judged again; kFront: none.
OrderPlace GuaranteedJobs::last_of(std::int32_t q, FallingKeys& keys) {
  const OrderPlace* const last = to_index(q) < entitled_.parts() ? entitled_.at_end(to_index(q), read_, keys) : nullptr;
  const OrderPlace known = last == nullptr ? kFront : *last;
  return fresh_.empty() ? known : std::max(known, fresh_.back());
}

// Jobs that may come are taken for entitled as long as the queue stays within its share. Where it does not, the last entitled jobs are
// judged again.
void GuaranteedJobs::judge_queue(std::int32_t q, FallingKeys& keys) {
  Queue& queue = queues_[to_index(q)];
  for (const std::int32_t c : queue.classes) {
    Class& of = classes_[to_index(c)];
    if (!is_back(of.cut)) continue;
    of.over = over(of, stay_);
    if (of.over > 0) set_cut(of, kFront);
  }
  fresh_.clear();
  again_.clear();
  read_ = 0;
  OrderPlace last = last_stored(q);
  while (true) {
    for (; last.job >= 0 && is_over(q); last = last_stored(q)) {
      last = last_of(q, keys);
      const Class& of = classes_[to_index(known_[to_index(last.job)].of)];
      take(of, -of.gpus);
      again_.push_back(last);
      if (!fresh_.empty() && fresh_.back().job == last.job) {
        fresh_.pop_back();
      } else {
        ++read_;
      }
    }
    const OrderPlace next = next_to_try(queue, keys);
    if (next < last) last = last_of(q, keys);
    if (!(next < last)) break;
    accept(next.job);
    tighten(queue, classes_[to_index(known_[to_index(next.job)].of)], next);
    insert(fresh_, next);
  }
  judge_rest(q, last, keys);
  for (const OrderPlace& one : fresh_) entitled_.add(one, to_index(q));
  queue.is_dirty = false;
  queue.quiet_until = -1;
}

// Those behind all that stay entitled, in their order.
void GuaranteedJobs::judge_rest(std::int32_t q, const OrderPlace& rest, FallingKeys& keys) {
  open_.clear();
  for (const std::int32_t c : queues_[to_index(q)].classes) {
    Class& of = classes_[to_index(c)];
    if (!(rest < of.cut)) continue;
    of.over = over(of, taken_);
    set_cut(of, of.over > 0 ? rest : kBack);
    if (is_back(of.cut)) open_.push_back({c, first_of(of, keys)});
  }
  for (std::size_t left = again_.size();;) {
    while (left > 0 && !is_back(classes_[to_index(known_[to_index(again_[left - 1].job)].of)].cut)) {
      const OrderPlace& one = again_[--left];
      if (entitled_.has(one.job)) entitled_.remove(one.job);
      leave(one.job);
      borrow(one.job, known_[to_index(one.job)].of, one, keys);
    }
    OrderPlace next = left > 0 ? again_[left - 1] : kBack;
    Open* of_next = nullptr;
    for (Open& one : open_) {
      if (!(one.first < next)) continue;
      next = one.first;
      of_next = &one;
    }
    if (is_back(next)) return;
    if (of_next != nullptr) {
      accept(next.job);
      of_next->first = first_of(classes_[to_index(of_next->of)], keys);
    } else {
      --left;
      const Class& of = classes_[to_index(known_[to_index(next.job)].of)];
      take(of, of.gpus);
    }
    if (!entitled_.has(next.job)) fresh_.push_back(next);
    std::erase_if(open_, [&](const Open& one) {
      Class& of = classes_[to_index(one.of)];
      of.over = over(of, taken_);
      if (of.over > 0) set_cut(of, next);
      return of.over > 0;
    });
  }
}

TimeUs GuaranteedJobs::victims_from() const {
  TimeUs from = kNever;
  for (const Queue& queue : queues_) from = std::min(from, queue.victims_from);
  return from;
}

void GuaranteedJobs::say_why(const StateImpl& s, std::int32_t victim, Reason& reason, FallingKeys& keys) {
  const std::int32_t by = reason.other_job;
  if (reason.code != ReasonCode::kLostPriority || by < 0 || level(by) >= level(victim)) return;
  const Class& of = classes_[to_index(known_[to_index(by)].of)];
  const bool by_all = share_[at(of.queue, columns_ - 1)] != kUncounted;
  const std::int32_t column = by_all ? columns_ - 1 : of.type;
  const auto place = [&](std::int32_t job) { return OrderPlace{keys.key_of(job), s.job_label[to_index(job)], job}; };
  const OrderPlace here = place(by);
  std::int64_t before = stay_[at(of.queue, column)];
  for (const OrderPlace& one : entitled_.stored_in(to_index(of.queue))) {
    const Class& other = classes_[to_index(known_[to_index(one.job)].of)];
    if ((by_all || other.type == column) && (one < here || place(one.job) < here)) before += other.gpus;
  }
  reason.queue = of.queue;
  reason.gpu_type = by_all ? -1 : column;
  reason.asked = share_[at(of.queue, column)] / kWholeGpu;
  reason.best = before / kWholeGpu;
  const std::int32_t own = s.job.queue[to_index(victim)];
  if (own < 0 || own == of.queue) return;
  const std::int64_t entitled = by_all ? ledger_->entitled(own, false) : ledger_->entitled(own, column, false);
  reason.free = std::max<std::int64_t>(0, ledger_->taken(own, column) - entitled) / kWholeGpu;
}

}  // namespace berth::core
