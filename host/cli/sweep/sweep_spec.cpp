#include "host/cli/sweep/sweep_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <list>
#include <set>
#include <utility>

#define TOML_HEADER_ONLY 1  // no library more to link
#define TOML_ENABLE_FORMATTERS 0
// The parser asserts what input such as "[[[" breaks, and reports an error after that.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/sweep/metric_text.hpp"
#include "host/core/base/suggest.hpp"

namespace berth::cli {
namespace {

constexpr std::string_view kSpecKeys[] = {"store", "seeds", "max_seeds", "until", "metrics", "baseline", "params", "edit", "unedited"};
constexpr std::size_t kMostSpecBytes = std::size_t{1} << 20;

std::vector<std::string_view> run_key_names() {
  std::vector<std::string_view> names;
  for (const RunKey& key : run_keys()) names.push_back(key.name);
  return names;
}

class SpecReader {
 public:
  SpecReader(const std::string& path, SweepSpec& spec) : path_(path), spec_(spec) {}

  void read(const toml::table& all) {
    for (const auto* entry : in_order(all)) read_key(std::string(entry->first.str()), entry->second);
    if (spec_.seeds.empty()) spec_.seeds = {0};
    if (spec_.metrics.empty())
      spec_.metrics = {metric_named("metrics", "mean_jct"), metric_named("metrics", "p99_jct"), metric_named("metrics", "mean_queue"),
                       metric_named("metrics", "gpu_utilisation")};
  }

 private:
  using Entry = std::pair<toml::key, const toml::node*>;

  [[noreturn]] void fail(const toml::node& at, std::string_view key, const std::string& problem) const {
    throw InputError(path_, std::string(key), static_cast<int>(at.source().begin.line), problem);
  }

  // The library sorts keys by name; here they are axes in the order of the file.
  std::vector<const Entry*> in_order(const toml::table& table) {
    std::vector<Entry>& entries = kept_.emplace_back();
    for (auto&& [key, value] : table) entries.emplace_back(key, &value);
    const auto place = [](const Entry& entry) { return std::pair(entry.first.source().begin.line, entry.first.source().begin.column); };
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
    std::vector<const Entry*> pointers;
    pointers.reserve(entries.size());
    for (const Entry& entry : entries) pointers.push_back(&entry);
    return pointers;
  }

  void read_key(const std::string& key, const toml::node* value) {
    const std::string name = echoed(key);
    try {
      if (key == "store") {
        spec_.store = text_of(*value, name);
        if (spec_.store.empty()) fail(*value, name, "the name of a file is empty");
      } else if (key == "seeds") {
        read_seeds(*value);
      } else if (key == "max_seeds") {
        spec_.max_seeds = whole(*value, name, 1, kMostSweepRuns);
      } else if (key == "until") {
        spec_.until = parse_until(text_of(*value, name));
      } else if (key == "metrics") {
        for (const std::string& metric : words(*value, name)) spec_.metrics.push_back(metric_named(name, metric));
      } else if (key == "baseline") {
        spec_.baseline = text_of(*value, name);
      } else if (key == "unedited") {
        const auto flag = value->value_exact<bool>();
        if (!flag) fail(*value, name, "expected true or false");
        spec_.unedited = *flag;
      } else if (key == "params") {
        read_params(*value);
      } else if (key == "edit") {
        read_edits(*value);
      } else {
        read_axis(key, require_run_key(key, *value, true), *value);
      }
    } catch (const InvalidArgument& error) {
      throw InputError(path_, "", static_cast<int>(value->source().begin.line), error.what());
    }
  }

  const RunKey& require_run_key(const std::string& key, const toml::node& at, bool spec_keys) const {
    if (const RunKey* known = run_key(key)) return *known;
    std::vector<std::string_view> names = run_key_names();
    if (spec_keys) names.insert(names.end(), std::begin(kSpecKeys), std::end(kSpecKeys));
    std::sort(names.begin(), names.end());
    const std::string near = core::did_you_mean(key, names);
    fail(at, "", fmt::format("unknown key '{}'{}", echoed(key), near.empty() ? fmt::format(" (known: {})", fmt::join(names, ", ")) : near));
  }

