#include "host/fit/predictor_json.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "host/io/json/json_fields.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::fit {
namespace {

constexpr std::string_view kPredictorSchema = "berth.predictor.v1";

void read_weights(io::JsonCursor& in, Predictor& out) {
  const char* const begin = in.next_mark();
  auto& weights = out.model.weights_micro;
  std::size_t n = 0;
  in.array([&] {
    const std::int64_t weight = in.integer(-policy::kMostProgressWeight, policy::kMostProgressWeight);
    if (n < weights.size()) weights[n] = weight;
    ++n;
  });
  if (n != weights.size()) in.fail_at(begin, fmt::format("expected {} weights, found {}", weights.size(), n));
}

constexpr io::Field<Predictor> kPredictor[] = {
    {"schema",
     [](io::JsonCursor& in, Predictor&) {
       if (in.string() != kPredictorSchema)
         in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kPredictorSchema, in.shown()));
     },
     true},
    {"weights_micro", read_weights, true},
    {"rows", [](io::JsonCursor& in, Predictor& out) { out.rows = in.integer(1, INT64_MAX); }, true},
    {"jobs", [](io::JsonCursor& in, Predictor& out) { out.jobs = in.integer(1, INT64_MAX); }, true},
};

}  // namespace

Predictor parse_predictor(std::string_view json, const std::string& name) {
  Predictor predictor;
  io::JsonCursor in(json, name);
  io::read_object(in, predictor, kPredictor);
  in.finish();
  return predictor;
}

std::string to_json(const Predictor& predictor) {
  io::JsonWriter w;
  w.object([&] {
    w.text("schema", kPredictorSchema);
    w.list("weights_micro", predictor.model.weights_micro, [&](std::int64_t weight) { w.integer(weight); });
    w.number("rows", predictor.rows);
    w.number("jobs", predictor.jobs);
  });
  return w.finish();
}

}  // namespace berth::fit
