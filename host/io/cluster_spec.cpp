#include <fmt/format.h>

#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/cluster_json.hpp"
#include "host/io/file_error.hpp"
#include "host/io/importers.hpp"

namespace berth::io {
namespace {

/// The numbers of "NxG", or nothing when the text has another form. Numbers that are too long read as -1, which no cluster has.
std::optional<std::pair<std::int64_t, std::int64_t>> sizes(const std::string& spec) {
  const std::size_t cross = spec.find('x');
  if (cross == std::string::npos) return std::nullopt;
  const std::string left = spec.substr(0, cross), right = spec.substr(cross + 1);
  for (const std::string& part : {left, right}) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  }
  const auto number = [](const std::string& part) { return part.size() > 12 ? -1 : std::stoll(part); };
  return std::make_pair(std::int64_t{number(left)}, std::int64_t{number(right)});
}

}  // namespace

Snapshot uniform_cluster(std::int64_t nodes, std::int64_t gpus_per_node) {
  if (nodes < 1 || nodes > kMaxNodes || gpus_per_node < 1 || gpus_per_node > kMaxGpusPerNode) {
    throw InvalidArgument(fmt::format("cluster NxG: expected 1 to {} nodes of 1 to {} GPUs", kMaxNodes, kMaxGpusPerNode));
  }
  Snapshot cluster;
  cluster.name = fmt::format("{}x{}", nodes, gpus_per_node);
  cluster.gpu_types.push_back({});
  cluster.gpu_types.back().id = "gpu";
  const std::size_t width = fmt::formatted_size("{}", nodes - 1);  // ids in the order of numbers
  cluster.nodes.reserve(static_cast<std::size_t>(nodes));
  for (std::int64_t i = 0; i < nodes; ++i) {
    Node node;
    node.id = fmt::format("n{:0{}}", i, width);
    node.gpu_type = "gpu";
    node.gpus = static_cast<std::int32_t>(gpus_per_node);
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

Snapshot cluster_from(const std::string& spec, const Imported& imported) {
  if (spec.empty()) {
    if (!imported.cluster)
      throw InvalidArgument("no cluster: give --cluster NODESxGPUS, a cluster file, or the files that describe the trace's cluster");
    return *imported.cluster;
  }
  if (const auto size = sizes(spec)) return uniform_cluster(size->first, size->second);
  try {
    return parse_cluster(read_file(spec), input_name(spec));
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(fmt::format("--cluster: {} (expected a file, or NODESxGPUS such as 32x8)", error.what()));
  }
}

}  // namespace berth::io
