#include "host/core/choice_walk.hpp"

#include <algorithm>
#include <tuple>

#include "host/core/at.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {

// Those that change, the largest first, as they are the hardest to place. Then those that were outbid, should room be left where others
// found none.
void ChoiceWalk::take_turns(const StateImpl& s, const WalkInput::Marks& marks, const ChosenShapes& choice) {
  left_.assign(s.jobs.size(), 0);
  walks_.assign(s.jobs.size(), 0);
  turns_.clear();
  for (std::size_t j = 0; j < choice.slots.size(); ++j) {
    const std::int32_t slot = choice.slots[j];
    const std::int32_t chosen = choice.chosen[j] < 0 ? -1 : choice.option_begin[j] + choice.chosen[j];
    const bool running = s.job.running[at(slot)] != 0 && marks.lost[at(slot)] == 0;
    const bool moves = !choice.moved.empty() && choice.moved[j] != 0;
    if (running && chosen >= 0 && choice.options[at(chosen)].current && !moves) continue;  // stays as it is
    left_[at(slot)] = running ? 1 : 0;
    walks_[at(slot)] = 1;
    Turn turn{chosen < 0, chosen < 0 ? 0 : choice.options[at(chosen)].gpus, INT64_MIN, s.job_rank[at(slot)], slot};
    for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) turn.net = std::max(turn.net, choice.net(k));
    turns_.push_back(turn);
  }
  std::sort(turns_.begin(), turns_.end(), [](const Turn& a, const Turn& b) {
    return std::tuple(a.outbid, b.gpus, b.net, a.rank) < std::tuple(b.outbid, a.gpus, a.net, b.rank);
  });
  order_.clear();
  for (const Turn& turn : turns_) order_.push_back(turn.slot);
  // Jobs that nothing was chosen for, but that may start: those that ask for shares.
  for (const std::int32_t slot : s.job_order) {
    const bool running = s.job.running[at(slot)] != 0 && marks.lost[at(slot)] == 0;
    if (choice.job_of[at(slot)] >= 0 || running || marks.declined[at(slot)] != 0) continue;
    order_.push_back(slot);
    walks_[at(slot)] = 1;
  }
}

// What was chosen comes first; a job that finds no place for it tries what is worth most beyond the prices among the rest.
void ChoiceWalk::list_options(const StateImpl& s, const kernel::ProblemView& p, const ChosenShapes& choice) {
  begin_.assign(1, 0);
  options_.clear();
  option_.clear();
  run_.clear();
  own_run_.assign(at(p.option_begin[p.n_jobs]), kNever);
  for (std::int32_t slot = 0; slot < p.n_jobs; ++slot) {
    const auto add = [&](std::int32_t option) {
      options_.push_back(p.options[p.option_begin[slot] + option]);
      option_.push_back(option);
      run_.push_back(p.has_until != 0 ? s.option_run(slot, at(option)) : kNever);
      own_run_[at(p.option_begin[slot] + option)] = run_.back();
    };
    const std::int32_t j = choice.job_of[at(slot)];
    if (walks_[at(slot)] != 0 && j < 0) {
      for (std::int32_t o = 0; o < p.option_begin[slot + 1] - p.option_begin[slot]; ++o) add(o);
    } else if (walks_[at(slot)] != 0) {
      const std::int32_t chosen = choice.chosen[at(j)] < 0 ? -1 : choice.option_begin[at(j)] + choice.chosen[at(j)];
      rows_.clear();
      for (std::int32_t k = choice.option_begin[at(j)]; k < choice.option_begin[at(j) + 1]; ++k) {
        if (choice.may_try(k, chosen)) rows_.push_back(k);
      }
      std::sort(rows_.begin(), rows_.end(), [&](std::int32_t a, std::int32_t b) {
        return std::tuple(b == chosen, choice.net(b), a) < std::tuple(a == chosen, choice.net(a), b);
      });
      for (const std::int32_t k : rows_) add(choice.options[at(k)].option);
    }
    begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
}

void ChoiceWalk::build(const StateImpl& s, const kernel::ProblemView& p, const WalkInput::Marks& marks, const ChosenShapes& choice,
                       const WalkRules& rules) {
  take_turns(s, marks, choice);
  list_options(s, p, choice);
  after_.begin(p);
  for (const Turn& turn : turns_) {
    if (left_[at(turn.slot)] != 0) after_.release(turn.slot);
  }
  view_ = after_.view();
  view_.option_begin = begin_.data();
  view_.options = options_.data();

  none_.assign(order_.size(), 0);
  request_ = {};
  request_.now = s.now;
  request_.n = static_cast<std::int32_t>(order_.size());
  request_.order = order_.data();
  request_.running = none_.data();
  request_.victim_ok = none_.data();
  request_.preemption_class = s.job.preemption_class.data();
  request_.job_rank = s.job_rank.data();
  request_.option_run = run_.data();
  request_.discipline = kernel::Discipline::kSkip;
  request_.packing = rules.placement == Placement::kCount ? kernel::Packing::kCount : kernel::Packing::kTopology;
  request_.max_tries = rules.max_tries;
  request_.limit = request_.n;
}

void ChoiceWalk::obtained(const ChosenShapes& choice, const kernel::PlaceResult& result, std::vector<std::int32_t>& obtained) const {
  obtained.resize(choice.slots.size());
  for (std::size_t j = 0; j < choice.slots.size(); ++j) {
    const bool stays = walks_[at(choice.slots[j])] == 0;
    obtained[j] = stays ? choice.options[at(choice.option_begin[j] + choice.chosen[j])].option : -1;
  }
  for (std::int32_t i = 0; i < request_.n; ++i) {
    const std::int32_t slot = order_[at(i)];
    if (choice.job_of[at(slot)] >= 0 && result.option[i] >= 0) {
      obtained[at(choice.job_of[at(slot)])] = option_of(slot, result.option[i]);
    }
  }
}

void ChoiceWalk::translate(const kernel::ProblemView& own, kernel::ProblemView& walked, kernel::PlaceRequest& request,
                           const kernel::PlaceResult& result) const {
  walked.option_begin = own.option_begin;
  walked.options = own.options;
  request.option_run = own_run_.data();
  for (std::int32_t i = 0; i < request_.n; ++i) {
    if (result.option[i] >= 0) result.option[i] = option_of(order_[at(i)], result.option[i]);
  }
}

}  // namespace berth::core
