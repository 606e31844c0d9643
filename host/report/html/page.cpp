#include "host/report/html/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "berth/version.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/html/asset.hpp"
#include "host/report/html/html_text.hpp"
#include "host/report/html/page_data.hpp"
#include "host/report/html/page_tables.hpp"
#include "host/report/html/svg_charts.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kMostLines = 24;  // as in web/report/src/data.ts

struct Section {
  const char* id;
  const char* title;
  std::string body;
};

std::string chart(const char* id, const char* title, const char* about) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{}\"><figcaption>{}<small>{}</small></figcaption>"
      "<div class=\"plot\"></div></figure>\n",
      id, title, about);
}

std::string note(const std::string& text) { return fmt::format("<p class=\"note\">{}</p>\n", html_text(text)); }

std::string distributions(const ReportFacts& facts) {
  const bool some = std::any_of(facts.configurations.begin(), facts.configurations.end(),
                                [](const ConfigurationFacts& one) { return one.jct_us.values > 0; });
  if (!some) return note("The file has no rows of completed jobs: runs with --stream or --workload do not store them.");
  return "<p class=\"controls\" id=\"distribution-controls\"></p>\n" +
         chart("jct", "Job completion time", "part of the completed jobs that took at most so long") +
         chart("wait", "Waiting time", "part of the completed jobs that waited at most so long") +
         "<details><summary>Percentiles</summary>" + percentile_tables(facts) + "</details>\n";
}

bool has_deadlines(const ConfigurationFacts& one) { return one.deadlines.hard + one.deadlines.soft > 0; }

std::string deadlines(const ReportFacts& facts) {
  const bool late = std::any_of(facts.configurations.begin(), facts.configurations.end(),
                                [](const ConfigurationFacts& one) { return one.late_us.values > 0; });
  std::string html = deadline_tables(facts);
  if (!late) return html + note("The file has no rows of completed jobs with deadlines, so there is no distribution of lateness.");
  return html + "<p class=\"controls\" id=\"deadline-controls\"></p>\n" +
         chart("late", "Lateness", "part of the completed jobs with deadlines that ended at most so long after them; left of 0: before");
}

std::string over_time() {
  return "<p class=\"controls\" id=\"series-controls\"></p>\n" + chart("allocation", "GPUs that jobs have", "means over intervals") +
         chart("queue", "Waiting jobs", "means over intervals") +
         chart("fragmentation", "Fragmented GPUs", "free GPUs of no use where they are");
}

std::string bars(const ReportFacts& facts) {
  if (facts.bars.empty())
    return note("The file has no rows of jobs. Runs with --stream or --workload store none, and sweeps only with keep.");
  std::string html =
      "<p class=\"controls\" id=\"gantt-controls\"></p>\n<div id=\"gantt\"></div>\n"
      "<p id=\"gantt-status\" role=\"status\"></p>\n";
  const bool stays = std::any_of(facts.bars.begin(), facts.bars.end(), [](const RunBars& one) { return !one.stays.empty(); });
  if (!stays) html += note("Rows of nodes need runs with --stays; here each row is a job.");
  if (!facts.without_bars.empty()) {
    std::string runs;
    for (const std::size_t r : facts.without_bars) runs += fmt::format("{}{}", runs.empty() ? "" : ", ", facts.input.runs[r].stored.id);
    html += note(fmt::format("Left out, as the page would become too large: run {}. --run and --gantt-rows choose others.", runs));
  }
  return html;
}

std::string notes(const ReportFacts& facts) {
  std::string html;
  for (const std::string& text : facts.input.notes) html += note(text);
  const bool repeated = std::any_of(facts.input.configurations.begin(), facts.input.configurations.end(),
                                    [](const Configuration& one) { return one.runs.size() > 1; });
  const bool many = std::any_of(facts.input.scenarios.begin(), facts.input.scenarios.end(),
                                [](const ComparedScenario& one) { return one.configurations.size() > kMostLines; });
  if (many) html += note(fmt::format("Charts draw the first {} configurations of each scenario; tables have all.", kMostLines));
  if (!repeated) html += note("Every configuration has one seed: there are no intervals.");
  return html;
}

std::vector<Section> sections_of(const ReportFacts& facts) {
  std::vector<Section> all;
  all.push_back({"comparison", "Comparison", notes(facts) + comparison_tables(facts)});
  all.push_back({"distributions", "Completion and waiting times", distributions(facts)});
  if (std::any_of(facts.configurations.begin(), facts.configurations.end(), has_deadlines))
    all.push_back({"deadlines", "Deadlines", deadlines(facts)});
  all.push_back({"over-time", "Over time", over_time()});
  all.push_back({"gantt-section", "Nodes and jobs", bars(facts)});
  all.push_back({"gpu-hours", "Where GPU-hours went", "<figure>" + gpu_time_svg(facts, true) + "</figure>\n" + gpu_time_table(facts)});
  if (facts.input.configurations.size() > 1 && !facts.input.varying.empty())
    all.push_back({"sweep", "Sweep", "<p class=\"controls\" id=\"heat-controls\"></p>\n<div id=\"heat\"></div>\n"});
  std::set<std::int64_t> gpus;
  for (const Configuration& one : facts.input.configurations) gpus.insert(facts.input.runs[one.runs.front()].stored.number("gpus"));
  if (gpus.size() > 1)
    all.push_back({"capacity-section", "Capacity",
                   "<p class=\"controls\" id=\"capacity-controls\"></p>\n" + chart("capacity", "Figure by GPUs", "means over seeds")});
  if (!facts.links.empty()) all.push_back({"links", "Links", link_heat_map(facts.links)});
  all.push_back({"inputs", "Runs, commands and inputs", run_details(facts)});
  return all;
}

}  // namespace

std::string report_page(const ReportFacts& facts) {
  const std::vector<Section> sections = sections_of(facts);
  std::string links, body;
  for (const Section& one : sections) {
    links += fmt::format("<a href=\"#{}\">{}</a>\n", one.id, one.title);
    body += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", one.id,
                        one.title, one.body);
  }
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"berth " BERTH_VERSION
      "\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Berth: {}</title>\n<style>",
      report_security(), html_text(facts.input.path));
  page += report_style();
  page += fmt::format(
      "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the tables</a>\n"
      "<header><h1>Simulations compared</h1>\n<p><code>{}</code>: {} of {}, by berth " BERTH_VERSION
      "</p>\n<div id=\"theme\"></div>\n<noscript><p class=\"note\">Charts need JavaScript; tables do not.</p></noscript></header>\n"
      "<nav aria-label=\"Sections\">{}</nav>\n<main id=\"main\">\n",
      html_text(facts.input.path), core::counted(static_cast<std::int64_t>(facts.input.runs.size()), "run"),
      core::counted(static_cast<std::int64_t>(facts.input.configurations.size()), "configuration"), links);
  page += body;
  page += "</main>\n<script type=\"application/json\" id=\"data\">";
  page += script_json(page_data(facts));
  page += "</script>\n<script>";
  page += report_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace berth::report
