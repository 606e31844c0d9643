#pragma once

#include <map>
#include <string>

#include "host/core/policy_api/policy.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/measures/figures.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/traces.hpp"

/// Muri's traces, the published results of Muri, and our simulation.
namespace berth::test {

inline constexpr const char* kMuriTraces[]{"trace1", "trace1_pr", "trace3"};

inline std::string muri_trace(const std::string& name) { return trace_file("muri/trace-data/" + name + ".csv.gz"); }

inline bool has_muri() {
  for (const char* name : kMuriTraces) {
    if (muri_trace(name).empty()) return false;
  }
  return !trace_file("muri/n8g8.csv").empty() && !trace_file("muri/published_results.csv").empty();
}

/// Seconds by "policy,metric,trace".
inline std::map<std::string, double> muri_published() {
  std::map<std::string, double> figures;
  io::CsvReader row(trace_file("muri/published_results.csv"));
  while (row.next()) {
    const std::string name = std::string(row.text(0)) + ',' + std::string(row.text(1)) + ',' + std::string(row.text(2));
    figures[name] = std::stod(std::string(row.text(3)));
  }
  return figures;
}

inline sim::SimulationFigures muri_simulated(const std::string& trace, const std::string& policy, const core::Params& params,
                                             const char* overheads) {
  const io::Imported imported = io::import_files("muri", {muri_trace(trace), trace_file("muri/n8g8.csv")});
  sim::SimulationSettings settings;
  settings.request.policy = policy;
  settings.request.params = params;
  settings.overheads = sim::named_overheads(overheads);
  sim::FiguresOf figures;
  const sim::SimulationTotals totals =
      sim::simulate(imported.trace, io::cluster_from("", imported), settings, [&](const sim::JobOutcome& job) { figures.add(job); });
  return figures.finish(totals);
}

}  // namespace berth::test
