#include "host/cpu/ones.hpp"

#include <algorithm>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/ones/candidate.hpp"
#include "berth/kernel/ones/first.hpp"
#include "berth/kernel/ones/ones.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

/// Start of an individual's blocks in the columns of a population.
std::int64_t row(const kernel::OnesView& v, std::int64_t individual) { return individual * v.n_jobs; }

}  // namespace

void OnesSearch::prepare(const kernel::OnesView& v, std::size_t lanes) {
  taken_.resize(to_index(v.n_gpus) + 1);
  by_home_.resize(to_index(v.n_jobs));
  deployed_ = kernel::ones_deployed(v, taken_.data(), by_home_.data());
  fresh_jobs_.clear();
  fill_order_.clear();
  for (std::int32_t j = 0; j < v.n_jobs; ++j) (v.fresh[j] != 0 ? fresh_jobs_ : fill_order_).push_back(j);
  left_.resize(to_index(v.n_jobs));
  fill_key_.resize(to_index(v.n_jobs));
  kernel::OnesWorkspace ws{};
  const std::size_t words = kernel::carve_ones_workspace(nullptr, v.n_jobs, ws) / sizeof(std::max_align_t) + 1;
  if (lanes_.size() < lanes) lanes_.resize(lanes);
  for (Lane& lane : lanes_) {
    lane.memory.resize(words);
    lane.keys.resize(to_index(v.n_jobs));
    lane.bits.resize(to_index(kernel::ones_bit_words(v.n_gpus)));
  }
}

void OnesSearch::reorder(const kernel::OnesView& v, std::int32_t individual, const kernel::OnesResult& result, Lane& lane) {
  kernel::OnesWorkspace ws{};
  kernel::carve_ones_workspace(lane.memory.data(), v.n_jobs, ws);
  kernel::SerialGroup group;
  kernel::ones_reorder(group, v, deployed_, result.count + row(v, individual), ws, result.first + row(v, individual));
}

void OnesSearch::begin(const kernel::OnesView& v, const kernel::OnesRequest& request, const kernel::OnesResult& result, Threads& threads) {
  std::fill_n(result.score, v.population, 0);
  if (request.first != nullptr) {
    const std::int64_t all = row(v, v.population);
    std::copy_n(request.count, all, result.count);
    for (std::int64_t i = 0; i < all; ++i) result.first[i] = request.count[i] > 0 ? request.first[i] : 0;
    return;
  }
  for_each_in_lanes(threads, v.population, 1, [&](std::int64_t i, std::size_t lane) {
    const auto individual = static_cast<std::int32_t>(i);
    kernel::SerialGroup group;
    kernel::ones_first(group, v, individual, request.first_generation, lanes_[lane].keys.data(), result.count + row(v, i));
    reorder(v, individual, result, lanes_[lane]);
  });
}

void OnesSearch::draw(const kernel::OnesView& v, std::int32_t generation) {
  for (const std::int32_t j : fill_order_) {
    left_[to_index(j)] = kernel::ones_left(v, j, generation);
    fill_key_[to_index(j)] = kernel::ones_fill_key(v, j, left_[to_index(j)]);
  }
  std::sort(fill_order_.begin(), fill_order_.end(),
            [&](std::int32_t a, std::int32_t b) { return std::tie(fill_key_[to_index(a)], a) < std::tie(fill_key_[to_index(b)], b); });
}

void OnesSearch::refresh(const kernel::OnesView& v, const kernel::OnesResult& result) {
  refreshed_.resize(to_index(row(v, v.population)));
  for (std::int32_t i = 0; i < v.population; ++i) {
    for (std::int32_t j = 0; j < v.n_jobs; ++j) {
      const std::int64_t at = row(v, i) + j;
      refreshed_[to_index(at)] = kernel::ones_refreshed(v, j, result.count[at]);
    }
  }
}

void OnesSearch::breed(const kernel::OnesView& v, std::int32_t generation, const kernel::OnesResult& result, Threads& threads) {
  const kernel::OnesGeneration of{generation,
                                  result.first,
                                  refreshed_.data(),
                                  left_.data(),
                                  fill_order_.data(),
                                  fresh_jobs_.data(),
                                  static_cast<std::int32_t>(fill_order_.size()),
                                  static_cast<std::int32_t>(fresh_jobs_.size())};
  const std::int32_t candidates = kernel::ones_candidates(v.population);
  count_.resize(to_index(row(v, candidates)));
  score_.resize(to_index(candidates));
  for_each_in_lanes(threads, candidates, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup group;
    std::int32_t* const count = count_.data() + row(v, i);
    score_[to_index(i)] = kernel::ones_candidate(group, v, of, static_cast<std::int32_t>(i), lanes_[lane].bits.data(), count);
  });
}

void OnesSearch::select(const kernel::OnesView& v, const kernel::OnesResult& result, Threads& threads) {
  by_score_.resize(score_.size());
  for (std::size_t i = 0; i < by_score_.size(); ++i) by_score_[i] = static_cast<std::int32_t>(i);
  std::partial_sort(by_score_.begin(), by_score_.begin() + v.population, by_score_.end(),
                    [&](std::int32_t a, std::int32_t b) { return std::tie(score_[to_index(a)], a) < std::tie(score_[to_index(b)], b); });
  for_each_in_lanes(threads, v.population, 1, [&](std::int64_t i, std::size_t lane) {
    const std::int32_t from = by_score_[to_index(i)];
    std::copy_n(count_.data() + row(v, from), v.n_jobs, result.count + row(v, i));
    result.score[i] = score_[to_index(from)];
    reorder(v, static_cast<std::int32_t>(i), result, lanes_[lane]);
  });
}

void OnesSearch::run(const core::OnesTask& task, const kernel::OnesResult& result, int threads) {
  const kernel::OnesView& v = task.problem;
  Threads started(std::min(threads, kernel::ones_candidates(v.population)));
  prepare(v, started.n());
  begin(v, task.request, result, started);
  std::int32_t made = 0;
  const auto stop = [&] { return made > 0 && task.stop_token != nullptr && task.stop_token->stop(made, task.request.generations); };
  while (!stop() && made < task.request.generations) {
    const std::int32_t generation = kernel::ones_generation(task.request, made);
    draw(v, generation);
    refresh(v, result);
    breed(v, generation, result, started);
    select(v, result, started);
    result.least[made++] = result.score[0];
  }
  *result.generations = made;
}

}  // namespace berth::cpu