  std::string scalar(const toml::node& value, std::string_view key) const {
    std::string text;
    if (const auto* string = value.as_string()) {
      text = string->get();
    } else if (const auto* integer = value.as_integer()) {
      text = fmt::format("{}", integer->get());
    } else if (const auto* number = value.as_floating_point()) {
      text = fmt::format("{}", number->get());
    } else if (const auto* flag = value.as_boolean()) {
      text = flag->get() ? "true" : "false";
    } else {
      fail(value, key, "expected a text, a number, or true or false");
    }
    const bool bad = std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (bad) fail(value, key, fmt::format("'{}': a value has no control characters", echoed(text)));
    return text;
  }

  std::string text_of(const toml::node& value, std::string_view key) const {
    if (!value.is_string()) fail(value, key, "expected a text");
    return scalar(value, key);
  }

  std::int64_t whole(const toml::node& value, std::string_view key, std::int64_t least, std::int64_t most) const {
    const auto* number = value.as_integer();
    if (number == nullptr || number->get() < least || number->get() > most)
      fail(value, key, fmt::format("expected a number from {} to {}", least, most));
    return number->get();
  }

  std::vector<std::string> words(const toml::node& value, std::string_view key) const {
    const toml::array* list = value.as_array();
    if (list == nullptr) return {text_of(value, key)};
    std::vector<std::string> all;
    for (const toml::node& one : *list) all.push_back(text_of(one, key));
    return all;
  }

  // A text of a key that takes several is one of them, or several with blanks between (no files: their names have blanks).
  std::string one_value(const RunKey& key, const toml::node& value) const {
    const toml::array* group = value.as_array();
    if (group != nullptr && key.kind != KeyKind::kFiles && key.kind != KeyKind::kWords)
      fail(value, key.name, "a list inside a list: only keys that take several files or words have one");
    std::string joined;
    if (group != nullptr) {
      if (group->empty()) fail(value, key.name, "the list is empty: leave the key out");
      for (const toml::node& part : *group) joined += (joined.empty() ? "" : "\n") + scalar(part, key.name);
      return joined;
    }
    std::string text = scalar(value, key.name);
    if (key.kind != KeyKind::kWords) return text;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) joined += (joined.empty() ? "" : "\n") + text.substr(at, end - at);
      at = end + 1;
    }
    return joined;
  }

  void add_axis(std::string key, std::vector<std::string> values, const toml::node& at) {
    std::set<std::string> seen;
    for (const std::string& value : values) {
      if (!seen.insert(value).second) fail(at, key, fmt::format("'{}' is given twice", echoed(value)));
    }
    spec_.axes.push_back({std::move(key), std::move(values)});
  }

  void read_axis(const std::string& name, const RunKey& key, const toml::node& value) {
    std::vector<std::string> values;
    if (const toml::array* list = key.one_value ? nullptr : value.as_array()) {
      if (list->empty()) fail(value, name, "the list is empty: leave the key out");
      for (const toml::node& one : *list) values.push_back(one_value(key, one));
    } else {
      values.push_back(one_value(key, value));
    }
    add_axis(name, std::move(values), value);
  }

  void read_params(const toml::node& value) {
    const toml::table* params = value.as_table();
    if (params == nullptr) fail(value, "params", "expected a table of parameters of policies");
    constexpr RunKey kParam{.name = "params"};
    for (const auto* entry : in_order(*params)) {
      const std::string name(entry->first.str());
      if (name.empty() || name.find_first_of("=@\n") != name.npos) fail(*entry->second, "params", "a parameter has another name");
      read_axis(std::string(kParamKey) + name, kParam, *entry->second);
    }
  }

