#include "host/cli/explain/link_json.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_names.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kOptional;
using io::kRequired;
using report::LinkReport;
using report::ReservedClos;

using NanosecondTime = io::Number<9, 0, std::numeric_limits<std::int64_t>::max()>;
using Ids = std::vector<std::string>;

// Rows of the document, with names in the place of indices.
struct LinkRow {
  std::string link;
  std::int64_t bytes_per_s = 0, load_ppm = 0;
  Ids gangs;
};
struct GangRow {
  std::string job;
  const report::GangOnLinks& gang;
  std::int32_t component = 0;
  std::optional<std::int64_t> shift_ns;
};
struct PairRow {
  Ids jobs;
  const report::SharingPair& pair;
  std::vector<std::int64_t> expected_ppm, max_min_ppm;
};
struct RotationRow {
  Ids links, gangs;
  const core::BestRotations& best;
};
struct ReservedRow {
  std::string job;
  const ReservedClos& clos;
};
struct LinkDocument {
  std::int64_t known_links = 0, pairs_left_out = 0;
  std::vector<LinkRow> links;
  std::vector<GangRow> gangs;
  std::vector<PairRow> pairs;
  std::vector<RotationRow> rotations;
  std::vector<ReservedRow> reserved;
  Ids unknown;
};

template <class Row>
using LinkField = io::Field<io::NotRead, Row>;
template <auto Member>
constexpr auto kOfGang = [](const GangRow& row) { return row.gang.*Member; };
template <auto Member>
constexpr auto kOfPair = [](const PairRow& row) { return row.pair.*Member; };
template <auto Member>
constexpr auto kOfBest = [](const RotationRow& row) -> decltype(auto) { return (row.best.*Member); };

struct KnownShift : NanosecondTime {
  static void write(io::JsonWriter& w, const std::optional<std::int64_t>& shift) { NanosecondTime::write(w, *shift); }
  static bool absent(const std::optional<std::int64_t>& shift) { return !shift; }
};

struct ClosAnswer {
  static void write(io::JsonWriter& w, ReservedClos::Answer answer) {
    constexpr std::string_view kNames[] = {"reserves", "one_leaf", "none", "not_decided", "several_fabrics"};
    w.string(kNames[static_cast<std::size_t>(answer)]);
  }
  static void describe(io::JsonWriter& w) { w.key("enum"), w.raw(R"(["reserves","one_leaf","none","not_decided","several_fabrics"])"); }
};

constexpr LinkField<LinkRow> kLinkFields[] = {
    field<io::Name, &LinkRow::link>("link", kRequired),
    field<io::Whole, &LinkRow::bytes_per_s>("bytes_per_s", kRequired),
    field<io::Millionths, &LinkRow::load_ppm>("load", kRequired, "part of the capacity"),
    field<io::List<io::Id>, &LinkRow::gangs>("gangs", kRequired),
};

constexpr LinkField<GangRow> kGangFields[] = {
    field<io::Id, &GangRow::job>("job", kRequired),
    field<io::Whole, kOfGang<&report::GangOnLinks::gpus>>("gpus", kRequired),
    field<NanosecondTime, kOfGang<&report::GangOnLinks::step_ns>>("step_s", kRequired, "alone"),
    field<NanosecondTime, kOfGang<&report::GangOnLinks::send_ns>>("sends_s", kRequired, "of a step, on its busiest link alone"),
    field<io::Millionths, kOfGang<&report::GangOnLinks::expected_ppm>>("speed", kRequired, "where phases are independent"),
    field<io::Millionths, kOfGang<&report::GangOnLinks::max_min_ppm>>("speed_max_min", kRequired, "where all gangs always send"),
    field<io::Milli, kOfGang<&report::GangOnLinks::intensity_milli>>("intensity", kRequired),
    field<io::Millionths, kOfGang<&report::GangOnLinks::correction_ppm>>("correction", kRequired),
    field<io::Count, kOfGang<&report::GangOnLinks::level>>("priority_level", kRequired, "0 is the highest"),
    field<io::Count, &GangRow::component>("component", kRequired, "gangs that hang together by links"),
    field<KnownShift, &GangRow::shift_ns>("shift_s", kOptional, "omitted where gangs and links make a loop"),
};

constexpr LinkField<PairRow> kPairFields[] = {
    field<io::List<io::Id>, &PairRow::jobs>("jobs", kRequired),
    field<io::Count, kOfPair<&report::SharingPair::links>>("shared_links", kRequired),
    field<io::Millionths, kOfPair<&report::SharingPair::overlap_ppm>>("overlap", kRequired),
    field<io::List<io::Millionths>, &PairRow::expected_ppm>("speed", kRequired),
    field<io::List<io::Millionths>, &PairRow::max_min_ppm>("speed_max_min", kRequired),
};

