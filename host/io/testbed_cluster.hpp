#pragma once

#include <string>
#include <vector>

#include "host/io/csv.hpp"
#include "host/io/importers.hpp"

namespace berth::io {

/// Whether this is a description of a cluster as Tiresias and its descendants write it: num_switch,num_node_p_switch,num_gpu_p_node,...
bool is_testbed_cluster(const CsvReader& row);

/// Takes it for the cluster of the trace: switches of nodes, all alike. @throws InputError unless it has exactly one row within the caps.
void read_testbed_cluster(CsvReader& row, Imported& imported);

std::vector<CsvReader> open_tables(const std::vector<std::string>& files);

/// The tables but descriptions of a cluster, which go into `imported`. Exactly one must be left: the jobs.
/// @throws InvalidArgument naming the file that is one too many, or that there is none.
CsvReader jobs_beside_cluster(std::string_view format, std::vector<CsvReader> tables, Imported& imported);

}  // namespace berth::io
