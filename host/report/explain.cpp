#include "host/report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "host/core/base/civil_time.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/report/sharing_text.hpp"
#include "host/report/table.hpp"

namespace berth::report {
namespace {

using core::counted;

std::span<const PlanEntry> entries_of(const Plan& plan, const Decision& d) {
  return std::span(plan.entries).subspan(static_cast<std::size_t>(d.entry_begin), static_cast<std::size_t>(d.entry_end - d.entry_begin));
}

// "0-3,6"
std::string indices(std::uint64_t mask) {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    if ((mask >> i & 1) == 0) continue;
    int last = i;
    while (last < 63 && (mask >> (last + 1) & 1) != 0) ++last;
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", i, last > i ? fmt::format("-{}", last) : "");
    i = last;
  }
  return text;
}

// "n00[0-7] n01[0,2]": adjacent entries of one node together.
class PlaceText {
 public:
  void add(std::string_view node, std::uint64_t gpus, std::int32_t share_ppm) {
    if (node == node_ && share_ppm == share_ppm_ && (gpus_ & gpus) == 0) {
      gpus_ |= gpus;
      return;
    }
    flush();
    node_ = node;
    gpus_ = gpus;
    share_ppm_ = share_ppm;
  }
  std::string finish() {
    flush();
    return std::move(text_);
  }

 private:
  void flush() {
    if (gpus_ == 0) return;
    text_ += fmt::format("{}{}[{}]", text_.empty() ? "" : " ", node_, indices(gpus_));
    if (share_ppm_ != kWholeGpu) text_ += fmt::format("x{}", core::decimal_text(share_ppm_, 6));
  }

