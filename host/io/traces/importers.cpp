#include "host/io/traces/importers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/traces/trace_json.hpp"

namespace berth::io {

#define IMPORTER(folder, name) std::vector<Importer> name##_importers();
#include "host/io/traces/importers.def"
#undef IMPORTER

namespace {

std::vector<Importer> sorted_importers() {
  std::vector<Importer> all;
  const auto add = [&all](const std::vector<Importer>& of_file) { all.insert(all.end(), of_file.begin(), of_file.end()); };
#define IMPORTER(folder, name) add(name##_importers());
#include "host/io/traces/importers.def"
#undef IMPORTER
  std::sort(all.begin(), all.end(), [](const Importer& a, const Importer& b) { return a.name < b.name; });
  return all;
}

}  // namespace

const std::vector<Importer>& importers() {
  static const std::vector<Importer> all = sorted_importers();
  return all;
}

Imported import_files(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options) {
  if (files.empty()) throw InvalidArgument("no file to import");
  std::string known;
  for (const Importer& one : importers()) {
    if (one.name == format) {
      Imported imported = one.run(files, options);
      check_profiles(imported.trace, input_name(files.front()));
      return imported;
    }
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw InvalidArgument(fmt::format("unknown trace format '{}'; known: {}", format, known));
}

Trace import_trace(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options) {
  return import_files(format, files, options).trace;
}

}  // namespace berth::io
