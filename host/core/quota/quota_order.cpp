#include "host/core/quota/quota_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/quota/other_standing.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

// Other ways to count jobs are tried at most so often in a decision.
constexpr std::size_t kMostStandings = 4;
constexpr std::array kStandings{QuotaStanding::kGuaranteed, QuotaStanding::kFair, QuotaStanding::kBorrowing};

TimeUs got_gpus_at(const StateImpl& s, std::int32_t job) {
  const TimeUs at = s.jobs[to_index(job)].job->last_assignment_us;
  return at == kNever ? s.job.submit[to_index(job)] : at;
}

bool runs(const StateImpl& s, const QuotaMarks& marks, std::int32_t job) {
  return s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
}

}  // namespace

bool QuotaOrder::applies(const StateImpl& s, Quotas quotas) {
  if (has_fair_shares(quotas)) return !s.queues.empty();
  return quotas == Quotas::kGuarantees && QueueShares::any_guarantee(s);
}

bool QuotaOrder::is_protected(const StateImpl& s, const QuotaMarks& marks, std::int32_t job) {
  return marks.repaired[to_index(job)] >= 0 || marks.left_out[to_index(job)] != 0 || s.job.victim_from[to_index(job)] > s.now;
}

// What queues ask for and have.
void QuotaOrder::look(const StateImpl& s, std::span<const std::int32_t> running, std::span<const std::int32_t> order) {
  victims_from_ = kNever;
  standing_.assign(s.jobs.size(), static_cast<std::uint8_t>(QuotaStanding::kBorrowing));
  asked_.assign(s.jobs.size(), 0);
  within_.assign(to_index(problem_->n_options), 1);
  narrows_ = false;
  evidence_.assign(s.jobs.size(), {});
  ledger_.begin(s);
  const auto ask = [&](std::int32_t job, const QuotaAmount& amount) {
    if (std::exchange(asked_[to_index(job)], 1) == 0) ledger_.ask(s.job.queue[to_index(job)], amount);
  };
  for (const std::int32_t job : running) {
    const QuotaJob counted = quota_job(s, *problem_, job);
    ask(job, counted.asked);
    ledger_.take(counted.queue, counted.held);
  }
  for (const std::int32_t job : order) ask(job, asked_amount(*problem_, job));
  ledger_.divide(s, quotas_);
  had_.assign(ledger_.taken().begin(), ledger_.taken().end());
  excess_.clear();
  for (std::int32_t q = 0; q < std::ssize(s.queues); ++q) excess_.push_back(ledger_.excess(q));
}

QuotaStanding QuotaOrder::stand(const StateImpl& s, std::int32_t job, bool as_held) {
  const std::int32_t queue = s.job.queue[to_index(job)];
  const kernel::ProblemView& p = *problem_;
  const std::int32_t begin = p.option_begin[job], end = p.option_end[job];
  QuotaAmount amount;
  const auto is_within = [&](bool fair) {
    if (as_held || begin == end) {
      amount = held_amount(s, job);
      return amount.gpus > 0 && ledger_.is_within(queue, amount, fair);
    }
    amount = ledger_.within_options(p, job, queue, fair, [&](std::int32_t o, bool within) { within_[to_index(o)] = within ? 1 : 0; });
    return amount.gpus > 0;
  };
  QuotaStanding standing = QuotaStanding::kBorrowing;
  if (is_within(false)) {
    standing = QuotaStanding::kGuaranteed;
  } else if (has_fair_shares(quotas_) && is_within(true)) {
    standing = QuotaStanding::kFair;
  }
  if (standing == QuotaStanding::kBorrowing) {
    std::fill(within_.begin() + begin, within_.begin() + end, std::uint8_t{1});
  } else {
    take(s, job, amount, standing);
  }
  standing_[to_index(job)] = static_cast<std::uint8_t>(standing);
  return standing;
}

