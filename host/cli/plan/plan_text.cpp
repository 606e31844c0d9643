#include "host/cli/plan/plan_text.hpp"

#include <fmt/format.h>

#include "host/cli/base/console.hpp"
#include "host/cli/plan/contest_json.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/model/deadline_steps.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/state_names.hpp"
#include "host/core/state/state_view.hpp"
#include "host/core/validator/plan_value.hpp"
#include "host/report/compare.hpp"
#include "host/report/contest.hpp"
#include "host/report/crossed_links.hpp"
#include "host/report/explain.hpp"
#include "host/report/queue_text.hpp"
#include "host/report/table.hpp"

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

// Of a deadline that falls in steps: "promised, step 2 of 4 (value 8): ends ...".
std::string promise_text(const core::NameSource& names, const Deadline& deadline, std::int64_t said) {
  if (said == io::kWarnedOf) return "accepted with a warning: nothing is promised";
  if (said < 0) return "broken: it stands behind the others";
  const std::int32_t step = deadline.later.empty() ? -1 : core::step_index(deadline, said);
  const std::string of =
      step < 0 ? "" : fmt::format(", step {} of {} (value {})", step + 1, deadline.later.size() + 1, core::step_value(deadline, step));
  return fmt::format("promised{}: ends {} at the latest", of, core::instant_text(names, said));
}

// "12 deadlines promised, 3 jobs accepted with a warning", then a line for each job.
std::string promises_text(const ClusterState& state, const io::Promises& promises, std::size_t most) {
  const core::StateNames names(state);
  std::int64_t promised = 0, warned = 0, broken = 0, left_out = 0;
  std::vector<report::Row> rows;
  for (const auto& [id, said] : promises) {
    const std::int32_t job = state.find_job(id);
    if (job < 0) continue;
    ++(said >= 0 ? promised : said == io::kWarnedOf ? warned : broken);
    if (most == 0 || rows.size() < most) {
      rows.push_back({core::escape_control(id), promise_text(names, state.job(job)->deadline, said)});
    } else {
      ++left_out;
    }
  }
  if (rows.empty()) return {};
  std::string text =
      fmt::format("{} promised, {} accepted with a warning", core::counted(promised, "deadline"), core::counted(warned, "job"));
  if (broken > 0) text += fmt::format(", {} broken", core::counted(broken, "promise"));
  text += "\n\n" + report::table({"JOB", "DEADLINE"}, rows, {});
  if (left_out > 0) text += fmt::format("... and {} more (--rows 0 shows all)\n", left_out);
  return text;
}

}  // namespace

std::string plan_text(const ClusterState& state, const Plan& plan, const TextOptions& options, const io::Promises* promises) {
  report::ExplainOptions explain;
  explain.colour = wants_colour(options.colour);
  explain.most_rows = options.rows;
  explain.all_decisions = options.all;
  explain.withheld = report::withheld_gpus(state, plan);
  std::string text = report::explain_plan(core::StateNames(state), plan, explain);
  const std::string said = promises == nullptr ? std::string() : promises_text(state, *promises, options.rows);
  if (!said.empty()) text += "\n" + said;
  if (!core::any_quota(StateView(state))) return text;
  const std::string starving = report::starving_queues_text(state, core::queue_standings(StateView(state), &plan), kStarvingQueues);
  return starving.empty() ? text : text + "\n" + starving;
}

std::string job_text(const ClusterState& state, const Plan& plan, std::int32_t job, const io::Promises* promises) {
  const core::StateNames names(state);
  std::string text = report::explain_job(names, plan, job);
  if (promises != nullptr && !text.empty()) {
    const auto said = promises->find(state.job(job)->id);
    if (said != promises->end())
      text += fmt::format("  {:<14} {}\n", "deadline", promise_text(names, state.job(job)->deadline, said->second));
  }
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
