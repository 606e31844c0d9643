// optimus: the largest saving of remaining time per added GPU, step by step.
//
// Choice      every job gets its smallest shape first, by submit, while there is room. Then, repeatedly, the step that saves the
//             most remaining time per added GPU, until none saves time or none fits. A step may go to any larger shape of the job,
//             so that a shape without gain is no barrier. Ties: fewer GPUs added, then lower job rank, then earlier option.
// Time        remaining time in a shape, and the cost of changing to it: a running job prefers to keep its shape.
// Types       a running job stays on its GPU type, if one of its shapes fits there. A waiting one uses the type where its smallest
//             shape is the fastest. Steps stay on that type.
// Cost        a heap of one step per job: O(options + log jobs) per step.
// Source      Optimus (EuroSys'18), its greedy rule, not checked against the paper: one worker at a time to the largest marginal
//             gain. Our reading: shapes instead of workers and parameter servers, GPU types, changes, and which jobs start; also
//             deciding on request, not every ten minutes.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "host/core/base/wide.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/shape_steps.hpp"

namespace berth::policy {
namespace {

class Optimus final : public core::ShapePolicy {
 public:
  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    steps_.begin(question, chosen);
    heap_.clear();
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
      const std::int32_t row = steps_.smallest(job);
      if (row >= 0) steps_.give(job, row);
    }
    for (std::int32_t job = 0; job < steps_.jobs(); ++job) push_best(job);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Step step = heap_.back();
      heap_.pop_back();
      // Other jobs may have taken the GPUs since. The job's other steps have a lower gain, because free GPUs only decrease.
      if (steps_.follows(step.job, step.row)) steps_.give(step.job, step.row);
      push_best(step.job);
    }
  }

 private:
  struct Step {
    TimeUs saved;
    std::int32_t added, job, row;

    // The heap's top is the greatest.
    bool operator<(const Step& b) const {
      const core::Wide here = core::Wide{saved} * b.added, there = core::Wide{b.saved} * added;
      return here != there ? here < there : std::tuple(b.added, b.job, b.row) < std::tuple(added, job, row);
    }
  };

  void push_best(std::int32_t job) {
    const std::int32_t has = steps_.row(job);
    if (has < 0) return;
    Step best{0, 1, job, -1};
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (!steps_.follows(job, k)) continue;
      const Step step{steps_.left(has) - steps_.left(k), steps_.gpus(k) - steps_.gpus(has), job, k};
      if (step.saved > 0 && (best.row < 0 || best < step)) best = step;
    }
    if (best.row < 0) return;
    heap_.push_back(best);
    std::push_heap(heap_.begin(), heap_.end());
  }

  ShapeSteps steps_;
  std::vector<Step> heap_;
};

core::ChoiceSettings optimus_settings(const core::Params& params) { return choice_settings("optimus", params); }
std::unique_ptr<core::ShapePolicy> optimus_shapes(const core::Params&) { return std::make_unique<Optimus>(); }

}  // namespace

core::PolicyEntry optimus_policy() {
  return {.info = {.name = "optimus",
                   .rule = "largest saving of remaining time per added GPU",
                   .source = "Optimus (EuroSys'18); our reading",
                   .params = with_objective("flow_time")},
          .preemptive = true,
          .choice = optimus_settings,
          .shapes = optimus_shapes,
          .leaves_idle = "a running job keeps its GPU type"};
}

}  // namespace berth::policy
