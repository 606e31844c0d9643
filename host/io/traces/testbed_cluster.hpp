#pragma once

#include <string>
#include <vector>

#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::io {

/// Whether this is a cluster description in the format of Tiresias and its descendants: num_switch,num_node_p_switch,num_gpu_p_node,...
bool is_testbed_cluster(const CsvReader& row);

/// Uses it as the cluster of the trace: switches of equal nodes. @throws InputError unless it has exactly one row within the caps.
void read_testbed_cluster(CsvReader& row, Imported& imported);

std::vector<CsvReader> open_tables(const std::vector<std::string>& files);

/// Returns the table of jobs. Cluster descriptions among the tables go into `imported`.
/// @throws InvalidArgument naming the superfluous file, or stating that there is none.
CsvReader jobs_with_cluster(std::string_view format, std::vector<CsvReader> tables, Imported& imported);

}  // namespace berth::io
