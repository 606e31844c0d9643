#include "host/core/choice/shape_pass.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

// Changing jobs first, the largest ones first, as they are the hardest to place. Then outbid jobs, in case room is left
// where others found no place.
void ShapePass::order_jobs(const StateImpl& s, const PassInput::Marks& marks, const ChosenShapes& choice) {
  left_.assign(s.jobs.size(), 0);
  passes_.assign(s.jobs.size(), 0);
  order_keys_.clear();
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    const std::int32_t job = choice.jobs[j];
    assert(choice.chosen[j] < choice.option_begin[j + 1] - choice.option_begin[j]);
    const std::int32_t chosen = choice.chosen[j] < 0 ? -1 : choice.option_begin[j] + choice.chosen[j];
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    const bool moves = !choice.moved.empty() && choice.moved[j] != 0;
    if (running && chosen >= 0 && choice.options[to_index(chosen)].current && !moves) continue;  // stays as it is
    left_[to_index(job)] = running ? 1 : 0;
    passes_[to_index(job)] = 1;
    OrderKey key{chosen < 0, chosen < 0 ? 0 : choice.options[to_index(chosen)].gpus, INT64_MIN, s.job_rank[to_index(job)], job};
    for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) key.net = std::max(key.net, choice.net(k));
    order_keys_.push_back(key);
  }
  std::sort(order_keys_.begin(), order_keys_.end(), [](const OrderKey& a, const OrderKey& b) {
    return std::tuple(a.outbid, b.gpus, b.net, a.rank) < std::tuple(b.outbid, a.gpus, a.net, b.rank);
  });
  order_.clear();
  for (const OrderKey& key : order_keys_) order_.push_back(key.job);
  // Jobs without a chosen option that may start: those that request shares.
  for (const std::int32_t job : s.job_order) {
    const bool running = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    if (choice.job_of[to_index(job)] >= 0 || running || marks.rejected[to_index(job)] != 0) continue;
    order_.push_back(job);
    passes_[to_index(job)] = 1;
  }
}

// The chosen option comes first. A job that finds no place for it tries the others by value beyond the prices.
void ShapePass::list_options(const StateImpl& s, const kernel::ProblemView& p, const ChosenShapes& choice) {
  begin_.assign(1, 0);
  options_.clear();
  option_.clear();
  run_.clear();
  own_run_.assign(to_index(p.option_begin[p.n_jobs]), kNever);
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    const auto add = [&](std::int32_t option) {
      options_.push_back(p.options[p.option_begin[job] + option]);
      option_.push_back(option);
      run_.push_back(p.has_until != 0 ? s.option_run(job, to_index(option)) : kNever);
      own_run_[to_index(p.option_begin[job] + option)] = run_.back();
    };
    const std::int32_t j = choice.job_of[to_index(job)];
    if (passes_[to_index(job)] != 0 && j < 0) {
      for (std::int32_t o = 0; o < p.option_begin[job + 1] - p.option_begin[job]; ++o) add(o);
    } else if (passes_[to_index(job)] != 0) {
      const std::int32_t chosen = choice.chosen[to_index(j)] < 0 ? -1 : choice.option_begin[to_index(j)] + choice.chosen[to_index(j)];
      rows_.clear();
      for (std::int32_t k = choice.option_begin[to_index(j)]; k < choice.option_begin[to_index(j) + 1]; ++k) {
        if (choice.may_try(k, chosen)) rows_.push_back(k);
      }
      std::sort(rows_.begin(), rows_.end(), [&](std::int32_t a, std::int32_t b) {
        return std::tuple(b == chosen, choice.net(b), a) < std::tuple(a == chosen, choice.net(a), b);
      });
      for (const std::int32_t k : rows_) add(choice.options[to_index(k)].option);
    }
    begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
}

void ShapePass::build(const StateImpl& s, const kernel::ProblemView& p, const PassInput::Marks& marks, const ChosenShapes& choice,
                      const PassRules& rules) {
  order_jobs(s, marks, choice);
  list_options(s, p, choice);
  after_.begin(p);
  for (const OrderKey& key : order_keys_) {
    if (left_[to_index(key.job)] != 0) after_.release(key.job);
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
  request_.discipline = kernel::Discipline::kGreedy;
  request_.packing = pass_packing(rules.packing);
  request_.max_tries = rules.max_tries;
  request_.limit = request_.n;
}

void ShapePass::obtained(const ChosenShapes& choice, const kernel::PlaceResult& result, std::vector<std::int32_t>& obtained) const {
  obtained.resize(choice.jobs.size());
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    const bool stays = passes_[to_index(choice.jobs[j])] == 0;
    obtained[j] = stays ? choice.options[to_index(choice.option_begin[j] + choice.chosen[j])].option : -1;
  }
  for (std::int32_t i = 0; i < request_.n; ++i) {
    const std::int32_t job = order_[to_index(i)];
    if (choice.job_of[to_index(job)] >= 0 && result.option[i] >= 0) {
      obtained[to_index(choice.job_of[to_index(job)])] = option_of(job, result.option[i]);
    }
  }
}

void ShapePass::translate(const kernel::ProblemView& own, kernel::ProblemView& visited, kernel::PlaceRequest& request,
                          const kernel::PlaceResult& result) const {
  visited.option_begin = own.option_begin;
  visited.options = own.options;
  request.option_run = own_run_.data();
  for (std::int32_t i = 0; i < request_.n; ++i) {
    if (result.option[i] >= 0) result.option[i] = option_of(order_[to_index(i)], result.option[i]);
  }
}

}  // namespace berth::core
