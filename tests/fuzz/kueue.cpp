// Any bytes as objects of Kueue: an error with its location, or a snapshot that reads back unchanged after writing, and
// can be planned.
#include "host/io/kueue/kueue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/fuzz/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  try {
    const io::KueueInput input{"kueue", std::string(reinterpret_cast<const char*>(data), size)};
    const Snapshot snapshot = io::import_kueue({input}).snapshot;
    check_snapshot(snapshot);
    fuzz::hold(io::parse_snapshot(io::to_json(snapshot)) == snapshot, "what was written is not what was read");
    if (snapshot.jobs.size() > 64 || snapshot.nodes.size() > 64) return 0;
    Engine().decide(ClusterState(snapshot), Request{});
  } catch (const InputError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}