void QuotaOrder::take(const StateImpl& s, std::int32_t job, const QuotaAmount& amount, QuotaStanding standing) {
  const std::int32_t queue = s.job.queue[to_index(job)];
  const bool fair = standing == QuotaStanding::kFair;
  const auto begin = within_.begin() + problem_->option_begin[job], end = within_.begin() + problem_->option_end[job];
  const bool in_all = std::find(begin, end, 0) == end;
  const std::int32_t column = ledger_.is_dominant(fair) ? -1 : ledger_.column_of(queue, amount.type, fair);
  evidence_[to_index(job)] = {column, in_all};
  if (column >= 0) {
    evidence_[to_index(job)].entitled = ledger_.entitled(queue, column, fair);
    evidence_[to_index(job)].before = ledger_.taken(queue, column);
  }
  ledger_.take(queue, amount);
  narrows_ = narrows_ || !in_all;
}

bool QuotaOrder::has_claim(std::int32_t queue, const QuotaAmount& claim, const QuotaAmount& one, bool fair) const {
  const bool counts_alike = one.type == claim.type || !(ledger_.states(queue, one.type) || ledger_.states(queue, claim.type));
  const bool takes_no_more = !ledger_.is_dominant(fair) || (one.cpu <= claim.cpu && one.memory <= claim.memory);
  return counts_alike && one.gpus <= claim.gpus && takes_no_more;
}

// Of the options that are within, a job claims the first for which its type has enough GPUs that running jobs may give back or that are
// free, and no job before it has claimed; else the first. It is charged with that wherever it runs. So claims do not depend on which
// jobs run, and a job borrows where it runs otherwise. Types of which the queue has no guarantee are alike.
void QuotaOrder::claim(const StateImpl& s, std::int32_t job, bool is_running) {
  const std::int32_t queue = s.job.queue[to_index(job)];
  const kernel::ProblemView& p = *problem_;
  const std::int32_t begin = p.option_begin[job], end = p.option_end[job];
  if (begin == end) {
    stand(s, job, true);
    return;
  }
  standing_[to_index(job)] = static_cast<std::uint8_t>(QuotaStanding::kBorrowing);
  for (const QuotaStanding standing : {QuotaStanding::kGuaranteed, QuotaStanding::kFair}) {
    const bool fair = standing == QuotaStanding::kFair;
    if (fair && !has_fair_shares(quotas_)) return;
    std::int32_t claimed = kernel::kNone;
    for (std::int32_t o = begin; o < end; ++o) {
      const QuotaAmount one = asked_in(p, o);
      if (!ledger_.is_within(queue, one, fair)) continue;
      const bool is_in_reach = reach_[to_index(one.type)] >= one.gpus;
      if (claimed == kernel::kNone || is_in_reach) claimed = o;
      if (is_in_reach) break;
    }
    if (claimed == kernel::kNone) continue;
    const QuotaAmount amount = asked_in(p, claimed);
    claims_[to_index(job)] = amount;
    const auto is_claimed = [&](const QuotaAmount& one) { return has_claim(queue, amount, one, fair); };
    for (std::int32_t o = begin; o < end; ++o) within_[to_index(o)] = is_claimed(asked_in(p, o)) ? 1 : 0;
    reach_[to_index(amount.type)] -= amount.gpus;
    take(s, job, amount, standing);
    if (!is_running || end - begin == 1 || is_claimed(held_amount(s, job))) standing_[to_index(job)] = static_cast<std::uint8_t>(standing);
    return;
  }
}

