#include "tests/support/ones.hpp"

#include <algorithm>
#include <ostream>
#include <stdexcept>

#include "host/reference/ones/ones.hpp"

namespace berth::test {

OnesProblem::OnesProblem(std::int32_t gpu_count, std::int32_t population_of, const std::vector<TestOnesJob>& jobs)
    : n_gpus(gpu_count), population(population_of), option_begin{0} {
  for (const TestOnesJob& job : jobs) {
    for (const TestOnesOption& option : job.options) {
      option_gpus.push_back(option.gpus);
      option_rate.push_back(option.rate);
    }
    option_begin.push_back(static_cast<std::int32_t>(option_gpus.size()));
    fresh.push_back(job.fresh ? 1 : 0);
    start.push_back(job.start);
    limit.push_back(job.limit);
    most.push_back(job.most);
    work.push_back(job.work);
    if (job.progress.size() != kernel::kOnesQuantiles) throw std::invalid_argument("a table of progress of another length");
    progress.insert(progress.end(), job.progress.begin(), job.progress.end());
    deployed_first.push_back(job.deployed_first);
    deployed_count.push_back(job.deployed_count);
  }
}

kernel::OnesView OnesProblem::view() const {
  return {n_gpus,
          n_jobs(),
          population,
          theta_ppm,
          seed,
          waiting,
          option_begin.data(),
          option_gpus.data(),
          option_rate.data(),
          fresh.data(),
          start.data(),
          limit.data(),
          most.data(),
          work.data(),
          progress.data(),
          deployed_first.data(),
          deployed_count.data()};
}

std::int32_t OnesProblem::fit(std::int32_t job, std::int32_t gpus_at_most) const {
  std::int32_t greatest = 0;
  for (std::int32_t s = option_begin[static_cast<std::size_t>(job)]; s < option_begin[static_cast<std::size_t>(job) + 1]; ++s) {
    const std::int32_t gpus = option_gpus[static_cast<std::size_t>(s)];
    if (gpus <= gpus_at_most) greatest = std::max(greatest, gpus);
  }
  return greatest;
}

kernel::OnesRequest OnesEvolving::request() const {
  return {first_generation, generations, population ? population->first.data() : nullptr, population ? population->count.data() : nullptr};
}

OnesBuffers::OnesBuffers(const OnesProblem& problem, std::int32_t generations_at_most)
    : first(static_cast<std::size_t>(problem.population) * static_cast<std::size_t>(problem.n_jobs()), -7),
      count(first),
      score(static_cast<std::size_t>(problem.population), -7),
      least(static_cast<std::size_t>(generations_at_most), -7) {}

kernel::OnesResult OnesBuffers::view() { return {first.data(), count.data(), score.data(), least.data(), &generations}; }

namespace {

std::vector<std::int32_t> row_of(const std::vector<std::int32_t>& column, std::size_t rows, std::int32_t i) {
  const auto length = static_cast<std::ptrdiff_t>(column.size() / rows);
  return {column.begin() + i * length, column.begin() + (i + 1) * length};
}

std::vector<std::int64_t> least_of(const OnesBuffers& result) {
  const auto made = static_cast<std::size_t>(std::max(result.generations, 0));
  return {result.least.begin(), result.least.begin() + static_cast<std::ptrdiff_t>(std::min(made, result.least.size()))};
}

// The error of individual i of a population that was evolved; empty: none.
std::string objection_to_counts(const OnesProblem& p, const std::vector<std::int32_t>& counts, std::int32_t idle) {
  for (std::int32_t j = 0; j < p.n_jobs(); ++j) {
    const auto row = static_cast<std::size_t>(j);
    const std::int32_t count = counts[row];
    const std::string job = "job " + std::to_string(j) + " with " + std::to_string(count) + " GPUs";
    if (p.fresh[row] != 0) {
      if (count != 0 && count != p.start[row]) return job + " is fresh and does not have its start";
      if (count == 0 && p.start[row] <= idle) return job + " could start on idle GPUs";
      continue;
    }
    const std::int32_t greatest = std::max(p.limit[row], p.most[row]);
    if (count > greatest) return job + " is above its limits";
    if (p.fit(j, std::min(greatest, count + idle)) > count) return job + " could use idle GPUs";
  }
  return "";
}

// The error of individual i; empty: none.
std::string objection_to_individual(const OnesProblem& p, const OnesBuffers& result, std::int32_t i) {
  const std::vector<std::int32_t> firsts = result.firsts_of(i), counts = result.counts_of(i);
  std::vector<bool> taken(static_cast<std::size_t>(p.n_gpus), false);
  for (std::int32_t j = 0; j < p.n_jobs(); ++j) {
    const std::int32_t first = firsts[static_cast<std::size_t>(j)], count = counts[static_cast<std::size_t>(j)];
    const std::string job = "job " + std::to_string(j);
    if (count < 0 || (count > 0 && p.fit(j, count) != count)) return job + " has no option of " + std::to_string(count);
    if (count == 0 && first != 0) return job + " has nothing, but a first GPU";
    if (first < 0 || first > p.n_gpus - count) return job + " is not within the GPUs";
    for (std::int32_t x = first; x < first + count; ++x) {
      if (taken[static_cast<std::size_t>(x)]) return job + " overlaps another in GPU " + std::to_string(x);
      taken[static_cast<std::size_t>(x)] = true;
    }
  }
  if (result.generations == 0) return "";
  return objection_to_counts(p, counts, static_cast<std::int32_t>(std::count(taken.begin(), taken.end(), false)));
}

}  // namespace

std::vector<std::int32_t> OnesBuffers::counts_of(std::int32_t i) const { return row_of(count, score.size(), i); }
std::vector<std::int32_t> OnesBuffers::firsts_of(std::int32_t i) const { return row_of(first, score.size(), i); }

bool operator==(const OnesBuffers& a, const OnesBuffers& b) {
  return a.first == b.first && a.count == b.count && a.score == b.score && a.generations == b.generations && least_of(a) == least_of(b);
}

void PrintTo(const OnesBuffers& result, std::ostream* out) {
  const auto list = [&](const char* name, const auto& numbers) {
    *out << name;
    for (const auto number : numbers) *out << ' ' << number;
    *out << "; ";
  };
  for (std::size_t i = 0; i < result.score.size(); ++i) {
    const auto individual = static_cast<std::int32_t>(i);
    *out << '#' << i << ": ";
    list("first", result.firsts_of(individual));
    list("count", result.counts_of(individual));
  }
  list("score", result.score);
  list("least", least_of(result));
  *out << "generations " << result.generations;
}

OnesBuffers evolve_by_oracle(const OnesProblem& problem, const OnesEvolving& how) {
  OnesBuffers result(problem, how.generations);
  reference::ones(problem.view(), how.request(), result.view(), how.stop);
  return result;
}

std::string objection(const OnesProblem& problem, const OnesBuffers& result) {
  if (result.generations < 0 || static_cast<std::size_t>(result.generations) > result.least.size()) return "generations are not those made";
  if (!std::is_sorted(result.score.begin(), result.score.end())) return "scores do not ascend";
  if (result.score.front() < 0) return "score below 0";
  if (result.generations == 0 && result.score.back() != 0) return "scores without a generation";
  if (result.generations > 0 && result.score.front() != least_of(result).back()) return "the last least score is not that of the best";
  for (std::int32_t i = 0; i < problem.population; ++i) {
    const std::string wrong = objection_to_individual(problem, result, i);
    if (!wrong.empty()) return "individual " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

}  // namespace berth::test
