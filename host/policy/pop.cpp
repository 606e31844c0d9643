// pop: the choice of `price`, made in parts.
//
// Choice      jobs are split at random in `k` parts (no more than there are jobs), as many in each but for one; a part has the kth part of
//             the GPUs of each type, and what is over goes to the first parts, one each. Each is solved by prices as `price` solves the
//             whole (docs/prices.md), beginning with the prices of the whole that were kept; the answers are put together.
// Random      a number for each job by Philox, key = seed, counter = its rank among the jobs that may be chosen for; jobs are dealt out in
//             the order of these numbers.
// Bound       that of the whole: what the parts could be worth at most says nothing of it.
// Cost        k searches of the kth part beside the one for the bound; several at once, where the backend has threads.
// Source      POP (SOSP'21): partitioned optimization problems. There each part is a linear or integer programme; prices instead are ours.
//             As there, what a part has no room for is no choice in it; a job of which that is all may start on what is left when the
//             others are placed.

#include <Random123/philox.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/choice_view.hpp"
#include "host/core/shape_policy.hpp"
#include "host/policy/choice_params.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

// A problem of its own: the columns of a ChoiceView, and the answer.
struct Part {
  std::vector<std::int32_t> jobs;  // of the whole, by rank
  std::vector<std::int64_t> capacity, value, price, used;
  std::vector<std::int32_t> option_begin, type, gpus, option;
  std::vector<std::int32_t> row;  // of the options, in the whole
  std::int64_t sum = 0, bound = 0;
  std::int32_t evaluations = 0;

  void begin(const kernel::ChoiceView& whole, std::int32_t rank, std::int32_t parts) {
    jobs.clear();
    capacity.clear();
    for (std::int32_t t = 0; t < whole.n_types; ++t)
      capacity.push_back(whole.capacity[t] / parts + (rank < whole.capacity[t] % parts ? 1 : 0));
    price.assign(capacity.size(), 0);
    used.assign(capacity.size(), 0);
  }
  // Those that the part has the GPUs for: what asks for more would only loosen its bound (docs/prices.md).
  void copy_options(const kernel::ChoiceView& whole) {
    option_begin.assign(1, 0);
    row.clear();
    type.clear();
    gpus.clear();
    value.clear();
    for (const std::int32_t job : jobs) {
      for (std::int32_t k = whole.option_begin[job]; k < whole.option_begin[job + 1]; ++k) {
        if (whole.gpus[k] > capacity[at(whole.type[k])]) continue;
        row.push_back(k);
        type.push_back(whole.type[k]);
        gpus.push_back(whole.gpus[k]);
        value.push_back(whole.value[k]);
      }
      option_begin.push_back(static_cast<std::int32_t>(type.size()));
    }
    option.assign(jobs.size(), -1);
  }
  // Relative to the first option that the job has in the whole; -1: none.
  std::int32_t chosen(std::size_t j, const kernel::ChoiceView& whole) const {
    return option[j] < 0 ? -1 : row[at(option_begin[j] + option[j])] - whole.option_begin[jobs[j]];
  }
  kernel::ChoiceView view() const { return core::choice_view(capacity, option_begin, type, gpus, value); }
};

class Pop final : public core::ShapePolicy {
 public:
  explicit Pop(std::int32_t parts) : most_parts_(parts) {}

  bool by_price() const override { return true; }

  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override {
    const kernel::ChoiceView& whole = question.problem;
    const std::int32_t n = std::clamp(whole.n_jobs, 1, most_parts_);
    if (parts_.size() < at(n)) parts_.resize(at(n));  // never smaller: their memory is kept
    for (std::int32_t i = 0; i < n; ++i) parts_[at(i)].begin(whole, i, n);
    deal(whole.n_jobs, n, question.seed);
    tasks_.clear();
    results_.clear();
    for (std::int32_t i = 0; i < n; ++i) {
      Part& part = parts_[at(i)];
      part.copy_options(whole);
      tasks_.push_back({part.view(), question.search, nullptr});
      results_.push_back({part.option.data(), part.price.data(), part.used.data(), &part.sum, &part.bound, &part.evaluations});
    }
    backend.choose(tasks_, results_);
    for (std::int32_t i = 0; i < n; ++i) {
      const Part& part = parts_[at(i)];
      for (std::size_t j = 0; j < part.jobs.size(); ++j) chosen[at(part.jobs[j])] = part.chosen(j, whole);
    }
  }

 private:
  struct Draw {
    std::uint32_t number;
    std::int32_t job;
  };

  void deal(std::int32_t jobs, std::int32_t n, std::uint64_t seed) {
    const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    draws_.clear();
    for (std::int32_t j = 0; j < jobs; ++j) {
      const r123::Philox4x32::ctr_type counter{{static_cast<std::uint32_t>(j), 0, 0, 0}};
      draws_.push_back({r123::Philox4x32()(counter, key).v[0], j});
    }
    std::sort(draws_.begin(), draws_.end(),
              [](const Draw& a, const Draw& b) { return std::tie(a.number, a.job) < std::tie(b.number, b.job); });
    for (std::size_t i = 0; i < draws_.size(); ++i) parts_[i % at(n)].jobs.push_back(draws_[i].job);
    for (std::int32_t i = 0; i < n; ++i) std::sort(parts_[at(i)].jobs.begin(), parts_[at(i)].jobs.end());
  }

  std::int32_t most_parts_;
  std::vector<Part> parts_;
  std::vector<Draw> draws_;
  std::vector<core::ChoiceTask> tasks_;
  std::vector<kernel::ChoiceResult> results_;
};

core::ChoiceSettings pop_settings(const core::Params& params) { return choice_settings("pop", params); }

std::unique_ptr<core::ShapePolicy> pop_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("pop").info, params);
  return std::make_unique<Pop>(static_cast<std::int32_t>(settings.integer("k", 1, 4096)));
}

}  // namespace

core::PolicyEntry pop_policy() {
  return {{"pop", "the choice of price, in random parts of jobs and GPUs", "POP (SOSP'21), by prices", "skip", true,
           with_objective("goodput", {{"k", "4", "parts"}})},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          pop_settings,
          pop_shapes};
}

}  // namespace berth::policy
