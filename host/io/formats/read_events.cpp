#include <algorithm>
#include <array>

#include "host/io/formats/simulation_files.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

using What = ClusterEvent::What;

constexpr std::array<std::pair<std::string_view, What>, 4> kWhats{
    {{"fail", What::kFail}, {"drain", What::kDrain}, {"reclaim", What::kReclaim}, {"kill", What::kKill}}};

What read_what(JsonCursor& in) {
  const std::string_view text = in.string();
  for (const auto& [name, what] : kWhats) {
    if (name == text) return what;
  }
  in.fail(fmt::format("{} is none of: fail, drain, reclaim, kill", in.shown()));
}

constexpr Field<ClusterEvent> kEvent[] = {
    {"at_s", [](JsonCursor& in, ClusterEvent& e) { e.at_us = read_time(in); }, true},
    {"event", [](JsonCursor& in, ClusterEvent& e) { e.what = read_what(in); }, true},
    {"node", [](JsonCursor& in, ClusterEvent& e) { e.node = in.string(); }},
    {"gpu", [](JsonCursor& in, ClusterEvent& e) { e.gpu = static_cast<std::int32_t>(in.integer(0, kMaxGpusPerNode - 1)); }},
    {"job", [](JsonCursor& in, ClusterEvent& e) { e.job = in.string(); }},
    {"until_s", [](JsonCursor& in, ClusterEvent& e) { e.until_us = read_time(in); }},
    {"notice_s", [](JsonCursor& in, ClusterEvent& e) { e.notice_us = read_time(in); }},
};

void check_event(const JsonCursor& in, const char* at, const ClusterEvent& e) {
  const bool kill = e.what == What::kKill;
  if (kill == e.job.empty()) in.fail_at(at, "'job' belongs to 'kill', which needs it");
  if (kill != e.node.empty()) in.fail_at(at, "'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  if (e.gpu >= 0 && e.what != What::kFail) in.fail_at(at, "'gpu' belongs to 'fail'");
  if (e.notice_us > 0 && e.what != What::kReclaim) in.fail_at(at, "'notice_s' belongs to 'reclaim'");
  if (kill && e.until_us != kNever) in.fail_at(at, "a job that was killed does not come back: 'until_s' belongs to nodes and GPUs");
  if (e.until_us <= e.at_us) in.fail_at(at, "'until_s' lies before 'at_s', or at the same time");
}

void read_event_list(JsonCursor& in, ClusterEvents& out) {
  in.array([&] {
    const char* at = in.next_mark();
    read_object(in, out.events.emplace_back(), kEvent);
    check_event(in, at, out.events.back());
  });
  std::stable_sort(out.events.begin(), out.events.end(), [](const ClusterEvent& a, const ClusterEvent& b) { return a.at_us < b.at_us; });
}

constexpr Field<ClusterEvents> kEvents[] = {
    {"schema",
     [](JsonCursor& in, ClusterEvents&) {
       if (in.string() != "berth.events.v1") {
         in.fail(fmt::format("this reader knows the schema \"berth.events.v1\", not {}", in.shown()));
       }
     },
     true},
    {"name", [](JsonCursor& in, ClusterEvents& e) { e.name = in.string(); }},
    {"events", read_event_list, true},
};

}  // namespace

ClusterEvents parse_events(std::string_view json, const std::string& name) {
  ClusterEvents events;
  JsonCursor in(json, name);
  read_object(in, events, kEvents);
  in.finish();
  return events;
}

}  // namespace berth::io