// Those first that are displaced first: jobs that borrow before those within a fair share; of the queue that is furthest above what it
// is entitled to, by its weight; of that the lowest priority, the least cost, the fewest restarts, and the youngest. Cost counts once
// more for each time that a job was restarted, so that it is not always the same one.
void QuotaOrder::order_victims(const StateImpl& s) {
  const auto none = static_cast<std::int32_t>(s.queues.size());  // no queue
  rows_.clear();
  for (const std::int32_t job : victims_) {
    const QuotaAmount held = held_amount(s, job);
    const Job& described = *s.jobs[to_index(job)].job;
    const std::int64_t restarts = std::max<std::int64_t>(0, described.progress.restarts);
    const std::int64_t cost = saturating_mul(saturating_mul(displace_cost(described.costs), held.gpus), saturating_add(restarts, 1));
    const std::int32_t queue = s.job.queue[to_index(job)];
    rows_.push_back(
        {queue < 0 ? none : queue, s.job.priority[to_index(job)], cost, restarts, got_gpus_at(s, job), job, ledger_.counts(held)});
  }
  std::sort(rows_.begin(), rows_.end(), [&](const Victim& a, const Victim& b) {
    return std::tuple(a.queue, standing(b.job), a.priority, a.cost, a.restarts, b.since, s.job_rank()[to_index(b.job)]) <
           std::tuple(b.queue, standing(a.job), b.priority, b.cost, b.restarts, a.since, s.job_rank()[to_index(a.job)]);
  });
  heap_.clear();
  for (std::size_t i = 0; i < rows_.size();) {
    const std::int32_t queue = rows_[i].queue;
    Excess one{INT64_MAX, 1, i, i};
    if (queue != none) {
      one.over = excess_[to_index(queue)];
      one.weight = std::max<std::int64_t>(1, s.queues[to_index(queue)].weight_ppm);
    }
    while (one.end < rows_.size() && rows_[one.end].queue == queue) ++one.end;
    i = one.end;
    heap_.push_back(one);
  }
  const auto less = [&](const Excess& a, const Excess& b) {
    const Wide left = Wide{a.over} * b.weight, right = Wide{b.over} * a.weight;
    return left != right ? left < right : rows_[a.next].queue < rows_[b.next].queue;
  };
  victims_.clear();
  std::make_heap(heap_.begin(), heap_.end(), less);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), less);
    Excess& one = heap_.back();
    const Victim& victim = rows_[one.next];
    victims_.push_back(victim.job);
    if (victim.queue != none) one.over = saturating_add(one.over, -victim.counts);
    if (++one.next == one.end) {
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), less);
    }
  }
}

// Ranks by standing, by queue as they come in `victims_`, and by priority.
void QuotaOrder::rank_victims(const StateImpl& s) {
  queue_place_.assign(s.queues.size() + 1, -1);
  std::int32_t places = 0;
  rows_of_.assign(s.jobs.size(), nullptr);
  for (const Victim& row : rows_) rows_of_[to_index(row.job)] = &row;
  const auto key = [&](std::int32_t job) {
    const Victim& row = *rows_of_[to_index(job)];
    return RankKey{-static_cast<int>(standing(job)), queue_place_[to_index(row.queue)], row.priority};
  };
  for (const std::int32_t job : victims_) {
    std::int32_t& place = queue_place_[to_index(rows_of_[to_index(job)]->queue)];
    if (place < 0) place = places++;
  }
  std::vector<RankKey>& keys = rank_keys_;
  keys.clear();
  for (const std::int32_t job : victims_) keys.push_back(key(job));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  candidates_.clear();
  for (const std::int32_t job : victims_) {
    const auto rank = std::lower_bound(keys.begin(), keys.end(), key(job)) - keys.begin();
    candidates_.push_back({job, static_cast<std::int32_t>(rank), rows_of_[to_index(job)]->cost});
  }
}

// For the entitled jobs, by level.
void QuotaOrder::choose_victims(const StateImpl& s, const FindVictims& find) {
  arranged_.clear();
  for (const QuotaStanding now : {QuotaStanding::kGuaranteed, QuotaStanding::kFair}) {
    std::copy_if(entitled_.begin(), entitled_.end(), std::back_inserter(arranged_), [&](std::int32_t job) { return standing(job) == now; });
  }
  choice_.arrange(s, *problem_, find, arranged_, may_displace(), standing_, candidates_);
}

// `without_room_` stay entitled and take nothing; the others are judged again, and are `entitled_`.
void QuotaOrder::stand_without(const StateImpl& s, std::span<const std::int32_t> order) {
  ledger_.take_nothing();
  for (const std::int32_t job : running_) ledger_.take(s.job.queue[to_index(job)], held_amount(s, job));
  entitled_.clear();
  for (const std::int32_t job : order) {
    if (std::find(without_room_.begin(), without_room_.end(), job) != without_room_.end()) continue;
    if (stand(s, job, false) != QuotaStanding::kBorrowing) entitled_.push_back(job);
  }
}

// In the order of `running_`. Finds `victims_`.
void QuotaOrder::stand_running(const StateImpl& s, const QuotaMarks& marks) {
  ledger_.take_nothing();
  victims_.clear();
  victims_from_ = kNever;
  for (const std::int32_t job : running_) {
    const bool stays = marks.repaired[to_index(job)] >= 0 || marks.left_out[to_index(job)] != 0;
    if (stand(s, job, true) == QuotaStanding::kGuaranteed || stays) continue;
    if (is_protected(s, marks, job)) {
      victims_from_ = std::min(victims_from_, s.job.victim_from[to_index(job)]);
    } else {
      victims_.push_back(job);
    }
  }
  order_victims(s);
}

