#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "berth/trace.hpp"

namespace berth::io {

/// Reads a `berth.trace.v1` document (docs/formats/trace.md). Jobs may be in any order; they are returned by (submit, id).
/// @throws InputError naming file, line, JSON pointer and value. Nothing is returned in part.
Trace parse_trace(std::string_view json, const std::string& name = "trace");
/// The same from a file of any length, plain or gzip ("-": standard input). Its text is never in memory as a whole.
/// @throws EnvironmentError when it cannot be read.
Trace read_trace(const std::string& path);

/// Reads a file and passes on its jobs in their order, with their lines. @returns all but the jobs.
/// @throws InputError as `read_trace`, but repeated ids are not detected.
Trace scan_trace(const std::string& path, const std::function<void(const TraceJob& job, int line)>& give);
/// One element of `jobs`. @param index, line  Its position, for errors.
TraceJob parse_trace_job(const std::string& text, const std::string& name, std::int64_t index, int line);

/// Checks the fields of the trace's profiles as those of a snapshot. @throws InputError under /profiles of `name`.
void check_profiles(const Trace& trace, const std::string& name);

/// Writes the trace, one job per line; fields with their default value are omitted. `parse_trace` returns an equal trace.
std::string to_json(const Trace& trace);
/// The same text in parts of about a mebibyte.
void write_json(const Trace& trace, const std::function<void(std::string_view)>& give);

std::string trace_schema();

}  // namespace berth::io
