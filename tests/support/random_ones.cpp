#include "tests/support/random_ones.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::test {
namespace {

// low..high, uniform in the base-2 logarithm.
std::int64_t random_magnitude(Random& random, std::int32_t most_bits) {
  const std::int32_t bits = random.within(0, most_bits);
  const std::uint64_t lowest = std::uint64_t{1} << bits;
  return static_cast<std::int64_t>(bits == 62 ? lowest : lowest + random.bits() % lowest);
}

std::vector<std::int32_t> random_counts(Random& random, OnesOptions options, std::int32_t most) {
  std::vector<std::int32_t> counts;
  switch (options == OnesOptions::kMixed ? kOnesOptions[static_cast<std::size_t>(random.below(4))] : options) {
    case OnesOptions::kEvery:
      counts.resize(static_cast<std::size_t>(random.percent(50) ? most : random.within(1, most)));
      std::iota(counts.begin(), counts.end(), 1);
      break;
    case OnesOptions::kPowers:
      for (std::int32_t gpus = 1; gpus <= most; gpus *= 2) counts.push_back(gpus);
      if (random.percent(25)) counts.erase(counts.begin(), counts.begin() + random.below(static_cast<std::int32_t>(counts.size())));
      break;
    case OnesOptions::kSingle:
      counts = {random.percent(50) ? 1 : random.within(1, most)};
      break;
    default:
      for (std::int32_t gpus = 1; gpus <= most; ++gpus) {
        if (random.percent(30)) counts.push_back(gpus);
      }
      if (counts.empty()) counts = {most};
  }
  return counts;
}

// base * g / (1 + loss * (g - 1)), Amdahl's law; or slower with more GPUs by the same factor.
std::vector<TestOnesOption> random_options(Random& random, const RandomOnesSpec& spec) {
  const bool extreme = random.percent(spec.extreme_percent), falling = random.percent(spec.falling_percent);
  const std::int64_t base = extreme ? random_magnitude(random, 50) : random.within(1'000'000, 50'000'000);
  const std::int64_t loss_percent = random.of<std::int32_t>({0, 2, 5, 10, 25, 50, 100});
  std::vector<TestOnesOption> options;
  for (const std::int32_t gpus : random_counts(random, spec.options, std::min(spec.n_gpus, spec.most_gpus))) {
    const std::int64_t slowed_percent = 100 + loss_percent * (gpus - 1);
    const std::int64_t rate = falling ? base / (1 + slowed_percent * gpus / 100) : base / slowed_percent * 100 * gpus;
    options.push_back({gpus, std::max<std::int64_t>(1, rate)});
  }
  return options;
}

std::vector<std::int32_t> random_quantiles(Random& random, const RandomOnesSpec& spec) {
  std::vector<std::int32_t> quantiles(kernel::kOnesQuantiles);
  const auto any = [&] { return random.within(0, kernel::kOnesUnit); };
  if (random.percent(spec.extreme_percent)) {
    // All equal, most often at one of the ends.
    std::fill(quantiles.begin(), quantiles.end(), random.percent(33) ? any() : random.percent(50) ? 0 : kernel::kOnesUnit);
    return quantiles;
  }
  const std::int32_t a = any(), b = any();
  for (std::int32_t& q : quantiles) q = random.within(std::min(a, b), std::max(a, b));
  if (random.percent(spec.extreme_percent)) quantiles.front() = 0;
  if (random.percent(spec.extreme_percent)) quantiles.back() = kernel::kOnesUnit;
  std::sort(quantiles.begin(), quantiles.end());
  return quantiles;
}

std::int32_t random_limit(Random& random, const std::vector<TestOnesOption>& options, std::int32_t n_gpus) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:  // none of its options
      return options.front().gpus - 1;
    case 2:
      return n_gpus;
    case 3:
      return random.within(0, n_gpus);
    default:
      return random.of(options).gpus;
  }
}

