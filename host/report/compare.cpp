#include "host/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/explain.hpp"
#include "host/report/totals.hpp"

namespace berth::report {
namespace {

constexpr std::array kKindName{"runs_only_in_first", "runs_only_in_second", "other_shape", "other_place", "other_action"};

bool runs(const Decision& d) { return runs_now(d.action); }

std::vector<PlanEntry> sorted_entries(const Plan& plan, const Decision& d) {
  std::vector<PlanEntry> rows(plan.entries.begin() + d.entry_begin, plan.entries.begin() + d.entry_end);
  for (PlanEntry& row : rows) row.member = row.members = 0;
  std::sort(rows.begin(), rows.end(), [](const PlanEntry& a, const PlanEntry& b) {
    return std::tie(a.node, a.group, a.share_ppm, a.gpus) < std::tie(b.node, b.group, b.share_ppm, b.gpus);
  });
  return rows;
}

// One of the kinds, or nothing when both decisions are equal.
bool differ(const Plan& p, const Decision& a, const Plan& q, const Decision& b, DifferenceKind& kind) {
  if (runs(a) != runs(b)) {
    kind = runs(a) ? DifferenceKind::kRunsOnlyInFirst : DifferenceKind::kRunsOnlyInSecond;
  } else if (runs(a) && a.shape != b.shape) {
    kind = DifferenceKind::kOtherShape;
  } else if (sorted_entries(p, a) != sorted_entries(q, b)) {
    kind = DifferenceKind::kOtherPlace;
  } else if (a.action != b.action) {
    kind = DifferenceKind::kOtherAction;
  } else {
    return false;
  }
  return true;
}

std::string shape_name(const core::NameSource& names, const Decision& d) {
  const Job* job = names.job(d.job);
  const bool known = job != nullptr && d.shape >= 0 && static_cast<std::size_t>(d.shape) < job->shapes.size();
  return known ? job->shapes[static_cast<std::size_t>(d.shape)].id : std::string();
}

std::string side_text(const core::NameSource& names, const Plan& plan, const Decision& d) {
  std::string text(core::name(d.action));
  if (d.entry_begin != d.entry_end) return text + fmt::format(" {} on {}", shape_name(names, d), place_text(names, plan, d));
  return d.reason.code == ReasonCode::kNone ? text : text + ": " + full_reason(names, d);
}

std::string side_json(const core::NameSource& names, const Plan& plan, const Decision& d) {
  return fmt::format(R"({{"action":{},"shape":{},"gpus":{},"where":{},"reason":{}}})", json_string(core::name(d.action)),
                     json_string(shape_name(names, d)), gpus_of(plan, d), json_string(place_text(names, plan, d)),
                     json_string(full_reason(names, d)));
}

}  // namespace

Comparison compare_plans(const Plan& first, const Plan& second) {
  const auto same_job = [](const Decision& a, const Decision& b) { return a.job == b.job; };
  if (!std::equal(first.decisions.begin(), first.decisions.end(), second.decisions.begin(), second.decisions.end(), same_job)) {
    throw InvalidArgument(
        fmt::format("plans of {} and {} decisions are not about the same jobs", first.decisions.size(), second.decisions.size()));
  }
  Comparison c{&first, &second, 0, {}};
  for (std::size_t i = 0; i < first.decisions.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    Difference d{DifferenceKind::kOtherAction, first.decisions[i].job, index, index};
    if (differ(first, first.decisions[i], second, second.decisions[i], d.kind)) {
      c.differences.push_back(d);
    } else {
      ++c.same;
    }
  }
  std::stable_sort(c.differences.begin(), c.differences.end(), [](const Difference& a, const Difference& b) { return a.kind < b.kind; });
  return c;
}

std::string to_text(const core::NameSource& names, const Comparison& c, std::size_t most) {
  const std::string a = c.first->policy == c.second->policy ? "first" : c.first->policy;
  const std::string b = c.first->policy == c.second->policy ? "second" : c.second->policy;
  const std::size_t width = std::max<std::size_t>({9, a.size(), b.size()});
  std::string text = fmt::format("{:<10} {:>{}} {:>{}}\n", "", a, width, b, width);
  for (const Total& total : kTotals) {
    text += fmt::format("{:<10} {:>{}} {:>{}}\n", total.name, c.first->totals.*total.field, width, c.second->totals.*total.field, width);
  }
  text += fmt::format("\n{} decided alike, {} differently\n", core::counted(c.same, "job"), c.differences.size());
  const std::array<std::string, 5> title{"run only under " + a, "run only under " + b, "run in another shape", "are placed elsewhere",
                                         "get another action"};
  for (std::size_t begin = 0, end = 0; begin < c.differences.size(); begin = end) {
    const DifferenceKind kind = c.differences[begin].kind;
    while (end < c.differences.size() && c.differences[end].kind == kind) ++end;
    text += fmt::format("\n{} {}:\n", core::counted(static_cast<std::int64_t>(end - begin), "job"), title[static_cast<std::size_t>(kind)]);
    const std::size_t shown = most == 0 ? end : std::min(end, begin + most);
    for (std::size_t i = begin; i < shown; ++i) {
      const Difference& d = c.differences[i];
      text += fmt::format("  {}\n    {}: {}\n    {}: {}\n", names.job_id(d.job), a,
                          side_text(names, *c.first, c.first->decisions[static_cast<std::size_t>(d.first)]), b,
                          side_text(names, *c.second, c.second->decisions[static_cast<std::size_t>(d.second)]));
    }
    if (shown < end) text += fmt::format("  ... and {} more\n", end - shown);
  }
  return text;
}

std::string to_json(const core::NameSource& names, const Comparison& c) {
  std::string text =
      fmt::format(R"({{"first":{},"second":{},"same":{},"differences":[)", plan_json(*c.first), plan_json(*c.second), c.same);
  for (const Difference& d : c.differences) {
    if (text.back() != '[') text += ',';
    text += fmt::format(R"({{"kind":"{}","job":{},"first":{},"second":{}}})", kKindName[static_cast<std::size_t>(d.kind)],
                        json_string(names.job_id(d.job)), side_json(names, *c.first, c.first->decisions[static_cast<std::size_t>(d.first)]),
                        side_json(names, *c.second, c.second->decisions[static_cast<std::size_t>(d.second)]));
  }
  return text + "]}";
}

}  // namespace berth::report
