#pragma once

#include <string>

#include "berth/plan.hpp"
#include "host/core/base/name_source.hpp"
#include "host/report/withheld.hpp"

namespace berth::report {

struct ExplainOptions {
  bool colour = false;         ///< ANSI colours; only when asked
  std::size_t most_rows = 40;  ///< decisions, and then reasons, listed at most; 0: all; the rest is counted
  bool all_decisions = false;  ///< also list jobs that are kept or wait
  WithheldGpus withheld;       ///< shown in the line of totals, whose GPUs are then all of the cluster
};

/// Text of a plan: one line of totals, a table of changes, and the reasons of waiting jobs, grouped by text.
/// Deterministic: decisions by job rank, reasons by number of jobs, then text.
std::string explain_plan(const core::NameSource& names, const Plan& plan, const ExplainOptions& options = {});

/// "goodput: objective value 613, upper bound 617, gap 0.648 %"; empty where the policy has no bound.
std::string bound_line(const Bound& bound);

/// Everything in the plan about one job, field by field. `job`: index; a job that the plan does not have gives an empty
/// text.
std::string explain_job(const core::NameSource& names, const Plan& plan, std::int32_t job);

/// "needs 16 GPUs in one rack; best rack has 12 left: r07; would start if 4 more were free there".
std::string full_reason(const core::NameSource& names, const Decision& decision);

/// "n00[0-7] n01[0,2]": GPUs by node in the order of the entries; shares as "n00[3]x0.5".
std::string place_text(const core::NameSource& names, const Plan& plan, const Decision& decision);

/// The same for an allocation.
std::string place_text(const Allocation& allocation);

/// Whole GPUs of the decision's entries.
std::int64_t gpus_of(const Plan& plan, const Decision& decision);

}  // namespace berth::report
