#include "host/cli/simulation_output.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/cli/console.hpp"
#include "host/cli/values.hpp"
#include "host/core/civil_time.hpp"
#include "host/io/json_text.hpp"

namespace berth::cli {
namespace {

std::string series_head() { return fmt::format("policy,from_s,until_s,{}\n", fmt::join(sim::kLevelNames, ",")); }

std::string series_row(const std::string& policy, const sim::Sample& sample) {
  std::string row = fmt::format("{},{},{}", csv_field(policy), core::format_seconds(sample.from_us), core::format_seconds(sample.until_us));
  for (const std::int64_t micro : sample.micro) {
    row += ',';
    io::append_decimal(row, micro, 6);
  }
  return row + '\n';
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_option("--out", options.out, "Add the results of every run to this file (SQLite); made where it is not there")->type_name("FILE");
  app.add_option("--series-out", options.series_out, "Write what held over time, a row for each interval and policy (CSV)")
      ->type_name("FILE");
  app.add_option("--series-every", options.series_every,
                 "How long the intervals of --series-out and --out are; without it, so that there are at most 1,000")
      ->type_name("DURATION");
  app.add_option("--by", options.by, "Tell queues, virtual clusters (vc), users or sizes of jobs apart")
      ->check(CLI::IsMember({"queue", "vc", "user", "size"}))
      ->type_name("WHAT");
}

std::vector<Place> places(const OutputOptions& options) {
  if (options.out == "-") throw InvalidArgument("--out: results are written into a file of their own, not to standard output");
  return {{"--out", options.out}, {"--series-out", options.series_out}};
}

std::optional<sim::GroupBy> group_by(const std::string& name) {
  for (int by = 0; by < sim::kGroupings; ++by) {
    if (name == sim::kGroupingNames[by]) return static_cast<sim::GroupBy>(by);
  }
  return std::nullopt;
}

sim::Wanted wanted(const OutputOptions& options, bool jobs) {
  sim::Wanted wanted;
  if (!options.out.empty()) wanted.groups.fill(true);
  if (const auto by = group_by(options.by)) wanted.groups[static_cast<std::size_t>(*by)] = true;
  wanted.jobs = jobs || !options.out.empty();
  wanted.series = !options.out.empty() || !options.series_out.empty();
  if (options.series_every.empty()) return wanted;
  if (!wanted.series) throw InvalidArgument("--series-every: there is no series without --series-out or --out");
  wanted.every_us = parse_duration(options.series_every);
  if (wanted.every_us <= 0) throw InvalidArgument("--series-every: an interval takes a time above 0");
  return wanted;
}

SimulationOutput::SimulationOutput(const OutputOptions& options) : options_(options), series_(series_head()) {
  if (!options.out.empty()) file_ = std::make_unique<results::ResultsFile>(options.out);
}

void SimulationOutput::store(results::Run& run) {
  if (file_ != nullptr) file_->add(run);
  if (!options_.series_out.empty()) {
    for (const sim::Sample& sample : run.measures.series) series_ += series_row(run.policy, sample);
  }
  run.measures.jobs = {};
  run.measures.series = {};
}

void SimulationOutput::finish() const {
  if (!options_.series_out.empty()) write_out(options_.series_out, series_);
}

}  // namespace berth::cli
