#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"

namespace berth::io {

namespace {

/// A trace in the normal form, as other importers write it. Its source, notes and counts of dropped rows are kept.
Imported import_normal_form(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  if (files.size() != 1) throw InvalidArgument(fmt::format("trace takes one file, and {} are given", files.size()));
  return {read_trace(files.front()), std::nullopt, {}};
}

}  // namespace

std::vector<Importer> trace_importers() {
  return {
      {"trace", "a trace in the normal form, as import writes it without --at", "one berth.trace.v1", import_normal_form},
  };
}

}  // namespace berth::io
