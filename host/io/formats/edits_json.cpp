#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/engine/short_edits.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

using core::ShortEdit;

struct EditRow {
  const ClusterState& state;
  ShortEdit forms;
  Edit edit;
  std::vector<Delta> deltas;
};

struct EditDeltas {
  static void read(JsonCursor& in, std::vector<Delta>& out, EditRow& row) { read_deltas(in, row.state, out); }
  static void describe(JsonWriter& w) { describe_deltas(w); }
};

struct FormText : Name {
  static void read(JsonCursor& in, std::string& out) {
    Text::read(in, out);
    if (out.empty()) in.fail("the text is empty");
  }
};

struct EditFile {
  const ClusterState& state;
  std::vector<Edit>& edits;
  std::set<std::string> names;
  std::vector<Domain>* new_domains = nullptr;  ///< out: of nodes that edits add; then nothing else is read
};

template <auto Member>
struct FormList : List<FormText> {
  static void read(JsonCursor& in, EditRow& row) { List<FormText>::read(in, row.forms.*Member, row); }
};

struct PolicyForm : Name {
  static void read(JsonCursor& in, EditRow& row) { FormText::read(in, row.forms.policy); }
};

template <class Kind>
constexpr Field<EditRow> form(std::string_view name, std::string_view about) {
  return {name,
          [](JsonCursor& in, EditRow& row) { Kind::read(in, row); },
          false,
          nullptr,
          [](JsonWriter& w, std::string_view text) { describe<Kind>(w, text); },
          about};
}

constexpr Field<EditRow> kEditFields[] = {
    {"name", [](JsonCursor& in, EditRow& row) { FormText::read(in, row.edit.name); }, true, nullptr,
     [](JsonWriter& w, std::string_view text) { describe<Name>(w, text); }, "unique"},
    form<FormList<&ShortEdit::add>>("add", "nodes, such as 4x8xH100"),
    form<FormList<&ShortEdit::drain>>("drain", "nodes or LEVEL:DOMAIN, such as rack:r1"),
    form<FormList<&ShortEdit::remove>>("remove", "the same; jobs there stop"),
    form<FormList<&ShortEdit::quota>>("quota", "such as team=64 or team.limit=64:H100"),
    form<FormList<&ShortEdit::job>>("job", "jobs that are submitted, such as 16x1h@team:H100"),
    form<FormList<&ShortEdit::cancel>>("cancel", "jobs"),
    form<FormList<&ShortEdit::priority>>("priority", "such as job=5"),
    form<PolicyForm>("policy", "such as srsf@discipline=easy"),
    {"deltas", [](JsonCursor& in, EditRow& row) { EditDeltas::read(in, row.deltas, row); }, false, nullptr,
     [](JsonWriter& w, std::string_view text) { describe<EditDeltas>(w, text); }, "as in berth.deltas.v1, after the short forms"},
};

struct EditObject {
  static void read(JsonCursor& in, EditFile& file) {
    const char* at = in.next_mark();
    EditRow row{file.state, {}, {}, {}};
    read_object(in, row, kEditFields);
    if (!file.names.insert(row.edit.name).second) in.fail_at(at, fmt::format("two edits have the name '{}'", row.edit.name));
    row.edit.deltas = std::move(row.deltas);
    try {
      if (file.new_domains != nullptr) return core::new_domains(row.state, row.forms, *file.new_domains);
      core::expand_edit(row.state, row.forms, row.edit);
    } catch (const InvalidArgument& error) {
      in.fail_at(at, error.what());
    }
    file.edits.push_back(std::move(row.edit));
  }
  static void describe(JsonWriter& w) { describe_fields(w, kEditFields); }
};

struct EditList {
  static void read(JsonCursor& in, EditFile& file) {
    in.array([&] { EditObject::read(in, file); });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "array");
    w.key("items"), io::describe<EditObject>(w);
  }
};

constexpr std::string_view kEditsFormat = "berth.edits.v1";

constexpr Field<EditFile> kEditFileFields[] = {
    {"schema", [](JsonCursor& in, EditFile& file) { SchemaName<kEditsFormat>::read(in, file); }, true, nullptr,
     [](JsonWriter& w, std::string_view text) { describe<SchemaName<kEditsFormat>>(w, text); }},
    {"edits", [](JsonCursor& in, EditFile& file) { EditList::read(in, file); }, true, nullptr,
     [](JsonWriter& w, std::string_view text) { describe<EditList>(w, text); }},
};

}  // namespace

std::vector<Edit> parse_edits(std::string_view json, ClusterState& state, const std::string& name) {
  std::vector<Edit> edits;
  std::vector<Domain> domains;
  const auto read = [&](std::vector<Domain>* new_domains) {
    EditFile file{state, edits, {}, new_domains};
    JsonCursor in(json, name);
    read_object(in, file, kEditFileFields);
    in.finish();
  };
  read(&domains);
  if (!domains.empty()) state = core::with_domains(state, domains);
  read(nullptr);
  return edits;
}

std::string edits_schema() { return schema_of<kEditFileFields>(kEditsFormat, "Questions of the form: what would the next plan be if"); }

}  // namespace berth::io
