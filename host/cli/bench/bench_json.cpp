#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "berth/build_id.hpp"
#include "berth/version.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;
using io::List, io::Lines, io::Millionths, io::Name, io::NotRead, io::Object, io::Whole;
using Positive = io::Integer<1, INT64_MAX>;
using Thousandths = io::Number<3, 0, INT64_MAX>;

template <class T>
using BenchField = io::Field<NotRead, T>;

// A measured time, in nanoseconds.
struct MeasuredNanoseconds {
  static void write(io::JsonWriter& w, double seconds) { w.decimal(std::llround(1e9 * seconds), 9); }
  static void describe(io::JsonWriter& w) { w.text("type", "number"), w.number("minimum", 0); }
};

constexpr BenchField<core::DeviceInfo> kGpuFields[] = {
    field<Name, &core::DeviceInfo::name>("name", kRequired),
    field<Name, &core::DeviceInfo::uuid>("uuid"),
    field<Name, [](const core::DeviceInfo& gpu) { return fmt::format("{}.{}", gpu.major, gpu.minor); }>("compute_capability", kRequired),
    field<Whole, &core::DeviceInfo::memory_bytes>("memory_bytes", kRequired),
    field<Name, &core::DeviceInfo::driver_cuda>("driver_cuda", kRequired),
    field<Name, &core::DeviceInfo::runtime_cuda>("runtime_cuda", kRequired),
    field<Name, &core::DeviceInfo::why_not>("why_not"),
};

struct WhyNoGpu : io::Text {
  static bool absent(const std::string& /*why*/, const MachineFacts& m) { return !m.gpus.empty(); }
};

constexpr BenchField<MachineFacts> kMachineFields[] = {
    field<Name, [](const MachineFacts& /*any*/) { return std::string_view(BERTH_VERSION); }>("version", kRequired),
    field<Name, [](const MachineFacts& /*any*/) { return std::string_view(BERTH_BUILD_ID); }>("build", kRequired),
    field<Name, &MachineFacts::compiler>("compiler", kRequired),
    field<io::Boolean, &MachineFacts::optimised>("optimised", kRequired),
    field<Name, &MachineFacts::cpu>("cpu"),
    field<io::Boolean, &MachineFacts::virtual_machine>("virtual"),
    field<Positive, &MachineFacts::threads>("threads", kRequired),
    field<Whole, &MachineFacts::memory_bytes>("memory_bytes"),
    field<Lines<Object<kGpuFields>>, &MachineFacts::gpus>("gpus", kRequired),
    field<WhyNoGpu, &MachineFacts::why_no_gpu>("why_no_gpu"),
};

struct Ticks : Whole {
  static bool absent(std::int64_t /*ticks*/, const ClockReading& c) { return c.stolen_ticks < 0; }
};

constexpr BenchField<ClockReading> kReadingFields[] = {
    field<List<Name>, &ClockReading::governors>("governors"),
    field<Thousandths, &ClockReading::khz>("mhz"),
    field<Thousandths, &ClockReading::least_khz>("min_mhz"),
    field<Thousandths, &ClockReading::most_khz>("max_mhz"),
    field<Whole, &ClockReading::throttled>("throttled", {}, "thermal events of cores and packages since the machine began"),
    field<Whole, &ClockReading::stolen_ticks>("stolen_ticks", {}, "of `ticks`, given to others by the host"),
    field<Ticks, &ClockReading::ticks>("ticks"),
    field<Millionths, &ClockReading::quota_us>("quota_s", {}, "for which a quota of the control group held its processes"),
    field<Thousandths, &ClockReading::load_milli>("load", {}, "average of one minute"),
    field<MeasuredNanoseconds, &ClockReading::fixed_work_s>("fixed_work_s", kRequired, "the same arithmetic on one core"),
};

struct Sentences : List<Name> {
  static bool absent(const std::vector<std::string>& sentences) { return sentences.empty(); }
};

constexpr BenchField<BenchReport> kClocksFields[] = {
    field<Object<kReadingFields>, &BenchReport::before>("before", kRequired),
    field<Object<kReadingFields>, &BenchReport::after>("after", kRequired),
    field<Sentences, [](const BenchReport& report) { return clocks_not_shown(report.before); }>("not_shown"),
    field<Sentences, &BenchReport::warnings>("warnings"),
};

struct SideBackend {
  static void write(io::JsonWriter& w, Backend backend) { w.string(backend == Backend::kCuda ? "cuda" : "cpu"); }
  static void describe(io::JsonWriter& w) { w.key("enum"), w.raw(R"(["cpu","cuda"])"); }
};

