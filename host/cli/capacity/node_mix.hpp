#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

/// A kind of node that can be bought, or that is there: "8xH100", or "8" for GPUs of no named type.
struct NodeKind {
  std::int64_t gpus = 0;
  std::string type;

  std::string text() const;  ///< as it was given
};

/// @param option  that has the text, for messages
/// @throws InvalidArgument naming the text.
NodeKind parse_node_kind(std::string_view option, std::string_view text);

/// Nodes of one kind.
struct NodeCount {
  NodeKind kind;
  std::int64_t nodes = 0;
};
/// "16x8xA100", or several joined by '+'. @throws InvalidArgument naming the text.
std::vector<NodeCount> parse_node_counts(std::string_view option, std::string_view text);

/// As `--cluster` takes it: "16x8xA100+5x8xH100". Nodes of one kind are counted together.
std::string cluster_text(const std::vector<NodeCount>& nodes);
std::int64_t gpus_of(const std::vector<NodeCount>& nodes);

/// What GPUs cost and draw. Numbers describe results; no decision uses them.
struct CapacityCosts {
  struct Power {
    double used_w = 0, idle_w = 0;
  };
  std::map<std::string, double> prices;  ///< of a GPU-hour, by type; "" for all others
  std::map<std::string, Power> powers;   ///< of a GPU, likewise
  double power_price = 0;                ///< of a kWh

  bool priced() const { return !prices.empty() || power_price > 0; }
  bool powered() const { return !powers.empty(); }
};
inline constexpr double kHoursPerMonth = 730;  // a twelfth of 8,760

/// Reads --price, --power and --power-price. @param types  of GPUs that there may be
/// @throws InvalidArgument naming option and text; also where a type that there is has no price or no power
CapacityCosts parse_costs(const std::vector<std::string>& prices, const std::vector<std::string>& powers, const std::string& power_price,
                          const std::vector<std::string>& types);

struct MixCost {
  double per_hour = 0;  ///< of GPUs, and of the energy that they draw
  double power_w = 0;   ///< on average
};
/// @param utilisation  part of the GPUs that jobs have; of each type alike
MixCost cost_of(const CapacityCosts& costs, const std::vector<NodeCount>& nodes, double utilisation);

}  // namespace berth::cli
