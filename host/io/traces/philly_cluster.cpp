#include "host/io/traces/philly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "berth/error.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// Reads "24GB", with optional blanks around it, in gibibytes.
std::int64_t memory_gib(const CsvReader& row, int column) {
  std::string_view text = row.text(column);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::int64_t value = 0;
  const bool unit = text.size() > 2 && text.size() <= 6 && text.substr(text.size() - 2) == "GB";
  if (!unit) row.refuse(column, "a memory size such as 12GB");
  for (const char c : text.substr(0, text.size() - 2)) {
    if (c < '0' || c > '9') row.refuse(column, "a memory size such as 12GB");
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

Snapshot read_philly_machines(CsvReader& row) {
  const int id = row.column("machineId"), gpus = row.column("number of GPUs"), memory = row.column("single GPU mem");
  Snapshot cluster;
  cluster.name = "philly";
  std::set<std::string> seen;
  std::set<std::int64_t> sizes;
  while (row.next()) {
    Node node;
    node.id = row.text(id);
    if (node.id.empty() || !seen.insert(node.id).second) row.refuse(id, "a machine name of its own");
    node.gpus = static_cast<std::int32_t>(row.integer(gpus, 0, kMaxGpusPerNode));
    const std::int64_t gib = memory_gib(row, memory);
    node.gpu_type = fmt::format("{}GB", gib);
    sizes.insert(gib);
    cluster.nodes.push_back(std::move(node));
    if (cluster.nodes.size() > static_cast<std::size_t>(kMaxNodes)) row.refuse(id, fmt::format("at most {} machines", kMaxNodes));
  }
  for (const std::int64_t gib : sizes) {
    GpuType type;
    type.id = fmt::format("{}GB", gib);
    type.memory_bytes = gib * kGib;
    cluster.gpu_types.push_back(std::move(type));
  }
  return cluster;
}

std::vector<std::pair<std::string, std::int64_t>> read_philly_vc_nodes(CsvReader& row) {
  const int vc = row.column("vc"), nodes = row.column("node num");
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::set<std::string, std::less<>> seen;
  while (row.next()) {
    if (row.text(vc).empty() || !seen.insert(std::string(row.text(vc))).second) row.refuse(vc, "a virtual cluster of its own");
    counts.emplace_back(row.text(vc), row.integer(nodes, 0, kMaxNodes));
  }
  return counts;
}

void deal_philly_machines(Snapshot& cluster, const std::vector<std::pair<std::string, std::int64_t>>& vc_nodes,
                          std::vector<std::string>& notes) {
  std::int64_t wanted = 0;
  for (const auto& one : vc_nodes) wanted += one.second;
  const auto machines = static_cast<std::int64_t>(cluster.nodes.size());
  if (wanted > machines)
    throw InvalidArgument(fmt::format("the virtual clusters count {} nodes, and there are {} machines", wanted, machines));
  std::vector<Node*> order;
  for (Node& node : cluster.nodes) order.push_back(&node);
  std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) {
    return std::make_tuple(-a->gpus, a->id.size(), std::cref(a->id)) < std::make_tuple(-b->gpus, b->id.size(), std::cref(b->id));
  });
  // The p-th machine of a virtual cluster of n is at (2p + 1) / 2n of the sequence; compared as fractions, without division.
  struct SequencePosition {
    std::int64_t numerator, denominator;
    std::size_t vc;
  };
  std::vector<SequencePosition> positions;
  std::vector<std::int64_t> left;
  left.reserve(vc_nodes.size() + 1);
  // `machines` beyond the counts form one more group, so that it also gets large machines.
  for (const auto& one : vc_nodes) left.push_back(one.second);
  left.push_back(machines - wanted);
  for (std::size_t v = 0; v < left.size(); ++v) {
    for (std::int64_t p = 0; p < left[v]; ++p) positions.push_back({2 * p + 1, 2 * left[v], v});
  }
  std::sort(positions.begin(), positions.end(), [](const SequencePosition& a, const SequencePosition& b) {
    const std::int64_t left_side = a.numerator * b.denominator, right_side = b.numerator * a.denominator;
    return left_side != right_side ? left_side < right_side : a.vc < b.vc;
  });
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].vc < vc_nodes.size()) order[i]->virtual_clusters.push_back(vc_nodes[positions[i].vc].first);
  }
  notes.push_back(
      "which machine belongs to which virtual cluster is not published: machines are dealt in proportion to the node counts, largest "
      "first");
  notes.push_back(fmt::format("{} machines that no virtual cluster counts serve every job", machines - wanted));
}

}  // namespace berth::io
