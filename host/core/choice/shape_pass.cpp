#include "host/core/choice/shape_pass.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

namespace {

// The shape at a rate, where that is lower than the one that the choice counts on.
kernel::ShapeTerms at_rate(const StateImpl& s, const ChosenShapes& choice, std::int32_t k, std::int64_t rate) {
  const ChoiceOption& one = choice.options[to_index(k)];
  const kernel::ShapeTerms& shape = choice.values.shapes()[to_index(k)];
  const std::int64_t counted_on = s.jobs[to_index(one.job)].option_rate[to_index(one.option)];
  return rate >= counted_on ? shape : at_speed(shape, mul_div(shape.speed, rate, counted_on));
}

}  // namespace

// Changing jobs first, the largest ones first, as they are the hardest to place. Then outbid jobs, in case room is left
// where others found no place.
void ShapePass::order_jobs(const StateImpl& s, const PassInput::Marks& marks, const ChosenShapes& choice) {
  left_.assign(s.jobs.size(), 0);
  passes_.assign(s.jobs.size(), 0);
  order_keys_.clear();
  outbid_.clear();
  lowered_.read(s.problem());
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    const std::int32_t job = choice.jobs[j];
    assert(choice.chosen[j] < choice.option_begin[j + 1] - choice.option_begin[j]);
    const std::int32_t chosen = choice.chosen[j] < 0 ? -1 : choice.option_begin[j] + choice.chosen[j];
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    const bool moves = !choice.moved.empty() && choice.moved[j] != 0;
    if (running && chosen >= 0 && choice.options[to_index(chosen)].current && !moves) continue;  // stays as it is
    if (running && chosen < 0 && lowered_.is_below(s.job.queue[to_index(job)], s.problem().held_type[job])) {
      outbid_.push_back({choice.net(choice.current(j)), s.job_rank()[to_index(job)], job});
      continue;
    }
    left_[to_index(job)] = running ? 1 : 0;
    passes_[to_index(job)] = 1;
    OrderKey key{chosen < 0, chosen < 0 ? 0 : choice.options[to_index(chosen)].gpus, INT64_MIN, s.job_rank()[to_index(job)], job};
    for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) key.net = std::max(key.net, choice.net(k));
    order_keys_.push_back(key);
  }
  std::sort(order_keys_.begin(), order_keys_.end(), [](const OrderKey& a, const OrderKey& b) {
    return std::tuple(a.outbid, b.gpus, b.net, a.rank) < std::tuple(b.outbid, a.gpus, a.net, b.rank);
  });
  order_.clear();
  for (const OrderKey& key : order_keys_) order_.push_back(key.job);
  stay_.clear();
  for (const std::int32_t job : s.job_order) {
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    if (running && passes_[to_index(job)] == 0) stay_.push_back(job);
  }
  for (const Outbid& one : outbid_) passes_[to_index(one.job)] = 1;
  // Jobs without a chosen option that may start: those that request shares.
  for (const std::int32_t job : s.job_order) {
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    if (choice.job_of[to_index(job)] >= 0 || running || marks.rejected[to_index(job)] != 0) continue;
    order_.push_back(job);
    passes_[to_index(job)] = 1;
  }
}