TestOnesJob random_job(Random& random, const RandomOnesSpec& spec) {
  TestOnesJob job;
  job.options = random_options(random, spec);
  job.fresh = random.percent(spec.fresh_percent);
  if (job.fresh) {
    job.start = random.percent(70) ? job.options.front().gpus : random.of(job.options).gpus;
    return job;
  }
  job.limit = random_limit(random, job.options, spec.n_gpus);
  job.most = random.percent(30) ? job.limit : random_limit(random, job.options, spec.n_gpus);
  job.work = random.within(1, 1'000'000) * std::int64_t{1'000'000};
  if (random.percent(spec.extreme_percent)) job.work = random.percent(30) ? 0 : random_magnitude(random, 62);
  job.progress = random_quantiles(random, spec);
  return job;
}

std::vector<std::size_t> shuffled(Random& random, std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  return order;
}

void deploy(Random& random, const RandomOnesSpec& spec, std::vector<TestOnesJob>& jobs) {
  std::int32_t x = 0;
  for (const std::size_t j : shuffled(random, jobs.size())) {
    TestOnesJob& job = jobs[j];
    job.deployed_first = random.below(spec.n_gpus);  // an arbitrary value, where it is not deployed
    if (random.percent(spec.gap_percent)) x += random.within(1, 1 + spec.n_gpus / 8);
    if (!random.percent(spec.deployed_percent) || x >= spec.n_gpus) continue;
    const std::int32_t gpus = random.percent(spec.odd_percent) ? random.within(1, spec.n_gpus - x) : random.of(job.options).gpus;
    if (gpus > spec.n_gpus - x) continue;
    job.deployed_first = x;
    job.deployed_count = gpus;
    x += gpus;
  }
}

}  // namespace

const char* to_string(OnesOptions options) {
  constexpr std::array<const char*, 5> names{"every count", "powers of two", "a single option", "some counts", "mixed"};
  return names[static_cast<std::size_t>(options)];
}

OnesProblem random_ones(std::uint64_t seed, const RandomOnesSpec& spec) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 5);
  std::vector<TestOnesJob> jobs;
  for (std::int32_t j = 0; j < spec.jobs; ++j) {
    const bool again = !jobs.empty() && random.percent(spec.identical_percent);
    jobs.push_back(again ? TestOnesJob(random.of(jobs)) : random_job(random, spec));
  }
  deploy(random, spec, jobs);
  OnesProblem problem(spec.n_gpus, spec.population, jobs);
  problem.theta_ppm = spec.theta_ppm;
  problem.waiting = spec.waiting;
  problem.seed = random.bits();
  return problem;
}

TestOnesPopulation random_population(std::uint64_t seed, const OnesProblem& problem) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 6);
  const auto jobs = static_cast<std::size_t>(problem.n_jobs());
  TestOnesPopulation population;
  for (std::int32_t i = 0; i < problem.population; ++i) {
    std::vector<std::int32_t> first(jobs), count(jobs, 0);
    const std::int32_t gap_percent = random.of<std::int32_t>({0, 20, 60});
    std::int32_t x = 0;
    for (const std::size_t j : shuffled(random, jobs)) {
      first[j] = random.below(problem.n_gpus);  // an arbitrary value, where it has no GPUs
      if (random.percent(gap_percent)) x += random.within(1, 1 + problem.n_gpus / 8);
      const auto options =
          std::vector(problem.option_gpus.begin() + problem.option_begin[j], problem.option_gpus.begin() + problem.option_begin[j + 1]);
      const std::int32_t gpus = random.of(options);
      if (gpus > problem.n_gpus - x) continue;
      first[j] = x;
      count[j] = gpus;
      x += gpus;
    }
    population.first.insert(population.first.end(), first.begin(), first.end());
    population.count.insert(population.count.end(), count.begin(), count.end());
  }
  return population;
}

}  // namespace berth::test
