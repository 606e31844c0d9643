#include "host/reference/ones/ones.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "berth/kernel/base/wide.hpp"
#include "host/reference/base/philox.hpp"
#include "host/reference/ones/reorder.hpp"

namespace berth::reference {
namespace {

using kernel::OnesPurpose;
using kernel::Wide;

using OnesRanks = std::vector<std::size_t>;  // jobs, in an order

constexpr std::int64_t kOnesMillion = 1'000'000;

struct SerialOnesOption {
  std::int32_t gpus;
  std::int64_t rate;
};

struct SerialOnesJob {
  std::vector<SerialOnesOption> options;
  bool fresh;
  std::int32_t start, limit, most;
  std::int64_t work;
  const std::int32_t* quantile;

  std::int32_t fit(std::int32_t gpus) const {
    std::int32_t greatest = 0;
    for (const SerialOnesOption& option : options) {
      if (option.gpus <= gpus) greatest = option.gpus;
    }
    return greatest;
  }

  std::int64_t rate(std::int32_t gpus) const {
    return std::find_if(options.begin(), options.end(), [&](const SerialOnesOption& option) { return option.gpus == gpus; })->rate;
  }
};

class SerialOnesProblem {
 public:
  explicit SerialOnesProblem(const kernel::OnesView& view)
      : n_gpus(view.n_gpus),
        population(static_cast<std::size_t>(view.population)),
        theta_ppm(view.theta_ppm),
        waiting(view.waiting),
        seed_(view.seed) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(view.n_jobs); ++j) {
      SerialOnesJob job{
          {}, view.fresh[j] != 0, view.start[j], view.limit[j], view.most[j], view.work[j], view.progress + j * kernel::kOnesQuantiles};
      for (std::int32_t s = view.option_begin[j]; s < view.option_begin[j + 1]; ++s)
        job.options.push_back({view.option_gpus[s], view.option_rate[s]});
      jobs.push_back(std::move(job));
      deployed.push_back({view.deployed_first[j], view.deployed_count[j]});
    }
  }

  // The n-th number drawn for a purpose.
  std::uint32_t number(std::uint32_t generation, OnesPurpose purpose, std::size_t individual, std::size_t n) const {
    return drawn_number(seed_, generation, static_cast<std::uint32_t>(purpose), individual, n);
  }

  std::int32_t idle(const OnesCounts& counts) const { return n_gpus - std::accumulate(counts.begin(), counts.end(), 0); }

  OnesBlockList reorder(const OnesCounts& counts) const { return reorder_ones(n_gpus, deployed, counts); }

  std::int32_t n_gpus;
  std::size_t population;
  std::int32_t theta_ppm;
  std::int64_t waiting;
  std::vector<SerialOnesJob> jobs;
  OnesBlockList deployed;

 private:
  std::uint64_t seed_;
};

// Section 3, for individual i.
OnesBlockList first_individual(const SerialOnesProblem& problem, std::uint32_t generation, std::size_t i) {
  OnesCounts counts;
  OnesRanks waiting;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SerialOnesJob& job = problem.jobs[j];
    const std::int32_t count = problem.deployed[j].count;
    if (job.fresh) {
      counts.push_back(count >= job.start ? job.start : 0);
    } else {
      counts.push_back(job.fit(std::min(count, job.limit)));
    }
    if (counts.back() == 0) waiting.push_back(j);
  }
  if (i > 0) {
    const auto fill_key = [&](std::size_t j) { return problem.number(generation, OnesPurpose::kFirst, i, j); };
    std::stable_sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) { return fill_key(a) < fill_key(b); });
  }
  for (const std::size_t j : waiting) {
    const SerialOnesJob& job = problem.jobs[j];
    std::int32_t gpus = job.start;
    if (!job.fresh) {
      gpus = job.options.front().gpus;
      if (job.limit < gpus) continue;
    }
    if (gpus <= problem.idle(counts)) counts[j] = gpus;
  }
  return problem.reorder(counts);
}

std::vector<OnesBlockList> earlier_population(const SerialOnesProblem& problem, const kernel::OnesRequest& request) {
  std::vector<OnesBlockList> individuals(problem.population);
  std::size_t row = 0;
  for (OnesBlockList& blocks : individuals) {
    for (std::size_t j = 0; j < problem.jobs.size(); ++j, ++row) {
      const std::int32_t count = request.count[row];
      blocks.push_back({count > 0 ? request.first[row] : 0, count});
    }
  }
  return individuals;
}

