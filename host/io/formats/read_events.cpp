#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "host/io/fields/kinds.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/formats/simulation_files.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kEventsFormat = "berth.events.v1";

struct EventName {
  using What = ClusterEvent::What;
  static constexpr std::pair<std::string_view, What> kNames[] = {
      {"fail", What::kFail}, {"drain", What::kDrain}, {"reclaim", What::kReclaim}, {"kill", What::kKill}};

  static void read(JsonCursor& in, What& out) {
    const std::string_view text = in.string();
    const auto* const at = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& one) { return one.first == text; });
    if (at == std::end(kNames)) in.fail(fmt::format("{} is none of: fail, drain, reclaim, kill", in.shown()));
    out = at->second;
  }
  static void describe(JsonWriter& w) {
    w.list("enum", kNames, [&](const auto& one) { w.string(one.first); });
  }
};

constexpr Field<ClusterEvent> kEventFields[] = {
    field<Seconds, &ClusterEvent::at_us>("at_s", kRequired),
    field<EventName, &ClusterEvent::what>("event", kRequired),
    field<Name, &ClusterEvent::node>("node"),
    field<GpuIndex, &ClusterEvent::gpu>("gpu"),
    field<Name, &ClusterEvent::job>("job"),
    field<Seconds, &ClusterEvent::until_us>("until_s"),
    field<Seconds, &ClusterEvent::notice_us>("notice_s"),
};

void check_event(const JsonCursor& in, const char* at, const ClusterEvent& e) {
  const bool kill = e.what == ClusterEvent::What::kKill;
  if (kill == e.job.empty()) in.fail_at(at, "'job' belongs to 'kill', which needs it");
  if (kill != e.node.empty()) in.fail_at(at, "'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  if (e.gpu >= 0 && e.what != ClusterEvent::What::kFail) in.fail_at(at, "'gpu' belongs to 'fail'");
  if (e.notice_us > 0 && e.what != ClusterEvent::What::kReclaim) in.fail_at(at, "'notice_s' belongs to 'reclaim'");
  if (kill && e.until_us != kNever) in.fail_at(at, "a job that was killed does not come back: 'until_s' belongs to nodes and GPUs");
  if (e.until_us <= e.at_us) in.fail_at(at, "'until_s' lies before 'at_s', or at the same time");
}

struct Events : List<Object<kEventFields>> {
  static void read(JsonCursor& in, std::vector<ClusterEvent>& out) {
    in.array([&] {
      const char* at = in.next_mark();
      read_object(in, out.emplace_back(), kEventFields);
      check_event(in, at, out.back());
    });
    std::stable_sort(out.begin(), out.end(), [](const ClusterEvent& a, const ClusterEvent& b) { return a.at_us < b.at_us; });
  }
};

constexpr Field<ClusterEvents> kEventsFields[] = {
    field<SchemaName<kEventsFormat>>("schema", kRequired),
    field<Text, &ClusterEvents::name>("name"),
    field<Events, &ClusterEvents::events>("events", kRequired),
};

}  // namespace

ClusterEvents parse_events(std::string_view json, const std::string& name) {
  ClusterEvents events;
  JsonCursor in(json, name);
  read_object(in, events, kEventsFields);
  in.finish();
  return events;
}

std::string events_schema() { return schema_of<kEventsFields>(kEventsFormat, "What happens to a cluster in a simulation"); }

}  // namespace berth::io