// The options of a job of the choice, best first. Where an option is slower in wide places than in tight ones, it has a row
// for each of the two. The chosen option comes first, then the others by value beyond the prices.
void ShapePass::rank_rows(const StateImpl& s, const kernel::ProblemView& p, const ChosenShapes& choice, std::size_t j,
                          TightPlaces* places) {
  const std::int32_t job = choice.jobs[j];
  const std::int32_t chosen = choice.chosen[j] < 0 ? -1 : choice.option_begin[j] + choice.chosen[j];
  rows_.clear();
  for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) {
    const ChoiceOption& one = choice.options[to_index(k)];
    const bool within = narrowed_[to_index(job)] != 0 && within_[to_index(p.option_begin[job] + one.option)] != 0;
    const bool by_quota = choice.values.shapes()[to_index(k)].speed > 0 && (all_options_ || within);
    if (!choice.may_try(k, chosen) && !by_quota) continue;
    const std::int32_t demand = p.options[p.option_begin[job] + one.option].demand;
    const std::int64_t net = choice.net(k);
    // A job that waits for a domain has no wider places.
    const bool narrowed = demand != s.jobs[to_index(job)].options[to_index(one.option)].demand;
    const TightPlaces::Option tight = places != nullptr && !narrowed ? places->of(s, job, one.option) : TightPlaces::Option{demand, 0};
    rows_.push_back({net, k, false, tight.demand});
    if (tight.demand == demand) continue;
    const std::int64_t loss = choice.values.loss(to_index(k), at_rate(s, choice, k, tight.rate_beyond));
    rows_.push_back({net - loss, k, true, demand});
    if (k == chosen) chosen_wide_value_[j] = choice.value[to_index(k)] - loss;
  }
  const auto first = [&](const Row& row) { return row.k == chosen && (!row.wide || choice.wide[to_index(row.k)] != 0); };
  std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    const bool first_a = first(a), first_b = first(b);
    return first_a && first_b ? a.wide < b.wide : std::tuple(first_b, b.net, a.wide, a.k) < std::tuple(first_a, a.net, b.wide, b.k);
  });
}

// A job that finds no place in its first row tries the others.
void ShapePass::list_options(const StateImpl& s, const kernel::ProblemView& p, const ChosenShapes& choice, TightPlaces* places) {
  begin_.assign(1, 0);
  options_.clear();
  option_.clear();
  run_.clear();
  own_run_.assign(to_index(p.n_options), kNever);
  wide_.clear();
  left_out_.assign(to_index(p.n_options), 0);
  chosen_wide_value_.assign(choice.jobs.size(), -1);
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    const auto add = [&](std::int32_t option) {
      options_.push_back(p.options[p.option_begin[job] + option]);
      option_.push_back(option);
      run_.push_back(p.has_until != 0 ? s.option_run(job, to_index(option)) : kNever);
      own_run_[to_index(p.option_begin[job] + option)] = run_.back();
      wide_.push_back(0);
    };
    const std::int32_t j = choice.job_of[to_index(job)];
    if (passes_[to_index(job)] != 0 && j < 0) {
      for (std::int32_t o = 0; o < p.option_end[job] - p.option_begin[job]; ++o) {
        if (may_try(p, job, o)) add(o);
      }
    } else if (passes_[to_index(job)] != 0) {
      rank_rows(s, p, choice, to_index(j), places);
      const auto left_out = [&](std::int32_t k) -> std::uint8_t& {
        return left_out_[to_index(p.option_begin[job] + choice.options[to_index(k)].option)];
      };
      for (std::int32_t k = choice.option_begin[to_index(j)]; !rows_.empty() && k < choice.option_begin[to_index(j) + 1]; ++k)
        left_out(k) = 1;
      for (const Row& row : rows_) {
        if (!may_try(p, job, choice.options[to_index(row.k)].option)) continue;
        left_out(row.k) = 0;
        add(choice.options[to_index(row.k)].option);
        options_.back().demand = row.demand;
        wide_.back() = row.wide ? 1 : 0;
      }
    }
    begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
}

// The problem of the pass, with the options that are listed.
void ShapePass::set_problem(const StateImpl& s) {
  view_ = after_.view();
  kernel::set_options(view_, begin_.data(), options_.data());
  follow_demands(s, view_);
}

