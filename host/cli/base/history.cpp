#include "host/cli/base/history.hpp"

#include "host/forecast/past_waits.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::cli {

void add_history_options(CLI::App& app, HistoryInput& input) {
  app.add_option("--history", input.files, "Learn run times and arrivals from these past jobs; plain or .gz")->type_name("FILE");
  app.add_option("--history-format", input.format, "Read files of this format ('berth import --help' lists them)")
      ->type_name("FORMAT")
      ->capture_default_str();
}

JobHistory load_history(const HistoryInput& input, const ClusterState& state) {
  if (input.files.empty()) return history_of(state);
  const Trace trace = io::import_files(input.format, input.files).trace;
  const bool again = input.format == "sacct" && input.files.front() != "-";  // a pipe is read once
  return again ? forecasts::history_with(forecasts::read_past_waits(input.files.front()), trace, state) : history_of(trace, state);
}

std::vector<Place> places_of(const HistoryInput& input) {
  std::vector<Place> places;
  for (const std::string& file : input.files) places.push_back({"--history", file});
  return places;
}

}  // namespace berth::cli
