#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/trace_builder.hpp"

/// The parts of the Philly importer.
namespace berth::io {

/// Reads the official job log (cluster_job_log), a JSON list of jobs with their attempts.
///
/// The run time is the sum over the attempts that have a start, an end and GPUs.
/// The GPU count is that of the last such attempt, summed over its machines.
/// Jobs that are still running or never ran are dropped and counted.
Trace read_philly_json(const std::string& path);

/// Notes the effect of daylight saving time on the submissions (still since 1970), then makes the first one time 0.
Trace finish_philly(TraceBuilder& trace);

/// cluster_machine_list.csv: machineId, number of GPUs, single GPU mem ("12GB"). One GPU type per memory size.
Snapshot read_philly_machines(CsvReader& row);

/// vc,node num.
std::vector<std::pair<std::string, std::int64_t>> read_philly_vc_nodes(CsvReader& row);

/// Assigns the machines to the virtual clusters in proportion to their node counts, largest machines first.
/// The published files give the number of nodes of each virtual cluster, but not which nodes.
/// Machines beyond the counts serve every job. Appends the assumptions to `notes`.
/// @throws InvalidArgument when the virtual clusters count more nodes than there are machines.
void deal_philly_machines(Snapshot& cluster, const std::vector<std::pair<std::string, std::int64_t>>& vc_nodes,
                          std::vector<std::string>& notes);

}  // namespace berth::io
