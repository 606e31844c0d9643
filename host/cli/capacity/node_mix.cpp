#include "host/cli/capacity/node_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "berth/cluster.hpp"
#include "berth/error.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/suggest.hpp"

namespace berth::cli {
namespace {

std::optional<std::int64_t> leading_count(std::string_view& text, std::int64_t most) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count < 1 || count > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return count;
}

bool take_x(std::string_view& text) {
  if (text.empty() || text.front() != 'x') return false;
  text.remove_prefix(1);
  return true;
}

// "8xH100" or "8"; nothing for any other text.
std::optional<NodeKind> kind_of(std::string_view text) {
  NodeKind kind;
  const auto gpus = leading_count(text, kMaxGpusPerNode);
  if (!gpus) return std::nullopt;
  kind.gpus = *gpus;
  if (text.empty()) return kind;
  if (!take_x(text) || text.empty() || text.find_first_of("+=\n") != text.npos) return std::nullopt;
  kind.type = text;
  return kind;
}

/// A number of 0 or more, with at most six digits behind the point.
std::optional<double> amount(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  if (text == "0") return 0;
  const auto micro = parse_positive(text, 6, kMost);
  return micro ? std::optional(static_cast<double>(*micro) / 1e6) : std::nullopt;
}

// TYPE=VALUE, or VALUE for all types that are not named.
template <class Value, class Parse>
std::map<std::string, Value> by_type(const char* option, const std::vector<std::string>& texts, const std::vector<std::string>& types,
                                     const char* expected, Parse&& parse) {
  std::map<std::string, Value> values;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const std::string type = equals == text.npos ? "" : text.substr(0, equals);
    const auto value = parse(equals == text.npos ? std::string_view(text) : std::string_view(text).substr(equals + 1));
    if (!value || equals == 0) throw InvalidArgument(fmt::format("{}: '{}': expected {}", option, echoed(text), expected));
    if (!type.empty() && std::find(types.begin(), types.end(), type) == types.end()) {
      std::vector<std::string_view> known;
      for (const std::string& one : types) {
        if (!one.empty()) known.push_back(one);
      }
      throw InvalidArgument(fmt::format("{}: no node has GPUs of the type '{}'{}", option, echoed(type),
                                        known.empty()
                                            ? std::string("; nodes name their type as in --node 8xH100")
                                            : fmt::format(" (known: {}){}", fmt::join(known, ", "), core::did_you_mean(type, known))));
    }
    if (!values.emplace(type, *value).second)
      throw InvalidArgument(
          fmt::format("{}: {} is given twice", option, type.empty() ? "a value for all types" : "'" + echoed(type) + "'"));
  }
  if (values.empty() || values.count("") > 0) return values;
  for (const std::string& type : types) {
    if (values.count(type) == 0)
      throw InvalidArgument(fmt::format("{}: there is none for {}: give each type its own, or one for all", option,
                                        type.empty() ? "nodes without a type" : "'" + echoed(type) + "'"));
  }
  return values;
}

template <class Value>
const Value* find_by_type(const std::map<std::string, Value>& values, const std::string& type) {
  const auto own = values.find(type);
  if (own != values.end()) return &own->second;
  const auto any = values.find("");
  return any == values.end() ? nullptr : &any->second;
}

}  // namespace

std::string NodeKind::text() const { return type.empty() ? fmt::format("{}", gpus) : fmt::format("{}x{}", gpus, type); }

NodeKind parse_node_kind(std::string_view option, std::string_view text) {
  const auto kind = kind_of(text);
  if (const std::size_t x = text.find('x');
      kind && std::count(text.begin(), text.end(), 'x') == 2 && x + 1 < text.size() && text[x + 1] >= '0' && text[x + 1] <= '9')
    throw InvalidArgument(fmt::format("{}: '{}': give the kind alone, such as {}: the number of nodes is what is searched", option,
                                      echoed(text), echoed(text.substr(x + 1))));
  if (!kind)
    throw InvalidArgument(
        fmt::format("{}: '{}': expected GPUSxTYPE with 1 to {} GPUs, such as 8xH100", option, echoed(text), kMaxGpusPerNode));
  return *kind;
}

std::vector<NodeCount> parse_node_counts(std::string_view option, std::string_view text) {
  std::vector<NodeCount> all;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('+'), rest.size());
    std::string_view part = rest.substr(0, end);
    const auto nodes = leading_count(part, kMaxNodes);
    const auto kind = nodes && take_x(part) ? kind_of(part) : std::nullopt;
    if (!kind || text.back() == '+')
      throw InvalidArgument(
          fmt::format("{}: '{}': expected NODESxGPUSxTYPE, such as 16x8xA100, or several joined by '+'", option, echoed(text)));
    all.push_back({*kind, *nodes});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

std::string cluster_text(const std::vector<NodeCount>& nodes) {
  std::vector<NodeCount> merged;
  for (const NodeCount& one : nodes) {
    if (one.nodes == 0) continue;
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const NodeCount& other) {
      return other.kind.gpus == one.kind.gpus && other.kind.type == one.kind.type;
    });
    if (same == merged.end()) {
      merged.push_back(one);
    } else {
      same->nodes += one.nodes;
    }
  }
  std::string text;
  for (const NodeCount& one : merged) text += fmt::format("{}{}x{}", text.empty() ? "" : "+", one.nodes, one.kind.text());
  return text;
}

std::int64_t gpus_of(const std::vector<NodeCount>& nodes) {
  std::int64_t gpus = 0;
  for (const NodeCount& one : nodes) gpus += one.nodes * one.kind.gpus;
  return gpus;
}

CapacityCosts parse_costs(const std::vector<std::string>& prices, const std::vector<std::string>& powers, const std::string& power_price,
                          const std::vector<std::string>& types) {
  CapacityCosts costs;
  costs.prices = by_type<double>("--price", prices, types, "TYPE=PRICE of a GPU-hour, such as H100=2.5", amount);
  costs.powers = by_type<CapacityCosts::Power>("--power", powers, types, "TYPE=WATTS of a GPU, or TYPE=WATTS:IDLE, such as H100=700:100",
                                               [](std::string_view text) -> std::optional<CapacityCosts::Power> {
                                                 const std::size_t colon = text.find(':');
                                                 const auto used = amount(text.substr(0, colon));
                                                 const auto idle = colon == text.npos ? used : amount(text.substr(colon + 1));
                                                 if (!used || !idle || *idle > *used) return std::nullopt;
                                                 CapacityCosts::Power power;
                                                 power.used_w = *used, power.idle_w = *idle;
                                                 return power;
                                               });
  if (!power_price.empty()) {
    const auto price = amount(power_price);
    if (!price) throw InvalidArgument(fmt::format("--power-price: '{}': expected the price of a kWh, such as 0.12", echoed(power_price)));
    if (powers.empty()) throw InvalidArgument("--power-price: --power says how much GPUs draw, and is not given");
    costs.power_price = *price;
  }
  return costs;
}

MixCost cost_of(const CapacityCosts& costs, const std::vector<NodeCount>& nodes, double utilisation) {
  MixCost cost;
  for (const NodeCount& one : nodes) {
    const double gpus = static_cast<double>(one.nodes * one.kind.gpus);
    if (const double* price = find_by_type(costs.prices, one.kind.type)) cost.per_hour += gpus * *price;
    if (const CapacityCosts::Power* power = find_by_type(costs.powers, one.kind.type))
      cost.power_w += gpus * (power->idle_w + utilisation * (power->used_w - power->idle_w));
  }
  cost.per_hour += cost.power_w / 1000 * costs.power_price;
  return cost;
}

}  // namespace berth::cli
