#include "tests/support/json_schema.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>
#include <vector>

namespace berth::test {
namespace {

using simdjson::dom::element;
using Text = std::string_view;

constexpr std::array<Text, 5> kNotes{"$schema", "$id", "title", "description", "default"};

std::string fault_of(element value, element schema, const std::string& path);

bool follows(element value, element schema) { return fault_of(value, schema, "").empty(); }

bool has(element value, Text name, element& field) { return value.is_object() && value[name].get(field) == simdjson::SUCCESS; }

bool is_a(Text type, element value) {
  if (type == "integer") return value.is<std::int64_t>() || value.is<std::uint64_t>();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool is_among(element value, element all, bool (*alike)(element, element)) {
  for (const element one : simdjson::dom::array(all)) {
    if (alike(value, one)) return true;
  }
  return false;
}

// Constants are texts and numbers.
bool same(element a, element b) { return simdjson::minify(a) == simdjson::minify(b); }

std::string missing(element value, element names) {
  element field;
  for (const element name : simdjson::dom::array(names)) {
    if (!has(value, Text(name), field)) return "has no field '" + std::string(Text(name)) + "'";
  }
  return "";
}

/// One of the keywords that do not concern fields or items. A keyword that does not apply to the value's type is satisfied.
std::string fault_by(Text keyword, element rule, element value) {
  element field;
  if (keyword == "type") {
    const bool held =
        rule.is_string() ? is_a(Text(rule), value) : is_among(value, rule, [](element v, element type) { return is_a(Text(type), v); });
    return held ? "" : "is of another type";
  }
  if (keyword == "const") return same(value, rule) ? "" : "is not the constant";
  if (keyword == "enum") return is_among(value, rule, same) ? "" : "is none of the constants";
  if (keyword == "required") return value.is_object() ? missing(value, rule) : "";
  if (keyword == "dependentRequired") {
    for (const auto [name, needed] : simdjson::dom::object(rule)) {
      if (!has(value, name, field)) continue;
      if (std::string fault = missing(value, needed); !fault.empty()) return fault;
    }
    return "";
  }
  if (keyword == "minimum") return !value.is_number() || double(value) >= double(rule) ? "" : "is too small";
  if (keyword == "maximum") return !value.is_number() || double(value) <= double(rule) ? "" : "is too large";
  if (keyword == "exclusiveMinimum") return !value.is_number() || double(value) > double(rule) ? "" : "is too small";
  if (keyword == "minLength") return !value.is_string() || Text(value).size() >= std::uint64_t(rule) ? "" : "is too short";
  if (keyword == "maxLength") return !value.is_string() || Text(value).size() <= std::uint64_t(rule) ? "" : "is too long";
  if (keyword == "oneOf" || keyword == "anyOf") {
    std::size_t followed = 0;
    for (const element schema : simdjson::dom::array(rule)) followed += follows(value, schema) ? 1 : 0;
    const bool held = keyword == "oneOf" ? followed == 1 : followed > 0;
    return held ? "" : "follows " + std::to_string(followed) + " of the alternatives";
  }
  if (keyword == "not") return follows(value, rule) ? "follows what it must not" : "";
  if (keyword == "propertyNames") {
    if (!value.is_object()) return "";
    for (const auto [name, of_name] : simdjson::dom::object(value)) {
      simdjson::dom::parser parser;
      if (!follows(parser.parse(simdjson::padded_string("\"" + std::string(name) + "\"")), rule)) return "a name has another form";
    }
    return "";
  }
  if (keyword == "minItems")
    return !value.is_array() || simdjson::dom::array(value).size() >= std::uint64_t(rule) ? "" : "has too few items";
  if (keyword == "maxItems")
    return !value.is_array() || simdjson::dom::array(value).size() <= std::uint64_t(rule) ? "" : "has too many items";
  if (keyword == "pattern") {
    return !value.is_string() || std::regex_search(std::string(Text(value)), std::regex(std::string(Text(rule)))) ? "" : "has another form";
  }
  const bool known = keyword == "properties" || keyword == "additionalProperties" || keyword == "items" || keyword == "patternProperties" ||
                     std::find(kNotes.begin(), kNotes.end(), keyword) != kNotes.end();
  return known ? "" : "the schema has the keyword '" + std::string(keyword) + "', which is not known here";
}

std::string fault_of(element value, element schema, const std::string& path) {
  for (const auto [keyword, rule] : simdjson::dom::object(schema)) {
    if (const std::string fault = fault_by(keyword, rule, value); !fault.empty()) return path + ": " + fault;
  }
  element rule;
  if (value.is_object()) {
    for (const auto [name, field] : simdjson::dom::object(value)) {
      element properties;
      const bool listed = has(schema, "properties", properties) && has(properties, name, rule);
      if (!listed && has(schema, "patternProperties", properties)) {
        bool matched = false;  // the schemas say nothing about values of extensions
        for (const auto [pattern, any] : simdjson::dom::object(properties)) {
          matched = matched || std::regex_search(std::string(name), std::regex(std::string(pattern)));
        }
        if (matched) continue;
      }
      if (!listed && !has(schema, "additionalProperties", rule)) continue;
      const std::string at = path + "/" + std::string(name);
      if (!rule.is_object()) return at + ": no such field";  // additionalProperties: false
      if (const std::string fault = fault_of(field, rule, at); !fault.empty()) return fault;
    }
  }
  if (value.is_array() && has(schema, "items", rule)) {
    std::size_t i = 0;
    for (const element item : simdjson::dom::array(value)) {
      if (const std::string fault = fault_of(item, rule, path + "/" + std::to_string(i++)); !fault.empty()) return fault;
    }
  }
  return "";
}

/// @param values  All values of the document at this place.
void add_unused(const std::vector<element>& values, element schema, const std::string& path, std::string& unused) {
  element rule;
  if (has(schema, "properties", rule)) {
    for (const auto [name, of_field] : simdjson::dom::object(rule)) {
      std::vector<element> fields;
      element field;
      for (const element value : values) {
        if (has(value, name, field)) fields.push_back(field);
      }
      const std::string at = path + "/" + std::string(name);
      if (fields.empty()) unused += (unused.empty() ? "" : " ") + at;
      if (!fields.empty()) add_unused(fields, of_field, at, unused);
    }
  }
  if (has(schema, "items", rule)) {
    std::vector<element> items;
    for (const element value : values) {
      if (!value.is_array()) continue;
      for (const element item : simdjson::dom::array(value)) items.push_back(item);
    }
    add_unused(items, rule, path, unused);
  }
  if (has(schema, "additionalProperties", rule) && rule.is_object()) {
    std::vector<element> fields;
    for (const element value : values) {
      if (!value.is_object()) continue;
      for (const auto [name, field] : simdjson::dom::object(value)) fields.push_back(field);
    }
    add_unused(fields, rule, path, unused);
  }
  if (has(schema, "oneOf", rule)) {
    for (const element one : simdjson::dom::array(rule)) {
      std::vector<element> matching;
      for (const element value : values) {
        if (follows(value, one)) matching.push_back(value);
      }
      add_unused(matching, one, path, unused);
    }
  }
}

}  // namespace

std::string schema_fault(std::string_view document, std::string_view schema) {
  simdjson::dom::parser of_document, of_schema;
  return fault_of(of_document.parse(simdjson::padded_string(document)), of_schema.parse(simdjson::padded_string(schema)), "");
}

std::string unused_fields(std::string_view document, std::string_view schema) {
  simdjson::dom::parser of_document, of_schema;
  std::string unused;
  add_unused({of_document.parse(simdjson::padded_string(document))}, of_schema.parse(simdjson::padded_string(schema)), "", unused);
  return unused;
}

}  // namespace berth::test
