// Any text as output of Slurm's commands: an error with its location, or a valid snapshot that reads back unchanged
// after writing, and can be planned.
#include "host/io/slurm/slurm.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/fuzz/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Snapshot snapshot;
  try {
    snapshot = io::import_slurm({{"slurm", text}}).snapshot;
  } catch (const InputError&) {
    return 0;
  }
  // An invalid snapshot would be reported at locations that no file has.
  try {
    check_snapshot(snapshot);
  } catch (const InputError& error) {
    fuzz::hold(false, error.what());
  }
  fuzz::hold(io::parse_snapshot(io::to_json(snapshot)) == snapshot, "what was written is not what was read");
  if (snapshot.jobs.size() > 64 || snapshot.nodes.size() > 64) return 0;
  Engine().decide(ClusterState(snapshot), Request{});
  return 0;
}
