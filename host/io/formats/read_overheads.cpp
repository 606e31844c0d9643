#include <algorithm>

#include "host/io/formats/read_parts.hpp"
#include "host/io/formats/simulation_files.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr Field<ModelOverheads> kModelOverheads[] = {
    {"start_s", [](JsonCursor& in, ModelOverheads& o) { o.start_us = read_time(in); }},
    {"costs", [](JsonCursor& in, ModelOverheads& o) { read_costs(in, o.costs); }},
};

void read_model_overheads(JsonCursor& in, ModelOverheads& out) {
  const char* at = in.next_mark();
  read_object(in, out, kModelOverheads);
  if (out.costs.checkpoint_every_us == 0 && out.costs.checkpoint_save_us > 0) return;  // only at preemption
  // A save that takes longer than the work it saves is a mistake.
  if (out.costs.checkpoint_save_us > out.costs.checkpoint_every_us) in.fail_at(at, "saving takes longer than the time between saves");
}

void read_models(JsonCursor& in, Overheads& out) {
  DistinctKeys names;
  in.object([&](std::string_view model) {
    if (model.empty()) in.fail("a model needs a name");
    if (!names.add(model)) in.fail(fmt::format("the model '{}' stands here twice", model));
    out.models.emplace_back(std::string(model), ModelOverheads{});
    read_model_overheads(in, out.models.back().second);
  });
  std::sort(out.models.begin(), out.models.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

constexpr Field<Overheads> kOverheads[] = {
    {"schema",
     [](JsonCursor& in, Overheads&) {
       if (in.string() != "berth.overheads.v1") {
         in.fail(fmt::format("this reader knows the schema \"berth.overheads.v1\", not {}", in.shown()));
       }
     },
     true},
    {"name", [](JsonCursor& in, Overheads& o) { o.name = in.string(); }},
    {"default", [](JsonCursor& in, Overheads& o) { read_model_overheads(in, o.general); }},
    {"models", read_models},
};

}  // namespace

Overheads parse_overheads(std::string_view json, const std::string& name) {
  Overheads overheads;
  JsonCursor in(json, name);
  read_object(in, overheads, kOverheads);
  in.finish();
  return overheads;
}

}  // namespace berth::io