// Jobs that their queues are entitled to come first, in an option within that. Jobs that run on and borrow may be displaced
// for them; they are then tried like the others.
void ShapePass::reclaim(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks, const ChosenShapes& choice,
                        Quotas quotas, TightPlaces* places, const FindVictims& find) {
  reclaims_ = false;
  if (!QuotaOrder::applies(s, quotas)) return;
  // A queue may be entitled to a job that the policy did not choose.
  all_options_ = true;
  list_options(s, p, choice, places);
  set_problem(s);
  all_options_ = false;
  chosen_.assign(s.jobs.size(), 0);
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) chosen_[to_index(choice.jobs[j])] = choice.chosen[j] >= 0 ? 1 : 0;
  reclaims_ =
      quotas_.arrange_chosen(s, view_, quotas, {marks.lost, marks.failures.repaired(), marks.rejected}, stay_, chosen_, find, order_);
  if (reclaims_) {
    for (const std::int32_t job : order_) {
      if (passes_[to_index(job)] == 0 || quotas_.standing(job) == QuotaStanding::kBorrowing) continue;
      narrowed_[to_index(job)] = 1;
      for (std::int32_t row = begin_[to_index(job)]; row < begin_[to_index(job) + 1]; ++row) {
        if (quotas_.is_within(row)) within_[to_index(p.option_begin[job] + option_[to_index(row)])] = 1;
      }
    }
    for (const std::int32_t job : order_) passes_[to_index(job)] = 1;
  }
  list_options(s, p, choice, places);
  set_problem(s);
}

// A limit that was lowered would not let an outbid job start again. So it runs on where no chosen job needs its GPUs. Jobs below such a
// limit displace none, unless their queue is entitled to more.
void ShapePass::keep_outbid(const StateImpl& s, const ChosenShapes& choice) {
  class_.assign(s.jobs.size(), 0);
  if (reclaims_) class_.assign(quotas_.classes(), quotas_.classes() + s.jobs.size());
  const std::int32_t last = *std::min_element(class_.begin(), class_.end()) - 1;
  std::sort(outbid_.begin(), outbid_.end(),
            [](const Outbid& a, const Outbid& b) { return std::tuple(b.net, a.rank) < std::tuple(a.net, b.rank); });
  for (const Outbid& one : outbid_) {
    class_[to_index(one.job)] = last;
    if (std::find(order_.begin(), order_.end(), one.job) == order_.end()) order_.push_back(one.job);
  }
  may_displace_.assign(options_.size(), 0);
  for (const std::int32_t job : order_) {
    const std::int32_t j = choice.job_of[to_index(job)];
    const bool is_chosen = j >= 0 && choice.chosen[to_index(j)] >= 0;
    const bool is_entitled = reclaims_ && quotas_.standing(job) != QuotaStanding::kBorrowing;
    if (!is_chosen && !is_entitled) continue;
    for (std::int32_t row = begin_[to_index(job)]; row < begin_[to_index(job) + 1]; ++row) {
      const std::int32_t type = view_.demands[options_[to_index(row)].demand].gpu_type;
      if (lowered_.may_displace(s.job.queue[to_index(job)], type, is_entitled)) may_displace_[to_index(row)] = 1;
    }
  }
}

void ShapePass::build(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks, const ChosenShapes& choice,
                      const PassRules& rules, TightPlaces& places, const FindVictims& find) {
  narrowed_.assign(s.jobs.size(), 0);
  within_.assign(to_index(p.n_options), 0);
  order_jobs(s, marks, choice);
  TightPlaces* const tight = choice.by_price && rules.packing == Packing::kTopology ? &places : nullptr;
  list_options(s, p, choice, tight);
  after_.begin(p);
  for (const OrderKey& key : order_keys_) {
    if (left_[to_index(key.job)] != 0) after_.release(key.job);
  }
  set_problem(s);
  reclaim(s, p, marks, choice, rules.quotas, tight, find);
  const bool displaces = reclaims_ || !outbid_.empty();
  if (displaces && lowered_.any()) keep_outbid(s, choice);

  running_.assign(order_.size(), 0);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t job = to_index(order_[i]);
    running_[i] = s.job.running[job] != 0 && marks.lost[job] == 0 && left_[job] == 0 ? 1 : 0;
  }
  request_ = {};
  request_.now = s.now;
  request_.n = static_cast<std::int32_t>(order_.size());
  request_.order = order_.data();
  request_.running = running_.data();
  request_.victim_ok = running_.data();
  request_.preemptive = request_.class_rule = displaces ? 1 : 0;
  request_.preemption_class = reclaims_ ? quotas_.classes() : s.job.preemption_class.data();
  if (displaces && lowered_.any()) {
    request_.preemption_class = class_.data();
    request_.may_displace = may_displace_.data();
  }
  request_.job_rank = s.job_rank().data();
  request_.option_run = run_.data();
  request_.discipline = kernel::Discipline::kGreedy;
  request_.packing = pass_packing(rules.packing);
  request_.max_tries = rules.max_tries;
  request_.limit = request_.n;
}