struct SideThreads : Positive {
  static bool absent(int /*threads*/, const BenchSide& side) { return side.backend != Backend::kCpu; }
};

constexpr BenchField<BenchSide> kSideFields[] = {
    field<Name, &BenchSide::name>("name", kRequired),
    field<SideBackend, &BenchSide::backend>("backend", kRequired),
    field<SideThreads, &BenchSide::threads>("threads"),
};

struct Sides : List<Object<kSideFields>> {
  static void describe(io::JsonWriter& w) { List::describe(w), w.number("minItems", 1); }
};

constexpr BenchField<SearchSize> kPriceFields[] = {
    field<io::AnyInteger, &SearchSize::price_value>("value", kRequired),
    field<MeasuredNanoseconds, &SearchSize::price_placed_s>("placed_s", kRequired, "until the choice had its places"),
    field<MeasuredNanoseconds, &SearchSize::price_s>("seconds", kRequired, "until the plan was there"),
};

constexpr BenchField<report::ValueStep> kStepFields[] = {
    field<MeasuredNanoseconds, &report::ValueStep::seconds>("s", kRequired, "since the call"),
    field<io::AnyInteger, &report::ValueStep::score>("value", kRequired, "of the best from then on"),
};

using Found = report::ValueOverTime;
constexpr BenchField<SearchRun> kSearchRunFields[] = {
    field<Name, &SearchRun::side>("side", kRequired),
    field<Millionths, &SearchRun::budget_us>("budget_s", kRequired),
    field<io::AnyInteger, &SearchRun::found, &Found::value>("value", kRequired),
    field<Whole, &SearchRun::found, &Found::generations>("generations", kRequired),
    field<MeasuredNanoseconds, &SearchRun::found, &Found::searched_s>("searched_s", kRequired, "until the search was cut"),
    field<MeasuredNanoseconds, &SearchRun::found, &Found::seconds>("seconds", kRequired),
    field<List<Object<kStepFields>>, &SearchRun::found, &Found::steps>("steps", kRequired),
};

constexpr BenchField<SearchSize> kSearchFields[] = {
    field<Whole, &SearchSize::gpus>("gpus", kRequired),
    field<Whole, &SearchSize::jobs>("jobs", kRequired),
    field<io::AnyInteger, &SearchSize::bound>("bound", kRequired, "upper bound on the objective value"),
    field<Object<kPriceFields>>("price", kRequired),
    field<Lines<Object<kSearchRunFields>>, &SearchSize::runs>("runs", kRequired),
};

struct PassesRunRow {
  const PassesRun& value;
  const PassesSize& size;
};

constexpr BenchField<PassesRunRow> kPassesRunFields[] = {
    field<Name, &PassesRun::side>("side", kRequired),
    field<MeasuredNanoseconds, &PassesRun::median_s>("median_s", kRequired),
    field<Thousandths, [](const PassesRunRow& row) { return std::llround(1000 * row.size.scenarios / row.value.median_s); }>(
        "per_s", kRequired, "scenarios, of the median"),
    field<List<MeasuredNanoseconds>, &PassesRun::seconds>("seconds", kRequired),
};

struct PassesRunObject : Object<kPassesRunFields> {
  static void write(io::JsonWriter& w, const PassesRun& run, const PassesSize& size) { Object::write(w, PassesRunRow{run, size}); }
};

constexpr BenchField<PassesSize> kPassesFields[] = {
    field<Whole, &PassesSize::scenarios>("scenarios", kRequired),
    field<Whole, &PassesSize::jobs>("jobs", kRequired),
    field<Whole, &PassesSize::nodes>("nodes", kRequired),
    field<Lines<PassesRunObject>, &PassesSize::runs>("runs", kRequired),
};

constexpr BenchField<DecisionsRun> kDecisionsRunFields[] = {
    field<Name, &DecisionsRun::side>("side", kRequired),
    field<Whole, &DecisionsRun::decisions>("decisions", kRequired),
    field<MeasuredNanoseconds, &DecisionsRun::p50_s>("p50_s", kRequired),
    field<MeasuredNanoseconds, &DecisionsRun::p99_s>("p99_s", kRequired),
    field<Thousandths, [](const DecisionsRun& run) { return std::llround(1000 * run.decisions / run.sum_s); }>("per_s", kRequired),
};

