// The figures of a decision: from the state's descriptions and rates, by docs/profiles.md.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/validator/stated_figures.hpp"

namespace berth::core {
namespace {

class Predictions {
 public:
  Predictions(const StateImpl& state, const Plan& plan, Violations& found) : s_(state), plan_(plan), found_(found) {}

  void check(const Decision& d) {
    if (d.job < 0 || to_index(d.job) >= s_.jobs.size() || s_.jobs[to_index(d.job)].job == nullptr) return;
    const Job& job = *s_.jobs[to_index(d.job)].job;
    switch (d.action) {
      case Action::kKeep:
        kept(d, job);
        break;
      case Action::kStart:
      case Action::kMigrate:
      case Action::kResize:
      case Action::kReplace:
      case Action::kReserve:
        placed(d, job);
        break;
      case Action::kPreempt:
      case Action::kWait:
      case Action::kReject:
        compare(d, job, 0, kNever, kNever);
        if (d.local_batch != 0) found_.of(job, "has a local batch of {} and no GPUs", d.local_batch);
        break;
    }
    if (d.cost_us != cost(d.action, job.costs)) {
      found_.of(job, "has the action {} at a cost of {}; it is {}", name(d.action), seconds_text(d.cost_us),
                seconds_text(cost(d.action, job.costs)));
    }
  }

 private:
  static TimeUs cost(Action action, const Costs& costs) {
    const TimeUs stop = costs.checkpoint_save_us + costs.restart_us + costs.checkpoint_restore_us;
    switch (action) {
      case Action::kPreempt:
        return stop;
      case Action::kMigrate:
        return std::max(stop, costs.migrate_us);
      case Action::kResize:
        return costs.scale_us > 0 ? costs.scale_us : stop;
      case Action::kReplace:
        return costs.restart_us + costs.checkpoint_restore_us;
      default:
        return 0;
    }
  }
  static TimeUs end(TimeUs start, TimeUs run) { return run == kNever || run > kNever - 1 - start ? kNever : start + run; }

  void kept(const Decision& d, const Job& job) {
    if (s_.job.running[to_index(d.job)] == 0) return;
    compare(d, job, s_.job.rate[to_index(d.job)], kNever, end(s_.now, s_.remaining_or_limit(d.job)));
  }

  void placed(const Decision& d, const Job& job) {
    const auto rows = static_cast<std::int64_t>(plan_.entries.size());
    if (d.entry_begin < 0 || d.entry_end <= d.entry_begin || d.entry_end > rows) return;
    if (d.shape < 0 || to_index(d.shape) >= job.shapes.size()) return;
    const auto entries = std::span(plan_.entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin));
    const auto no_node = [this](const PlanEntry& e) { return e.node < 0 || to_index(e.node) >= s_.nodes.size(); };
    if (std::any_of(entries.begin(), entries.end(), no_node)) return;
    // The place of an opaque job does not change its rate: it is that of an alternative in general, or that of the gang
    // before its repair. The same holds where the profile has nothing about this place.
    const bool opaque = job.profile.kind == ProfileKind::kOpaque;
    std::vector<std::int64_t> general = s_.jobs[to_index(d.job)].option_rate;
    if (d.action == Action::kReplace) general.assign(1, s_.job.rate[to_index(d.job)]);
    std::int64_t rate = opaque && d.action != Action::kReplace ? 0 : placed_rate(s_, job, d.shape, entries);
    if ((rate == 0 || opaque) && std::find(general.begin(), general.end(), d.rate) != general.end()) {
      rate = d.rate;  // which may be 0: not known
    } else if (rate == 0 && !general.empty()) {
      rate = general.front();
    }
    const TimeUs start = d.action == Action::kReserve ? d.start_us : s_.now;
    compare(d, job, rate, start, start == kNever ? kNever : end(start, s_.run_or_limit(d.job, rate)));
  }

