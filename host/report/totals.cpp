#include "host/report/totals.hpp"

#include <fmt/format.h>

namespace berth::report {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string plan_json(const Plan& plan) {
  std::string text = "{\"policy\":" + json_string(plan.policy) + ",\"params\":{";
  for (const auto& [name, value] : plan.params) {
    if (text.back() != '{') text += ',';
    text += json_string(name) + ':' + json_string(value);
  }
  text += '}';
  for (const Total& total : kTotals) text += fmt::format(",\"{}\":{}", total.name, plan.totals.*total.field);
  return text + "}";
}

}  // namespace berth::report
