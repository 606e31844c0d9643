#include <memory>

#include "host/core/backend.hpp"
#include "host/reference/ones.hpp"
#include "host/reference/place_in_order.hpp"
#include "host/reference/plus.hpp"
#include "host/reference/price.hpp"
#include "host/reference/score.hpp"

namespace berth::core {
namespace {

class ReferenceBackend final : public PlacementBackend {
 public:
  const char* name() const override { return "reference"; }

  void place(const kernel::ProblemView& problem, const Scenario& scenario, const kernel::PlaceResult& result) override {
    reference::place_in_order(problem, scenario.request, scenario.taken, result, scenario.watch);
  }

  void place_batch(const kernel::ProblemView& problem, std::span<const Scenario> scenarios,
                   std::span<const kernel::PlaceResult> results) override {
    for (std::size_t i = 0; i < scenarios.size(); ++i) place(problem, scenarios[i], results[i]);
  }

  void score(const kernel::ProblemView& problem, const kernel::ScoreRequest& request, kernel::Candidate* out) override {
    reference::score_candidates(problem, request, out);
  }

  void choose(std::span<const ChoiceTask> tasks, std::span<const kernel::ChoiceResult> results) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const ChoiceTask& task = tasks[i];
      reference::choose_by_price(task.problem, task.request, results[i], [&] { return task.watch != nullptr && task.watch->stop(); });
    }
  }

  void evolve(const EvolveTask& task, const kernel::OnesResult& result) override {
    reference::evolve_ones(task.problem, task.request, result,
                           [&, made = 0]() mutable { return task.watch != nullptr && task.watch->stop(++made, task.request.generations); });
  }

  void evolve_plans(const PlusTask& task, const kernel::PlusResult& result) override {
    reference::evolve_plans(task.problem, task.request, result,
                            [&](std::int32_t made) { return task.watch != nullptr && task.watch->stop(made, task.request.generations); });
  }
};

}  // namespace

std::unique_ptr<PlacementBackend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace berth::core
