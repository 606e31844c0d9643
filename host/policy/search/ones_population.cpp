#include "host/policy/search/ones_population.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/policy_api/kept_columns.hpp"

namespace berth::policy {
namespace {

constexpr const char* kGeneration = "generation";   // number of the next generation
constexpr const char* kIndividual = "individual/";  // followed by its index
constexpr int kFirstBits = 32;                      // a block is first GPU x 2^32 + count

}  // namespace

void OnesPopulation::load(const PolicyState& kept, const OnesQuestion& question, std::int32_t individuals) {
  jobs_ = question.jobs().size();
  individuals_ = to_index(individuals);
  while (name_.size() < individuals_) name_.push_back(fmt::format("{}{:05}", kIndividual, name_.size()));
  const auto generation = kept.scalars.find(kGeneration);
  next_generation_ = generation == kept.scalars.end() ? 0 : static_cast<std::int32_t>(generation->second & INT32_MAX);
  made_ = 0;
  // A population of another size, or whose jobs are all gone, counts as none.
  values_.assign(jobs_, -1);
  core::read_column(kept, name_[0], question.by_id(), values_);
  known_ = std::any_of(values_.begin(), values_.end(), [](std::int64_t block) { return block >= 0; }) &&
           kept.columns.find(name_[individuals_ - 1]) != kept.columns.end();
  if (!known_) return;
  kept_first_.assign(individuals_ * jobs_, 0);
  kept_count_.assign(individuals_ * jobs_, 0);
  for (std::size_t i = 0; i < individuals_; ++i) {
    values_.assign(jobs_, 0);
    core::read_column(kept, name_[i], question.by_id(), values_);
    // States are read from files: a block counts only as far as its GPUs exist and belong to no other job.
    taken_.assign(to_index(question.n_gpus()), 0);
    for (std::size_t j = 0; j < jobs_; ++j) {
      const std::int64_t first = values_[j] >> kFirstBits;
      if (first < 0 || first >= question.n_gpus()) continue;
      const std::int64_t room = std::min<std::int64_t>(values_[j] & UINT32_MAX, question.n_gpus() - first);
      const std::int32_t count = question.fit(static_cast<std::int32_t>(j), room);
      const auto gpu = taken_.begin() + first;
      if (std::find(gpu, gpu + count, 1) != gpu + count) continue;
      std::fill_n(gpu, count, 1);
      kept_first_[i * jobs_ + j] = static_cast<std::int32_t>(first);
      kept_count_[i * jobs_ + j] = count;
    }
  }
}

kernel::OnesRequest OnesPopulation::request(std::int32_t generations) const {
  return {next_generation_, generations, known_ ? kept_first_.data() : nullptr, known_ ? kept_count_.data() : nullptr};
}

kernel::OnesResult OnesPopulation::result(std::int32_t generations) {
  first_.resize(individuals_ * jobs_);
  count_.resize(individuals_ * jobs_);
  score_.resize(individuals_);
  least_.resize(to_index(generations));
  return {first_.data(), count_.data(), score_.data(), least_.data(), &made_};
}

void OnesPopulation::store(PolicyState& kept, const OnesQuestion& question) const {
  kept.scalars[kGeneration] = (std::int64_t{next_generation_} + made_) & INT32_MAX;
  for (std::size_t i = 0; i < individuals_; ++i) {
    values_.resize(jobs_);
    for (std::size_t j = 0; j < jobs_; ++j) {
      values_[j] = (std::int64_t{first_[i * jobs_ + j]} << kFirstBits) + count_[i * jobs_ + j];
    }
    core::write_column(kept, name_[i], question.by_id(), values_);
  }
  // Left by an earlier, larger population.
  std::erase_if(kept.columns, [&](const auto& one) { return one.first.rfind(kIndividual, 0) == 0 && one.first > name_[individuals_ - 1]; });
}

}  // namespace berth::policy
