// Laws that hold for every simulation, policy and failure: Little's law and the conservation of GPU-time, exactly.
// The series receives the number of jobs; outcomes state what happened to each. Neither is derived from the other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "berth/engine.hpp"
#include "host/io/traces/importers.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/iterations/ada_srsf.hpp"
#include "host/sim/measures/series.hpp"
#include "host/sim/measures/stays.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/random.hpp"

namespace berth::sim::simulation_laws_test {
namespace {

using test::Random;

// Some jobs have known rates at several GPU counts, so that policies with shapes resize them.
Trace elastic_or_not(Random& random) {
  Trace trace;
  trace.name = "laws";
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  for (const std::int32_t gpus : {1, 2, 4, 8}) profile.points.push_back({"", gpus, 0, "", 1'000'000 * gpus / (1 + gpus / 3)});
  if (random.percent(50)) {
    profile.stage_us = {300'000, 400'000};
    profile.gradient_bytes = random.of<std::int64_t>({0, 700'000});
  }
  Profile other = profile;
  for (RatePoint& point : other.points) point.rate = 100'003 + point.rate * (8 - point.gpus) / 3;
  trace.profiles = {{"p", profile}, {"q", other}};
  const std::int32_t jobs = random.within(1, 40);
  TimeUs at = 0;
  for (std::int32_t j = 0; j < jobs; ++j) {
    TraceJob job;
    job.id = fmt::format("j{:03}", j);
    job.submit_us = at;
    job.run_us = random.within(1, 100) * (random.percent(20) ? 1'234'567 : kSecond);
    job.gpus = random.of<std::int32_t>({1, 1, 2, 4, 8, 13});
    if (job.gpus <= 8 && random.percent(50)) {
      job.profile = "p";
      job.work = job.run_us;
      job.elastic = true;
    }
    if (random.percent(10)) {
      job.deadline_us = at + job.run_us;
      job.deadline_hard = true;
    }
    trace.jobs.push_back(std::move(job));
    at += random.within(0, 20) * random.of<TimeUs>({kSecond, 777'777});
  }
  return trace;
}

SimulationSettings any_settings(Random& random, std::uint64_t seed) {
  SimulationSettings settings;
  // Some of each kind: under others a simulation may last longer than a series by seconds can hold.
  settings.request.policy = random.of<const char*>({"fifo", "srtf", "las", "tiresias", "themis", "price", "optimus", "afs", "gavel-las"});
  settings.request.seed = seed;
  if (settings.request.policy == "las") settings.request.params.emplace_back("thresholds_gpu_s", "20,50,200");
  settings.overheads = named_overheads(random.of<const char*>({"none", "default"}));
  settings.elastic = random.percent(70);
  settings.round_us = random.of<TimeUs>({0, 0, 10 * kSecond, 7'777'777});
  if (random.percent(25)) settings.iterations = IterationSettings{1, {0, 1'000'000, 500'000}, {}};
  // Nodes are lost under running jobs. No limit of a queue falls: no event of a simulation lowers one.
  if (random.percent(50)) {
    settings.failures.node_us = 400 * kSecond;
    settings.failures.repair_us = random.of<TimeUs>({0, 60 * kSecond, 60 * kSecond, 60 * kSecond});
    settings.failures.crash_gpu_us = random.of<TimeUs>({0, 500 * kSecond});
    settings.failures.kill_gpu_us = random.of<TimeUs>({0, 5'000 * kSecond});
  }
  return settings;
}

// The same jobs, split into random phases that run at the rates of one of these profiles.
Trace cut(const Trace& whole, Random& random, std::initializer_list<const char*> profiles) {
  Trace trace = whole;
  for (TraceJob& job : trace.jobs) {
    if (job.work == 0) continue;
    std::int64_t from = 0;
    for (std::int32_t k = random.within(0, 5); k > 0; --k) {
      from += random.percent(20) ? random.within(1, 3) : random.within(1, 40) * 777'777;
      if (from < job.work) job.phases.push_back({from, random.of<const char*>(profiles), 0});
    }
  }
  return trace;
}

Group group_of(const std::string& name, std::int32_t members, std::int32_t gpus, const std::string& parent = "") {
  Group group;
  group.name = name;
  group.parent = parent;
  group.members_min = group.members_want = group.members_max = members;
  group.gpus_per_member = gpus;
  return group;
}

// The same jobs, whose flat gangs are stated as one group.
Trace as_groups(const Trace& flat) {
  Trace trace = flat;
  for (TraceJob& job : trace.jobs) {
    job.elastic = false;
    Shape shape;
    shape.id = std::to_string(job.gpus);
    shape.gpus = job.gpus;
    shape.groups = {group_of("g", job.gpus, 1)};
    job.shapes = {shape};
  }
  return trace;
}

// The same jobs, many of which are trees with alternatives of other sizes, spares and ranges of members.
Trace in_trees(const Trace& flat, Random& random) {
  Trace trace = flat;
  for (TraceJob& job : trace.jobs) {
    if (random.percent(20)) continue;
    job.elastic = false;
    job.shapes.clear();
    for (std::int32_t s = random.within(1, 3); s > 0; --s) {
      Shape shape;
      shape.id = std::to_string(s);
      shape.gpus = job.shapes.empty() ? job.gpus : random.within(1, 8);
      const std::int32_t inner = random.within(1, shape.gpus);
      const std::int32_t member = shape.gpus % inner == 0 && inner <= 8 ? inner : 1;
      shape.groups = {group_of("root", 0, 1), group_of("a", shape.gpus / member, member, "root")};
      Group& leaf = shape.groups.back();
      if (leaf.members_want > 1 && random.percent(30)) leaf.members_min = leaf.members_want / 2;
      if (random.percent(20)) leaf.spares = 1;
      if (random.percent(20)) leaf.spread = berth::Spread{{TopologyKind::kSwitch, "node"}, random.within(1, 3)};
      if (random.percent(20)) shape.rate = random.within(1, 3) * 444'444;
      job.shapes.push_back(std::move(shape));
    }
  }
  return trace;
}

// Every outcome to the microsecond.
std::string outcomes(const Trace& trace, const Snapshot& cluster, const SimulationSettings& settings) {
  std::string rows;
  simulate(trace, cluster, settings, [&](const JobOutcome& job) {
    rows += fmt::format("{} {} {} {} {} {} {} {} {} {}", job.job, static_cast<int>(job.end), job.start_us, job.end_us, job.held_us,
                        job.overhead_us, job.starts, job.preemptions, job.moves, job.failures);
    for (const __int128 lost : job.lost_gpu_us) rows += fmt::format(" {}", static_cast<std::int64_t>(lost));
    rows += "\n";
  });
  return rows;
}

}  // namespace

// With rounds, phases cause no decisions. Costs, saves and failures with lost work are included.
// Not `reactive`: it estimates a job with phases by its rate, and another by the run time of the trace.
TEST(SimulationLaws, PhasesOfOneRateAreOnePhase) {
  std::int64_t phases = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Trace whole = elastic_or_not(random);
    const Snapshot cluster = io::uniform_cluster(random.within(2, 4), random.of<std::int64_t>({2, 4, 8}));
    SimulationSettings settings = any_settings(random, seed);
    settings.iterations.reset();
    settings.round_us = random.of<TimeUs>({10 * kSecond, 7'777'777});
    settings.overheads.general.costs.checkpoint_every_us = random.of<TimeUs>({0, 3'333'333});
    settings.overheads.general.costs.checkpoint_save_us = random.of<TimeUs>({0, 55'555});
    settings.estimates = random.of<const char*>({"oracle", "rolling", "none"});
    const Trace phased = cut(whole, random, {"p"});
    for (const TraceJob& job : phased.jobs) phases += static_cast<std::int64_t>(job.phases.size());

    SCOPED_TRACE(fmt::format("seed {} {} {}", seed, settings.request.policy, settings.estimates));
    ASSERT_EQ(outcomes(phased, cluster, settings), outcomes(whole, cluster, settings));
  }
  EXPECT_GT(phases, 1'000);
}

// Whether by counts or by plans.
TEST(SimulationLaws, AGroupOfSingleGpusIsAFlatGang) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Trace flat = elastic_or_not(random);
    const Snapshot cluster = io::uniform_cluster(random.within(2, 4), random.of<std::int64_t>({2, 4, 8}));
    SimulationSettings settings = any_settings(random, seed);
    settings.iterations.reset();
    settings.elastic = false;
    SCOPED_TRACE(fmt::format("seed {} {}", seed, settings.request.policy));
    ASSERT_EQ(outcomes(as_groups(flat), cluster, settings), outcomes(flat, cluster, settings));
  }
}

// By counts no plan is made: pauses to save prevent that. Where plans list only changes, the same jobs are rejected when whole
// plans reject them.
TEST(SimulationLaws, HardDeadlinesAreThoseOfWholePlans) {
  std::int64_t rejected = 0, met = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Trace trace = elastic_or_not(random);
    for (TraceJob& job : trace.jobs) {
      job.deadline_hard = random.percent(40);
      job.deadline_us = job.submit_us + job.run_us * random.of<TimeUs>({1, 2, 3, 6});
    }
    const Snapshot cluster = io::uniform_cluster(random.within(1, 3), random.of<std::int64_t>({2, 4, 8}));
    SimulationSettings settings = any_settings(random, seed);
    settings.request.policy = random.of<const char*>({"fifo", "srtf", "srsf", "las", "priority", "edf"});
    settings.request.params.clear();
    if (settings.request.policy == "las") settings.request.params.emplace_back("thresholds_gpu_s", "20,50,200");
    settings.failures = {};
    settings.iterations.reset();
    settings.overheads.general.costs.checkpoint_every_us = 3'333'333;
    settings.overheads.general.costs.checkpoint_save_us = 55'555;
    const auto rows = [&] {
      std::string text;
      simulate(trace, cluster, settings, [&](const JobOutcome& job) {
        text += fmt::format("{} {} {} {} {} {} {}\n", job.job, static_cast<int>(job.end), job.start_us, job.end_us, job.held_us,
                            job.preemptions, job.reason);
        rejected += job.end == JobOutcome::End::kRejected ? 1 : 0;
        met += job.end != JobOutcome::End::kRejected && trace.jobs[static_cast<std::size_t>(job.job)].deadline_hard ? 1 : 0;
      });
      return text;
    };
    SCOPED_TRACE(fmt::format("seed {} {}", seed, settings.request.policy));
    const std::string changes = rows();
    Engine engine;
    PolicyState kept;
    settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>&) {
      engine.decide(state, kept, settings.request, plan);
    };
    ASSERT_EQ(changes, rows());
  }
  EXPECT_GT(rejected, 500);
  EXPECT_GT(met, 500);
}

TEST(SimulationLaws, JobsAndGpuTimeAreConserved) {
  std::int64_t preempted = 0, moved = 0, failed = 0, killed = 0, rejected = 0, unfinished = 0, shared = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const Trace whole = elastic_or_not(random);
    const Snapshot cluster = io::uniform_cluster(random.within(2, 4), random.of<std::int64_t>({2, 4, 8}));
    SimulationSettings settings = any_settings(random, seed);
    SCOPED_TRACE(fmt::format("seed {} {}", seed, settings.request.policy));
    const bool trees = seed > 400;
    if (trees) settings.iterations.reset();
    const Trace trace = trees                                        ? in_trees(whole, random)
                        : !settings.iterations && random.percent(50) ? cut(whole, random, {"p", "q"})
                                                                     : whole;
    Series series(facts_of(trace), kSecond);
    settings.series = &series;
    std::vector<JobOutcome> jobs;
    TimeUs last = trace.jobs.back().submit_us;

    std::optional<AdaSrsf> shares;
    if (settings.iterations && random.percent(50)) {
      settings.request.policy = "ada-srsf";
      settings.request.params.clear();
      if (settings.failures.crash_gpu_us == 0 && settings.failures.kill_gpu_us == 0) settings.iterations->gpu_jobs = random.within(1, 4);
      const AdaSrsfSettings own{random.within(0, 4), random.percent(20), {Admission::kAdaDual, GpuOrder::kLeast}};
      settings.iterations->rules = own.rules;
      shares.emplace(own, settings.iterations->network, settings.iterations->gpu_jobs, settings.request);
      settings.decide = [&](const ClusterState& state, Plan& plan, std::vector<Rejected>& away) { shares->decide(state, plan, away); };
    }
    const SimulationTotals totals = simulate(trace, cluster, settings, [&](const JobOutcome& job) {
      jobs.push_back(job);
      if (job.end_us != kNever) last = std::max(last, job.end_us);
    });

    // Means over whole seconds, in millionths, are sums over microseconds; the final levels hold for a day beyond the end.
    const TimeUs begun = trace.jobs.front().submit_us, until = begun + ((last - begun) / kSecond + 86'400) * kSecond;
    series.finish(until);
    __int128 held = 0, waited = 0, in_system = 0, jct = 0, gpu_us = 0, gpus_waited = 0;
    for (const Sample& second : series.samples()) {
      held += second.micro[0];
      in_system += second.micro[2] + second.micro[3];
      waited += second.micro[3];
      gpus_waited += second.micro[4];
    }
    __int128 alone_waited = 0, gpus_alone_waited = 0;
    for (const JobOutcome& job : jobs) {
      const TimeUs here = (job.end_us == kNever ? until : job.end_us) - job.submit_us, idle = here - job.held_us;
      jct += here;
      alone_waited += idle;
      gpus_alone_waited += static_cast<__int128>(idle) * trace.jobs[static_cast<std::size_t>(job.job)].gpus;
      gpu_us += job.gpu_us;
      preempted += job.preemptions;
      moved += job.moves;
      failed += job.failures;
      killed += job.end == JobOutcome::End::kKilled;
      rejected += job.end == JobOutcome::End::kRejected;
      unfinished += job.end == JobOutcome::End::kUnfinished;
    }
    ASSERT_EQ(jobs.size(), trace.jobs.size());
    ASSERT_TRUE(jct == in_system) << "Little's law: " << static_cast<std::int64_t>(jct - in_system) << " us";
    ASSERT_TRUE(alone_waited == waited) << "Little's law of those that wait";
    ASSERT_TRUE(gpus_alone_waited == gpus_waited) << "GPUs asked for";
    // Fractions of a shared GPU are rounded down.
    const bool exact = !settings.iterations || settings.iterations->gpu_jobs == 1;
    shared += exact ? 0 : 1;
    ASSERT_TRUE(gpu_us <= held && held - gpu_us <= (exact ? 0 : held / 1'000))
        << "GPU-time: " << static_cast<std::int64_t>(gpu_us - held) << " us";
    ASSERT_TRUE(gpu_us == totals.gpu_us);
    ASSERT_TRUE(gpu_us <= totals.gpu_up_us || settings.failures.any()) << "more than there was";
  }
  EXPECT_GT(std::min({preempted, moved, failed, killed, rejected, unfinished, shared}), 0)
      << preempted << " " << moved << " " << failed << " " << killed << " " << rejected << " " << unfinished << " " << shared;
}

// The waits follow from the stays alone: one that ends before the job does, and is not followed at once by another, was displaced.
TEST(SimulationLaws, AJobWaitsUntilDisplacedJobsHaveLeftItsGpus) {
  struct Stayed {
    TimeUs from = 0, until = 0, begins = 0, stopped = 0;
    std::map<std::int32_t, std::uint64_t> gpus;  // by node
  };
  std::int64_t waited = 0, while_waiting = 0, again = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Trace trace = elastic_or_not(random);
    for (TraceJob& job : trace.jobs) {
      job.profile.clear();
      job.work = 0;
      job.elastic = job.deadline_hard = false;
      job.grace_us = random.of<TimeUs>({0, 2 * kSecond, 7'777'777, 40 * kSecond});
    }
    SimulationSettings settings;
    settings.request.policy = random.of<const char*>({"srtf", "srsf", "las", "tiresias"});
    settings.request.params = {{"packing", random.of<const char*>({"topology", "count"})}};
    if (settings.request.policy == "las") settings.request.params.emplace_back("thresholds_gpu_s", "20,50,200");
    settings.round_us = random.of<TimeUs>({0, 0, 10 * kSecond});
    Stays stays;
    settings.stays = &stays;
    std::vector<TimeUs> ended(trace.jobs.size()), held(trace.jobs.size());
    const SimulationTotals totals =
        simulate(trace, io::uniform_cluster(random.within(2, 4), random.of<std::int64_t>({4, 8})), settings, [&](const JobOutcome& job) {
          const bool ran = job.end == JobOutcome::End::kCompleted;
          ended[static_cast<std::size_t>(job.job)] = ran ? job.end_us : 0;
          held[static_cast<std::size_t>(job.job)] = ran ? job.held_us : 0;
        });

    std::map<std::pair<TimeUs, std::int32_t>, Stayed> all;  // by begin and job
    for (const Stay& one : stays.finish(totals.last_end_us)) {
      Stayed& stay = all[{one.from_us, one.job}];
      stay.from = one.from_us;
      stay.until = one.until_us;
      stay.gpus[one.node] |= one.gpus;
    }
    std::vector<TimeUs> needs(trace.jobs.size());
    for (auto& one : all) {
      const auto& key = one.first;
      auto& stay = one.second;
      const auto job = static_cast<std::size_t>(key.second);
      stay.begins = stay.from;
      for (const auto& [other_key, other] : all) {
        if (other_key >= key) break;  // those that begin at one instant do not displace each other
        if (other.until > stay.from || other.stopped <= stay.from) continue;
        const bool its_gpu = std::any_of(other.gpus.begin(), other.gpus.end(), [&](const auto& at) {
          const auto mine = stay.gpus.find(at.first);
          return mine != stay.gpus.end() && (mine->second & at.second) != 0;
        });
        again += other_key.second == key.second ? 1 : 0;
        if (its_gpu || other_key.second == key.second) stay.begins = std::max(stay.begins, other.stopped);
      }
      const TimeUs wait = std::min(stay.begins, stay.until) - stay.from;
      waited += wait > 0 ? 1 : 0;
      needs[job] += wait;
      const bool displaced = stay.until != ended[job] && all.count({stay.until, key.second}) == 0;
      while_waiting += displaced && wait > 0 && stay.until <= stay.begins ? 1 : 0;
      if (displaced && stay.until > stay.begins) stay.stopped = stay.until + trace.jobs[job].grace_us;
    }
    for (std::size_t job = 0; job < trace.jobs.size(); ++job) {
      if (ended[job] > 0) {
        ASSERT_EQ(held[job], trace.jobs[job].run_us + needs[job])
            << "seed " << seed << ' ' << settings.request.policy << ' ' << trace.jobs[job].id;
      }
    }
  }
  EXPECT_GT(std::min({waited, while_waiting, again}), 100) << waited << ' ' << while_waiting << ' ' << again;
}

}  // namespace berth::sim::simulation_laws_test
