// elasticflow: minimum satisfactory shares for deadlines, then spare GPUs by least added GPU-time.
//
// Promise     a job with a deadline gets a share: a number of GPUs q of one type, the fewest with which it and all jobs that have a
//             promise meet their deadlines, when in deadline order each takes from now on the largest of its shapes that is within q
//             and fits. Jobs that come together are asked by deadline, then those asked before. A job without such a share gets no
//             promise. A share is kept until the job ends. Where all jobs cannot be laid again, each is laid next to what was planned
//             for the others. Jobs that wait for places get none: `packing=consolidate`, `contention`, `timers`, a longest wait.
//             Where a deadline falls in steps, they are asked for in the order of their instants, until one is promised.
// Choice      each promised job has what that gives it now. Of the GPUs left, jobs without any get their smallest shape, the least
//             GPU-time first. Then, repeatedly, the step to a larger and faster shape that adds the least GPU-time for each GPU; with
//             spare=allowance the next level of the job with the least waiting allowance, where it gains a tenth in speed.
// Time        remaining time in a shape. Costs of changes are not planned for.
// Changes     when a promised job is to have more GPUs than before.
// Keeps       columns `promised_end_us` (the deadline; -1: nothing is promised; -2: a promise was broken), `share_gpus`, `share_type`;
//             what is planned for each job in `share_from_us_N`, `share_to_us_N`, `share_gpus_N`.
// Source      ElasticFlow (ASPLOS'23): minimum satisfactory share, admission and diminishing returns, by its artifact. Not as there:
//             shares stay, reservations are not trimmed to the latest time, and jobs without a promise run with spare GPUs. The
//             artifact sorts by marginal GPU-time in the other direction; this is the paper's stated intent. Its buddy placement is
//             that of `packing`. spare=allowance is our reading of how GENIE (TPDS 2020) gives away idle GPUs.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/shape_steps.hpp"
#include "host/policy/deadlines/elastic_shares.hpp"

namespace berth::policy {
namespace {

class ElasticFlow final : public core::ShapePolicy {
 public:
  ElasticFlow(bool promises, bool by_allowance) : promises_(promises), by_allowance_(by_allowance) {}

  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    steps_.begin(question, chosen);
    shapes_ = question.shapes;
    shares_.choose(question, promises_);
    for (const std::int32_t job : shares_.promised()) {
      if (shares_.row_now(job) >= 0) steps_.give(job, shares_.row_now(job));
    }
    give_spare();
  }

  TimeUs next_change() const override { return shares_.next_change(); }
  void store(PolicyState& kept) const override { shares_.store(kept); }

 private:
  struct Step {
    std::int64_t allowance;  // the least first; 0: of no account
    std::int64_t added_gpu_us;
    std::int32_t added, job, row;
    // The heap's top is the greatest.
    bool operator<(const Step& b) const {
      if (allowance != b.allowance) return allowance > b.allowance;
      const core::Wide here = core::Wide{added_gpu_us} * b.added, there = core::Wide{b.added_gpu_us} * added;
      return here != there ? here > there : std::tuple(added, job, row) > std::tuple(b.added, b.job, b.row);
    }
  };

  std::int64_t gpu_us(std::int32_t k) const { return core::saturating_mul(run(k), steps_.gpus(k)); }
  TimeUs run(std::int32_t k) const { return shapes_[to_index(k)].run; }

  void give_spare() {
    waiting_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      if (steps_.row(job) >= 0) continue;
      const std::int32_t k = steps_.smallest(job);
      if (k >= 0) waiting_.emplace_back(gpu_us(k), job);
    }
    std::sort(waiting_.begin(), waiting_.end());
    for (const auto& [work, job] : waiting_) {
      const std::int32_t k = steps_.smallest(job);
      if (k >= 0) steps_.give(job, k);
    }
    heap_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) push_best(job);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Step step = heap_.back();
      heap_.pop_back();
      if (steps_.follows(step.job, step.row)) steps_.give(step.job, step.row);
      push_best(step.job);
    }
  }

  void push_best(std::int32_t job) {
    const std::int32_t has = steps_.row(job);
    if (has < 0) return;
    Step best{0, 0, 1, job, -1};
    if (by_allowance_) {
      push_next_level(job, has, best);
      return;
    }
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (!steps_.follows(job, k) || run(k) >= run(has)) continue;
      const Step step{0, gpu_us(k) - gpu_us(has), steps_.gpus(k) - steps_.gpus(has), job, k};
      if (best.row < 0 || best < step) best = step;
    }
    push(best);
  }

  // The next level with which the job is faster by a tenth.
  void push_next_level(std::int32_t job, std::int32_t has, Step best) {
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      const bool gains = core::Wide{10} * steps_.speed(k) >= core::Wide{11} * steps_.speed(has);
      if (!gains || !steps_.follows(job, k) || run(k) >= run(has)) continue;
      const Step step{shares_.allowance(job, run(has)), gpu_us(k) - gpu_us(has), steps_.gpus(k) - steps_.gpus(has), job, k};
      if (best.row < 0 || std::tie(step.added, step.row) < std::tie(best.added, best.row)) best = step;
    }
    push(best);
  }

  void push(const Step& best) {
    if (best.row < 0) return;
    heap_.push_back(best);
    std::push_heap(heap_.begin(), heap_.end());
  }

  const bool promises_, by_allowance_;
  ShapeSteps steps_;
  mutable ElasticShares shares_;  // `store` uses its memory
  std::span<const kernel::ShapeTerms> shapes_;
  std::vector<std::pair<std::int64_t, std::int32_t>> waiting_;  // GPU-time, job
  std::vector<Step> heap_;
};

core::ChoiceSettings elasticflow_settings(const core::Params& params) { return choice_settings("elasticflow", params); }

// Where jobs wait for better places, GPUs that are free are not enough.
std::unique_ptr<core::ShapePolicy> elasticflow_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("elasticflow").info, params);
  const std::string& packing = settings.text("packing");
  const bool anywhere = packing != "consolidate" && packing != "contention" && settings.text("timers") == "none";
  return std::make_unique<ElasticFlow>(anywhere, settings.choice("spare", {"work", "allowance"}) == 1);
}

}  // namespace

core::PolicyEntry elasticflow_policy() {
  return {
      .info = {.name = "elasticflow",
               .rule = "fewest GPUs that meet promised deadlines, then least added GPU-time",
               .source = "ElasticFlow (ASPLOS'23); our reading",
               .params = with_objective(
                   "flow_time", {{"spare", "work",
                                  "spare GPUs, work: the step that adds the least GPU-time for a GPU; allowance: to the job with the least "
                                  "waiting allowance"}})},
      .preemptive = true,
      .choice = elasticflow_settings,
      .shapes = elasticflow_shapes,
      .leaves_idle = "a running job keeps its GPU type"};
}

}  // namespace berth::policy