  std::string text_;
  std::string_view node_;
  std::uint64_t gpus_ = 0;
  std::int32_t share_ppm_ = 0;
};

const char* colour_of(Action action) {
  switch (action) {
    case Action::kStart:
    case Action::kReplace:
      return "\x1b[32m";
    case Action::kPreempt:
    case Action::kReject:
      return "\x1b[31m";
    case Action::kMigrate:
    case Action::kResize:
    case Action::kReserve:
      return "\x1b[33m";
    default:
      return "\x1b[2m";
  }
}

std::string_view shape_id(const core::NameSource& names, const Decision& d) {
  const Job* job = names.job(d.job);
  return job == nullptr || d.shape < 0 || static_cast<std::size_t>(d.shape) >= job->shapes.size()
             ? std::string_view("-")
             : std::string_view(job->shapes[static_cast<std::size_t>(d.shape)].id);
}

// "; cut short by --budget after 40 jobs": later jobs in the order were not considered.
std::string cut_short(const Plan& plan) {
  const std::string after = fmt::format(" after {}", counted(plan.iterations, core::work_unit(plan.policy)));
  if (plan.stopped_by == "iterations") return "; cut short by --max-iterations" + after;
  if (plan.stopped_by == "budget") return "; cut short by --budget" + after;
  return plan.stopped_by == "cancel" ? "; interrupted" + after : std::string();
}

// "78 of 96 GPUs in use", followed by the GPUs that no job can get: ", 8 failed".
std::string gpus_in_use(const Totals& t, const WithheldGpus& withheld) {
  std::string text = fmt::format("{} of {} in use", t.gpus_used, counted(t.gpus + withheld.held_by_others + withheld.failed, "GPU"));
  if (withheld.held_by_others > 0) text += fmt::format(" by these jobs, {} held by others", withheld.held_by_others);
  if (withheld.failed > 0) text += fmt::format(", {} failed", withheld.failed);
  if (withheld.closed > 0) text += fmt::format(", {} closed to new jobs", withheld.closed);
  return text;
}

// The gain of the search in its own score: "  score 27 at first, 34 since generation 3, of 64".
std::string history_line(const Plan& plan) {
  if (plan.history.empty()) return {};
  const auto& [first, at_first] = plan.history.front();
  const auto& [last, at_last] = plan.history.back();
  std::string text = fmt::format("  score {} {}", at_first, first == 0 ? "at first" : "after the first generation");
  if (plan.history.size() > 1) text += fmt::format(", {} since generation {}", at_last, last);
  return text + fmt::format(", of {}\n", plan.iterations - (first == 0 ? 1 : 0));
}

std::string totals_line(const core::NameSource& names, const Plan& plan, const WithheldGpus& withheld) {
  const Totals& t = plan.totals;
  const std::string date = core::civil_after(names.origin_iso(), plan.now_us);
  std::string text = fmt::format("{}{}: {}", plan.policy, date.empty() ? "" : " at " + date,
                                 counted(static_cast<std::int64_t>(plan.decisions.size()), "job"));
  const std::pair<std::int64_t, const char*> parts[] = {{t.starts, "start"},      {t.keeps, "kept"},        {t.moves, "moved"},
                                                        {t.replaces, "replaced"}, {t.reserves, "reserved"}, {t.preempts, "preempted"},
                                                        {t.waits, "waiting"},     {t.rejects, "rejected"}};
  for (const auto& part : parts) {
    if (part.first > 0) text += fmt::format(", {} {}", part.first, part.second);
  }
  return text + fmt::format("; {}{}\n{}", gpus_in_use(t, withheld), cut_short(plan), bound_line(plan.bound)) + history_line(plan);
}

// Shares count as fractions: "1.5".
std::string gpus_text(const Plan& plan, const Decision& d) {
  std::int64_t ppm = 0;
  for (const PlanEntry& entry : entries_of(plan, d)) ppm += std::int64_t{entry.share_ppm} * std::popcount(entry.gpus);
  return core::decimal_text(ppm, 6);
}

std::string reason_and(const core::NameSource& names, const Decision& decision, std::string_view joined) {
  const std::string change = core::render_would_start_if(names, decision.reason, decision.job);
  std::string text = core::render_reason(names, decision.reason, decision.job);
  return change.empty() ? text : text.append(joined) + change;
}

// Jobs with the same sentence stand together, most jobs first: "12 jobs (a, b, c, ...): needs ...". At most `most` sentences, 0: all.
std::string grouped_reasons(const core::NameSource& names, const Plan& plan, std::size_t most) {
  using Group = std::pair<const Decision*, std::vector<std::int32_t>>;
  std::vector<Group> groups;  // by the rank of their first job
  std::map<std::string, std::size_t> index;
  for (const Decision& d : plan.decisions) {
    if (d.reason.code == ReasonCode::kNone) continue;
    const auto [found, is_new] = index.try_emplace(full_reason(names, d), groups.size());
    if (is_new) groups.push_back({&d, {}});
    groups[found->second].second.push_back(d.job);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.second.size() > b.second.size(); });
  std::string text;
  std::size_t shown = 0;
  std::int64_t left_out = 0;
  for (const auto& [first, jobs] : groups) {
    if (most != 0 && shown++ >= most) {
      left_out += static_cast<std::int64_t>(jobs.size());
      continue;
    }
    constexpr std::size_t kShown = 3;
    std::string ids;
    for (std::size_t i = 0; i < std::min(kShown, jobs.size()); ++i) ids += fmt::format("{}{}", i == 0 ? "" : ", ", names.job_id(jobs[i]));
    if (jobs.size() > kShown) ids += ", ...";
    // What becomes free serves one of them.
    text += jobs.size() == 1
                ? fmt::format("{}: {}\n", ids, full_reason(names, *first))
                : fmt::format("{} jobs ({}): {}\n", jobs.size(), ids, reason_and(names, *first, "; one of them would start if "));
  }
  if (left_out > 0) text += fmt::format("... and the reasons of {} (--rows 0 shows all)\n", counted(left_out, "more job"));
  return text;
}

