#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/io/fields/job_fields.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/formats/simulation_files.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kOverheadsFormat = "berth.overheads.v1";

constexpr Field<ModelOverheads> kModelOverheadsFields[] = {
    field<Seconds, &ModelOverheads::start_us>("start_s"),
    field<Object<kCostsFields>, &ModelOverheads::costs>("costs"),
};

struct ModelCosts : Object<kModelOverheadsFields> {
  static void read(JsonCursor& in, ModelOverheads& out) {
    const char* at = in.next_mark();
    Object::read(in, out);
    if (out.costs.checkpoint_every_us == 0 && out.costs.checkpoint_save_us > 0) return;  // only at preemption
    // A save that takes longer than the work it saves is a mistake.
    if (out.costs.checkpoint_save_us > out.costs.checkpoint_every_us) in.fail_at(at, "saving takes longer than the time between saves");
  }
};

struct Models : Map<ModelCosts> {
  static void read(JsonCursor& in, std::vector<std::pair<std::string, ModelOverheads>>& out) {
    DistinctKeys names;
    in.object([&](std::string_view model) {
      if (model.empty()) in.fail("a model needs a name");
      if (!names.add(model)) in.fail(fmt::format("duplicate model '{}'", model));
      out.emplace_back(std::string(model), ModelOverheads{});
      ModelCosts::read(in, out.back().second);
    });
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
};

constexpr Field<Overheads> kOverheadsFields[] = {
    field<SchemaName<kOverheadsFormat>>("schema", kRequired),
    field<Text, &Overheads::name>("name"),
    field<ModelCosts, &Overheads::general>("default"),
    field<Models, &Overheads::models>("models"),
};

}  // namespace

Overheads parse_overheads(std::string_view json, const std::string& name) {
  Overheads overheads;
  JsonCursor in(json, name);
  read_object(in, overheads, kOverheadsFields);
  in.finish();
  return overheads;
}

std::string overheads_schema() { return schema_of<kOverheadsFields>(kOverheadsFormat, "What changes cost jobs in a simulation"); }

}  // namespace berth::io
