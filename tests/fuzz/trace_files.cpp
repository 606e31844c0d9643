// The first line names a trace format, the rest is a file of it, possibly packed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "tests/fuzz/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return 0;
  // A line "+" separates two files.
  std::string_view content = text.substr(end + 1);
  std::string_view second;
  if (const std::size_t cut = content.find("\n+\n"); cut != content.npos) {
    second = content.substr(cut + 3);
    content = content.substr(0, cut + 1);
  }
  const fuzz::MemoryFile one(content);
  const fuzz::MemoryFile two(second);
  std::vector<std::string> files{one.path()};
  if (!second.empty()) files.push_back(two.path());
  try {
    const Trace trace = io::import_trace(text.substr(0, end), files);
    const std::string written = io::to_json(trace);
    fuzz::hold(io::to_json(io::parse_trace(written)) == written, "a trace changed on its way");
  } catch (const InputError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}
