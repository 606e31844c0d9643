// The first line names a format of topologies, the rest is a file of it: an error with its location, or a snapshot that
// reads back unchanged. What is written of it is read again, where the format can hold it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/topology/apply_links.hpp"
#include "host/io/topology/topology_formats.hpp"
#include "tests/fuzz/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return 0;
  const fuzz::MemoryFile file(text.substr(end + 1));
  for (const io::TopologyReader& reader : io::topology_readers()) {
    if (reader.name != text.substr(0, end)) continue;
    try {
      io::ImportNotes notes;
      io::TopologyModel model = reader.read({file.path()}, "", notes);
      io::apply_links({}, model);
      Snapshot snapshot;
      io::add_to_snapshot(model, {8, ""}, snapshot);
      check_snapshot(snapshot);
      fuzz::hold(io::parse_snapshot(io::to_json(snapshot)) == snapshot, "what was written is not what was read");
      const io::TopologyModel again = io::model_of(snapshot, "snapshot");
      for (const io::TopologyWriter& writer : io::topology_writers()) {
        try {
          writer.write(again);
        } catch (const InvalidArgument&) {
        }
      }
    } catch (const InputError&) {
    } catch (const InvalidArgument&) {
    }
  }
  return 0;
}