constexpr LinkField<RotationRow> kRotationFields[] = {
    field<io::List<io::Name>, &RotationRow::links>("links", kRequired, "the worst first"),
    field<io::List<io::Id>, &RotationRow::gangs>("gangs", kRequired),
    field<io::AnyMicro, kOfBest<&core::BestRotations::unshifted_ppm>>("score", kRequired),
    field<io::AnyMicro, kOfBest<&core::BestRotations::score_ppm>>("best_score", kRequired),
    field<io::Boolean, kOfBest<&core::BestRotations::exhaustive>>("exhaustive", kRequired),
    field<NanosecondTime, [](const RotationRow& row) { return row.best.circle.grid_ns; }>("grid_s", kRequired),
    field<NanosecondTime, [](const RotationRow& row) { return row.best.circle.perimeter_ns; }>("perimeter_s", kRequired),
    field<io::List<NanosecondTime>, kOfBest<&core::BestRotations::shift_ns>>("shift_s", kRequired),
};

constexpr LinkField<ReservedRow> kReservedFields[] = {
    field<io::Id, &ReservedRow::job>("job", kRequired),
    field<io::Boolean, [](const ReservedRow& row) { return row.clos.is_placed; }>("placed", kRequired),
    field<ClosAnswer, [](const ReservedRow& row) { return row.clos.answer; }>("answer", kRequired),
    field<io::List<io::Name>, [](const ReservedRow& row) -> const Ids& { return row.clos.leaves; }>("leaves", kRequired),
    field<io::List<io::Count>, [](const ReservedRow& row) -> const std::vector<std::int32_t>& { return row.clos.spines; }>("spines",
                                                                                                                           kRequired),
    field<io::Count, [](const ReservedRow& row) { return row.clos.links; }>("links_to_each_spine", kRequired),
};

constexpr std::string_view kLinksFormat = "berth.links.v1";

constexpr LinkField<LinkDocument> kDocumentFields[] = {
    field<io::Constant<kLinksFormat>>("schema", kRequired),
    field<io::Whole, &LinkDocument::known_links>("known_links", kRequired, "with a stated bandwidth"),
    field<io::Lines<io::Object<kLinkFields>>, &LinkDocument::links>("links", kRequired),
    field<io::Lines<io::Object<kGangFields>>, &LinkDocument::gangs>("gangs", kRequired),
    field<io::Lines<io::Object<kPairFields>>, &LinkDocument::pairs>("pairs", kRequired),
    field<io::Whole, &LinkDocument::pairs_left_out>("pairs_left_out", kRequired),
    field<io::Lines<io::Object<kRotationFields>>, &LinkDocument::rotations>("rotations", kRequired),
    field<io::Lines<io::Object<kReservedFields>>, &LinkDocument::reserved>("virtual_clos", kRequired),
    field<io::List<io::Id>, &LinkDocument::unknown>("unknown", kRequired, "jobs of which bytes or step are not known"),
};

}  // namespace

std::string link_json(const ClusterState& state, const LinkReport& links) {
  const core::StateNames names(state);
  const auto id = [&](std::int32_t gang) { return std::string(names.job_id(links.gangs[to_index(gang)].job)); };
  const auto ids = [&](const std::vector<std::int32_t>& gangs) {
    Ids out;
    for (const std::int32_t gang : gangs) out.push_back(id(gang));
    return out;
  };
  LinkDocument document;
  document.known_links = links.known_links;
  document.pairs_left_out = links.pairs_left_out;
  for (const report::LoadedLink& link : links.links)
    document.links.push_back({link.name, link.bytes_per_s, link.load_ppm, ids(link.gangs)});
  for (std::size_t g = 0; g < links.gangs.size(); ++g) {
    const std::int32_t component = links.shifts.component[g];
    document.gangs.push_back({id(static_cast<std::int32_t>(g)), links.gangs[g], component, std::nullopt});
    if (links.shifts.has_loop[to_index(component)] == 0) document.gangs.back().shift_ns = links.shifts.shift_ns[g];
  }
  for (const report::SharingPair& pair : links.pairs) {
    document.pairs.push_back({ids({pair.first, pair.second}),
                              pair,
                              {pair.first_expected_ppm, pair.second_expected_ppm},
                              {pair.first_max_min_ppm, pair.second_max_min_ppm}});
  }
  for (const report::SharedRotation& one : links.rotations) {
    document.rotations.push_back({{}, ids(one.gangs), one.best});
    for (const std::int32_t link : one.links) document.rotations.back().links.push_back(links.links[to_index(link)].name);
  }
  for (const ReservedClos& one : links.reserved) document.reserved.push_back({std::string(names.job_id(one.job)), one});
  for (const std::int32_t job : links.unknown) document.unknown.emplace_back(names.job_id(job));
  io::JsonWriter w;
  io::Object<kDocumentFields>::write(w, document);
  return w.finish();
}

std::string links_schema() {
  return io::schema_of<kDocumentFields>(kLinksFormat, "Loads of links, and what gangs that share them cost each other");
}

}  // namespace berth::cli
