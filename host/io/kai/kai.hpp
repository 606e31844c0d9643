#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::io {

struct KaiImport {
  Snapshot snapshot;
  std::vector<std::string> notes;  ///< assumptions and omissions, counted by cause
};

/// Creates a snapshot from the output of KAI-Scheduler's `snapshot` plugin: a zip archive with snapshot.json, or that JSON.
///
/// docs/kai.md describes the translation of every field. Time 0 is 1970-01-01 UTC; `now` is the latest instant in the objects.
/// @param bytes  The file, with gzip already unpacked.
/// @throws InputError naming file, line, JSON pointer and value, also when pods hold more GPUs of a node than it has.
KaiImport import_kai(std::string_view bytes, const std::string& name);

}  // namespace berth::io