/// Jobs that a plan of changes does not list otherwise.
std::string dropped_line(const core::NameSource& names, const Plan& plan, std::size_t most) {
  const std::vector<std::int32_t>& jobs = plan.reservations_dropped;
  if (jobs.empty()) return {};
  const std::size_t n = most == 0 ? jobs.size() : std::min(most, jobs.size());
  std::string ids;
  for (std::size_t i = 0; i < n; ++i) ids += fmt::format("{}{}", i == 0 ? "" : ", ", names.job_id(jobs[i]));
  const std::string more = jobs.size() > n ? fmt::format(" and {} more (--rows 0 shows all)", jobs.size() - n) : std::string();
  return fmt::format("not reserved any more since revision {}: {}{}\n", plan.reservations_since, ids, more);
}

}  // namespace

std::int64_t gpus_of(const Plan& plan, const Decision& decision) {
  std::int64_t gpus = 0;
  for (const PlanEntry& entry : entries_of(plan, decision)) gpus += entry.share_ppm == kWholeGpu ? std::popcount(entry.gpus) : 0;
  return gpus;
}

std::string place_text(const core::NameSource& names, const Plan& plan, const Decision& decision) {
  PlaceText text;
  for (const PlanEntry& entry : entries_of(plan, decision)) text.add(names.node(entry.node), entry.gpus, entry.share_ppm);
  return text.finish();
}

std::string place_text(const Allocation& allocation) {
  PlaceText text;
  for (const AllocationEntry& entry : allocation.entries) {
    std::uint64_t mask = 0;
    for (const std::int32_t gpu : entry.gpus) mask |= std::uint64_t{1} << gpu;
    text.add(entry.node, mask, entry.share_ppm);
  }
  return text.finish();
}

std::string full_reason(const core::NameSource& names, const Decision& decision) {
  return reason_and(names, decision, "; would start if ");
}

std::string bound_line(const Bound& bound) {
  if (bound.objective.empty()) return {};
  std::string text = fmt::format("{}: objective value {}, upper bound {}", bound.objective, bound.value, bound.bound);
  if (bound.value >= 0) {
    const double missing = bound.bound == 0 ? 0 : 100 * (1 - static_cast<double>(bound.value) / static_cast<double>(bound.bound));
    text += fmt::format(", gap {:.3f} %", missing);
  }
  text += '\n';
  for (const auto& [term, loss] : bound.terms) text += fmt::format("  the term {} takes {} off the value\n", term, loss);
  return text;
}

// The jobs that leave for one, with what each loses by saving its state and starting again.
std::string displaced_jobs(const core::NameSource& names, const Plan& plan, std::int32_t by) {
  constexpr std::int64_t kMostNames = 8;
  std::string text;
  std::int64_t n = 0;
  for (const Decision& d : plan.decisions) {
    if (d.reason.code != ReasonCode::kLostPriority || d.reason.other_job != by || ++n > kMostNames) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", names.job_id(d.job));
    if (d.cost_us > 0) text += fmt::format(" (loses {})", core::duration_text(d.cost_us));
  }
  return n > kMostNames ? text + fmt::format(" and {} more", n - kMostNames) : text;
}

// What its queue is entitled to, where it displaces jobs for that.
std::string entitled_text(const core::NameSource& names, const Plan& plan, std::int32_t by) {
  for (const Decision& d : plan.decisions) {
    const Reason& r = d.reason;
    if (r.code != ReasonCode::kLostPriority || r.other_job != by || r.queue < 0 || r.asked == 0) continue;
    const std::string gpu = r.gpu_type < 0 ? "GPU" : fmt::format("{} GPU", names.gpu_type(r.gpu_type));
    return fmt::format("queue {} to {}; its jobs before this one have {}", names.queue(r.queue), counted(r.asked, gpu), r.best);
  }
  return {};
}

