#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/formats/cluster_json.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::io {
namespace {

struct SpecPart {
  std::int64_t nodes = 0, gpus = 0;
  std::string gpu_type = "gpu";
};

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }
/// Numbers that are too long read as -1, which no cluster has.
std::int64_t number(std::string_view text) { return text.size() > 12 ? -1 : std::stoll(std::string(text)); }

bool is_type(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto legal = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), legal);
}

/// Parses "NxG" or "NxGxTYPE"; none when the text has another form.
std::optional<SpecPart> part_of(std::string_view spec) {
  const std::size_t first = spec.find('x');
  if (first == spec.npos) return std::nullopt;
  const std::size_t second = spec.find('x', first + 1);
  const std::string_view nodes = spec.substr(0, first), gpus = spec.substr(first + 1, second == spec.npos ? second : second - first - 1);
  if (!is_number(nodes) || !is_number(gpus)) return std::nullopt;
  SpecPart part{number(nodes), number(gpus), "gpu"};
  if (second == spec.npos) return part;
  part.gpu_type = spec.substr(second + 1);
  if (!is_type(part.gpu_type)) return std::nullopt;
  return part;
}

/// Parses parts joined by '+'; none when the text has another form: it then names a file.
std::vector<SpecPart> parts_of(std::string_view spec) {
  std::vector<SpecPart> parts;
  for (const std::string_view one : core::split(spec, '+')) {
    const auto part = part_of(one);
    if (!part) return {};
    parts.push_back(*part);
  }
  return parts;
}

Snapshot cluster_of(const std::vector<SpecPart>& parts) {
  std::int64_t nodes = 0;
  for (const SpecPart& part : parts) {
    nodes += part.nodes;
    if (part.nodes < 1 || part.nodes > kMaxNodes || nodes > kMaxNodes || part.gpus < 1 || part.gpus > kMaxGpusPerNode) {
      throw InvalidArgument(fmt::format("cluster NxG: expected 1 to {} nodes of 1 to {} GPUs", kMaxNodes, kMaxGpusPerNode));
    }
  }
  Snapshot cluster;
  const std::size_t width = fmt::formatted_size("{}", nodes - 1);  // ids sort in the order of their numbers
  cluster.nodes.reserve(static_cast<std::size_t>(nodes));
  for (const SpecPart& part : parts) {
    cluster.name += fmt::format("{}{}x{}", cluster.name.empty() ? "" : "+", part.nodes, part.gpus);
    if (part.gpu_type != "gpu") cluster.name += "x" + part.gpu_type;
    const auto known = [&](const GpuType& type) { return type.id == part.gpu_type; };
    if (std::none_of(cluster.gpu_types.begin(), cluster.gpu_types.end(), known)) {
      cluster.gpu_types.push_back({});
      cluster.gpu_types.back().id = part.gpu_type;
    }
    for (std::int64_t i = 0; i < part.nodes; ++i) {
      Node node;
      node.id = fmt::format("n{:0{}}", cluster.nodes.size(), width);
      node.gpu_type = part.gpu_type;
      node.gpus = static_cast<std::int32_t>(part.gpus);
      cluster.nodes.push_back(std::move(node));
    }
  }
  return cluster;
}

}  // namespace

Snapshot uniform_cluster(std::int64_t nodes, std::int64_t gpus_per_node) { return cluster_of({{nodes, gpus_per_node, "gpu"}}); }

Snapshot cluster_from(const std::string& spec, const Imported& imported) {
  if (spec.empty()) {
    if (!imported.cluster)
      throw InvalidArgument("no cluster: give --cluster NODESxGPUS, a cluster file, or the files that describe the trace's cluster");
    return *imported.cluster;
  }
  const std::vector<SpecPart> parts = parts_of(spec);
  if (!parts.empty()) return cluster_of(parts);
  try {
    return parse_cluster(read_file(spec), input_name(spec));
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(fmt::format("--cluster: {} (expected a file, or NODESxGPUS such as 32x8)", error.what()));
  }
}

}  // namespace berth::io
