// Any text as a snapshot: an error with its location, or a snapshot that reads back unchanged after writing, and can be
// planned.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/fuzz/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Snapshot snapshot = io::parse_snapshot(text);
    fuzz::hold(io::parse_snapshot(io::to_json(snapshot)) == snapshot, "what was written is not what was read");
    if (snapshot.jobs.size() > 64 || snapshot.nodes.size() > 64) return 0;
    const ClusterState state(snapshot);
    Engine().decide(state, Request{});
  } catch (const InputError& error) {
    fuzz::hold(error.file() == "snapshot", "an error that does not name the document");
  }
  return 0;
}
