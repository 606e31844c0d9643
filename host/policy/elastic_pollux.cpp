// elastic-pollux: Pollux's genetic search as published, serial; to compare others with.
//
// Genome      GPUs of each job on each node. NSGA-II (pollux_search, pareto_fronts): `population` individuals, `generations` generations,
//             from what jobs have now; two objectives, the fitness and the cluster utility; the answer is the fittest of the last one.
// Fitness     the power mean of exponent -1 over jobs of x + 0.001. x is the speed over that on a fair share of the GPUs; in a row other
//             than the job's own times max(age - 30 s x restarts, 0) / (age + 30 s), but for who never ran, who restarts nothing: a job
//             that was submitted just now would be worth nothing at all.
// Speed       that of the question, which counts the efficiency of batches where the objective is `goodput`. It does not know on how many
//             nodes a job runs. Numbers of GPUs without a shape are as quick as the next smaller one, and repair cuts to that.
// Variation   one cut over jobs, three mutations (pollux_variation), repair (pollux_repair).
// Exploration at most twice the GPUs that the job has or that its rates were seen on, a new one 1 GPU, and 64; at most 16 nodes. But always
//             as many as its smallest shape, and as it has.
// Order       of jobs: attained service, the least first; then rank.
// Types       a job has GPUs of one type. Pollux knows one.
// Answer      type and number of GPUs of each job; where they are is found as under all policies. Who keeps both keeps its shape;
//             of several shapes of as many GPUs others take the quickest.
// Begin       Pollux goes on with its last population. Here nothing is kept but what runs, so that a decision is a function of its input.
// Cost        population x generations x jobs x nodes. Neither a budget nor cancelling ends it.
// Source      Pollux (OSDI'21) and its artifact. Ours besides: what has no shape, types, who never ran, repair to shapes, what is drawn how
//             often in the third mutation, parents by two draws each, crossing always, and equals, who fall to the lower index.

#include <memory>

#include "host/policy/choice_params.hpp"
#include "host/policy/params.hpp"
#include "host/policy/pollux_question.hpp"
#include "host/policy/pollux_search.hpp"

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
  return {{"elastic-pollux", "the fittest of a genetic search over GPUs of each node", "Pollux (OSDI'21); our reading", "skip", true,
           with_objective("goodput", {{"population", "100", "individuals"}, {"generations", "100", "of the search"}})},
          kernel::Discipline::kSkip,
          true,
          false,
          nullptr,
          elastic_pollux_settings,
          elastic_pollux_shapes};
}

}  // namespace berth::policy
