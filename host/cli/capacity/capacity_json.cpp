#include "host/cli/capacity/capacity_json.hpp"

#include <string_view>

#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;

constexpr std::string_view kCapacityFormat = "berth.capacity.v1";

constexpr io::Field<io::NotRead, CapacityTargetRow> kTargetRowFields[] = {
    field<io::Text, &CapacityTargetRow::metric>("metric", kRequired),
    field<io::Text, &CapacityTargetRow::compare>("compare", kRequired, "<, <=, > or >="),
    field<RealNumber, &CapacityTargetRow::value>("value", kRequired),
};

constexpr io::Field<io::NotRead, CapacityDemandRow> kDemandRowFields[] = {
    field<RealNumber, &CapacityDemandRow::mean_gpus>("mean_gpus", kRequired),
    field<io::Whole, &CapacityDemandRow::peak_gpus>("peak_gpus", kRequired),
    field<io::Whole, &CapacityDemandRow::largest_job_gpus>("largest_job_gpus", kRequired),
};

constexpr io::Field<io::NotRead, CapacityAnswerRow> kAnswerRowFields[] = {
    field<io::Name, &CapacityAnswerRow::kind>("kind", kRequired, "of the nodes whose count was looked for"),
    field<io::List<io::Whole>, &CapacityAnswerRow::others>("others", kRequired, "nodes of each kind besides"),
    field<io::Text, &CapacityAnswerRow::cluster>("cluster", {}, "the smallest that is enough; absent: none is"),
    field<io::Boolean, &CapacityAnswerRow::monotone>("monotone", kRequired, "false: a larger one that was tried is not enough"),
};

constexpr io::Field<io::NotRead, CapacitySizeRow> kSizeRowFields[] = {
    field<io::Name, &CapacitySizeRow::cluster>("cluster", kRequired),
    field<io::List<io::Whole>, &CapacitySizeRow::bought>("bought", kRequired, "nodes of each kind"),
    field<io::Whole, &CapacitySizeRow::gpus>("gpus", kRequired),
    field<MetricIntervals, &CapacitySizeRow::metrics>("metrics", kRequired),
    field<RealNumber, &CapacitySizeRow::utilisation>("utilisation", kRequired),
    field<io::Whole, &CapacitySizeRow::seeds_enough>("seeds_enough", kRequired, "seeds in which all targets hold"),
    field<OptionalReal, &CapacitySizeRow::cost_per_hour>("cost_per_hour"),
    field<OptionalReal, &CapacitySizeRow::cost_per_month>("cost_per_month"),
    field<OptionalReal, &CapacitySizeRow::power_w>("power_w"),
    field<io::Boolean, &CapacitySizeRow::enough>("enough", kRequired),
};

constexpr io::Field<io::NotRead, CapacityDocument> kCapacityFields[] = {
    field<io::Constant<kCapacityFormat>>("schema", kRequired),
    field<io::List<io::Object<kTargetRowFields>>, &CapacityDocument::targets>("targets", kRequired),
    field<io::List<io::Name>, &CapacityDocument::kinds>("kinds", kRequired, "of nodes that can be bought"),
    field<io::Text, &CapacityDocument::fixed>("fixed", {}, "nodes that are there"),
    field<io::Object<kDemandRowFields>, &CapacityDocument::demand>("demand", kRequired),
    field<io::Whole, &CapacityDocument::seeds>("seeds", kRequired),
    field<OptionalReal, &CapacityDocument::confidence>("confidence", {}, "part of the seeds that must hold; absent: their mean must"),
    field<io::List<io::Object<kAnswerRowFields>>, &CapacityDocument::answers>("answers", kRequired),
    field<io::Text, &CapacityDocument::best>("best", {}, "the cheapest that is enough"),
    field<io::Lines<io::Object<kSizeRowFields>>, &CapacityDocument::sizes>("sizes", kRequired),
};

}  // namespace

std::string capacity_document_json(const CapacityDocument& document) {
  io::JsonWriter out;
  io::Object<kCapacityFields>::write(out, document);
  return out.finish();
}

std::string capacity_schema() { return io::schema_of<kCapacityFields>(kCapacityFormat, "Which clusters are enough for a target"); }

}  // namespace berth::cli
