#include "host/cli/sweep/sweep_json.hpp"

#include <string_view>

#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;

constexpr std::string_view kSweepFormat = "berth.sweep.v1";

constexpr io::Field<io::NotRead, SweepLine> kSweepLineFields[] = {
    field<io::Map<io::Text>, &SweepLine::cell>("cell", kRequired, "Keys of the spec with several values."),
    field<io::Whole, &SweepLine::seeds>("seeds", kRequired),
    field<MetricIntervals, &SweepLine::metrics>("metrics", kRequired),
    field<MetricIntervals, &SweepLine::differences>("differences", {}, "From the baseline, seed by seed."),
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
