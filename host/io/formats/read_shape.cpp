#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr Field<LevelRef> kLevelRef[] = {
    {"topology", [](JsonCursor& in, LevelRef& l) { l.topology = read_enum<TopologyKind>(in); }},
    {"level", [](JsonCursor& in, LevelRef& l) { l.level = in.string(); }, true},
};

constexpr Field<Spread> kSpread[] = {
    {"topology", [](JsonCursor& in, Spread& s) { s.at.topology = read_enum<TopologyKind>(in); }},
    {"level", [](JsonCursor& in, Spread& s) { s.at.level = in.string(); }, true},
    {"max_per_domain", [](JsonCursor& in, Spread& s) { s.max_per_domain = read_count(in); }},
};

constexpr Field<Segment> kSegment[] = {
    {"size", [](JsonCursor& in, Segment& s) { s.size = read_count(in); }, true},
    {"topology", [](JsonCursor& in, Segment& s) { s.at.topology = read_enum<TopologyKind>(in); }},
    {"level", [](JsonCursor& in, Segment& s) { s.at.level = in.string(); }, true},
};

constexpr Field<Communication> kCommunication[] = {
    {"kind", [](JsonCursor& in, Communication& c) { c.kind = read_enum<CommKind>(in); }, true},
    {"peer", [](JsonCursor& in, Communication& c) { c.peer = in.string(); }},
    {"bytes_per_step", [](JsonCursor& in, Communication& c) { c.bytes_per_step = read_bytes(in); }},
};

std::int32_t read_members_count(JsonCursor& in) { return static_cast<std::int32_t>(in.integer(0, kMaxGpusPerJob)); }

struct Members {
  std::int32_t least, want, most;
};

constexpr Field<Members> kMembers[] = {
    {"min", [](JsonCursor& in, Members& m) { m.least = read_members_count(in); }},
    {"want", [](JsonCursor& in, Members& m) { m.want = read_members_count(in); }, true},
    {"max", [](JsonCursor& in, Members& m) { m.most = read_members_count(in); }},
};

// A count, or {"min", "want", "max"}; omitted values equal "want".
void read_members(JsonCursor& in, Group& g) {
  Members m{-1, 0, -1};
  if (in.type() == JsonType::kObject)
    read_object(in, m, kMembers);
  else
    m.want = read_members_count(in);
  g.members_want = m.want;
  g.members_min = m.least < 0 ? m.want : m.least;
  g.members_max = m.most < 0 ? m.want : m.most;
}

constexpr Field<Group> kGroup[] = {
    {"name", [](JsonCursor& in, Group& g) { g.name = in.string(); }, true},
    {"parent", [](JsonCursor& in, Group& g) { g.parent = in.string(); }},
    {"role", [](JsonCursor& in, Group& g) { g.role = in.string(); }},
    {"members", read_members},
    {"gpus_per_member", [](JsonCursor& in, Group& g) { g.gpus_per_member = read_count(in); }},
    {"share", [](JsonCursor& in, Group& g) { g.share_ppm = read_share(in); }},
    {"segment", [](JsonCursor& in, Group& g) { read_object(in, g.segment.emplace(), kSegment); }},
    {"require", [](JsonCursor& in, Group& g) { g.require = read_level_ref(in); }},
    {"prefer", [](JsonCursor& in, Group& g) { g.prefer = read_level_ref(in); }},
    {"spread", [](JsonCursor& in, Group& g) { read_object(in, g.spread.emplace(), kSpread); }},
    {"spares", [](JsonCursor& in, Group& g) { g.spares = read_members_count(in); }},
    {"communication", [](JsonCursor& in, Group& g) { read_rows(in, g.communication, kCommunication); }},
};

constexpr Field<Shape> kShape[] = {
    {"id", [](JsonCursor& in, Shape& s) { s.id = in.string(); }},
    {"gpu_type", [](JsonCursor& in, Shape& s) { s.gpu_type = in.string(); }},
    {"gpus", [](JsonCursor& in, Shape& s) { s.gpus = static_cast<std::int32_t>(in.integer(0, kMaxGpusPerJob)); }},
    {"share", [](JsonCursor& in, Shape& s) { s.share_ppm = read_share(in); }},
    {"local_batch", [](JsonCursor& in, Shape& s) { s.local_batch = read_count(in); }},
    {"learning_rate", [](JsonCursor& in, Shape& s) { s.learning_rate_pico = in.decimal(12, 0, kScoreCeiling); }},
    {"rate", [](JsonCursor& in, Shape& s) { s.rate = read_micro(in); }},
    {"power_w", [](JsonCursor& in, Shape& s) { s.power_mw = read_milli(in); }},
    {"mig_profile", [](JsonCursor& in, Shape& s) { s.mig_profile = in.string(); }},
    {"groups", [](JsonCursor& in, Shape& s) { read_rows(in, s.groups, kGroup); }},
};
constexpr std::uint64_t kHasId = 1, kHasGpus = 4;
static_assert(kShape[0].name == "id" && kShape[2].name == "gpus");

// The sum over the groups, for a shape that does not state it.
std::int32_t gpus_of_groups(const JsonCursor& in, const char* at, const Shape& shape) {
  std::int64_t sum = 0;
  for (const Group& g : shape.groups) sum += std::int64_t{g.members_want} * g.gpus_per_member;
  if (sum > kMaxGpusPerJob) in.fail_at(at, fmt::format("the groups add up to {} GPUs; at most {} are allowed", sum, kMaxGpusPerJob));
  return static_cast<std::int32_t>(sum);
}

}  // namespace

LevelRef read_level_ref(JsonCursor& in) {
  LevelRef ref;
  if (in.type() == JsonType::kString)
    ref.level = in.string();
  else
    read_object(in, ref, kLevelRef);
  return ref;
}

void read_shapes(JsonCursor& in, std::vector<Shape>& out) {
  in.array([&] {
    const char* at = in.next_mark();
    Shape& shape = out.emplace_back();
    const std::uint64_t seen = read_object(in, shape, kShape);
    if ((seen & kHasId) == 0) shape.id = std::to_string(out.size() - 1);
    if ((seen & kHasGpus) == 0) {
      if (shape.groups.empty()) in.fail_at(at, "the field 'gpus' is missing");
      shape.gpus = gpus_of_groups(in, at, shape);
    }
  });
}

}  // namespace berth::io
