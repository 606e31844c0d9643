#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/profile.hpp"
#include "berth/trace.hpp"
#include "host/io/files/gzip_input.hpp"

/// Files of Gavel, which Shockwave adopted: measured throughputs (JSON) and workloads (tab-separated, without a header).
namespace berth::io {

/// The GPU type on which run times are stated.
inline constexpr std::string_view kGavelReference = "V100";

/// Steps per second of one model on one GPU type, in millionths.
struct GavelRate {
  std::int64_t together = 0;    ///< on as few nodes as possible; 0: measured as not runnable
  std::int64_t spread_out = 0;  ///< `TYPE_unconsolidated`; 0: not measured
};

/// The content of d[gpu][str((model, scale_factor))] of a throughput file.
struct GavelThroughputs {
  using Key = std::pair<std::string, std::int32_t>;                       ///< (model, GPUs)
  std::map<std::string, std::map<Key, GavelRate>, std::greater<>> alone;  ///< by GPU type: V100, P100, K80
  /// (model, other model) -> rate when colocated with the other on one GPU of the reference type.
  std::map<std::pair<std::string, std::string>, std::int64_t> paired;
  std::string file;
};

/// @throws InputError naming file, line, JSON pointer and value.
GavelThroughputs read_gavel_throughputs(GzipInput& input);

/// The profile of one model: a point for each GPU type and count on which it runs, and the rate that it keeps when colocated.
/// Points of several GPUs apply within a node; those of the spread-out measurement apply to every other span.
Profile gavel_profile(const GavelThroughputs& throughputs, const std::string& model);

/// One row of a workload.
struct GavelRow {
  int line = 0;
  TraceJob job;              ///< all except run time, profile and deadline
  std::int64_t slo_ppm = 0;  ///< deadline as a multiple of the run time after submission; 0: none
  TimeUs stated_us = 0;      ///< `duration`, where the file has one
  std::string mode;          ///< "static", "accordion" or "gns", where the file has one
};

/// Reads a workload by its number of columns: 7 and 10 are Gavel's, 12 is Shockwave's. @throws InputError for any other number.
std::vector<GavelRow> read_gavel_rows(GzipInput& input, bool shockwave);

}  // namespace berth::io
