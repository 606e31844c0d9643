#include "berth/io.hpp"
#include "host/io/formats/write_parts.hpp"

namespace berth::io {

std::string to_json(const Snapshot& s) {
  JsonWriter w;
  const auto row = [&w](const auto& one) { write(w, one); };
  w.object([&] {
    w.text("schema", "berth.snapshot.v1");
    w.text_unless("name", s.name, "");
    w.text_unless("origin", s.origin_iso, "");
    w.number("now_s", s.now_us, 6);
    w.number_unless("revision", s.revision, 1);
    w.lines("gpu_types", s.gpu_types, row, true);
    w.lines("domains", s.domains, row);
    w.lines("nodes", s.nodes, row, true);
    w.lines("queues", s.queues, row);
    w.lines("reservations", s.reservations, row);
    w.lines("jobs", s.jobs, row, true);
    w.lines("history", s.history, row);
    w.extensions(s.x);
  });
  return w.finish();
}

}  // namespace berth::io
