#include "host/cli/simulate/simulation_output.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/io/files/gzip_output.hpp"
#include "host/io/json/json_text.hpp"

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
  app.add_option("--out", options.out, "Add the results of every run to FILE (SQLite)")->type_name("FILE");
  app.add_option("--series-out", options.series_out, "Write a row for each interval and policy to FILE (CSV)")->type_name("FILE");
  app.add_option("--series-every", options.series_every, "Set the intervals of --series-out and --out; else at most 1,000")
      ->type_name("DURATION");
  app.add_flag("--stays", options.stays, "Also store in --out which GPUs each job had when");
  app.add_option("--by", options.by, "Also report by queue, virtual cluster (vc), user or size of jobs")
      ->check(CLI::IsMember({"queue", "vc", "user", "size"}))
      ->type_name("WHAT");
}

std::vector<Place> places(const OutputOptions& options) {
  if (io::names_gzip(options.out)) throw InvalidArgument("--out: results are a database, which cannot be packed; leave out '.gz'");
  if (options.out == "-") throw InvalidArgument("--out: results are written into a file of their own, not to standard output");
  return {{"--out", options.out}, {"--series-out", options.series_out}};
}

std::optional<sim::GroupBy> group_by(const std::string& name) {
  for (int by = 0; by < sim::kGroupings; ++by) {
    if (name == sim::kGroupingNames[by]) return static_cast<sim::GroupBy>(by);
  }
  return std::nullopt;
}

sim::MeasuresRequest wanted(const OutputOptions& options, bool jobs) {
  sim::MeasuresRequest wanted;
  if (options.stays && options.out.empty()) throw InvalidArgument("--stays: stays are stored in --out, which is not given");
  wanted.stays = options.stays;
  if (!options.out.empty()) wanted.groups.fill(true);
  if (const auto by = group_by(options.by)) wanted.groups[static_cast<std::size_t>(*by)] = true;
  wanted.queues = wanted.groups[static_cast<std::size_t>(sim::GroupBy::kQueue)];
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
  run.stays = {};
}

void SimulationOutput::finish() const {
  if (!options_.series_out.empty()) write_out(options_.series_out, series_);
}

}  // namespace berth::cli
