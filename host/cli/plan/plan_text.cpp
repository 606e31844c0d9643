#include "host/cli/plan/plan_text.hpp"

#include <fmt/format.h>

#include "host/cli/base/console.hpp"
#include "host/cli/plan/contest_json.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "host/core/state/state_names.hpp"
#include "host/core/state/state_view.hpp"
#include "host/core/validator/plan_value.hpp"
#include "host/report/compare.hpp"
#include "host/report/contest.hpp"
#include "host/report/crossed_links.hpp"
#include "host/report/explain.hpp"
#include "host/report/queue_text.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kStarvingQueues = 5;

std::vector<report::Contender> contenders_of(const ClusterState& state, const std::vector<Plan>& plans) {
  std::vector<report::Contender> contenders;
  contenders.reserve(plans.size());
  const bool valued = !plans.front().bound.objective.empty();
  for (const Plan& plan : plans) contenders.push_back({&plan, valued ? core::objective_value_by(state, plan, plans.front()) : 0});
  return contenders;
}

}  // namespace

std::string plan_text(const ClusterState& state, const Plan& plan, const TextOptions& options) {
  report::ExplainOptions explain;
  explain.colour = wants_colour(options.colour);
  explain.most_rows = options.rows;
  explain.all_decisions = options.all;
  explain.withheld = report::withheld_gpus(state, plan);
  std::string text = report::explain_plan(core::StateNames(state), plan, explain);
  if (!core::any_quota(StateView(state))) return text;
  const std::string starving = report::starving_queues_text(state, core::queue_standings(StateView(state), &plan), kStarvingQueues);
  return starving.empty() ? text : text + "\n" + starving;
}

std::string job_text(const ClusterState& state, const Plan& plan, std::int32_t job) {
  const core::StateNames names(state);
  std::string text = report::explain_job(names, plan, job);
  std::vector<std::string_view> nodes;
  for (const Decision& d : plan.decisions) {
    for (std::int64_t e = d.entry_begin; d.job == job && e < d.entry_end; ++e)
      nodes.push_back(names.node(plan.entries[static_cast<std::size_t>(e)].node));
  }
  if (nodes.empty()) return text;
  const std::string links = report::crossed_links(state.snapshot(), nodes);
  return links.empty() ? text : text + fmt::format("  {:<14} {}\n", "network", links);
}

std::string comparison_text(const ClusterState& state, const Plan& first, const Plan& second, const TextOptions& options) {
  return report::to_text(core::StateNames(state), report::compare_plans(first, second), options.rows);
}

std::string comparison_json(const ClusterState& state, const Plan& first, const Plan& second) {
  return report::to_json(core::StateNames(state), report::compare_plans(first, second));
}

std::string contest_text(const ClusterState& state, const std::vector<Plan>& plans) {
  return report::contest_text(contenders_of(state, plans));
}

std::string contest_json(const ClusterState& state, const std::vector<Plan>& plans) { return contest_json(contenders_of(state, plans)); }

}  // namespace berth::cli
