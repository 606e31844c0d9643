#include <memory>

#include "host/backend/backend.hpp"
#include "host/reference/contend/contend.hpp"
#include "host/reference/delay_replay/delay_replay.hpp"
#include "host/reference/ones/ones.hpp"
#include "host/reference/place/place.hpp"
#include "host/reference/plan_search/plan_search.hpp"
#include "host/reference/price/price.hpp"
#include "host/reference/replay/replay.hpp"
#include "host/reference/score/score.hpp"
#include "host/reference/victims/victims.hpp"

namespace berth::core {
namespace {

class ReferenceBackend final : public PlacementBackend {
 public:
  const char* name() const override { return "reference"; }

  void place(const kernel::ProblemView& problem, const PlaceTask& scenario, const kernel::PlaceResult& result) override {
    reference::place(problem, scenario.request, scenario.taken, result, scenario.stop_token);
  }

  void place_batch(const kernel::ProblemView& problem, std::span<const PlaceTask> scenarios,
                   std::span<const kernel::PlaceResult> results) override {
    for (std::size_t i = 0; i < scenarios.size(); ++i) place(problem, scenarios[i], results[i]);
  }

  void score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) override {
    reference::score(problem, request, out);
  }

  void price(std::span<const PriceTask> tasks, std::span<const kernel::PriceResult> results) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const PriceTask& task = tasks[i];
      reference::price(task.problem, task.request, results[i], [&] { return task.stop_token != nullptr && task.stop_token->stop(); });
    }
  }

  void ones(const OnesTask& task, const kernel::OnesResult& result) override {
    reference::ones(task.problem, task.request, result, [&, made = 0]() mutable {
      return task.stop_token != nullptr && task.stop_token->stop(++made, task.request.generations);
    });
  }

  void plan_search(const PlanSearchTask& task, const kernel::PlanSearchResult& result) override {
    reference::plan_search(task.problem, task.request, result, [&](std::int32_t made) {
      return task.stop_token != nullptr && task.stop_token->stop(made, task.request.generations);
    });
  }

  void replay(const kernel::ReplayView& problem, std::span<const ReplayTask> tasks,
              std::span<const kernel::ReplayResult> results) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const ReplayTask& task = tasks[i];
      reference::replay(problem, task.request, results[i], [&] { return task.stop_token != nullptr && task.stop_token->stop(); });
    }
  }

  void delay_replay(const kernel::DelayReplayView& problem, std::span<const DelayReplayTask> tasks,
                    std::span<const kernel::DelayReplayResult> results) override {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const DelayReplayTask& task = tasks[i];
      reference::delay_replay(problem, task.request, results[i], [&] { return task.stop_token != nullptr && task.stop_token->stop(); });
    }
  }

  void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) override {
    reference::contend(problem, request, result);
  }

  void victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) override {
    reference::victims(problem, request, result);
  }
};

}  // namespace

std::unique_ptr<PlacementBackend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace berth::core
