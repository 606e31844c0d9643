#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::io {

struct KaiImport {
  Snapshot snapshot;
  std::vector<std::string> notes;  ///< what was assumed or left out, counted by cause
};

/// The snapshot of a cluster from what KAI-Scheduler's `snapshot` plugin writes: a zip archive with snapshot.json, or that JSON.
///
/// docs/kai.md says what becomes of every field. Time 0 is 1970-01-01 UTC; `now` is the latest instant that the objects name.
/// @param bytes  The file, gzip already unpacked.
/// @throws InputError naming file, line, JSON pointer and value, also when pods hold more GPUs of a node than it has.
KaiImport import_kai(std::string_view bytes, const std::string& name);

}  // namespace berth::io