  void compare(const Decision& d, const Job& job, std::int64_t rate, TimeUs start, TimeUs finish) {
    if (d.rate != rate) {
      found_.of(job, "is predicted to run at {} a second; what it is given makes {}", decimal_text(d.rate, 6), decimal_text(rate, 6));
      return;  // the end follows from the rate
    }
    if (d.start_us != start && d.action != Action::kStart) {  // an action that starts is checked by PlanValidator
      found_.of(job, "has the action {} and starts {}; that is {}", name(d.action), instant_text(d.start_us), instant_text(start));
    }
    if (d.finish_us != finish)
      found_.of(job, "is predicted to end {}; at its rate it ends {}", instant_text(d.finish_us), instant_text(finish));
  }

  const StateImpl& s_;
  const Plan& plan_;
  Violations& found_;
};

}  // namespace

void check_header(const StateImpl& state, const Plan& plan, Violations& found) {
  if (plan.revision != state.revision) {
    found.add("the plan is of revision {}; the state has revision {}", plan.revision, state.revision);
  }
  try {
    ChosenPolicy().choose(plan.policy, plan.params);
  } catch (const InvalidArgument& error) {
    found.add("the plan's policy: {}", error.what());
  }
  if (plan.tables != state.tables_hash()) {
    found.add("the plan was made with the tables {:016x}; those of the state are {:016x}", plan.tables, state.tables_hash());
  }
  constexpr std::string_view kStops[] = {"done", "iterations", "budget", "cancel"};
  if (std::find(std::begin(kStops), std::end(kStops), plan.stopped_by) == std::end(kStops)) {
    found.add("the plan was stopped by '{}', which is none of: {}", plan.stopped_by, fmt::join(kStops, ", "));
  }
  constexpr std::string_view kBackends[] = {"reference", "cpu", "cuda"};
  if (std::find(std::begin(kBackends), std::end(kBackends), plan.backend) == std::end(kBackends)) {
    found.add("the plan was answered by '{}', which is none of: {}", plan.backend, fmt::join(kBackends, ", "));
  }
  for (const auto& [what, value] : plan.objective) {
    if (what == "gpus_used" && value != plan.totals.gpus_used) {
      found.add("objective: gpus_used is {}; the totals have {}", value, plan.totals.gpus_used);
    }
    if (what == "gpus_free" && (value < 0 || value > plan.totals.gpus - plan.totals.gpus_used)) {
      found.add("objective: gpus_free is {}; {} of {} GPUs are in use", value, plan.totals.gpus_used, plan.totals.gpus);
    }
  }
  if (plan.iterations < 0 || (plan.bound.objective.empty() && plan.iterations > static_cast<std::int64_t>(plan.decisions.size()))) {
    found.add("the scheduling pass visited {} of {}", counted(plan.iterations, "job"), plan.decisions.size());
  }
  const bool all_rejected = !plan.decisions.empty() && std::all_of(plan.decisions.begin(), plan.decisions.end(), [](const Decision& d) {
    return d.action == Action::kReject && d.reason.certified;
  });
  const bool cut =
      std::any_of(plan.decisions.begin(), plan.decisions.end(), [](const Decision& d) { return d.reason.code == ReasonCode::kBudget; });
  const Proof proof = cut ? Proof::kBudgetExhausted : all_rejected ? Proof::kInfeasibleCertified : Proof::kPlacedValidated;
  // The job for which the search was cut short may be one that a plan of changes does not list.
  const bool unlisted = plan.changes_only && plan.proof == Proof::kBudgetExhausted && plan.totals.waits > 0;
  if (plan.proof != proof && !unlisted) found.add("the plan's proof is {}; its decisions make it {}", name(plan.proof), name(proof));
}

void check_predictions(const StateImpl& state, const Plan& plan, Violations& found) {
  Predictions predictions(state, plan, found);
  for (const Decision& d : plan.decisions) {
    if (found.full()) return;
    predictions.check(d);
  }
}

}  // namespace berth::core
