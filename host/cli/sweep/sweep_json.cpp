#include "host/cli/sweep/sweep_json.hpp"

#include <fmt/format.h>

#include <string_view>

#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;

constexpr std::string_view kSweepFormat = "berth.sweep.v1";

/// A figure of several runs, which no decision uses.
struct Real {
  static void write(io::JsonWriter& w, double value) { w.raw(fmt::format("{}", value)); }
  static void describe(io::JsonWriter& w) { w.text("type", "number"); }
};
struct HalfWidth {
  static void write(io::JsonWriter& w, const std::optional<double>& value) { Real::write(w, *value); }
  static void describe(io::JsonWriter& w) { Real::describe(w), w.number("minimum", 0); }
  static bool absent(const std::optional<double>& value) { return !value; }
};

constexpr io::Field<io::NotRead, ShownInterval> kIntervalFields[] = {
    field<Real, &ShownInterval::mean>("mean", kRequired),
    field<HalfWidth, &ShownInterval::half_width>("half_width", {}, "Half of the 95 % interval; absent with one seed."),
};

/// By metric; times end in "_s", in seconds.
using SweepIntervals = io::Map<io::Object<kIntervalFields>>;

constexpr io::Field<io::NotRead, SweepLine> kSweepLineFields[] = {
    field<io::Map<io::Text>, &SweepLine::cell>("cell", kRequired, "Keys of the spec with several values."),
    field<io::Whole, &SweepLine::seeds>("seeds", kRequired),
    field<SweepIntervals, &SweepLine::metrics>("metrics", kRequired),
    field<SweepIntervals, &SweepLine::differences>("differences", {}, "From the baseline, seed by seed."),
    field<io::Constant<kSweepFormat>>("schema", kRequired),
};

}  // namespace

std::string sweep_line_json(const SweepLine& line) {
  io::JsonWriter out;
  io::Object<kSweepLineFields>::write(out, line);
  return out.finish();
}

std::string sweep_schema() { return io::schema_of<kSweepLineFields>(kSweepFormat, "A line of what a sweep prints: means of a cell"); }

}  // namespace berth::cli
