#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "berth/trace.hpp"

namespace berth::io {

/// Reads a `berth.trace.v1` document (docs/formats/trace.md). Jobs may stand in any order; they are returned by (submit, id).
/// @throws InputError naming file, line, JSON pointer and value; nothing half-read is returned.
Trace parse_trace(std::string_view json, const std::string& name = "trace");
/// The same from a file, plain or gzip ("-": standard input), of any length: its text is never in memory as a whole.
/// @throws EnvironmentError when it cannot be read.
Trace read_trace(const std::string& path);

/// Reads a file and gives its jobs away as they stand there, with the line of each. @returns all but the jobs.
/// @throws InputError as `read_trace`, but ids that occur twice are not looked for.
Trace scan_trace(const std::string& path, const std::function<void(const TraceJob& job, int line)>& give);
/// One element of `jobs`. @param index, line  Where it stands, for errors.
TraceJob parse_trace_job(const std::string& text, const std::string& name, std::int64_t index, int line);

/// The fields of the trace's profiles, as for those of a snapshot. @throws InputError under /profiles of `name`.
void check_profiles(const Trace& trace, const std::string& name);

/// Writes it, one job a line; fields with their default value are left out. `parse_trace` gives back an equal trace.
std::string to_json(const Trace& trace);
/// The same text in pieces of about a mebibyte.
void write_json(const Trace& trace, const std::function<void(std::string_view)>& give);

}  // namespace berth::io
