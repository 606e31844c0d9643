// ones: a population of whole schedules that keeps evolving while jobs run, as published.
//
// Rule        docs/ones.md: the evolution in sections 1-7, its input from a state in 8, deployment of its best schedule in 9.
// Objective   SRUF: minimum remaining GPU-time of running jobs, as the population sees it. The plan's value and bound are those of
//             `objective`.
// State       the population, and per job its limits, the epochs at its last change and its GPUs.
// Work        generations. A job without GPUs is not tried where room is left; the next generation does that.
// Source      ONES (SC'21) and its artifact. Ours: shapes in place of single GPUs, jobs without epochs, a linear predictor of
//             progress, or none, placement by the common scheduling pass, and the parameters that say so, off by default.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/policy/base/choice_params.hpp"
#include "host/policy/base/params.hpp"
#include "host/policy/search/ones_population.hpp"

namespace berth::policy {
namespace {

constexpr std::int32_t kMostGenerations = 100'000;
constexpr std::int64_t kMostCells = std::int64_t{1} << 23;  // individuals x jobs

class Ones final : public core::ShapePolicy {
 public:
  explicit Ones(OnesSettings settings) : settings_(std::move(settings)) {}

  bool chosen_only() const override { return true; }
  bool searches() const override { return true; }
  std::int64_t work() const override { return population_.made(); }
  std::span<const std::int64_t> history() const override { return population_.least(); }

  void choose(const core::ShapeQuestion& q, core::PlacementBackend& backend, std::span<std::int32_t> chosen) override {
    std::fill(chosen.begin(), chosen.end(), -1);
    question_.set(q, settings_);
    const std::int64_t cells = std::int64_t{settings_.population} * static_cast<std::int64_t>(question_.jobs().size());
    if (cells > kMostCells) {
      throw InvalidArgument(fmt::format("ones evolves at most {} numbers (population x jobs); {} x {} are {}", kMostCells,
                                        settings_.population, question_.jobs().size(), cells));
    }
    population_.load(q.kept, question_, settings_.population);
    const bool nothing = question_.jobs().empty() || question_.n_gpus() == 0;
    const std::int32_t generations = nothing ? 0 : most_generations(q);
    const kernel::OnesResult result = population_.result(generations);
    backend.ones({question_.view(settings_, q.seed), population_.request(generations), q.stop_token}, result);
    question_.deploy(q, settings_, population_.best_first(), population_.best_count(), chosen);
  }

  void store(PolicyState& kept) const override {
    question_.store(kept);
    population_.store(kept, question_);
  }

 private:
  std::int32_t most_generations(const core::ShapeQuestion& q) const {
    const bool limited =
        q.max_iterations > 0 || (q.stop_token != nullptr && q.stop_token->deadline != std::chrono::steady_clock::time_point::max());
    const std::int32_t most = settings_.generations > 0 ? settings_.generations : limited ? kMostGenerations : 1;
    return q.max_iterations > 0 ? static_cast<std::int32_t>(std::min<std::int64_t>(q.max_iterations, most)) : most;
  }

  OnesSettings settings_;
  OnesQuestion question_;
  OnesPopulation population_;
};

core::ChoiceSettings ones_settings(const core::Params& params) { return choice_settings("ones", params); }

std::unique_ptr<core::ShapePolicy> ones_shapes(const core::Params& params) {
  const Settings settings(core::find_policy("ones").info, params);
  OnesSettings ones;
  ones.population = static_cast<std::int32_t>(settings.integer("population", 1, kernel::kMostOnesPopulation));
  ones.theta_ppm = static_cast<std::int32_t>(settings.millionths("mutation", 0, 1'000'000));
  ones.generations = static_cast<std::int32_t>(settings.integer("generations", 0, kMostGenerations));
  ones.epoch = settings.millionths("epoch_s", 1, std::int64_t{1'000'000'000} * 1'000'000);
  ones.fresh = settings.millionths("fresh_s", 0, std::int64_t{1'000'000'000} * 1'000'000);
  ones.gate_each = settings.choice("gate", {"all", "each"}) == 1;
  ones.gate = settings.millionths("gate_s", 0, std::int64_t{1'000'000'000} * 1'000'000);
  ones.shrink = settings.choice("shrink", {"yes", "no"}) == 0;
  ones.waiting = static_cast<std::int32_t>(settings.integer("waiting", 0, 1024));
  ones.gpu_type = settings.text("gpu_type");
  const std::vector<std::int64_t> weights = settings.signed_millionths("model", kProgressFeatures + 1, kMostProgressWeight);
  if (!weights.empty()) std::copy(weights.begin(), weights.end(), ones.model.emplace().weights_micro.begin());
  return std::make_unique<Ones>(std::move(ones));
}

}  // namespace

core::PolicyEntry ones_policy() {
  std::vector<PolicyParam> own{{"population", "16", "individuals"},
                               {"mutation", "0.3", "chance that a mutant loses a job"},
                               {"generations", "0", "of a decision; 0: one, or as many as budget and limit of iterations allow"},
                               {"epoch_s", "600", "run time that counts as an epoch of jobs that report none"},
                               {"fresh_s", "0", "ours: run time before which a job keeps its first GPUs; 0: two epochs"},
                               {"gate", "all", "ours: each: a job that may not change yet does not keep others from changing"},
                               {"gate_s", "0", "ours: run time of a job between two changes of its GPUs; 0: an epoch"},
                               {"shrink", "yes", "ours: no: the largest job does not shrink because it has run for long"},
                               {"waiting", "0", "ours: waiting work is scored on N times the smallest shape; 0: it is not"},
                               {"gpu_type", "", "that it knows; empty: the one on which most jobs could run"},
                               {"model", "",
                                "of progress: six numbers between colons as 'berth fit' prints them, or @FILE that it wrote; empty: "
                                "the estimates of jobs"}};
  return {.info = {.name = "ones",
                   .rule = "evolves a population of schedules for the least GPU-time left",
                   .source = "ONES (SC'21); predictor and places ours",
                   .params = with_objective("sruf", std::move(own))},
          .preemptive = true,
          .choice = ones_settings,
          .shapes = ones_shapes,
          .work = "generation",
          .leaves_idle = "jobs have limits, which grow by epochs, and changes wait for all jobs that they affect"};
}

}  // namespace berth::policy
