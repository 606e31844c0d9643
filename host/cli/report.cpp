#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/places.hpp"
#include "host/report/html/page.hpp"
#include "host/report/html/report_files.hpp"

namespace berth::cli {
namespace {

struct ReportArguments {
  std::string store, links, out, format = "html", part = "comparison", metric = "mean_jct", baseline;
  std::vector<std::int64_t> runs;
  std::int64_t gantt_rows = 250'000;
};

std::vector<std::string> metric_keys() {
  std::vector<std::string> keys;
  keys.reserve(report::kMetrics.size());
  for (const report::Metric& metric : report::kMetrics) keys.emplace_back(metric.key);
  return keys;
}

// One a line, as the completion reads them.
template <class Names>
std::string listed(const Names& names) {
  return fmt::format("{}", fmt::join(names, "\n  "));
}

template <class Names>
std::size_t place_of(const char* option, const std::string& name, const Names& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InvalidArgument(fmt::format("{}: there is no '{}', only {}", option, echoed(name), fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

int run(const ReportArguments& options) {
  if (options.store == "-") throw InvalidArgument("RESULTS: a database is a file of its own, not standard input");
  check_places({{"RESULTS", options.store}, {"--links", options.links}}, {{"--out", options.out}});
  if (options.format == "html" && options.out.empty()) throw InvalidArgument("--out is required for a page; '-' prints it");
  if (options.format != "html" && !options.links.empty()) throw InvalidArgument("--links: only a page shows links");
  const auto part = static_cast<report::ReportPart>(place_of("--part", options.part, report::kReportParts));
  const std::size_t metric = place_of("--metric", options.metric, metric_keys());
  results::ResultsReader store(options.store);
  const bool page = options.format == "html";
  report::ReportFacts facts = report::read_report_facts(
      store, report::read_report_input(store, options.store, options.runs, options.baseline), page ? options.gantt_rows : 0, page);
  if (!options.links.empty()) facts.links = report::read_links(options.links);
  const std::string text = page                       ? report::report_page(facts)
                           : options.format == "csv"  ? report::report_csv(facts, part)
                           : options.format == "json" ? report::report_json(facts)
                                                      : report::report_svg(facts, part, metric);
  write_out(options.out.empty() ? "-" : options.out, text);
  if (!page) return kDone;
  for (const std::string& note : facts.input.notes) print_error("note: " + note);
  return kDone;
}

}  // namespace

void add_report(Commands& commands) {
  auto options = std::make_shared<ReportArguments>();
  CLI::App& app = commands.add("report", "Write a page that compares the simulations in a file of results",
                               "berth simulate --cluster 8x8 --trace jobs.json --policy fifo srtf \\\n"
                               "    --stays --out results.sqlite\n"
                               "  berth report results.sqlite --out report.html\n\nParts:\n  " +
                                   listed(report::kReportParts) + "\n\nMetrics:\n  " + listed(metric_keys()),
                               options, &run);
  app.add_option("RESULTS", options->store, "Read the runs of this file, which simulate --out wrote")->required();
  add_out_option(app, options->out, "Write the report to FILE");
  app.add_option("--format", options->format, "Write a page, or figures for papers: html, csv, json, svg")
      ->check(CLI::IsMember({"html", "csv", "json", "svg"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--part", options->part, "Write this table as CSV or chart as SVG (listed below)")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--metric", options->metric, "Draw this figure in the charts comparison and capacity (listed below)")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--baseline", options->baseline, "Compare with this policy; else with the first of each scenario")->type_name("POLICY");
  app.add_option("--links", options->links, "Add the loads of links that explain --links --json wrote to FILE")->type_name("FILE");
  app.add_option("--run", options->runs, "Report these runs only, by id")->type_name("ID");
  app.add_option("--gantt-rows", options->gantt_rows, "Draw at most N jobs and stays in the charts of nodes and jobs")
      ->check(whole_number<std::int64_t>())
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace berth::cli
