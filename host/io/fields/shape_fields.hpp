#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/job.hpp"
#include "host/io/fields/kinds.hpp"

/// Tables of the parts of a shape, in the order in which they are written.
namespace berth::io {

inline constexpr Field<LevelRef> kLevelRefFields[] = {
    field<Topology, &LevelRef::topology>("topology"),
    field<Text, &LevelRef::level>("level", kRequired),
};

/// {"topology", "level"}, or only the level for the switch topology.
struct Level : Object<kLevelRefFields> {
  static void read(JsonCursor& in, LevelRef& out) {
    if (in.type() == JsonType::kString) return Text::read(in, out.level);
    Object::read(in, out);
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] { io::describe<Text>(w), io::describe<Object>(w); });
  }
};

inline constexpr Field<Spread> kSpreadFields[] = {
    field<Topology, &Spread::at, &LevelRef::topology>("topology"),
    field<Text, &Spread::at, &LevelRef::level>("level", kRequired),
    field<DescribedAs<Count, Integer<1, kMaxCount>>, &Spread::max_per_domain>("max_per_domain"),
};

inline constexpr Field<Segment> kSegmentFields[] = {
    field<DescribedAs<Count, Integer<1, kMaxCount>>, &Segment::size>("size", kRequired),
    field<Topology, &Segment::at, &LevelRef::topology>("topology"),
    field<Text, &Segment::at, &LevelRef::level>("level", kRequired),
};

struct GroupAlgorithm : Enum<CommAlgorithm> {
  static void describe(JsonWriter& w) { Enum::describe(w), w.text("default", core::name(CommAlgorithm::kRing)); }
};

inline constexpr Field<Communication> kCommunicationFields[] = {
    field<Enum<CommKind>, &Communication::kind>("kind", kRequired),
    field<Text, &Communication::peer>("peer"),
    field<Bytes, &Communication::bytes_per_step>("bytes_per_step"),
    field<GroupAlgorithm, &Communication::algorithm>("algorithm"),
};

using MemberCount = Integer<0, kMaxGpusPerJob>;

/// The members of a group while they are read or written. Omitted bounds equal `want`.
struct Members {
  static constexpr std::int32_t kAsWanted = -1;
  std::int32_t least = kAsWanted, want = 0, most = kAsWanted;
};

inline constexpr Field<Members> kMembersFields[] = {
    field<MemberCount, &Members::least>("min"),
    field<MemberCount, &Members::want>("want", kRequired),
    field<MemberCount, &Members::most>("max"),
};

/// A count, or {"min", "want", "max"}.
struct GroupMembers {
  using Bounds = Object<kMembersFields>;

  static void read(JsonCursor& in, Group& g) {
    Members m;
    if (in.type() == JsonType::kObject) {
      Bounds::read(in, m);
    } else {
      MemberCount::read(in, m.want);
    }
    g.members_want = m.want;
    g.members_min = m.least < 0 ? m.want : m.least;
    g.members_max = m.most < 0 ? m.want : m.most;
  }
  static bool absent(const Group& g) { return g.members_min == 1 && g.members_want == 1 && g.members_max == 1; }
  static void write(JsonWriter& w, const Group& g) {
    if (g.members_min == g.members_want && g.members_max == g.members_want) return MemberCount::write(w, g.members_want);
    const auto bound = [&](std::int32_t members) { return members == g.members_want ? Members::kAsWanted : members; };
    Bounds::write(w, Members{bound(g.members_min), g.members_want, bound(g.members_max)});
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] { io::describe<MemberCount>(w), io::describe<Bounds>(w); });
  }
};

inline constexpr Field<Group> kGroupFields[] = {
    field<Id, &Group::name>("name", kRequired),
    field<Text, &Group::parent>("parent"),
    field<Text, &Group::role>("role"),
    field<GroupMembers>("members"),
    field<DescribedAs<Count, Integer<1, kMaxGpusPerNode>>, &Group::gpus_per_member>("gpus_per_member"),
    field<GpuShare, &Group::share_ppm>("share"),
    field<Optional<Object<kSegmentFields>>, &Group::segment>("segment"),
    field<Optional<Level>, &Group::require>("require"),
    field<Optional<Level>, &Group::prefer>("prefer"),
    field<Optional<Object<kSpreadFields>>, &Group::spread>("spread"),
    field<MemberCount, &Group::spares>("spares"),
    field<List<Object<kCommunicationFields>>, &Group::communication>("communication"),
};

struct Groups : List<Object<kGroupFields>> {
  static void describe(JsonWriter& w) { List::describe(w), w.number("maxItems", kMaxGroups); }
};

inline constexpr Field<Shape> kShapeFields[] = {
    field<Text, &Shape::id>("id", kAlways),
    field<Text, &Shape::gpu_type>("gpu_type"),
    field<DescribedAs<Integer<0, kMaxGpusPerJob>, Integer<1, kMaxGpusPerJob>>, &Shape::gpus>("gpus", kAlways),
    field<GpuShare, &Shape::share_ppm>("share"),
    field<Count, &Shape::local_batch>("local_batch"),
    field<LearningRate, &Shape::learning_rate_pico>("learning_rate"),
    field<Micro, &Shape::rate>("rate"),
    field<Milli, &Shape::power_mw>("power_w"),
    field<Text, &Shape::mig_profile>("mig_profile"),
    field<Groups, &Shape::groups>("groups"),
};

/// The shapes of a job. A shape without an id is called by its index; `gpus` follows from groups.
struct Shapes : List<Object<kShapeFields>> {
  static void read(JsonCursor& in, std::vector<Shape>& out);
  static void describe(JsonWriter& w) {
    List::describe(w);
    w.number("minItems", 1), w.number("maxItems", kMaxShapes);
  }
};

}  // namespace berth::io