// Running jobs that leave for this one together, or might if they were counted last: those first that leave first.
void QuotaOrder::list_counted(const StateImpl& s, const QuotaMarks& marks, std::int32_t job) {
  counted_.clear();
  for (const std::int32_t one : victims_) {
    if (standing(one) > standing(job)) counted_.push_back({one, true});
  }
  for (auto one = running_.rbegin(); one != running_.rend(); ++one) {
    const bool may_count_last = standing(*one) <= standing(job) && !is_protected(s, marks, *one);
    if (may_count_last && s.job.queue[to_index(*one)] != s.job.queue[to_index(job)]) counted_.push_back({*one, false});
  }
}

// Counts these last, and chooses victims. @returns whether they all borrow then, no queue has less of what it is entitled to, and the job
// has room
bool QuotaOrder::has_room_if_last(const StateImpl& s, const QuotaMarks& marks, const FindVictims& find, std::int32_t job,
                                  std::span<const std::int32_t> last, std::span<const std::int64_t> before) {
  const auto is_last = [&](std::int32_t one) { return std::find(last.begin(), last.end(), one) != last.end(); };
  std::stable_partition(running_.begin(), running_.end(), [&](std::int32_t one) { return !is_last(one); });
  stand_running(s, marks);
  const auto borrows = [&](std::int32_t one) { return standing(one) > standing(job); };
  if (!std::all_of(last.begin(), last.end(), borrows) || !none_has_less(amounts_within(s, running_, standing_), before)) return false;
  rank_victims(s);
  choose_victims(s, find);
  const std::span<const std::int32_t> without = choice_.without_room();
  return std::find(without.begin(), without.end(), job) == without.end();
}

// Where those that borrow make no room for a job, others of their queues might, if these are counted last. Only such are that the search
// chooses as victims (docs/quotas.md, "Why it ends").
void QuotaOrder::count_others_last(const StateImpl& s, const QuotaMarks& marks, const FindVictims& find) {
  const kernel::ProblemView& p = *problem_;
  const std::vector<std::int32_t> stuck(choice_.without_room().begin(), choice_.without_room().end()), oldest_first = running_;
  const std::vector<std::int64_t> before = amounts_within(s, running_, standing_);
  std::size_t tries = kMostStandings;
  for (const std::int32_t job : stuck) {
    if (!is_flat_gang(p, job)) continue;
    list_counted(s, marks, job);
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job] && tries > 0; ++o) {
      if (within_[to_index(o)] == 0) continue;
      for (OtherStanding& other : other_standings(s, p, p.options[o].demand, counted_, tries)) {
        --tries;
        bool has_room = has_room_if_last(s, marks, find, job, other.jobs, before);
        if (has_room && std::erase_if(other.jobs, [&](std::int32_t one) { return !choice_.is_chosen(one); }) > 0) {
          running_ = oldest_first;
          has_room = has_room_if_last(s, marks, find, job, other.jobs, before);
        }
        const auto leaves = [&](std::int32_t one) { return choice_.is_chosen(one); };
        if (has_room && std::all_of(other.jobs.begin(), other.jobs.end(), leaves)) return;
        running_ = oldest_first;
        stand_running(s, marks);
      }
    }
    if (tries == 0) break;
  }
  if (tries == kMostStandings) return;
  rank_victims(s);
  choose_victims(s, find);
}

