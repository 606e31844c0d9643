#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "host/io/fields/cluster_fields.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/formats/simulation_files.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kEventsFormat = "berth.events.v1";

struct EventRow {
  ClusterEvent event;
  bool quota = false;  // it changes a queue, and `event` is of no use but for its instant
  Queue queue;
};

struct EventName {
  using What = ClusterEvent::What;
  static constexpr std::pair<std::string_view, What> kNames[] = {
      {"fail", What::kFail}, {"drain", What::kDrain}, {"reclaim", What::kReclaim}, {"kill", What::kKill}};
  static constexpr std::string_view kQuota = "quota";

  static void read(JsonCursor& in, EventRow& out) {
    const std::string_view text = in.string();
    out.quota = text == kQuota;
    if (out.quota) return;
    const auto* const at = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& one) { return one.first == text; });
    if (at == std::end(kNames)) in.fail(fmt::format("{} is none of: fail, drain, reclaim, kill, quota", in.shown()));
    out.event.what = at->second;
  }
  static void describe(JsonWriter& w) {
    w.key("enum");
    w.array([&] {
      for (const auto& one : kNames) w.string(one.first);
      w.string(kQuota);
    });
  }
};

constexpr Field<EventRow> kEventFields[] = {
    field<Seconds, &EventRow::event, &ClusterEvent::at_us>("at_s", kRequired),
    field<EventName>("event", kRequired),
    field<Name, &EventRow::event, &ClusterEvent::node>("node"),
    field<GpuIndex, &EventRow::event, &ClusterEvent::gpu>("gpu"),
    field<Name, &EventRow::event, &ClusterEvent::job>("job"),
    field<Seconds, &EventRow::event, &ClusterEvent::until_us>("until_s"),
    field<Seconds, &EventRow::event, &ClusterEvent::notice_us>("notice_s"),
    field<Object<kQueueFields>, &EventRow::queue>("queue"),
};
constexpr std::uint64_t kQueueField = std::uint64_t{1} << (std::size(kEventFields) - 1);

void check_event(const JsonCursor& in, const char* at, const ClusterEvent& e, bool quota) {
  const bool kill = !quota && e.what == ClusterEvent::What::kKill;
  if (kill == e.job.empty()) in.fail_at(at, "'job' belongs to 'kill', which needs it");
  if ((kill || quota) != e.node.empty()) in.fail_at(at, "'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  if (e.gpu >= 0 && (quota || e.what != ClusterEvent::What::kFail)) in.fail_at(at, "'gpu' belongs to 'fail'");
  if (e.notice_us > 0 && (quota || e.what != ClusterEvent::What::kReclaim)) in.fail_at(at, "'notice_s' belongs to 'reclaim'");
  if (kill && e.until_us != kNever) in.fail_at(at, "a job that was killed does not come back: 'until_s' belongs to nodes and GPUs");
  if (quota && e.until_us != kNever)
    in.fail_at(at, "a queue stays as it is until another event changes it: 'until_s' belongs to nodes and GPUs");
  if (e.until_us <= e.at_us) in.fail_at(at, "'until_s' lies before 'at_s', or at the same time");
}

template <class T>
void sort_by_time(std::vector<T>& events) {
  std::stable_sort(events.begin(), events.end(), [](const T& a, const T& b) { return a.at_us < b.at_us; });
}

struct Events {
  static void read(JsonCursor& in, EventsDocument& out) {
    std::int64_t position = 0;
    in.array([&] {
      const char* at = in.next_mark();
      EventRow row;
      const bool has_queue = (read_object(in, row, kEventFields) & kQueueField) != 0;
      if (row.quota != has_queue) in.fail_at(at, "'queue' belongs to 'quota', which needs it");
      check_event(in, at, row.event, row.quota);
      if (row.quota) {
        out.queues.changes.push_back({row.event.at_us, std::move(row.queue), position});
      } else {
        out.cluster.events.push_back(std::move(row.event));
      }
      ++position;
    });
    sort_by_time(out.cluster.events);
    sort_by_time(out.queues.changes);
  }
  static void describe(JsonWriter& w) { List<Object<kEventFields>>::describe(w); }
};

// Extensions go to `x`, where the document is read.
struct EventsRow {
  EventsDocument document;
  Extensions x;
};

constexpr Field<EventsRow> kEventsFields[] = {
    field<SchemaName<kEventsFormat>>("schema", kRequired),
    field<Text, &EventsRow::document, &EventsDocument::cluster, &ClusterEvents::name>("name"),
    field<Events, &EventsRow::document>("events", kRequired),
};

}  // namespace

EventsDocument parse_events(std::string_view json, const std::string& name) {
  EventsRow read;
  read.document.queues.document = name;
  JsonCursor in(json, name);
  read_object(in, read, kEventsFields);
  in.finish();
  read.document.cluster.x = std::move(read.x);
  return std::move(read.document);
}

std::string events_schema() { return schema_of<kEventsFields>(kEventsFormat, "What happens to a cluster in a simulation"); }

}  // namespace berth::io
