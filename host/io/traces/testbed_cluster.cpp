#include "host/io/traces/testbed_cluster.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "berth/error.hpp"

namespace berth::io {

bool is_testbed_cluster(const CsvReader& row) { return row.find("num_switch") >= 0; }

void read_testbed_cluster(CsvReader& row, Imported& imported) {
  const int switches = row.column("num_switch"), nodes = row.column("num_node_p_switch"), gpus = row.column("num_gpu_p_node"),
            cpus = row.find("num_cpu_p_node");
  if (imported.cluster) throw InvalidArgument(fmt::format("{}: a second description of the cluster", row.file()));
  if (!row.next()) throw InputError(row.file(), "", row.line() + 1, "no row that describes the cluster");
  const std::int64_t n_switches = row.integer(switches, 1, kMaxNodes);
  const std::int64_t n_nodes = row.integer(nodes, 1, kMaxNodes / n_switches);
  const auto n_gpus = static_cast<std::int32_t>(row.integer(gpus, 1, kMaxGpusPerNode));
  Snapshot cluster;
  cluster.name = fmt::format("{} x {} x {}", n_switches, n_nodes, n_gpus);
  cluster.gpu_types.push_back({});
  cluster.gpu_types.back().id = "gpu";
  const std::size_t width = fmt::formatted_size("{}", n_switches * n_nodes - 1);
  for (std::int64_t s = 0; s < n_switches; ++s) {
    Domain domain;
    domain.id = fmt::format("switch{}", s);
    domain.level = "switch";
    for (std::int64_t n = 0; n < n_nodes; ++n) {
      Node node;
      node.id = fmt::format("n{:0{}}", s * n_nodes + n, width);
      node.gpu_type = "gpu";
      node.gpus = n_gpus;
      node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = domain.id;
      if (cpus >= 0) node.cpu_milli = row.integer(cpus, 0, INT32_MAX) * 1'000;
      cluster.nodes.push_back(std::move(node));
    }
    cluster.domains.push_back(std::move(domain));
  }
  if (row.next()) throw InputError(row.file(), "", row.line(), "a second row, where one describes all switches");
  imported.cluster = std::move(cluster);
  imported.cluster_notes.push_back("GPU types are not published; memory per node is left out, because its unit is not");
}

std::vector<CsvReader> open_tables(const std::vector<std::string>& files) {
  std::vector<CsvReader> tables;
  tables.reserve(files.size());
  for (const std::string& file : files) tables.emplace_back(file);
  return tables;
}

CsvReader jobs_with_cluster(std::string_view format, std::vector<CsvReader> tables, Imported& imported) {
  std::optional<CsvReader> jobs;
  for (CsvReader& row : tables) {
    if (is_testbed_cluster(row)) {
      read_testbed_cluster(row, imported);
    } else if (jobs) {
      throw InvalidArgument(fmt::format("{}: a second file of jobs", row.file()));
    } else {
      jobs.emplace(std::move(row));
    }
  }
  if (!jobs) throw InvalidArgument(fmt::format("{}: no file of jobs", format));
  return std::move(*jobs);
}

}  // namespace berth::io
