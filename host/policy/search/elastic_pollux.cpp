// elastic-pollux: the genetic search of Pollux as published, serial, as a baseline.
//
// Genome      GPUs of each job on each node. NSGA-II (pollux_search, pareto_fronts) with `population` individuals and `generations`
//             generations, starting with the current allocation. Two objectives: fitness and cluster utility. The answer is the
//             fittest individual of the last generation.
// Fitness     the power mean of exponent -1 over jobs of x + 0.001. x is the speed relative to that on a fair share of the GPUs. In
//             another row than the job's own it is times max(age - 30 s x restarts, 0) / (age + 30 s). A job that never ran has
//             nothing to restart and is exempt: a job submitted just now would otherwise have no value.
// Speed       that of the question, which includes the efficiency of batches where the objective is `goodput`. It ignores the number
//             of nodes. A number of GPUs without a shape is as fast as the next smaller one, and repair cuts to that.
// Variation   one-point crossover over jobs, three mutations (pollux_variation), repair (pollux_repair).
// Exploration at most twice the GPUs that the job has or its rates were seen on, 1 GPU for a new job, and 64; at most 16 nodes. But
//             always what its smallest shape needs, and what it has.
// Order       of jobs: least attained service first; then rank.
// Types       a job has GPUs of one type. Pollux knows only one type.
// Answer      type and number of GPUs of each job; placement is the same as under all policies. A job that keeps both keeps its
//             shape; of several shapes with the same number of GPUs other jobs take the fastest.
// Start       Pollux continues with its last population. Here only the running jobs are kept, so that a decision is a function of
//             its input.
// Cost        population x generations x jobs x nodes. Neither a budget nor cancelling ends it.
// Source      Pollux (OSDI'21) and its artifact. Ours: what has no shape, types, jobs that never ran, and repair to shapes. Also the
//             number of draws in the third mutation, parents by two draws each, crossover always, and ties to the lower index.

#include <memory>

#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/search/pollux_question.hpp"
#include "host/policy/search/pollux_search.hpp"

namespace berth::policy {
namespace {

class ElasticPollux final : public core::ShapePolicy {
 public:
  explicit ElasticPollux(const PolluxEffort& effort) : effort_(effort) {}

  void choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) override {
    const PolluxProblem& problem = question_.set(question, effort_.population);
    question_.answer(question, search_.solve(problem, effort_, question.seed), chosen);
  }

 private:
  PolluxEffort effort_;
  PolluxQuestion question_;
  PolluxSearch search_;
};

core::ChoiceSettings elastic_pollux_settings(const core::Params& params) { return choice_settings("elastic-pollux", params); }

std::unique_ptr<core::ShapePolicy> elastic_pollux_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("elastic-pollux").info, params);
  return std::make_unique<ElasticPollux>(PolluxEffort{static_cast<std::int32_t>(settings.integer("population", 1, 10'000)),
                                                      static_cast<std::int32_t>(settings.integer("generations", 0, 1'000'000))});
}

}  // namespace

core::PolicyEntry elastic_pollux_policy() {
  return {.info = {.name = "elastic-pollux",
                   .rule = "the fittest of a genetic search over GPUs of each node",
                   .source = "Pollux (OSDI'21); our reading",
                   .params = with_objective("goodput", {{"population", "100", "individuals"}, {"generations", "100", "of the search"}})},
          .preemptive = true,
          .choice = elastic_pollux_settings,
          .shapes = elastic_pollux_shapes,
          .leaves_idle = "a job gets at most twice the GPUs that it has had"};
}

}  // namespace berth::policy