// Running jobs are entitled first: protected ones, then the oldest. After `look`; `running_` are those that may be added.
bool QuotaOrder::arrange_waiting(const StateImpl& s, const QuotaMarks& marks, std::span<const std::uint8_t> chosen, const FindVictims& find,
                                 std::vector<std::int32_t>& order) {
  bool any = false;
  entitled_.clear();
  for (const std::int32_t job : order) {
    const bool is_entitled = stand(s, job, false) != QuotaStanding::kBorrowing;
    if (is_entitled) entitled_.push_back(job);
    any = any || (is_entitled && (chosen.empty() || chosen[to_index(job)] == 0));
  }
  if (!any) return false;
  const auto key = [&](std::int32_t job) {
    return std::tuple(!is_protected(s, marks, job), got_gpus_at(s, job), s.job_rank()[to_index(job)]);
  };
  std::sort(running_.begin(), running_.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  stand_running(s, marks);
  if (find && !victims_.empty()) {
    rank_victims(s);
    choose_victims(s, find);
    if (!choice_.without_room().empty()) count_others_last(s, marks, find);
    // What a job without room would have of the guarantee is left to those behind it, once.
    without_room_.clear();
    std::copy_if(choice_.without_room().begin(), choice_.without_room().end(), std::back_inserter(without_room_),
                 [&](std::int32_t job) { return problem_->option_end[job] - problem_->option_begin[job] == 1; });
    if (!without_room_.empty()) {
      stand_without(s, order);
      choose_victims(s, find);
    }
    std::transform(candidates_.begin(), candidates_.end(), victims_.begin(), [](const VictimCandidate& one) { return one.job; });
  }
  std::reverse(victims_.begin(), victims_.end());
  arranged_.clear();
  for (const QuotaStanding now : kStandings) {
    for (const std::vector<std::int32_t>* const jobs : {&victims_, &order}) {
      std::copy_if(jobs->begin(), jobs->end(), std::back_inserter(arranged_), [&](std::int32_t job) { return standing(job) == now; });
    }
  }
  class_.assign(s.jobs.size(), 0);
  for (const std::int32_t job : arranged_) class_[to_index(job)] = 2 - standing_[to_index(job)];
  order.swap(arranged_);
  class_rule_ = true;
  return true;
}

// GPUs of each type that are free, or held by jobs that may be displaced.
void QuotaOrder::count_reach(const StateImpl& s, const QuotaMarks& marks) {
  reach_.assign(s.gpu_types.size(), 0);
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
    if (problem_->node_type[n] >= 0) reach_[to_index(problem_->node_type[n])] += kWholeGpu * std::popcount(problem_->node_free[n]);
  }
  for (const std::int32_t job : running_) {
    const QuotaAmount held = held_amount(s, job);
    if (held.type >= 0 && !is_protected(s, marks, job)) reach_[to_index(held.type)] += held.gpus;
  }
}

// Jobs are judged by what they ask for, in order.
bool QuotaOrder::arrange_preemptive(const StateImpl& s, bool class_rule, const QuotaMarks& marks, std::vector<std::int32_t>& order) {
  ledger_.take_nothing();
  count_reach(s, marks);
  claims_.assign(s.jobs.size(), {});
  const auto stays = [&](std::int32_t job) { return runs(s, marks, job) && is_protected(s, marks, job); };
  for (const std::int32_t job : running_) {
    if (!stays(job) || stand(s, job, true) == QuotaStanding::kGuaranteed) continue;
    if (s.job.victim_from[to_index(job)] > s.now) victims_from_ = std::min(victims_from_, s.job.victim_from[to_index(job)]);
  }
  for (const std::int32_t job : order) {
    if (!stays(job)) claim(s, job, runs(s, marks, job));
  }
  const std::uint8_t first = standing_[to_index(order.front())];
  const auto is_as_first = [&](std::int32_t job) { return standing_[to_index(job)] == first; };
  // Even where all are entitled, others may move for one that waits.
  const bool may_stick = first != static_cast<std::uint8_t>(QuotaStanding::kBorrowing) &&
                         std::any_of(order.begin(), order.end(), [&](std::int32_t job) { return !runs(s, marks, job); });
  if (!narrows_ && !may_stick && std::all_of(order.begin(), order.end(), is_as_first)) return false;
  arranged_.clear();
  for (const QuotaStanding now : kStandings) {
    std::copy_if(order.begin(), order.end(), std::back_inserter(arranged_), [&](std::int32_t job) { return standing(job) == now; });
  }
  order.swap(arranged_);
  class_rule_ = class_rule;
  if (!class_rule) return true;
  // Standing first, then the classes of the jobs, by rank.
  std::vector<std::int32_t>& known = arranged_;
  known.clear();
  for (const std::int32_t job : order) known.push_back(s.job.preemption_class[to_index(job)]);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  class_.assign(s.jobs.size(), 0);
  for (const std::int32_t job : order) {
    const auto rank = std::lower_bound(known.begin(), known.end(), s.job.preemption_class[to_index(job)]) - known.begin();
    class_[to_index(job)] = static_cast<std::int32_t>((2 - standing_[to_index(job)]) * std::ssize(known) + rank);
  }
  return true;
}

