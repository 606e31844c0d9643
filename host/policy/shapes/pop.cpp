// pop: the choice of `price`, made in parts.
//
// Choice      jobs are split at random into `k` parts of equal size up to one job (no more parts than jobs). A part has 1/k of the
//             GPUs of each type; the remaining GPUs go to the first parts, one each. Each part is solved by prices, as `price`
//             solves the whole (docs/prices.md), starting with the kept prices of the whole. The answers are combined.
// Random      a number for each job by Philox, key = seed, counter = its rank among the eligible jobs. Jobs are dealt in the order
//             of these numbers.
// Bound       that of the whole: the bounds of the parts do not bound the whole.
// Cost        k searches of size 1/k in addition to the one for the bound; several at once where the backend has threads.
// Source      POP (SOSP'21): partitioned optimization problems. There each part is a linear or integer program; using prices is
//             ours. As there, a shape that does not fit into a part is no choice in it; a job with only such shapes may start on
//             what is left after the others are placed.

#include <Random123/philox.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/choice/shape_view.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

// A separate problem: the columns of a PriceView, and the answer.
struct Part {
  std::vector<std::int32_t> jobs;  // of the whole, by rank
  std::vector<std::int64_t> capacity, value, price, used;
  std::vector<std::int32_t> option_begin, type, gpus, option;
  std::vector<std::int32_t> row;  // of the options, in the whole problem
  std::int64_t sum = 0, bound = 0;
  std::int32_t evaluations = 0;

  void begin(const kernel::PriceView& whole, std::int32_t rank, std::int32_t parts) {
    jobs.clear();
    capacity.clear();
    for (std::int32_t t = 0; t < whole.n_types; ++t)
      capacity.push_back(whole.capacity[t] / parts + (rank < whole.capacity[t] % parts ? 1 : 0));
    price.assign(capacity.size(), 0);
    used.assign(capacity.size(), 0);
  }
  // Those that fit into the part's GPUs: others would only loosen its bound (docs/prices.md).
  void copy_options(const kernel::PriceView& whole) {
    option_begin.assign(1, 0);
    row.clear();
    type.clear();
    gpus.clear();
    value.clear();
    for (const std::int32_t job : jobs) {
      for (std::int32_t k = whole.option_begin[job]; k < whole.option_begin[job + 1]; ++k) {
        if (whole.gpus[k] > capacity[to_index(whole.type[k])]) continue;
        row.push_back(k);
        type.push_back(whole.type[k]);
        gpus.push_back(whole.gpus[k]);
        value.push_back(whole.value[k]);
      }
      option_begin.push_back(static_cast<std::int32_t>(type.size()));
    }
    option.assign(jobs.size(), -1);
  }
  // Relative to the job's first option in the whole problem; -1: none.
  std::int32_t chosen(std::size_t j, const kernel::PriceView& whole) const {
    return option[j] < 0 ? -1 : row[to_index(option_begin[j] + option[j])] - whole.option_begin[jobs[j]];
  }
  kernel::PriceView view() const { return core::shape_view(capacity, option_begin, type, gpus, value); }
};

class Pop final : public core::ShapePolicy {
 public:
  explicit Pop(std::int32_t parts) : most_parts_(parts) {}

  bool by_price() const override { return true; }

  void choose(const core::ShapeQuestion& question, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override {
    const kernel::PriceView& whole = question.problem;
    const std::int32_t n = std::clamp(whole.n_jobs, 1, most_parts_);
    if (parts_.size() < to_index(n)) parts_.resize(to_index(n));  // never shrinks, so that memory is kept
    for (std::int32_t i = 0; i < n; ++i) parts_[to_index(i)].begin(whole, i, n);
    deal(whole.n_jobs, n, question.seed);
    tasks_.clear();
    results_.clear();
    for (std::int32_t i = 0; i < n; ++i) {
      Part& part = parts_[to_index(i)];
      part.copy_options(whole);
      tasks_.push_back({part.view(), question.search, nullptr});
      results_.push_back({part.option.data(), part.price.data(), part.used.data(), &part.sum, &part.bound, &part.evaluations});
    }
    backend.price(tasks_, results_);
    for (std::int32_t i = 0; i < n; ++i) {
      const Part& part = parts_[to_index(i)];
      for (std::size_t j = 0; j < part.jobs.size(); ++j) chosen[to_index(part.jobs[j])] = part.chosen(j, whole);
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
    for (std::size_t i = 0; i < draws_.size(); ++i) parts_[i % to_index(n)].jobs.push_back(draws_[i].job);
    for (std::int32_t i = 0; i < n; ++i) std::sort(parts_[to_index(i)].jobs.begin(), parts_[to_index(i)].jobs.end());
  }

  std::int32_t most_parts_;
  std::vector<Part> parts_;
  std::vector<Draw> draws_;
  std::vector<core::PriceTask> tasks_;
  std::vector<kernel::PriceResult> results_;
};

core::ChoiceSettings pop_settings(const core::Params& params) { return choice_settings("pop", params); }

std::unique_ptr<core::ShapePolicy> pop_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("pop").info, params);
  return std::make_unique<Pop>(static_cast<std::int32_t>(settings.integer("k", 1, 4096)));
}

}  // namespace

core::PolicyEntry pop_policy() {
  return {.info = {.name = "pop",
                   .rule = "the choice of price, in random parts of jobs and GPUs",
                   .source = "POP (SOSP'21), by prices",
                   .params = with_objective("flow_time", {{"k", "4", "parts"}})},
          .preemptive = true,
          .choice = pop_settings,
          .shapes = pop_shapes,
          .leaves_idle = "jobs get only GPUs of their part"};
}

}  // namespace berth::policy
