#include "host/core/base/names.hpp"
#include "host/io/formats/write_parts.hpp"

namespace berth::io {
namespace {

void write_members(JsonWriter& w, const Group& g) {
  if (g.members_min == g.members_want && g.members_max == g.members_want) {
    w.number_unless("members", g.members_want, 1);
    return;
  }
  w.key("members");
  w.object([&] {
    w.number_unless("min", g.members_min, g.members_want);
    w.number("want", g.members_want);
    w.number_unless("max", g.members_max, g.members_want);
  });
}

void write_ref(JsonWriter& w, std::string_view key, const std::optional<LevelRef>& ref) {
  if (!ref) return;
  w.key(key);
  w.object([&] { write_level(w, *ref); });
}

void write_group(JsonWriter& w, const Group& g) {
  w.object([&] {
    w.text("name", g.name);
    w.text_unless("parent", g.parent, "");
    w.text_unless("role", g.role, "");
    write_members(w, g);
    w.number_unless("gpus_per_member", g.gpus_per_member, 1);
    w.number_unless("share", g.share_ppm, kWholeGpu, 6);
    if (g.segment) {
      w.key("segment");
      w.object([&] {
        w.number("size", g.segment->size);
        write_level(w, g.segment->at);
      });
    }
    write_ref(w, "require", g.require);
    write_ref(w, "prefer", g.prefer);
    if (g.spread) {
      w.key("spread");
      w.object([&] {
        write_level(w, g.spread->at);
        w.number_unless("max_per_domain", g.spread->max_per_domain, 1);
      });
    }
    w.number_unless("spares", g.spares, 0);
    w.list("communication", g.communication, [&](const Communication& c) {
      w.object([&] {
        w.text("kind", core::name(c.kind));
        w.text_unless("peer", c.peer, "");
        w.number_unless("bytes_per_step", c.bytes_per_step, 0);
      });
    });
  });
}

}  // namespace

void write_level(JsonWriter& w, const LevelRef& ref) {
  if (ref.topology != TopologyKind::kSwitch) w.text("topology", core::name(ref.topology));
  w.text("level", ref.level);
}

void write(JsonWriter& w, const Shape& shape) {
  w.object([&] {
    w.text("id", shape.id);
    w.text_unless("gpu_type", shape.gpu_type, "");
    w.number("gpus", shape.gpus);
    w.number_unless("share", shape.share_ppm, kWholeGpu, 6);
    w.number_unless("local_batch", shape.local_batch, 0);
    w.number_unless("learning_rate", shape.learning_rate_pico, 0, 12);
    w.number_unless("rate", shape.rate, 0, 6);
    w.number_unless("power_w", shape.power_mw, 0, 3);
    w.text_unless("mig_profile", shape.mig_profile, "");
    w.list("groups", shape.groups, [&](const Group& g) { write_group(w, g); });
  });
}

}  // namespace berth::io
