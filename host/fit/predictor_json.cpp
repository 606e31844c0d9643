#include "host/fit/predictor_json.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "host/io/formats/schemas.hpp"

namespace berth::fit {
namespace {

constexpr std::string_view kPredictorFormat = "berth.predictor.v1";

using MicroWeights = decltype(policy::ProgressModel::weights_micro);
using ModelWeight = io::Integer<-policy::kMostProgressWeight, policy::kMostProgressWeight>;

struct ModelWeights : io::List<ModelWeight> {
  static void read(io::JsonCursor& in, MicroWeights& out) {
    const char* const begin = in.next_mark();
    std::size_t n = 0;
    in.array([&] {
      std::int64_t weight = 0;
      ModelWeight::read(in, weight);
      if (n < out.size()) out[n] = weight;
      ++n;
    });
    if (n != out.size()) in.fail_at(begin, fmt::format("expected {} weights, found {}", out.size(), n));
  }
  static void describe(io::JsonWriter& w) {
    constexpr auto kSize = static_cast<std::int64_t>(MicroWeights{}.size());
    List::describe(w);
    w.number("minItems", kSize), w.number("maxItems", kSize);
  }
};

constexpr io::Field<Predictor> kPredictorFields[] = {
    io::field<io::SchemaName<kPredictorFormat>>("schema", io::kRequired),
    io::field<ModelWeights, &Predictor::model, &policy::ProgressModel::weights_micro>("weights_micro", io::kRequired),
    io::field<io::Integer<1, INT64_MAX>, &Predictor::rows>("rows", io::kRequired),
    io::field<io::Integer<1, INT64_MAX>, &Predictor::jobs>("jobs", io::kRequired),
};

}  // namespace

Predictor parse_predictor(std::string_view json, const std::string& name) {
  Predictor predictor;
  io::JsonCursor in(json, name);
  io::read_object(in, predictor, kPredictorFields);
  in.finish();
  return predictor;
}

std::string to_json(const Predictor& predictor) {
  io::JsonWriter w;
  io::Object<kPredictorFields>::write(w, predictor);
  return w.finish();
}

std::string predictor_schema() { return io::schema_of<kPredictorFields>(kPredictorFormat, "A fitted predictor of progress"); }

}  // namespace berth::fit
