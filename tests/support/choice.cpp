#include "tests/support/choice.hpp"

#include <algorithm>
#include <ostream>
#include <tuple>
#include <utility>

#include "host/core/base/wide.hpp"
#include "host/reference/price/price.hpp"

namespace berth::test {

bool operator==(const TestOption& a, const TestOption& b) { return a.type == b.type && a.gpus == b.gpus && a.value == b.value; }

ChoiceProblem::ChoiceProblem(std::vector<std::int64_t> capacity_of, const std::vector<std::vector<TestOption>>& jobs)
    : capacity(std::move(capacity_of)), option_begin{0} {
  for (const auto& options : jobs) {
    for (const TestOption& option : options) {
      type.push_back(option.type);
      gpus.push_back(option.gpus);
      value.push_back(option.value);
    }
    option_begin.push_back(static_cast<std::int32_t>(value.size()));
  }
}

kernel::PriceView ChoiceProblem::view() const {
  return {n_jobs(), n_types(), capacity.data(), option_begin.data(), type.data(), gpus.data(), value.data()};
}

ChoiceBuffers::ChoiceBuffers(const ChoiceProblem& problem)
    : option(static_cast<std::size_t>(problem.n_jobs()), -7), price(problem.capacity.size(), -7), used(problem.capacity.size(), -7) {}

kernel::PriceResult ChoiceBuffers::view() { return {option.data(), price.data(), used.data(), &value, &bound, &evaluations}; }

bool operator==(const ChoiceBuffers& a, const ChoiceBuffers& b) {
  return std::tie(a.option, a.price, a.used, a.value, a.bound, a.evaluations) ==
         std::tie(b.option, b.price, b.used, b.value, b.bound, b.evaluations);
}

void PrintTo(const ChoiceBuffers& result, std::ostream* out) {
  const auto list = [&](const char* name, const auto& numbers) {
    *out << name;
    for (const auto number : numbers) *out << ' ' << number;
    *out << "; ";
  };
  list("options", result.option);
  list("prices", result.price);
  list("used", result.used);
  *out << "value " << result.value << ", bound " << result.bound << ", evaluations " << result.evaluations;
}

ChoiceBuffers choose_by_oracle(const ChoiceProblem& problem, const Choosing& how) {
  ChoiceBuffers result(problem);
  const kernel::PriceRequest request{how.gap_ppm, how.most_evaluations, how.bound_only, how.prices.empty() ? nullptr : how.prices.data()};
  reference::price(problem.view(), request, result.view(), how.stop);
  return result;
}

std::string objection(const ChoiceProblem& p, const ChoiceBuffers& result) {
  core::Wide value = 0, bound = 0;
  std::vector<std::int64_t> used(p.capacity.size());
  for (std::size_t t = 0; t < used.size(); ++t) {
    if (result.price[t] < 0) return "price of type " + std::to_string(t) + " below 0";
    bound += core::Wide{result.price[t]} * p.capacity[t];
  }
  for (std::size_t j = 0; j < result.option.size(); ++j) {
    const std::int32_t begin = p.option_begin[j], end = p.option_begin[j + 1], option = result.option[j];
    if (option < -1 || option >= end - begin) return "job " + std::to_string(j) + " has no option " + std::to_string(option);
    core::Wide best = 0;
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      const auto t = static_cast<std::size_t>(p.type[row]);
      best = std::max(best, p.value[row] - core::Wide{result.price[t]} * p.gpus[row]);
      if (static_cast<std::int32_t>(row) - begin != option) continue;
      used[t] += p.gpus[row];
      value += p.value[row];
    }
    bound += best;
  }
  for (std::size_t t = 0; t < used.size(); ++t) {
    if (used[t] > p.capacity[t]) return "type " + std::to_string(t) + " is used beyond its capacity: " + std::to_string(used[t]);
  }
  if (used != result.used) return "used is not what the jobs take";
  if (value != result.value) return "value is not the sum: " + std::to_string(core::saturate(value));
  if (bound != result.bound) return "bound is not that of the prices: " + std::to_string(core::saturate(bound));
  if (value > bound) return "value above the bound";
  return "";
}

namespace {

std::int64_t best_from(const ChoiceProblem& p, std::size_t job, std::vector<std::int64_t>& free) {
  if (job + 1 == p.option_begin.size()) return 0;
  std::int64_t best = best_from(p, job + 1, free);
  for (auto row = static_cast<std::size_t>(p.option_begin[job]); row < static_cast<std::size_t>(p.option_begin[job + 1]); ++row) {
    std::int64_t& left = free[static_cast<std::size_t>(p.type[row])];
    if (p.gpus[row] > left) continue;
    left -= p.gpus[row];
    best = std::max(best, p.value[row] + best_from(p, job + 1, free));
    left += p.gpus[row];
  }
  return best;
}

}  // namespace

std::int64_t best_by_enumeration(const ChoiceProblem& problem) {
  std::vector<std::int64_t> free = problem.capacity;
  return best_from(problem, 0, free);
}

}  // namespace berth::test
