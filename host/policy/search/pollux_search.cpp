#include "host/policy/search/pollux_search.hpp"

#include <algorithm>
#include <numeric>

namespace berth::policy {

// A fair share is the number of GPUs per job, rounded up. Without such a shape the next smaller one counts, else the smallest.
// Among several types it is the one on which that shape is the fastest.
// Pollux counts speed-ups in shares of a node per GPU, which changes only the effect of the 0.001.
void PolluxSearch::set_fair(const PolluxProblem& p) {
  const std::int32_t all = std::accumulate(p.node_gpus.begin(), p.node_gpus.end(), 0);
  const std::int32_t fair = p.n_jobs == 0 ? 0 : (all + p.n_jobs - 1) / p.n_jobs;
  const double nodes_a_gpu = all == 0 ? 0.0 : static_cast<double>(p.n_nodes) / all;
  scale_.clear();
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    double speed = 0;
    std::int32_t smallest = -1;
    for (std::int32_t t = 0; t < p.n_types; ++t) {
      if (!p.has_shape(j, t)) continue;
      const std::int32_t shape = p.shape_of(j, t, fair), first = p.shape_begin[to_index(j) * to_index(p.n_types) + to_index(t)];
      if (shape >= 0) speed = std::max(speed, p.shape_speed[to_index(shape)]);
      if (smallest < 0 || p.shape_gpus[to_index(first)] < p.shape_gpus[to_index(smallest)]) smallest = first;
    }
    if (speed == 0 && smallest >= 0) speed = p.shape_speed[to_index(smallest)];
    scale_.push_back(speed > 0 ? nodes_a_gpu / speed : 0.0);
  }
}

double PolluxSearch::speed_up(const PolluxProblem& p, std::int32_t job, std::int32_t type, std::int32_t gpus) {
  set_fair(p);
  const std::int32_t shape = p.shape_of(job, type, gpus);
  return shape < 0 ? 0.0 : p.shape_speed[to_index(shape)] * scale_[to_index(job)];
}

// The second objective is minus the paper's cluster utility: the sum of speed-ups, without its division by the number of GPUs.
TwoObjectives PolluxSearch::judge(const PolluxProblem& p, ConstPolluxRows rows) const {
  double inverse = 0, utility = 0;
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const std::size_t begin = to_index(j) * to_index(p.n_nodes);
    std::int32_t type = 0, gpus = 0;
    bool same = true;
    for (std::size_t n = 0; n < to_index(p.n_nodes); ++n) {
      const std::uint8_t here = rows[begin + n];
      if (here > 0) type = p.node_type[n];
      gpus += here;
      same = same && here == p.current[begin + n];
    }
    const std::int32_t shape = gpus == 0 ? -1 : p.shape_of(j, type, gpus);
    const double x = shape < 0 ? 0.0 : p.shape_speed[to_index(shape)] * scale_[to_index(j)] * (same ? 1.0 : p.kept[to_index(j)]);
    inverse += 1.0 / (x + 0.001);
    utility += x;
  }
  return {p.n_jobs == 0 ? 0.0 : -(p.n_jobs / inverse), -utility};
}

double PolluxSearch::fitness_of(const PolluxProblem& p, ConstPolluxRows rows) {
  set_fair(p);
  return -judge(p, rows).first;
}

PolluxRows PolluxSearch::rows_of(const PolluxProblem& p, std::int32_t place) {
  return PolluxRows(rows_).subspan(to_index(place) * p.cells(), p.cells());
}

void PolluxSearch::begin(const PolluxProblem& p, std::int32_t population) {
  set_fair(p);
  rows_.resize(2 * to_index(population) * p.cells());
  place_.assign(1, 0);
  free_.resize(2 * to_index(population) - 1);
  std::iota(free_.begin(), free_.end(), 1);
  std::copy(p.current.begin(), p.current.end(), rows_.begin());
  repair_.apply(p, {}, rows_of(p, 0));
  objectives_.assign(1, judge(p, rows_of(p, 0)));
}

// Two parents, each the better of two random draws, have two offspring.
void PolluxSearch::breed(const PolluxProblem& p, std::int32_t population, std::uint64_t seed, std::int32_t generation) {
  const auto parents = static_cast<std::int32_t>(place_.size());
  for (std::int32_t offspring = 0; offspring < population; ++offspring) {
    const PolluxIndividual pair{seed, generation, offspring / 2}, individual{seed, generation, offspring};
    PolluxDraws draws = pair.draws(PolluxPurpose::kParents);
    const std::int32_t a = draws.below(parents), b = draws.below(parents), c = draws.below(parents), d = draws.below(parents);
    const std::int32_t one = std::min(a, b), other = std::min(c, d);
    const std::int32_t cut = p.n_jobs < 2 ? 0 : 1 + pair.draws(PolluxPurpose::kCut).below(p.n_jobs - 1);
    const std::int32_t place = free_.back();
    free_.pop_back();
    place_.push_back(place);
    const PolluxRows rows = rows_of(p, place);
    const std::int32_t first = offspring % 2 == 0 ? one : other, second = offspring % 2 == 0 ? other : one;
    cross_rows(p, rows_of(p, place_[to_index(first)]), rows_of(p, place_[to_index(second)]), cut, rows);
    mutation_.apply(p, individual, rows);
    repair_.apply(p, individual, rows);
    objectives_.push_back(judge(p, rows));
  }
}

void PolluxSearch::select(std::int32_t population) {
  next_place_.clear();
  next_objectives_.clear();
  for (const std::int32_t i : fronts_.survivors(objectives_, population)) {
    next_place_.push_back(place_[to_index(i)]);
    next_objectives_.push_back(objectives_[to_index(i)]);
    place_[to_index(i)] = -1;
  }
  for (const std::int32_t place : place_) {
    if (place >= 0) free_.push_back(place);
  }
  place_.swap(next_place_);
  objectives_.swap(next_objectives_);
}

ConstPolluxRows PolluxSearch::solve(const PolluxProblem& p, const PolluxEffort& effort, std::uint64_t seed) {
  begin(p, effort.population);
  for (std::int32_t generation = 0; generation < effort.generations; ++generation) {
    breed(p, effort.population, seed, generation);
    select(effort.population);
  }
  const auto best = std::min_element(objectives_.begin(), objectives_.end(),
                                     [](const TwoObjectives& a, const TwoObjectives& b) { return a.first < b.first; });
  return rows_of(p, place_[static_cast<std::size_t>(best - objectives_.begin())]);
}

}  // namespace berth::policy
