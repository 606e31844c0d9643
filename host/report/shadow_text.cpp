#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "host/core/base/civil_time.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/report/shadow.hpp"
#include "host/report/table.hpp"

namespace berth::report {
namespace {

using Kind = ShadowDifference::Kind;

std::string instant(const ShadowReport& report, TimeUs at) {
  if (at == kNever) return "-";
  const std::string date = core::civil_after(report.origin_iso, at);
  return date.empty() ? core::duration_text(at) : date;
}

std::string hours(std::int64_t gpu_us) { return fmt::format("{:.1f}", static_cast<double>(gpu_us) / 3.6e9); }

Row row_of(const ShadowReport& report, const ShadowDifference& d) {
  const std::string gpus = core::decimal_text(d.gpu_ppm, 6);
  switch (d.kind) {
    case Kind::kEarlier:
      return {d.job,
              gpus,
              instant(report, d.planned_us),
              d.really_us == kNever ? "still waits" : instant(report, d.really_us),
              core::rough_duration(std::min(d.really_us, report.to_us) - d.planned_us),
              d.planned_place};
    case Kind::kLater:
      return {d.job, gpus, instant(report, d.really_us), d.real_place, d.reason};
    case Kind::kDisplaced:
      break;
  }
  return {d.job, gpus, instant(report, d.planned_us), d.real_place, d.reason};
}

struct TextPart {
  Kind kind;
  const char* title;
  Row head;
};

}  // namespace

std::string to_text(const ShadowReport& report, const std::string& policy, std::size_t most) {
  std::string text =
      fmt::format("{} on {}, {} to {} ({})\n", policy, core::counted(report.states, "recorded state"), instant(report, report.from_us),
                  instant(report, report.to_us), core::rough_duration(report.to_us - report.from_us));
  const TextPart parts[] = {{Kind::kEarlier, "Berth starts earlier", {"JOB", "GPUS", "BERTH", "REALLY", "SAVES", "WHERE"}},
                            {Kind::kLater, "Really started, while Berth lets it wait", {"JOB", "GPUS", "REALLY", "WHERE", "BERTH SAYS"}},
                            {Kind::kDisplaced, "Runs, and Berth displaces it", {"JOB", "GPUS", "FROM", "WHERE", "BERTH SAYS"}}};
  for (const TextPart& part : parts) {
    std::vector<Row> rows;
    for (const ShadowDifference& d : report.differences) {
      if (d.kind == part.kind) rows.push_back(row_of(report, d));
    }
    if (rows.empty()) continue;
    const std::size_t all = rows.size();
    if (most != 0 && all > most) rows.resize(most);
    text += fmt::format("\n{}: {}\n{}", part.title, core::counted(static_cast<std::int64_t>(all), "job"), table(part.head, rows));
    if (all > rows.size()) text += fmt::format("... and {} more\n", all - rows.size());
  }
  const auto earlier =
      std::count_if(report.differences.begin(), report.differences.end(), [](const auto& d) { return d.kind == Kind::kEarlier; });
  text += fmt::format("\n{} started by both at the same time, {} of them in other places", core::counted(report.same_starts, "job"),
                      report.other_nodes);
  if (report.unseen > 0) text += fmt::format("; {} more started or left the queue between two states", report.unseen);
  text += "\n";
  if (report.same_instant > 0) {
    text += fmt::format("{} left out: of the instant of the one before\n", core::counted(report.same_instant, "state"));
  }
  if (earlier > 0) {
    text += fmt::format("waiting saved: {} in all, {} a job of those started earlier", core::rough_duration(report.wait_saved_us),
                        core::rough_duration(report.wait_saved_us / earlier));
    if (report.still_waiting > 0) text += fmt::format("; {} still waiting at the end count until then", report.still_waiting);
    text += "\n";
  }
  text += fmt::format("GPU-hours in use: really {}, by the plans {}, of {}\n", hours(report.real_gpu_us), hours(report.planned_gpu_us),
                      hours(report.gpu_us));
  text += fmt::format("{:.1f} ms a decision, {:.1f} ms the longest\n",
                      report.states == 0 ? 0 : 1e3 * report.decide_s / static_cast<double>(report.states), 1e3 * report.longest_decide_s);
  return text +
         "Each decision begins with what really ran: this says where the two part, not what a day under Berth alone would have been.\n";
}

}  // namespace berth::report
