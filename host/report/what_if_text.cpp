#include "host/report/what_if_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "host/core/base/decimal.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/report/explain.hpp"
#include "host/report/policy_text.hpp"
#include "host/report/table.hpp"
#include "host/report/totals.hpp"

namespace berth::report {
namespace {

constexpr std::array<std::string_view, kEditEffects> kEffectTexts{"starts",
                                                                  "runs on",
                                                                  "waits instead",
                                                                  "preempted",
                                                                  "moves",
                                                                  "stays",
                                                                  "goes elsewhere",
                                                                  "reserved sooner",
                                                                  "reserved later",
                                                                  "gets reservation",
                                                                  "loses reservation",
                                                                  "rejected",
                                                                  "waits, not rejected",
                                                                  "new",
                                                                  "gone",
                                                                  "same"};

std::string_view effect_text(EditEffect effect) { return kEffectTexts.at(static_cast<std::size_t>(effect)); }

std::string signed_text(std::int64_t value) { return value > 0 ? fmt::format("+{}", value) : fmt::to_string(value); }

// "start", "keep", "reserve in 2 h".
std::string answer_text(const core::NameSource& names, const std::optional<JobAnswer>& answer) {
  if (!answer) return "-";
  const std::string action(core::name(answer->action));
  return answer->action == Action::kReserve ? action + " " + core::at_instant(names, answer->start_us) : action;
}

std::string shift_text(const JobChange& change) {
  if (!change.before || !change.after || change.before->start_us == kNever || change.after->start_us == kNever) return "-";
  const TimeUs shift = change.after->start_us - change.before->start_us;
  if (shift == 0) return "-";
  return shift < 0 ? core::rough_duration(-shift) + " sooner" : core::rough_duration(shift) + " later";
}

std::string where_text(const JobChange& change) {
  if (!change.after || change.after->allocation.entries.empty()) return "-";
  return place_text(change.after->allocation);
}

bool waits_with_reason(const JobChange& change) { return change.after && !change.after->reason.empty(); }

std::string totals_text(const Totals& before, const Totals& after) {
  std::vector<Row> rows;
  const auto add = [&](const char* name, std::int64_t a, std::int64_t b) {
    if (a != b) rows.push_back({name, fmt::to_string(a), fmt::to_string(b), signed_text(b - a)});
  };
  add("gpus", before.gpus, after.gpus);
  for (const Total& total : kTotals) add(total.name, before.*total.field, after.*total.field);
  if (rows.empty()) return "the totals of the plan are the same\n";
  return table({"PLAN", "BEFORE", "AFTER", "CHANGE"}, rows);
}

std::string job_rows_text(const core::NameSource& names, const EditOutcome& outcome, std::size_t most_rows) {
  if (outcome.jobs.empty()) return "no job gets another answer\n";
  std::vector<Row> rows;
  for (const JobChange& change : outcome.jobs) {
    if (most_rows != 0 && rows.size() == most_rows) break;
    rows.push_back({change.job, std::string(effect_text(change.effect)), answer_text(names, change.before),
                    answer_text(names, change.after), shift_text(change), where_text(change)});
  }
  const std::size_t left = outcome.jobs.size() - rows.size();
  std::string text = table({"JOB", "EFFECT", "BEFORE", "AFTER", "START", "WHERE"}, rows);
  if (left > 0) text += fmt::format("... and {} more (--rows 0 shows all)\n", left);
  return text;
}

std::string uses_text(const std::vector<QueueUse>& uses) {
  std::vector<Row> rows;
  for (const QueueUse& use : uses) {
    const std::int64_t change = use.after_ppm - use.before_ppm;
    rows.push_back({use.queue, core::decimal_text(use.before_ppm, 6), core::decimal_text(use.after_ppm, 6),
                    (change > 0 ? "+" : "") + core::decimal_text(change, 6)});
  }
  return table({"QUEUE", "GPUS BEFORE", "AFTER", "CHANGE"}, rows);
}

std::string reasons_text(const EditOutcome& outcome, std::size_t most_rows) {
  std::string text;
  std::size_t shown = 0, left = 0;
  for (const JobChange& change : outcome.jobs) {
    if (!waits_with_reason(change)) continue;
    if (most_rows != 0 && shown == most_rows) {
      ++left;
      continue;
    }
    ++shown;
    text += change.job + ": " + change.after->reason;
    if (!change.after->would_start_if.empty()) text += "; would start if " + change.after->would_start_if;
    text += '\n';
  }
  if (left > 0) text += fmt::format("... and {} more (--rows 0 shows all)\n", left);
  return text;
}

std::int64_t count_of(const EditOutcome& outcome, EditEffect effect) {
  return std::count_if(outcome.jobs.begin(), outcome.jobs.end(), [&](const JobChange& change) { return change.effect == effect; });
}

}  // namespace

std::string what_if_text(const core::NameSource& names, const Plan& base, const EditOutcome& outcome, std::size_t most_rows) {
  std::string text = policy_text(base.policy, base.params);
  if (outcome.policy != base.policy || outcome.params != base.params) text += " -> " + policy_text(outcome.policy, outcome.params);
  text += fmt::format(": what if {}\n\n", outcome.name);
  text += totals_text(outcome.before, outcome.after) + "\n" + job_rows_text(names, outcome, most_rows);
  if (!outcome.queues.empty()) text += "\n" + uses_text(outcome.queues);
  const std::string reasons = reasons_text(outcome, most_rows);
  return reasons.empty() ? text : text + "\n" + reasons;
}

std::string make_room_text(const core::NameSource& names, const Plan& base, const RoomAnswer& room) {
  std::string text = fmt::format("{}: make room for {}\n\n", policy_text(base.policy, base.params), room.job);
  const std::string without = room.base.action == Action::kReserve ? "it starts " + core::at_instant(names, room.base.start_us)
                              : room.base.action == Action::kStart ? "it starts now"
                                                                   : "it waits, and its start is not known";
  text += fmt::format("Without moves {}", without);
  if (!room.base.reason.empty()) text += ": " + room.base.reason;
  text += ".\n";
  if (!room.found) {
    text += fmt::format("No set of moves was found: {} ({} asked, {} tried).\n", room.note, core::counted(room.domains, "place"),
                        core::counted(room.sets, "set"));
    return text;
  }
  if (room.moves.empty()) {
    text += fmt::format("There is room for it on {} without a move.\n", place_text(room.allocation));
    return text;
  }
  text += fmt::format("It starts now on {} if {} {}, at a cost of {} GPU-seconds.\n\n", place_text(room.allocation),
                      core::counted(static_cast<std::int64_t>(room.moves.size()), "job"), room.moves.size() == 1 ? "moves" : "move",
                      core::decimal_text(room.cost_gpu_us, 6));
  std::vector<Row> rows;
  for (const RoomMove& move : room.moves) {
    rows.push_back(
        {move.job, place_text(move.from), place_text(move.to), core::duration_text(move.cost_us), core::decimal_text(move.cost_gpu_us, 6)});
  }
  return text + table({"JOB", "FROM", "TO", "COST", "GPU-SECONDS"}, rows);
}

std::string what_if_table(const Plan& base, const std::vector<EditOutcome>& outcomes) {
  constexpr std::pair<const char*, EditEffect> kColumns[] = {
      {"START", EditEffect::kStarts},  {"WAIT", EditEffect::kNoRoom}, {"PREEMPTED", EditEffect::kPreempted}, {"MOVE", EditEffect::kMoved},
      {"SOONER", EditEffect::kSooner}, {"LATER", EditEffect::kLater}, {"REJECTED", EditEffect::kRejected}};
  Row head{"EDIT"};
  for (const auto& [title, effect] : kColumns) head.emplace_back(title);
  head.insert(head.end(), {"OTHER", "GPUS IN USE", "CHANGE"});
  std::vector<Row> rows;
  for (const EditOutcome& outcome : outcomes) {
    Row row{outcome.name};
    std::int64_t counted = count_of(outcome, EditEffect::kSame);
    for (const auto& [title, effect] : kColumns) {
      const std::int64_t n = count_of(outcome, effect);
      counted += n;
      row.push_back(n == 0 ? "-" : fmt::to_string(n));
    }
    const std::int64_t other = static_cast<std::int64_t>(outcome.jobs.size()) - counted;
    row.push_back(other == 0 ? "-" : fmt::to_string(other));
    row.push_back(fmt::format("{} of {}", outcome.after.gpus_used, outcome.after.gpus));
    row.push_back(signed_text(outcome.after.gpus_used - outcome.before.gpus_used));
    rows.push_back(std::move(row));
  }
  return fmt::format("{}: {}; {} of {} GPUs in use without them\n\n{}", policy_text(base.policy, base.params),
                     core::counted(static_cast<std::int64_t>(outcomes.size()), "edit"), base.totals.gpus_used, base.totals.gpus,
                     table(head, rows));
}

}  // namespace berth::report