// At the rate of these places.
std::int64_t ShapePass::value_at(const StateImpl& s, const ChosenShapes& choice, std::int32_t k,
                                 std::span<const kernel::PlacedRow> entries) {
  entries_.clear();
  for (const kernel::PlacedRow& e : entries) entries_.push_back({e.node, e.group, e.member, e.members, e.mask, e.share_ppm});
  const ChoiceOption& one = choice.options[to_index(k)];
  const JobRecord& record = s.jobs[to_index(one.job)];
  const std::int64_t rate = placed_rate(s, *record.job, record.options[to_index(one.option)].shape, entries_);
  return choice.value[to_index(k)] - choice.values.loss(to_index(k), at_rate(s, choice, k, rate));
}

void ShapePass::obtained(const StateImpl& s, const ChosenShapes& choice, const kernel::PlaceResult& result,
                         std::vector<ObtainedShape>& obtained) {
  obtained.assign(choice.jobs.size(), {});
  kept_.assign(s.jobs.size(), 0);
  for (std::int32_t i = 0; i < request_.n; ++i) kept_[to_index(order_[to_index(i)])] = result.outcome[i] == kernel::Outcome::kKept ? 1 : 0;
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    obtained[j].chosen_wide_value = chosen_wide_value_[j];
    if (passes_[to_index(choice.jobs[j])] != 0 && kept_[to_index(choice.jobs[j])] == 0) continue;
    const std::int32_t k = choice.chosen[j] < 0 ? choice.current(j) : choice.option_begin[j] + choice.chosen[j];
    obtained[j].option = choice.options[to_index(k)].option;
    obtained[j].value = choice.value[to_index(k)];
  }
  for (std::int32_t i = 0; i < request_.n; ++i) {
    const std::int32_t job = order_[to_index(i)], j = choice.job_of[to_index(job)];
    if (j < 0 || result.option[i] < 0) continue;
    ObtainedShape& one = obtained[to_index(j)];
    const std::int32_t row = begin_[to_index(job)] + result.option[i];
    one.option = option_[to_index(row)];
    one.wide = wide_[to_index(row)] != 0;
    std::int32_t k = choice.option_begin[to_index(j)];
    while (choice.options[to_index(k)].option != one.option) ++k;
    one.value = choice.value[to_index(k)];
    if (!one.wide) continue;
    one.value = value_at(s, choice, k, {result.entries + result.entry_begin[i], result.entries + result.entry_end[i]});
    if (k == choice.option_begin[to_index(j)] + choice.chosen[to_index(j)]) one.chosen_wide_value = one.value;
  }
}

void ShapePass::translate(const kernel::ProblemView& own, kernel::ProblemView& visited, kernel::PlaceRequest& request,
                          const kernel::PlaceResult& result) const {
  visited.n_options = own.n_options;
  visited.option_begin = own.option_begin;
  visited.option_end = own.option_end;
  visited.options = own.options;
  request.option_run = own_run_.data();
  for (std::int32_t i = 0; i < request_.n; ++i) {
    if (result.option[i] >= 0) result.option[i] = option_of(order_[to_index(i)], result.option[i]);
  }
}

}  // namespace berth::core
