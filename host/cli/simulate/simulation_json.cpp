#include "host/cli/simulate/simulation_json.hpp"

#include <array>
#include <string_view>

#include "host/core/base/wide.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;
using io::List, io::Map, io::Millionths, io::Name, io::NotRead, io::Object, io::Text, io::Whole;
using results::Run;
using Figures = sim::SimulationFigures;
using RunSettings = sim::SimulationSettings;
using SomeReservations = io::Integer<1, INT64_MAX>;
using AboveZero = io::Number<6, 1, INT64_MAX>;

template <class T>
using OutField = io::Field<NotRead, T>;

// GPU-time of many jobs, which may exceed 64 bits.
struct GpuTime {
  static void write(io::JsonWriter& w, __int128 gpu_us) { w.decimal(core::saturate(gpu_us), 6); }
  static void describe(io::JsonWriter& w) { Millionths::describe(w); }
};

struct LostGpuTime : Map<GpuTime> {
  static void write(io::JsonWriter& w, const std::array<__int128, sim::kLosses>& lost) {
    w.object([&] {
      for (std::size_t loss = 0; loss < sim::kLosses; ++loss) w.key(sim::kLossNames[loss]), GpuTime::write(w, lost[loss]);
    });
  }
};

// Numbers by cause.
struct Causes : Map<Whole> {
  template <class Counts>
  static bool absent(const Counts& counts) {
    return counts.empty();
  }
};

// A time measured in seconds, cut to microseconds.
struct MeasuredMicroseconds {
  static void write(io::JsonWriter& w, double seconds) { w.decimal(static_cast<std::int64_t>(seconds * 1e6), 6); }
  static void describe(io::JsonWriter& w) { Millionths::describe(w); }
};

// Of decisions, in nanoseconds.
struct Nanoseconds {
  static void write(io::JsonWriter& w, std::int64_t ns) { w.decimal(ns / 1000, 6); }
  static void describe(io::JsonWriter& w) { Millionths::describe(w); }
};

