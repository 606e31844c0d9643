#include "host/io/formats/bound_json.hpp"

#include <span>

#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kBoundFormat = "berth.bound.v1";

struct ObjectiveName : Name {
  static void read(JsonCursor& in, std::string& out) {
    DisplayedText::read(in, out);
    if (out.empty()) in.fail("an objective has a name");
  }
};

using Amount = DescribedAs<AnyInteger, Integer<0, INT64_MAX>>;

constexpr Field<Bound> kBoundDocumentFields[] = {
    field<SchemaName<kBoundFormat>>("schema", kRequired),    field<ObjectiveName, &Bound::objective>("objective", kRequired),
    field<AnyInteger, &Bound::value>("value", kRequired),    field<AnyInteger, &Bound::bound>("bound", kRequired),
    field<Map<Amount>, &Bound::prices>("prices", kRequired), field<Map<Amount>, &Bound::terms>("terms"),
};
constexpr std::span<const Field<Bound>> kBoundFields = std::span<const Field<Bound>>(kBoundDocumentFields).subspan(1);

}  // namespace

void BoundObject::read(JsonCursor& in, Bound& out) { Object<kBoundFields>::read(in, out); }
void BoundObject::write(JsonWriter& w, const Bound& bound) { Object<kBoundFields>::write(w, bound); }
void BoundObject::describe(JsonWriter& w) { Object<kBoundFields>::describe(w); }

std::string to_json(const Bound& bound) {
  JsonWriter w;
  Object<kBoundDocumentFields>::write(w, bound);
  return w.finish();
}

std::string bound_schema() { return schema_of<kBoundDocumentFields>(kBoundFormat, "An upper bound on the objective value of any plan"); }

}  // namespace berth::io