std::string explain_plan(const core::NameSource& names, const Plan& plan, const ExplainOptions& options) {
  std::string text = totals_line(names, plan, options.withheld);
  std::vector<Row> rows;
  std::vector<const char*> colours;
  std::int64_t left_out = 0;
  for (const Decision& d : plan.decisions) {
    if (!options.all_decisions && (d.action == Action::kKeep || d.action == Action::kWait)) continue;
    if (options.most_rows != 0 && rows.size() >= options.most_rows) {
      ++left_out;
      continue;
    }
    rows.push_back({std::string(names.job_id(d.job)), std::string(core::name(d.action)), std::string(shape_id(names, d)),
                    d.entry_begin == d.entry_end ? "-" : gpus_text(plan, d),
                    d.finish_us == kNever ? "-" : core::rough_duration(d.finish_us - plan.now_us),
                    place_text(names, plan, d) +
                        (d.action == Action::kReserve ? " in " + core::rough_duration(d.start_us - plan.now_us) : std::string())});
    if (options.colour) colours.push_back(colour_of(d.action));
  }
  if (!rows.empty()) text += fmt::format("\n{}", table({"JOB", "ACTION", "SHAPE", "GPUS", "ENDS IN", "WHERE"}, rows, colours));
  if (left_out > 0) text += fmt::format("... and {} more (--rows 0 shows all)\n", left_out);
  text += dropped_line(names, plan, options.most_rows);
  const std::string reasons = grouped_reasons(names, plan, options.most_rows);
  if (!reasons.empty()) text += "\n" + reasons;
  const std::string sharing = sharing_lines(names, plan, options.most_rows);
  return sharing.empty() ? text : text + "\n" + sharing;
}

std::string explain_job(const core::NameSource& names, const Plan& plan, std::int32_t job) {
  const auto found = std::find_if(plan.decisions.begin(), plan.decisions.end(), [&](const Decision& d) { return d.job == job; });
  if (found == plan.decisions.end() && plan.changes_only) {
    const std::vector<std::int32_t>& dropped = plan.reservations_dropped;
    const bool was_reserved = std::find(dropped.begin(), dropped.end(), job) != dropped.end();
    const std::string rest = was_reserved ? fmt::format("; not reserved any more since revision {}", plan.reservations_since)
                             : plan.reservations_since == 0 ? ""
                                                            : fmt::format("; a reservation of revision {} stands", plan.reservations_since);
    return fmt::format("job {}: keeps its GPUs or waits{}; this plan lists only changes\n", names.job_id(job), rest);
  }
  if (found == plan.decisions.end()) return {};
  const Decision& d = *found;
  std::string text = fmt::format("job {}: {}\n", names.job_id(job), core::name(d.action));
  const auto line = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<14} {}\n", what, value);
  };
  line("shape", d.shape < 0 ? "" : std::string(shape_id(names, d)));
  line("gpus", d.entry_begin == d.entry_end ? "" : gpus_text(plan, d));
  line("where", place_text(names, plan, d));
  line("local batch", d.local_batch == 0 ? "" : fmt::to_string(d.local_batch));
  line("learning rate", d.learning_rate_pico == 0 ? "" : core::decimal_text(d.learning_rate_pico, 12));
  const auto instant = [&](TimeUs at) {
    if (at == kNever) return std::string();
    const bool dated = !core::civil_after(names.origin_iso(), at).empty();
    return core::instant_text(names, at) +
           (dated && at > plan.now_us ? fmt::format(" (in {})", core::rough_duration(at - plan.now_us)) : std::string());
  };
  line("start", instant(d.start_us));
  line("finish", instant(d.finish_us));
  line("displaces", displaced_jobs(names, plan, job));
  line("entitled", entitled_text(names, plan, job));
  line("cost", d.cost_us == 0 ? "" : core::duration_text(d.cost_us));
  line("reason", core::render_reason(names, d.reason, job));
  line("code", d.reason.code == ReasonCode::kNone
                   ? ""
                   : std::string(core::name(d.reason.code)) + (d.reason.certified ? " (certified: never on this cluster)" : ""));
  line("would start if", core::render_would_start_if(names, d.reason, job));
  line("sharing", sharing_of(names, plan, d));
  return text;
}

}  // namespace berth::report