constexpr OutField<sim::Deadlines> kDeadlinesFields[] = {
    field<Whole, &sim::Deadlines::soft>("soft", kRequired),
    field<Whole, &sim::Deadlines::soft_missed>("soft_missed", kRequired),
    field<Whole, &sim::Deadlines::hard>("hard", kRequired),
    field<Whole, &sim::Deadlines::hard_missed>("hard_missed", kRequired),
    field<Whole, &sim::Deadlines::met_later>("met_later", kRequired),
    field<Millionths, &sim::Deadlines::met_ppm>("met", kRequired),
    field<Whole, &sim::Deadlines::value>("value", kRequired),
    field<Whole, &sim::Deadlines::value_met>("value_met", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::mean>("mean_late_s", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::p50>("median_late_s", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::p90>("p90_late_s", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::p95>("p95_late_s", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::p99>("p99_late_s", kRequired),
    field<Millionths, &sim::Deadlines::late_us, &sim::Distribution::max>("max_late_s", kRequired),
    field<Whole, &sim::Deadlines::promised>("promised", kRequired),
    field<Whole, &sim::Deadlines::promised_missed>("promised_missed", kRequired),
    field<Whole, &sim::Deadlines::warned>("warned", kRequired),
    field<Whole, &sim::Deadlines::warned_met>("warned_met", kRequired),
    field<Whole, &sim::Deadlines::refused>("refused", kRequired),
    field<Whole, &sim::Deadlines::best_effort>("best_effort", kRequired),
    field<Whole, &sim::Deadlines::best_effort_completed>("best_effort_completed", kRequired),
    field<Millionths, &sim::Deadlines::best_effort_jct_us, &sim::Distribution::mean>("best_effort_mean_jct_s", kRequired),
    field<Millionths, &sim::Deadlines::best_effort_jct_us, &sim::Distribution::p99>("best_effort_p99_jct_s", kRequired),
};

using sim::GroupFigures;
constexpr OutField<GroupFigures> kGroupFiguresFields[] = {
    field<Text, &GroupFigures::name>("name", kRequired),
    field<Whole, &GroupFigures::jobs>("jobs", kRequired),
    field<Whole, &GroupFigures::completed>("completed", kRequired),
    field<Whole, &GroupFigures::rejected>("rejected", kRequired),
    field<Millionths, &GroupFigures::jct_us, &sim::Distribution::mean>("mean_jct_s", kRequired),
    field<Millionths, &GroupFigures::jct_us, &sim::Distribution::p50>("median_jct_s", kRequired),
    field<Millionths, &GroupFigures::jct_us, &sim::Distribution::p90>("p90_jct_s", kRequired),
    field<Millionths, &GroupFigures::jct_us, &sim::Distribution::p99>("p99_jct_s", kRequired),
    field<Millionths, &GroupFigures::jct_us, &sim::Distribution::max>("max_jct_s", kRequired),
    field<Millionths, &GroupFigures::mean_wait_us>("mean_queue_s", kRequired),
    field<GpuTime, &GroupFigures::gpu_us>("gpu_s", kRequired),
};

using sim::QueueFigures;
constexpr OutField<QueueFigures> kQueueFiguresFields[] = {
    field<Text, &QueueFigures::name>("name", kRequired),
    field<GpuTime, &QueueFigures::gpu_us>("gpu_s", kRequired),
    field<GpuTime, &QueueFigures::guaranteed_gpu_us>("guaranteed_gpu_s", kRequired),
    field<GpuTime, &QueueFigures::fair_gpu_us>("fair_gpu_s", kRequired),
    field<GpuTime, &QueueFigures::borrowed_gpu_us>("borrowed_gpu_s", kRequired),
    field<GpuTime, &QueueFigures::shortfall_gpu_us>("shortfall_gpu_s", kRequired),
    field<GpuTime, &QueueFigures::fair_shortfall_gpu_us>("fair_shortfall_gpu_s", kRequired),
    field<Millionths, &QueueFigures::starved_us>("starved_s", kRequired),
    field<Whole, &QueueFigures::reclaims>("reclaims", kRequired),
    field<Millionths, &QueueFigures::reclaim_us, &sim::Distribution::mean>("mean_reclaim_s", kRequired),
    field<Millionths, &QueueFigures::reclaim_us, &sim::Distribution::p50>("median_reclaim_s", kRequired),
    field<Millionths, &QueueFigures::reclaim_us, &sim::Distribution::p95>("p95_reclaim_s", kRequired),
    field<Millionths, &QueueFigures::reclaim_us, &sim::Distribution::max>("max_reclaim_s", kRequired),
    field<Whole, &QueueFigures::lapsed>("lapsed", kRequired),
    field<Whole, &QueueFigures::displaced>("displaced", kRequired),
    field<Whole, &QueueFigures::displaced_for>("displaced_for", kRequired),
    field<GpuTime, &QueueFigures::lost_gpu_us>("lost_gpu_s", kRequired),
    field<Whole, &QueueFigures::hours>("hours", kRequired),
    field<Whole, &QueueFigures::hours_below_half>("hours_below_half", kRequired),
    field<Millionths, &QueueFigures::worst_hour_ppm>("worst_hour", kRequired),
};

struct SimulatedRun {
  const Run& value;
  const Trace& trace;
  std::uint64_t seed;
  std::optional<sim::GroupBy> by;  // empty: no groups
};

struct Grouping {
  static bool absent(std::optional<sim::GroupBy> by) { return !by; }
  static void write(io::JsonWriter& w, std::optional<sim::GroupBy> by) { w.string(sim::kGroupingNames[static_cast<std::size_t>(*by)]); }
  static void describe(io::JsonWriter& w) {
    w.list("enum", sim::kGroupingNames, [&](const char* name) { w.string(name); });
  }
};

struct RunGroups : List<Object<kGroupFiguresFields>> {
  static bool absent(const SimulatedRun& run) { return !run.by; }
  static void write(io::JsonWriter& w, const SimulatedRun& run) {
    List::write(w, run.value.measures.groups[static_cast<std::size_t>(*run.by)], run);
  }
};

struct RunQueues : List<Object<kQueueFiguresFields>> {
  static bool absent(const SimulatedRun& run) { return run.by != sim::GroupBy::kQueue || run.value.measures.queues.empty(); }
  static void write(io::JsonWriter& w, const SimulatedRun& run) { List::write(w, run.value.measures.queues, run); }
};

struct Fidelity {
  static void write(io::JsonWriter& w, const SimulatedRun& run) { w.string(sim::fidelity_name(run.value.settings)); }
  static void describe(io::JsonWriter& w) { w.key("enum"), w.raw(R"(["rate","tiers","shared_links","iteration"])"); }
};

using FollowedIterations = std::optional<sim::IterationSettings>;

struct GpuJobs {
  static void write(io::JsonWriter& w, const FollowedIterations& iterations) { w.integer(iterations->gpu_jobs); }
  static bool absent(const FollowedIterations& iterations) { return !iterations; }
  static void describe(io::JsonWriter& w) { io::Integer<1, kMaxGpusPerNode>::describe(w); }
};

using Network = decltype(sim::IterationSettings::network);
constexpr OutField<Network> kNetworkFields[] = {
    field<Millionths, &Network::latency_us>("a_s", kRequired),
    field<AboveZero, &Network::byte_fs>("b_ns", kRequired),
    field<Millionths, &Network::contention_fs>("eta_ns", kRequired),
};

struct RunNetwork : Object<kNetworkFields> {
  static void write(io::JsonWriter& w, const FollowedIterations& iterations) { Object::write(w, iterations->network); }
  static bool absent(const FollowedIterations& iterations) { return !iterations; }
};

std::int64_t jobs_per_s(const SimulatedRun& run) {
  return run.value.wall_s > 0 ? static_cast<std::int64_t>(static_cast<double>(run.value.figures.completed) / run.value.wall_s) : 0;
}

constexpr std::string_view kSimulationFormat = "berth.simulation.v1";

constexpr OutField<SimulatedRun> kSimulationFields[] = {
    field<Name, &Run::policy>("policy", kRequired),
    field<Text, [](const SimulatedRun& run) { return std::string_view(run.trace.name); }>("trace", kRequired),
    field<io::AnyInteger, [](const SimulatedRun& run) { return static_cast<std::int64_t>(run.seed); }>("seed", kRequired),
    field<Whole, &Run::jobs>("jobs", kRequired),
    field<Whole, &Run::figures, &Figures::completed>("completed", kRequired),
    field<Whole, &Run::figures, &Figures::rejected>("rejected", kRequired),
    field<Whole, &Run::figures, &Figures::unfinished>("unfinished", kRequired),
    field<Causes, [](const SimulatedRun& run) { return run.trace.dropped; }>("dropped", {},
                                                                             "Rows of the source that are no jobs: cause -> rows."),
    field<Causes, &Run::rejections>("rejections", {}, "Jobs that the policy rejected: reason -> jobs."),
    field<Millionths, &Run::figures, &Figures::jct_us, &sim::Distribution::mean>("mean_jct_s", kRequired),
    field<Millionths, &Run::figures, &Figures::jct_us, &sim::Distribution::p50>("median_jct_s", kRequired),
    field<Millionths, &Run::figures, &Figures::jct_us, &sim::Distribution::p90>("p90_jct_s", kRequired),
    field<Millionths, &Run::figures, &Figures::jct_us, &sim::Distribution::p99>("p99_jct_s", kRequired),
    field<Millionths, &Run::figures, &Figures::jct_us, &sim::Distribution::max>("max_jct_s", kRequired),
    field<Millionths, &Run::figures, &Figures::wait_us, &sim::Distribution::mean>("mean_queue_s", kRequired),
    field<Millionths, &Run::figures, &Figures::wait_us, &sim::Distribution::p50>("median_queue_s", kRequired),
    field<Millionths, &Run::figures, &Figures::wait_us, &sim::Distribution::p90>("p90_queue_s", kRequired),
    field<Millionths, &Run::figures, &Figures::wait_us, &sim::Distribution::p99>("p99_queue_s", kRequired),
    field<Millionths, &Run::figures, &Figures::wait_us, &sim::Distribution::max>("max_queue_s", kRequired),
    field<Millionths, &Run::figures, &Figures::first_us, &sim::Distribution::mean>("mean_first_start_s", kRequired),
    field<Millionths, &Run::figures, &Figures::first_us, &sim::Distribution::p50>("median_first_start_s", kRequired),
    field<Millionths, &Run::figures, &Figures::first_us, &sim::Distribution::p90>("p90_first_start_s", kRequired),
    field<Millionths, &Run::figures, &Figures::first_us, &sim::Distribution::p99>("p99_first_start_s", kRequired),
    field<Millionths, &Run::figures, &Figures::first_us, &sim::Distribution::max>("max_first_start_s", kRequired),
    field<Millionths, &Run::figures, &Figures::makespan_us>("makespan_s", kRequired),
    field<Millionths, &Run::figures, &Figures::gpu_utilisation_ppm>("gpu_utilisation", kRequired),
    field<Millionths, &Run::figures, &Figures::overhead_ppm>("overhead_part", kRequired),
    field<Whole, &Run::figures, &Figures::killed>("killed", kRequired),
    field<Whole, &Run::totals, &sim::SimulationTotals::failures>("failures", kRequired),
    field<Whole, &Run::figures, &Figures::failures>("job_failures", kRequired),
    field<Whole, &Run::figures, &Figures::repairs>("repairs", kRequired),
    field<Millionths, &Run::figures, &Figures::goodput_ppm>("goodput", kRequired),
    field<Millionths, &Run::figures, &Figures::effective_ppm>("effective_training_time", kRequired),
    field<GpuTime, &Run::figures, &Figures::gpu_us>("gpu_s", kRequired),
    field<LostGpuTime, &Run::figures, &Figures::lost_gpu_us>("lost_gpu_s", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::rho_ppm, &sim::Distribution::mean>("mean_rho", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::rho_ppm, &sim::Distribution::p50>("median_rho", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::rho_ppm, &sim::Distribution::p90>("p90_rho", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::rho_ppm, &sim::Distribution::p99>("p99_rho", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::rho_ppm, &sim::Distribution::max>("max_rho", kRequired),
    field<Millionths, &Run::measures, &sim::Measures::fairness, &sim::Fairness::jain_ppm>("jain", kRequired),
    field<Object<kDeadlinesFields>, &Run::measures, &sim::Measures::deadlines>("deadlines", kRequired),
    field<Whole, &Run::figures, &Figures::starts>("starts", kRequired),
    field<Whole, &Run::figures, &Figures::preemptions>("preemptions", kRequired),
    field<Whole, &Run::figures, &Figures::moves>("moves", kRequired),
    field<Whole, &Run::totals, &sim::SimulationTotals::decisions>("decisions", kRequired),
    field<Nanoseconds, &Run::totals, &sim::SimulationTotals::decision_ns, &sim::Distribution::p50>("decision_p50_s", kRequired),
    field<Nanoseconds, &Run::totals, &sim::SimulationTotals::decision_ns, &sim::Distribution::p99>("decision_p99_s", kRequired),
    field<MeasuredMicroseconds, &Run::wall_s>("wall_s", kRequired),
    field<MeasuredMicroseconds, &Run::load_s>("load_s", kRequired),
    field<MeasuredMicroseconds, &Run::store_s>("store_s", kRequired),
    field<Whole, &jobs_per_s>("jobs_per_s", kRequired),
    field<Grouping, &SimulatedRun::by>("by"),
    field<RunGroups>("groups"),
    field<RunQueues>("queues", {}, "Queues of the cluster, each with those below it."),
    field<Map<Text>, &Run::settings, &RunSettings::request, &Request::params>("params", kRequired),
    field<Text, &Run::settings, &RunSettings::estimates>("estimates", kRequired),
    field<Text, &Run::settings, &RunSettings::overheads, &Overheads::name>("overheads", kRequired),
    field<Text, &Run::settings, &RunSettings::progress>("progress", kRequired),
    field<Name, &Run::settings, &RunSettings::events, &ClusterEvents::name>("events"),
    field<AboveZero, &Run::settings, &RunSettings::failures, &sim::FailureRates::node_us>("node_failure_s"),
    field<AboveZero, &Run::settings, &RunSettings::failures, &sim::FailureRates::gpu_us>("gpu_failure_s"),
    field<AboveZero, &Run::settings, &RunSettings::failures, &sim::FailureRates::repair_us>("repair_s"),
    field<AboveZero, &Run::settings, &RunSettings::failures, &sim::FailureRates::crash_gpu_us>("crash_gpu_s"),
    field<AboveZero, &Run::settings, &RunSettings::failures, &sim::FailureRates::kill_gpu_us>("kill_gpu_s"),
    field<io::Number<6, kSecond, INT64_MAX>, &Run::settings, &RunSettings::round_us>("round_s"),
    field<io::Boolean, &Run::settings, &RunSettings::events_too>("at_events"),
    field<io::Boolean, &Run::settings, &RunSettings::elastic>("elastic"),
    field<Fidelity>("fidelity", kRequired),
    field<GpuJobs, &Run::settings, &RunSettings::iterations>("gpu_jobs"),
    field<RunNetwork, &Run::settings, &RunSettings::iterations>("network"),
    field<SomeReservations, &Run::totals, &sim::SimulationTotals::reservations_made>("reservations_made"),
    field<SomeReservations, &Run::totals, &sim::SimulationTotals::reservations_kept>("reservations_kept"),
    field<io::Boolean, &Run::totals, &sim::SimulationTotals::interrupted>("interrupted"),
    field<io::Constant<kSimulationFormat>>("schema", kRequired),
};

}  // namespace

std::string simulation_json(const Run& run, const Trace& trace, std::uint64_t seed, std::optional<sim::GroupBy> by) {
  io::JsonWriter out;
  Object<kSimulationFields>::write(out, SimulatedRun{run, trace, seed, by});
  return out.finish();
}

std::string simulation_schema() { return io::schema_of<kSimulationFields>(kSimulationFormat, "What came of a trace under one policy"); }

}  // namespace berth::cli
