// optimus: the largest saving of remaining time per added GPU, step by step.
//
// Choice      every job its smallest shape first, by submit, while there is room. Then again and again the step that saves the most
//             remaining time for each GPU that it adds, until none saves time or nothing fits. A step goes to any larger shape of the job,
//             so that a shape that does not pay is no barrier. Ties: fewer GPUs added, then the lower job rank, then the earlier option.
// Time        that is left in a shape, and what changing to it costs: a running job is slow to leave what it has.
// Types       a running job stays on the GPU type that it has, if a shape of it fits there; a waiting one begins on the type where its
//             smallest shape is the quickest. Steps stay on that type.
// Cost        a heap of one step a job: O(options + log jobs) for each step given.
// Source      Optimus (EuroSys'18), its greedy rule, not checked against the paper: a worker at a time to the largest marginal gain.
//             Shapes instead of workers and parameter servers, GPU types, changes, and who begins are our reading; so is deciding when
//             asked, not every ten minutes.

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "host/core/wide.hpp"
#include "host/policy/choice_params.hpp"
#include "host/policy/shape_steps.hpp"

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
      // Others may have taken the GPUs since. What is left to the job is worth less, as what is free only falls.
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
  return {{"optimus", "largest saving of remaining time per added GPU", "Optimus (EuroSys'18); our reading", "skip", true,
           with_objective("jct")},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          optimus_settings,
          optimus_shapes};
}

}  // namespace berth::policy
