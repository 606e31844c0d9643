#include "host/core/choice/search_seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr const char* kIsland = "island/";  // followed by its number

void name_island(std::string& name, std::size_t island) {
  name = kIsland;
  fmt::format_to(std::back_inserter(name), "{:05}", island);
}

}  // namespace

void SearchSeeds::begin_start() {
  ++n_;
  option_.resize(n_ * jobs_);
  order_.resize(n_ * jobs_);
}

void SearchSeeds::set(const StateImpl& s, const ShapeProblem& choice, const SearchSettings& settings, const PolicyState& kept,
                      std::span<const std::int32_t> fill_order, std::span<const std::int32_t> current) {
  const ChosenShapes shapes = choice.chosen();
  jobs_ = shapes.jobs.size();
  n_ = 0;
  most_ = to_index(settings.population) * to_index(settings.islands) - 1;
  by_id_.clear();
  for (std::size_t j = 0; j < jobs_; ++j) by_id_.emplace_back(&s.jobs[to_index(shapes.jobs[j])].job->id, static_cast<std::int32_t>(j));
  sort_by_id(by_id_);
  if (has_seed(settings.seeds, SearchSeed::kRunning) && room()) {
    begin_start();
    std::copy(current.begin(), current.end(), option_.end() - static_cast<std::ptrdiff_t>(jobs_));
    std::copy(fill_order.begin(), fill_order.end(), order_.end() - static_cast<std::ptrdiff_t>(jobs_));
  }
  if (has_seed(settings.seeds, SearchSeed::kFill) && room()) add_fill(shapes);
  if (has_seed(settings.seeds, SearchSeed::kKept)) add_kept(choice, kept, settings.islands);
}

// For each job the option of the highest value; jobs with the highest value per GPU come first.
void SearchSeeds::add_fill(const ChosenShapes& choice) {
  begin_start();
  std::int32_t* const option = option_.data() + (n_ - 1) * jobs_;
  std::int32_t* const order = order_.data() + (n_ - 1) * jobs_;
  for (std::size_t j = 0; j < jobs_; ++j) {
    option[j] = kernel::kNone;
    for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) {
      if (choice.value[to_index(k)] > (option[j] < 0 ? 0 : choice.value[to_index(option[j])])) option[j] = k;
    }
  }
  std::iota(order, order + jobs_, 0);
  std::sort(order, order + jobs_, [&](std::int32_t a, std::int32_t b) {
    const std::int32_t x = option[a], y = option[b];
    if (x < 0 || y < 0) return std::tuple(x < 0, a) < std::tuple(y < 0, b);
    const Wide left = Wide{choice.value[to_index(x)]} * choice.options[to_index(y)].gpus,
               right = Wide{choice.value[to_index(y)]} * choice.options[to_index(x)].gpus;
    return left != right ? left > right : a < b;
  });
}

void SearchSeeds::add_kept(const ShapeProblem& choice, const PolicyState& kept, std::int32_t islands) {
  const ChosenShapes shapes = choice.chosen();
  for (std::size_t island = 0; island < to_index(islands) && room(); ++island) {
    name_island(name_, island);
    if (kept.columns.find(name_) == kept.columns.end()) continue;
    values_.assign(jobs_, -1);
    read_column(kept, name_, by_id_, values_);
    begin_start();
    std::int32_t* const option = option_.data() + (n_ - 1) * jobs_;
    std::int32_t* const order = order_.data() + (n_ - 1) * jobs_;
    for (std::size_t j = 0; j < jobs_; ++j) {
      // States are read from files: an option that does not exist becomes none.
      option[j] = values_[j] < 0 || values_[j] > INT32_MAX ? kernel::kNone : choice.option_index(j, static_cast<std::int32_t>(values_[j]));
    }
    const auto gpus = [&](std::int32_t j) { return option[j] < 0 ? 0 : shapes.options[to_index(option[j])].gpus; };
    std::iota(order, order + jobs_, 0);
    std::sort(order, order + jobs_, [&](std::int32_t a, std::int32_t b) { return std::tuple(gpus(b), a) < std::tuple(gpus(a), b); });
  }
}

void SearchSeeds::store(const ShapeProblem& choice, std::span<const std::int32_t> option, PolicyState& kept) const {
  const ChosenShapes shapes = choice.chosen();
  const std::size_t islands = jobs_ == 0 ? 0 : option.size() / jobs_;
  for (std::size_t island = 0; island < islands; ++island) {
    values_.assign(jobs_, -1);
    for (std::size_t j = 0; j < jobs_; ++j) {
      const std::int32_t k = option[island * jobs_ + j];
      if (k >= 0) values_[j] = shapes.options[to_index(k)].option;
    }
    name_island(name_, island);
    write_column(kept, name_, by_id_, values_);
  }
  name_island(name_, islands);  // of more islands in an earlier decision
  std::erase_if(kept.columns, [&](const auto& one) { return one.first.rfind(kIsland, 0) == 0 && one.first >= name_; });
}

}  // namespace berth::core
