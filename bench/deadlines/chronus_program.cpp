// The policy `chronus` with its integer program, solved by GLPK at each lease boundary (docs/genie.md).
//   berth_chronus_program CLUSTER TRACE [NAME=VALUE...] [--late] [--limit SECONDS] [--lp FILE]
// TRACE is a CSV file of Chronus. Prints: jobs with deadlines, deadlines met, value met, promised, broken promises, programs solved,
// programs out of time, the longest one in seconds, and the most columns.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/deadlines/lease_program.hpp"
#include "host/core/base/split.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/measures/deadlines.hpp"
#include "host/sim/simulation.hpp"

namespace {

int run(const std::vector<std::string>& arguments) {
  using namespace berth;
  sim::SimulationSettings settings;
  settings.request.policy = "chronus";
  std::vector<std::string> files;
  std::string lp;
  double limit = 5;
  bool late = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& one = arguments[i];
    if (one == "--limit" && i + 1 < arguments.size()) {
      limit = std::stod(arguments[++i]);
    } else if (one == "--late") {
      late = true;
    } else if (one == "--lp" && i + 1 < arguments.size()) {
      lp = arguments[++i];
    } else if (const std::size_t at = one.find('='); at != std::string::npos) {
      settings.request.params.emplace_back(one.substr(0, at), one.substr(at + 1));
    } else {
      files.push_back(one);
    }
  }
  if (files.size() != 2) {
    fmt::print(stderr, "usage: berth_chronus_program CLUSTER TRACE [NAME=VALUE...] [--late] [--limit SECONDS] [--lp FILE]\n");
    return 2;
  }
  bench::LeaseProgramFigures figures;
  policy::set_lease_planner([&](const policy::LeaseQuestion& question, policy::LeaseAnswer& answer) {
    return bench::solve_leases(question, late, limit, lp, answer, figures);
  });
  const io::Imported imported = io::import_files("chronus", {files[1]});
  sim::DeadlinesOf deadlines;
  const sim::SimulationTotals totals = sim::simulate(imported.trace, io::cluster_from(files[0], imported), settings,
                                                     [&](const sim::JobOutcome& job) { deadlines.add(job); });
  const sim::Deadlines all = deadlines.finish(totals);
  fmt::print("{} {} {} {} {} {} {} {:.3f} {}\n", all.hard + all.soft, all.hard + all.soft - all.hard_missed - all.soft_missed,
             all.value_met, all.promised, all.promised_missed, figures.solved, figures.out_of_time, figures.longest_s,
             figures.most_columns);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& problem) {
    fmt::print(stderr, "berth_chronus_program: {}\n", problem.what());
    return 1;
  }
}