constexpr BenchField<DecisionsSize> kDecisionsFields[] = {
    field<Name, &DecisionsSize::policy>("policy", kRequired),
    field<Whole, &DecisionsSize::jobs>("jobs", kRequired),
    field<Whole, &DecisionsSize::nodes>("nodes", kRequired),
    field<Lines<Object<kDecisionsRunFields>>, &DecisionsSize::runs>("runs", kRequired),
};

struct ReplaysRunRow {
  const ReplaysRun& value;
  const ReplaysSize& size;
};

constexpr BenchField<ReplaysRunRow> kReplaysRunFields[] = {
    field<Name, &ReplaysRun::side>("side", kRequired),
    field<MeasuredNanoseconds, &ReplaysRun::median_s>("median_s", kRequired),
    field<Thousandths,
          [](const ReplaysRunRow& row) { return std::llround(1000.0 * row.size.replays * row.size.jobs / row.value.median_s); }>(
        "jobs_per_s", kRequired, "of all replays, of the median"),
    field<Thousandths, [](const ReplaysRunRow& row) { return std::llround(1000 * row.value.mean_jct_s); }>("mean_jct_s", kRequired,
                                                                                                           "of all replays"),
    field<List<MeasuredNanoseconds>, &ReplaysRun::seconds>("seconds", kRequired),
};

struct ReplaysRunObject : Object<kReplaysRunFields> {
  static void write(io::JsonWriter& w, const ReplaysRun& run, const ReplaysSize& size) { Object::write(w, ReplaysRunRow{run, size}); }
};

constexpr BenchField<ReplaysSize> kReplaysFields[] = {
    field<Name, &ReplaysSize::policy>("policy", kRequired),
    field<Whole, &ReplaysSize::replays>("replays", kRequired),
    field<Whole, &ReplaysSize::jobs>("jobs", kRequired),
    field<Whole, &ReplaysSize::nodes>("nodes", kRequired),
    field<Lines<ReplaysRunObject>, &ReplaysSize::runs>("runs", kRequired),
};

// Absent where the side was not measured.
struct SideValue {
  static bool absent(double value) { return std::isnan(value); }
  static void write(io::JsonWriter& w, double value) { w.decimal(std::llround(1e6 * value), 6); }
  static void describe(io::JsonWriter& w) { w.text("type", "number"); }
};

constexpr BenchField<BenchComparison> kComparisonFields[] = {
    field<Name, &BenchComparison::operation>("operation", kRequired),
    field<Name, &BenchComparison::unit>("unit", kRequired, "of a speed or of an outcome"),
    field<io::Boolean, &BenchComparison::less_is_better>("less_is_better"),
    field<SideValue, &BenchComparison::cpu_one>("cpu_one"),
    field<SideValue, &BenchComparison::cpu_all>("cpu_all"),
    field<SideValue, &BenchComparison::gpu>("gpu"),
};

constexpr std::string_view kBenchFormat = "berth.bench.v1", kSuite = "headline";

constexpr BenchField<BenchReport> kBenchFields[] = {
    field<io::Constant<kBenchFormat>>("schema", kRequired),
    field<io::Constant<kSuite>>("suite", kRequired),
    field<io::Boolean, &BenchReport::quick>("quick", {}, "sizes too small to compare"),
    field<io::Unsigned, &BenchReport::seed>("seed", kRequired),
    field<io::Boolean, &BenchReport::complete>("complete", kRequired, "false: interrupted"),
    field<MeasuredNanoseconds, &BenchReport::seconds>("seconds", kRequired),
    field<Object<kMachineFields>, &BenchReport::machine>("machine", kRequired),
    field<Object<kClocksFields>>("clocks", kRequired),
    field<Sides, &BenchReport::sides>("sides", kRequired),
    field<Lines<Object<kComparisonFields>>, [](const BenchReport& report) { return compare_sides(report); }>("comparison", kRequired),
    field<Lines<Object<kSearchFields>>, &BenchReport::search>("search", kRequired),
    field<Lines<Object<kPassesFields>>, &BenchReport::passes>("scenarios", kRequired),
    field<Lines<Object<kDecisionsFields>>, &BenchReport::decisions>("decisions", kRequired),
    field<Lines<Object<kReplaysFields>>, &BenchReport::replays>("replays", kRequired),
    field<List<Name>, [](const BenchReport& report) { return losing(report); }>("losing", kRequired),
};

}  // namespace

std::string bench_json(const BenchReport& report) {
  io::JsonWriter out;
  Object<kBenchFields>::write(out, report);
  return out.finish();
}

std::string bench_schema() { return io::schema_of<kBenchFields>(kBenchFormat, "What `berth bench` measured on one machine"); }

}  // namespace berth::cli