// Section 4.
class SerialOnesGeneration {
 public:
  SerialOnesGeneration(const SerialOnesProblem& problem, std::uint32_t generation)
      : problem_(problem), jobs_(problem.jobs), generation_(generation) {
    draw_progress();
  }

  // Replaces the population by the next one, with its scores.
  void run(std::vector<OnesBlockList>& individuals, std::vector<std::int64_t>& scores) const {
    for (OnesBlockList& blocks : individuals) refresh(blocks);
    std::vector<OnesCounts> candidates;
    candidates.reserve(3 * problem_.population);
    for (const OnesBlockList& parent : individuals) candidates.push_back(counts_of(parent));
    for (std::size_t p = 0; p < problem_.population / 2; ++p) cross(individuals, p, candidates);
    for (std::size_t i = 0; i < problem_.population; ++i) candidates.push_back(mutant(candidates[i], i));
    std::vector<std::pair<std::int64_t, std::size_t>> ranking;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      fill(candidates[c]);
      ranking.emplace_back(score(candidates[c]), c);
    }
    std::sort(ranking.begin(), ranking.end());
    for (std::size_t i = 0; i < problem_.population; ++i) {
      scores[i] = ranking[i].first;
      individuals[i] = problem_.reorder(candidates[ranking[i].second]);
    }
  }

 private:
  void draw_progress() {
    std::vector<std::int64_t> fill_order;  // of all jobs: milliseconds
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const SerialOnesJob& job = jobs_[j];
      left_.push_back(job.fresh ? 0 : work_left(job, problem_.number(generation_, OnesPurpose::kRemaining, 0, j)));
      fill_order.push_back(kernel::mul_div(left_[j], 1000, job.options.front().rate));
      if (!job.fresh) by_fill_key_.push_back(j);
    }
    std::stable_sort(by_fill_key_.begin(), by_fill_key_.end(), [&](std::size_t a, std::size_t b) { return fill_order[a] < fill_order[b]; });
  }

  static std::int64_t work_left(const SerialOnesJob& job, std::uint32_t number) {
    const std::uint32_t i = number >> 26;
    const std::int64_t f = number % (1u << 26);
    const std::int64_t low = job.quantile[i], high = job.quantile[i + 1];
    const std::int64_t rho = std::max<std::int64_t>(1, low + (((high - low) * f) >> 26));
    return std::min(kernel::kMostOnesWork, kernel::mul_div(job.work, kernel::kOnesUnit - rho, rho));
  }

  void refresh(OnesBlockList& blocks) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const std::int32_t count = blocks[j].count;
      if (jobs_[j].fresh) {
        blocks[j].count = count == jobs_[j].start ? count : 0;
      } else {
        blocks[j].count = jobs_[j].fit(std::min(count, jobs_[j].limit));
      }
    }
  }

  static OnesCounts counts_of(const OnesBlockList& blocks) {
    OnesCounts counts;
    for (const OnesBlock& block : blocks) counts.push_back(block.count);
    return counts;
  }

  // The job on each GPU; -1: none.
  std::vector<std::int32_t> owners(const OnesBlockList& blocks) const {
    std::vector<std::int32_t> owner(static_cast<std::size_t>(problem_.n_gpus), -1);
    for (std::size_t j = 0; j < blocks.size(); ++j) {
      std::fill_n(owner.begin() + blocks[j].first, blocks[j].count, static_cast<std::int32_t>(j));
    }
    return owner;
  }

  // Adds both offspring of pair p.
  void cross(const std::vector<OnesBlockList>& parents, std::size_t p, std::vector<OnesCounts>& candidates) const {
    const auto number = [&](OnesPurpose purpose, std::size_t n) { return problem_.number(generation_, purpose, p, n); };
    const std::size_t a = drawn_below(number(OnesPurpose::kPairs, 0), problem_.population);
    std::size_t b = drawn_below(number(OnesPurpose::kPairs, 1), problem_.population - 1);
    if (b >= a) ++b;
    const std::vector<std::int32_t> of_a = owners(parents[a]), of_b = owners(parents[b]);
    std::vector<std::int32_t> first, second;
    for (std::size_t x = 0; x < of_a.size(); ++x) {
      const bool bit = (number(OnesPurpose::kCrossover, x / 32) >> (x % 32) & 1) != 0;
      first.push_back(bit ? of_b[x] : of_a[x]);
      second.push_back(bit ? of_a[x] : of_b[x]);
    }
    candidates.push_back(counts_of_offspring(first));
    candidates.push_back(counts_of_offspring(second));
  }

  OnesCounts counts_of_offspring(const std::vector<std::int32_t>& owner) const {
    OnesCounts counts;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const auto n = static_cast<std::int32_t>(std::count(owner.begin(), owner.end(), static_cast<std::int32_t>(j)));
      if (jobs_[j].fresh) {
        counts.push_back(n >= jobs_[j].start ? jobs_[j].start : 0);
      } else {
        counts.push_back(jobs_[j].fit(std::min(n, jobs_[j].limit)));
      }
    }
    return counts;
  }

  OnesCounts mutant(OnesCounts counts, std::size_t i) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const std::uint32_t number = problem_.number(generation_, OnesPurpose::kMutation, i, j);
      if (!jobs_[j].fresh && number < (std::int64_t{problem_.theta_ppm} << 32) / kOnesMillion) counts[j] = 0;
    }
    return counts;
  }

  // Section 5.
  void fill(OnesCounts& counts) const {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].fresh && counts[j] == 0 && jobs_[j].start <= problem_.idle(counts)) counts[j] = jobs_[j].start;
    }
    for (const std::size_t j : by_fill_key_) grow(counts, j, jobs_[j].limit);
    for (const std::size_t j : by_fill_key_) grow(counts, j, jobs_[j].most);
  }

  void grow(OnesCounts& counts, std::size_t j, std::int32_t limit) const {
    if (limit <= counts[j]) return;
    counts[j] = std::max(counts[j], jobs_[j].fit(std::min(limit, counts[j] + problem_.idle(counts))));
  }

  std::int64_t score(const OnesCounts& counts) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].fresh) continue;
      // A job that waits counts as if it ran in its smallest option, `waiting` times.
      const SerialOnesOption& least = jobs_[j].options.front();
      const Wide gpus = counts[j] > 0 ? Wide{counts[j]} : Wide{least.gpus} * problem_.waiting;
      const std::int64_t rate = counts[j] > 0 ? jobs_[j].rate(counts[j]) : least.rate;
      const Wide milliseconds = kernel::floor_div(Wide{left_[j]} * gpus * 1000, rate);
      sum += static_cast<std::int64_t>(std::min<Wide>(milliseconds, kernel::kMostOnesWork / static_cast<std::int64_t>(jobs_.size())));
    }
    return sum;
  }

  const SerialOnesProblem& problem_;
  const std::vector<SerialOnesJob>& jobs_;
  const std::uint32_t generation_;
  std::vector<std::int64_t> left_;  // work, millionths of its unit
  OnesRanks by_fill_key_;           // jobs that are not fresh
};

}  // namespace

void ones(const kernel::OnesView& view, const kernel::OnesRequest& request, const kernel::OnesResult& result,
          const std::function<bool()>& stop) {
  const SerialOnesProblem problem(view);
  const auto generation = [&](std::int32_t after) {
    return (static_cast<std::uint32_t>(request.first_generation) + static_cast<std::uint32_t>(after)) % (1u << 31);
  };
  std::vector<OnesBlockList> individuals;
  if (request.count != nullptr) {
    individuals = earlier_population(problem, request);
  } else {
    for (std::size_t i = 0; i < problem.population; ++i) individuals.push_back(first_individual(problem, generation(0), i));
  }
  std::vector<std::int64_t> scores(problem.population, 0);
  std::int32_t made = 0;
  for (; !(made > 0 && stop && stop()) && made < request.generations; ++made) {
    SerialOnesGeneration(problem, generation(made)).run(individuals, scores);
    result.least[made] = scores[0];
  }

  std::size_t row = 0;
  for (const OnesBlockList& blocks : individuals) {
    for (const OnesBlock& block : blocks) {
      result.first[row] = block.first;
      result.count[row++] = block.count;
    }
  }
  std::copy(scores.begin(), scores.end(), result.score);
  *result.generations = made;
}

}  // namespace berth::reference