const std::int32_t* QuotaOrder::classes_with_first(std::int32_t job) {
  std::int32_t first = class_[to_index(job)];
  for (std::size_t one = 0; one < class_.size(); ++one) {
    if (standing_[one] == standing_[to_index(job)]) first = std::max(first, class_[one]);
  }
  class_with_first_.resize(class_.size());
  std::transform(class_.begin(), class_.end(), class_with_first_.begin(), [](std::int32_t of) { return 2 * of; });
  class_with_first_[to_index(job)] = 2 * first + 1;
  return class_with_first_.data();
}

bool QuotaOrder::arrange(const StateImpl& s, const kernel::ProblemView& problem, const PolicyEntry& entry, Quotas quotas,
                         const QuotaMarks& marks, const FindVictims& find, std::vector<std::int32_t>& order) {
  if (order.empty() || !applies(s, quotas)) return false;
  problem_ = &problem;
  quotas_ = quotas;
  running_.clear();
  std::copy_if(s.job_order.begin(), s.job_order.end(), std::back_inserter(running_), [&](std::int32_t job) { return runs(s, marks, job); });
  look(s, running_, order);
  tries_all_ = !entry.preemptive;
  return entry.preemptive ? arrange_preemptive(s, entry.class_rule, marks, order) : arrange_waiting(s, marks, {}, find, order);
}

bool QuotaOrder::arrange_chosen(const StateImpl& s, const kernel::ProblemView& problem, Quotas quotas, const QuotaMarks& marks,
                                std::span<const std::int32_t> stay, std::span<const std::uint8_t> chosen, const FindVictims& find,
                                std::vector<std::int32_t>& order) {
  if (order.empty() || !applies(s, quotas)) return false;
  problem_ = &problem;
  quotas_ = quotas;
  tries_all_ = false;
  running_.assign(stay.begin(), stay.end());
  look(s, stay, order);
  return arrange_waiting(s, marks, chosen, find, order);
}

std::int64_t QuotaOrder::had_of(const StateImpl& s, std::int32_t queue, std::int32_t column) const {
  return had_[to_index(queue) * (s.gpu_types.size() + 1) + to_index(column)];
}

bool QuotaOrder::is_claimed(const StateImpl& s, std::int32_t job, const QuotaAmount& amount) const {
  return has_claim(s.job.queue[to_index(job)], claims_[to_index(job)], amount, standing(job) == QuotaStanding::kFair);
}

void QuotaOrder::say_why(const StateImpl& s, std::int32_t victim, Reason& reason) const {
  if (reason.code != ReasonCode::kLostPriority || reason.other_job < 0 || standing(reason.other_job) >= standing(victim)) return;
  Evidence why = evidence_[to_index(reason.other_job)];
  reason.queue = s.job.queue[to_index(reason.other_job)];
  const bool fair = quotas_ == Quotas::kFair, by_fair = standing(reason.other_job) == QuotaStanding::kFair;
  if (ledger_.is_dominant(by_fair)) return;  // no number of GPUs
  // It was within in several types; the one that it took is that of the victim.
  if (const std::int32_t type = s.job.held_type[to_index(victim)]; why.column < 0 && type >= 0) {
    why.column = ledger_.column_of(reason.queue, type, by_fair);
    why.entitled = ledger_.entitled(reason.queue, why.column, by_fair);
    why.before = std::min(had_of(s, reason.queue, why.column), why.entitled);
  }
  if (why.column < 0) return;
  reason.gpu_type = ledger_.is_all_types(why.column) ? -1 : why.column;
  reason.asked = why.entitled / kWholeGpu;
  reason.best = why.before / kWholeGpu;
  const std::int32_t own = s.job.queue[to_index(victim)];
  if (own < 0 || own == reason.queue) return;
  const std::int64_t entitled = ledger_.is_all_types(why.column) ? ledger_.entitled(own, fair) : ledger_.entitled(own, why.column, fair);
  reason.free = std::max<std::int64_t>(0, had_of(s, own, why.column) - entitled) / kWholeGpu;
}

}  // namespace berth::core
