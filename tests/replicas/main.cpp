// The figures of tests/replicas/README.md and docs/validation.md:
//   berth_replicas muri TRACE.csv[.gz]...
//   berth_replicas ada-srsf SCALE SEED...
//   berth_replicas easy TRACE NODES GPUS_PER_NODE [JOBS]
//   berth_replicas conservative TRACE NODES GPUS_PER_NODE [JOBS]
//   berth_replicas ones JOBS SEED...
//   berth_replicas ideal-ones JOBS SEED
//   berth_replicas shockwave TRACE THROUGHPUTS
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"
#include "host/sim/simulation.hpp"
#include "tests/replicas/ada_srsf.hpp"
#include "tests/replicas/conservative.hpp"
#include "tests/replicas/easy.hpp"
#include "tests/replicas/muri.hpp"
#include "tests/replicas/ones.hpp"
#include "tests/replicas/shockwave.hpp"

namespace berth::test {
namespace {

void show_muri(const std::string& file) {
  const std::vector<MuriJob> jobs = read_muri_jobs(file);
  const auto row = [&](const char* policy, const char* habits, const MuriFigures& figures) {
    fmt::print("{} {} {}: mean {:.3f} p99 {:.3f} makespan {:.3f}\n", file, policy, habits, figures.mean_s, figures.p99_s,
               figures.makespan_s);
  };
  for (const auto& [name, policy] :
       {std::pair{"srtf", MuriPolicy::kSrtf}, {"srsf", MuriPolicy::kSrsf}, {"tiresias", MuriPolicy::kTiresias}}) {
    MuriHabits habits;
    row(name, "as theirs", replay_muri(jobs, policy, habits));
    habits.iteration_factor = 1;
    row(name, "+ iterations as measured", replay_muri(jobs, policy, habits));
    habits.pays_at_each_event = false;
    row(name, "+ no job pays", replay_muri(jobs, policy, habits));
    habits.by_node = habits.keeps_runners_first = false;
    row(name, "+ by counts, queues by submission", replay_muri(jobs, policy, habits));
  }
}

void show_ada_srsf(int scale, std::uint64_t seed) {
  const auto mean = [&](AdaAdmission admission, bool twice) { return replay_ada_srsf({seed, scale, 1, admission, twice}); };
  fmt::print("seed {}: one {:.0f} two {:.0f} adadual {:.0f} adadual counting once {:.0f}\n", seed, mean(AdaAdmission::kOne, false),
             mean(AdaAdmission::kTwo, false), mean(AdaAdmission::kAdaDual, true), mean(AdaAdmission::kAdaDual, false));
}

/// The GPU jobs of Helios' Venus. Users know the run times of their jobs.
void show_backfill(const std::string& discipline, const std::string& file, std::int64_t nodes, std::int64_t gpus, std::size_t jobs) {
  Trace trace = io::import_files("helios-venus", {file}).trace;
  trace.jobs.resize(std::min(jobs, trace.jobs.size()));
  sim::SimulationSettings settings;
  settings.request.policy = "fifo";
  settings.request.params = {{"discipline", discipline}, {"packing", "count"}};
  settings.overheads = sim::named_overheads("none");
  std::vector<std::int64_t> berth(trace.jobs.size(), -1);
  sim::simulate(trace, io::uniform_cluster(nodes, gpus), settings, [&](const sim::JobOutcome& job) {
    if (job.start_us != kNever) berth[static_cast<std::size_t>(job.job)] = job.start_us;
  });
  std::vector<EasyJob> easy;
  for (const TraceJob& job : trace.jobs) easy.push_back({job.submit_us, job.run_us, job.run_us, job.gpus});
  const auto row = [&](const char* name, const std::vector<std::int64_t>& starts) {
    double wait = 0, jct = 0;
    std::int64_t started = 0, other = 0;
    for (std::size_t j = 0; j < easy.size(); ++j) {
      other += starts[j] == berth[j] ? 0 : 1;
      if (starts[j] < 0) continue;
      ++started;
      wait += static_cast<double>(starts[j] - easy[j].submit) / 1e6;
      jct += static_cast<double>(starts[j] - easy[j].submit + easy[j].run) / 1e6;
    }
    const auto n = static_cast<double>(started);
    fmt::print("{}: {} jobs start, mean wait {:.3f} mean JCT {:.3f}, at another instant than ours {}\n", name, started, wait / n, jct / n,
               other);
  };
  row("ours", berth);
  const auto replay = discipline == "easy" ? replay_easy : replay_conservative;
  row("certain processors", replay(easy, nodes * gpus, EasyPromise::kProcessors));
  row("a number of processors", replay(easy, nodes * gpus, EasyPromise::kNumber));
}

void show_ones(int count, std::uint64_t seed) {
  const std::vector<OnesJob> jobs = draw_ones_replica(count, seed);
  fmt::print("seed {}", seed);
  const auto column = [&](const char* name, const OnesFigures& f) { fmt::print("  {} {:.1f}", name, f.mean_s); };
  const OnesFigures all = replay_ones(jobs, seed);
  column("artifact", all);
  fmt::print(" (run {:.1f} wait {:.1f} used {:.3f} makespan {:.0f} updates {} resizes {} moves {} stops {})", all.run_s,
             all.mean_s - all.run_s, all.utilisation, all.makespan_s, all.updates, all.resizes, all.moves, all.stops);
  const std::pair<const char*, bool OnesHabits::*> habits[] = {{"stamps_all", &OnesHabits::stamps_all},
                                                               {"moves_count", &OnesHabits::moves_count},
                                                               {"halves_waiting", &OnesHabits::halves_waiting},
                                                               {"loses_fresh", &OnesHabits::loses_fresh},
                                                               {"first_evaluation", &OnesHabits::counts_first_evaluation},
                                                               {"blocks", &OnesHabits::blocks}};
  OnesHabits none;
  for (const auto& [name, habit] : habits) {
    OnesHabits without;
    without.*habit = none.*habit = false;
    column(name, replay_ones(jobs, seed, {}, without));
  }
  column("none", replay_ones(jobs, seed, {}, none));
  OnesCosts blind;
  blind.predicts = false;
  column("unpredicted", replay_ones(jobs, seed, blind));
  const OnesCosts no_costs{0, 0, 1, true};
  const auto shorter = [](std::vector<OnesJob> some) {
    for (OnesJob& job : some) {
      job.epoch_size /= 10;
      job.epochs *= 10;
    }
    return some;
  };
  std::vector<OnesJob> linear = jobs;  // as fast as measured on the requested GPUs, and in proportion to them on others
  for (OnesJob& job : linear) {
    const double one = job.rate[static_cast<std::size_t>(job.gpus) - 1] / job.gpus;
    for (std::size_t n = 0; n < job.rate.size(); ++n) job.rate[n] = one * static_cast<double>(n + 1);
  }
  column("shorter", replay_ones(shorter(jobs), seed));
  column("shorter-none-free", replay_ones(shorter(jobs), seed, no_costs, none));
  column("linear-none", replay_ones(linear, seed, {}, none));
  column("linear-shorter-none-free", replay_ones(shorter(linear), seed, no_costs, none));
  double alone = 0, alone_free = 0;
  for (const OnesJob& job : jobs) {
    alone += replay_ones({job}, seed).mean_s / count;
    alone_free += replay_ones({job}, seed, no_costs).mean_s / count;
  }
  fmt::print("  alone {:.1f} alone-free {:.1f}", alone, alone_free);
  fmt::print("\n");
}

/// The jobs of "linear-shorter" as a trace, for other policies.
void print_ideal_ones(int count, std::uint64_t seed) {
  sim::SyntheticOptions options;
  options.workload = sim::Workload::kOnes;
  options.jobs = count;
  options.load_ppm = 0;
  options.seed = seed;
  sim::SyntheticJobs drawn(options);
  Trace trace;
  trace.name = "ones, rates in proportion, epochs a tenth as long";
  trace.profiles = drawn.profiles();
  while (const TraceJob* const next = drawn.next()) {
    TraceJob& job = trace.jobs.emplace_back(*next);
    job.dataset_size /= 10;
    job.epochs_micro *= 10;
    for (auto& [name, profile] : trace.profiles) {
      if (name != job.profile) continue;
      const std::int64_t rate = profile.points[static_cast<std::size_t>(job.gpus - 1)].rate / job.gpus;
      for (RatePoint& point : profile.points) point.rate = rate * point.gpus;
    }
  }
  fmt::print("{}", io::to_json(trace));
}

void show_shockwave(const std::vector<std::string>& files) {
  const std::vector<ShockwaveJob> jobs = read_shockwave_jobs(files);
  const auto row = [&](ShockwavePolicy policy, const char* habits_text, const ShockwaveHabits& habits) {
    const ShockwaveFigures figures = replay_shockwave(jobs, policy, habits);
    fmt::print("{}, {}: mean {:.1f} makespan {:.1f}\n", policy == ShockwavePolicy::kAllox ? "allox" : "max-sum", habits_text,
               figures.mean_s, figures.makespan_s);
  };
  for (const ShockwavePolicy policy : {ShockwavePolicy::kAllox, ShockwavePolicy::kMaxSum}) {
    ShockwaveHabits habits;
    row(policy, "as theirs", habits);
    habits.between_allocations_s = 0;
    row(policy, "+ an allocation whenever jobs change", habits);
    habits.start_s = 0;
    row(policy, "+ no job pays", habits);
    habits.alpha = 1;
    if (policy == ShockwavePolicy::kAllox) row(policy, "+ all jobs are matched", habits);
    habits.counts_steps = false;
    if (policy == ShockwavePolicy::kMaxSum) row(policy, "+ speeds instead of steps", habits);
  }
}

}  // namespace
}  // namespace berth::test

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() > 1 && words[0] == "muri") {
    for (std::size_t i = 1; i < words.size(); ++i) berth::test::show_muri(words[i]);
  } else if (words.size() > 2 && words[0] == "ada-srsf") {
    for (std::size_t i = 2; i < words.size(); ++i) berth::test::show_ada_srsf(std::stoi(words[1]), std::stoull(words[i]));
  } else if ((words.size() == 4 || words.size() == 5) && (words[0] == "easy" || words[0] == "conservative")) {
    const std::size_t jobs = words.size() == 5 ? std::stoull(words[4]) : SIZE_MAX;
    berth::test::show_backfill(words[0], words[1], std::stoll(words[2]), std::stoll(words[3]), jobs);
  } else if (words.size() > 2 && words[0] == "ones") {
    for (std::size_t i = 2; i < words.size(); ++i) berth::test::show_ones(std::stoi(words[1]), std::stoull(words[i]));
  } else if (words.size() == 3 && words[0] == "ideal-ones") {
    berth::test::print_ideal_ones(std::stoi(words[1]), std::stoull(words[2]));
  } else if (words.size() == 3 && words[0] == "shockwave") {
    berth::test::show_shockwave({words[1], words[2]});
  } else {
    fmt::print(stderr,
               "usage: {0} muri TRACE...\n       {0} ada-srsf SCALE SEED...\n       {0} easy TRACE NODES GPUS_PER_NODE [JOBS]\n"
               "       {0} conservative TRACE NODES GPUS_PER_NODE [JOBS]\n"
               "       {0} ones JOBS SEED...\n"
               "       {0} ideal-ones JOBS SEED\n       {0} shockwave TRACE THROUGHPUTS\n",
               argv[0]);
    return 2;
  }
  return 0;
}