  void read_edits(const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr || !list->is_homogeneous<toml::table>()) fail(value, "edit", "expected tables: [[edit]]");
    for (const toml::node& one : *list) {
      SweepEdit edit;
      for (const auto* entry : in_order(*one.as_table())) {
        const std::string key(entry->first.str());
        if (key == "name") {
          edit.name = text_of(*entry->second, "edit/name");
          continue;
        }
        const RunKey& known = require_run_key(key, *entry->second, false);
        if (entry->second->is_array() && known.kind != KeyKind::kFiles && known.kind != KeyKind::kWords)
          fail(*entry->second, "edit/" + key, "an edit has one value for a key; make several edits");
        edit.values[key] = one_value(known, *entry->second);
      }
      if (edit.name.empty()) fail(one, "edit", "the key 'name' is missing");
      if (edit.values.empty()) fail(one, "edit", fmt::format("'{}' changes nothing", echoed(edit.name)));
      for (const SweepEdit& other : spec_.edits) {
        if (other.name == edit.name) fail(one, "edit", fmt::format("two edits have the name '{}'", echoed(edit.name)));
      }
      spec_.edits.push_back(std::move(edit));
    }
  }

  void read_seeds(const toml::node& value) {
    const toml::array* list = value.as_array();
    if (list == nullptr) {
      const std::int64_t count = whole(value, "seeds", 1, std::numeric_limits<std::int64_t>::max());
      // More are refused with the number of runs; they are not listed for that.
      spec_.seeds.assign(static_cast<std::size_t>(std::min(count, kMostSweepRuns + 1)), 0);
      for (std::size_t s = 0; s < spec_.seeds.size(); ++s) spec_.seeds[s] = static_cast<std::int64_t>(s);
      spec_.asked_seeds = count;
      return;
    }
    spec_.seeds_listed = true;
    std::set<std::int64_t> seen;
    for (const toml::node& one : *list) {
      spec_.seeds.push_back(whole(one, "seeds", 0, std::numeric_limits<std::int64_t>::max()));
      if (!seen.insert(spec_.seeds.back()).second) fail(one, "seeds", fmt::format("{} is given twice", spec_.seeds.back()));
    }
    if (list->empty()) fail(value, "seeds", "the list is empty: leave the key out");
    spec_.asked_seeds = static_cast<std::int64_t>(spec_.seeds.size());
  }

  const std::string& path_;
  SweepSpec& spec_;
  std::list<std::vector<Entry>> kept_;
};

}  // namespace

SweepUntil parse_until(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool whole = colon != text.npos && text.back() == '%';
  const auto part = whole ? parse_positive(text.substr(colon + 1, text.size() - colon - 2), 4, 1'000'000) : std::nullopt;
  if (!part) throw InvalidArgument(fmt::format("until: '{}': expected METRIC:P%, such as jct:2%", echoed(text)));
  return {metric_named("until", text.substr(0, colon)), *part};
}

SweepSpec parse_sweep_spec(std::string_view text, const std::string& path) {
  SweepSpec spec;
  spec.path = path;
  spec.folder = std::filesystem::path(path).parent_path().string();
  if (text.size() > kMostSpecBytes) throw InputError(path, "", 0, fmt::format("a spec has at most {} bytes", kMostSpecBytes));
  try {
    SpecReader(path, spec).read(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    throw InputError(path, "", static_cast<int>(error.source().begin.line), fmt::format("is no TOML: {}", echoed(error.description())));
  }
  if (spec.until && spec.seeds_listed) throw InputError(path, "seeds", 0, "with until seeds are added: give a number, not a list");
  return spec;
}

SweepSpec read_sweep_spec(const std::string& path) {
  if (path == "-") throw InvalidArgument("SPEC: a sweep resumes by its file, so that it is not read from standard input");
  return parse_sweep_spec(io::read_file(path), path);
}

}  // namespace berth::cli
