#include "host/cli/tune/tune_json.hpp"

#include <string_view>

#include "host/cli/base/real_fields.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;

constexpr std::string_view kTuneFormat = "berth.tune.v1";

constexpr io::Field<io::NotRead, TuneRungRow> kTuneRungFields[] = {
    field<io::Seconds, &TuneRungRow::from_us>("from_s", kRequired, "since the first submission of the trace"),
    field<io::Seconds, &TuneRungRow::until_us>("until_s", kRequired),
    field<io::Whole, &TuneRungRow::jobs>("jobs", kRequired),
    field<io::Whole, &TuneRungRow::tried>("tried", kRequired, "configurations besides the default"),
    field<io::Whole, &TuneRungRow::lost>("lost", kRequired),
    field<io::Whole, &TuneRungRow::kept>("kept", kRequired),
    field<RealNumber, &TuneRungRow::default_s>("default_s", kRequired),
    field<OptionalReal, &TuneRungRow::best_s>("best_s", {}, "absent: all are lost"),
};

constexpr io::Field<io::NotRead, TuneGainRow> kTuneGainFields[] = {
    field<RealNumber, &TuneGainRow::default_s>("default_s", kRequired),
    field<RealNumber, &TuneGainRow::tuned_s>("tuned_s", kRequired),
    field<RealNumber, &TuneGainRow::gain_s>("gain_s", kRequired, "default minus tuned"),
    field<io::Whole, &TuneGainRow::days>("days", kRequired, "with jobs"),
    field<OptionalReal, &TuneGainRow::low_s>("low_s", {}, "95 % interval of the gain; absent with one day"),
    field<OptionalReal, &TuneGainRow::high_s>("high_s"),
};

constexpr io::Field<io::NotRead, TuneWindowRow> kTuneWindowFields[] = {
    field<io::Seconds, &TuneWindowRow::from_us>("from_s", kRequired, "since the first submission of the trace"),
    field<io::Seconds, &TuneWindowRow::until_us>("until_s", kRequired),
    field<io::Whole, &TuneWindowRow::jobs>("jobs", kRequired),
    field<io::Object<kTuneGainFields>, &TuneWindowRow::gain>("gain", kRequired),
};

/// An object that may be missing.
template <class Kind>
struct OptionalPart {
  template <class Value>
  static void write(io::JsonWriter& w, const std::optional<Value>& value) {
    Kind::write(w, *value);
  }
  static void describe(io::JsonWriter& w) { Kind::describe(w); }
  template <class Value>
  static bool absent(const std::optional<Value>& value) {
    return !value;
  }
};

constexpr io::Field<io::NotRead, TuneDocument> kTuneFields[] = {
    field<io::Constant<kTuneFormat>>("schema", kRequired),
    field<io::Name, &TuneDocument::policy>("policy", kRequired),
    field<io::Name, &TuneDocument::metric>("metric", kRequired),
    field<io::Map<io::Text>, &TuneDocument::space>("space", kRequired),
    field<io::Whole, &TuneDocument::seeds>("seeds", kRequired),
    field<io::Whole, &TuneDocument::configurations>("configurations", kRequired),
    field<io::Lines<io::Object<kTuneRungFields>>, &TuneDocument::rungs>("rungs", kRequired),
    field<io::Map<io::Whole>, &TuneDocument::lost_runs>("lost_runs", {}, "what went wrong -> runs"),
    field<io::Map<io::Text>, &TuneDocument::best>("best", {}, "parameters; absent: none are better than the default"),
    field<OptionalPart<io::Object<kTuneWindowFields>>, &TuneDocument::tuned_on>("tuned_on", {}, "the window on which they were chosen"),
    field<io::Lines<io::Object<kTuneWindowFields>>, &TuneDocument::later>("later"),
    field<OptionalPart<io::Object<kTuneGainFields>>, &TuneDocument::all_later>("all_later"),
    field<io::Text, &TuneDocument::lost_later>("lost_later", {}, "why there is no result on a later window"),
    field<io::Name, &TuneDocument::use>("use", kRequired, "as --policy takes it"),
    field<io::Boolean, &TuneDocument::keep_default>("keep_default", kRequired),
};

}  // namespace

std::string tune_document_json(const TuneDocument& document) {
  io::JsonWriter out;
  io::Object<kTuneFields>::write(out, document);
  return out.finish();
}

std::string tune_schema() { return io::schema_of<kTuneFields>(kTuneFormat, "Parameters that were tuned, and what they gain later"); }

}  // namespace berth::cli
