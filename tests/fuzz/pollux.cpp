// Measurements of Pollux: the first line names the application and a batch; then placements, scalability and
// validation, separated by lines "+". The importer takes the application from a folder's name, so files in memory do
// not reach this code.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/pollux.hpp"
#include "tests/fuzz/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return 0;
  const auto head = core::split(text.substr(0, end), ' ');
  const auto batch = core::parse_whole(head.back(), INT32_MAX);
  if (!batch || *batch == 0) return 0;
  text.remove_prefix(end + 1);
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) {
    const std::size_t cut = text.find("\n+\n");
    part = text.substr(0, cut == text.npos ? cut : cut + 1);
    text = cut == text.npos ? std::string_view() : text.substr(cut + 3);
  }
  io::PolluxApplication measured;
  const auto read = [&](std::size_t i, const auto& reader) {
    const fuzz::MemoryFile file(parts[i]);
    try {
      io::CsvReader row(file.path());
      reader(row);
    } catch (const InputError&) {
    }
  };
  const std::string application(head.front());
  read(0, [&](io::CsvReader& row) { io::read_pollux_placements(row, measured.types[io::kPolluxGpu]); });
  read(1, [&](io::CsvReader& row) { io::read_pollux_scalability(row, measured.types[io::kPolluxGpu]); });
  const auto global = static_cast<std::int32_t>(*batch), initial = std::max(1, global / 2);
  read(2, [&](io::CsvReader& row) {
    fuzz::hold(io::read_pollux_validation(row, application, global, 0).iterations > 0, "iterations that are none");
  });
  // The same rows as measured at the initial batch and at another.
  for (const std::int32_t one : {initial, global}) {
    read(2, [&](io::CsvReader& row) { measured.validations[one] = io::read_pollux_validation(row, application, one, initial); });
  }
  fuzz::hold(io::pollux_progress(measured, io::pollux_epochs(measured)) >= 0, "progress below none");
  for (const std::int32_t one : {0, global}) {
    for (const RatePoint& point : io::pollux_goodput_profile(measured, application, one, 0, io::pollux_epochs(measured)).points) {
      fuzz::hold(point.gpus > 0 && point.rate > 0, "a goodput of no GPUs or none");
    }
  }
  for (const RatePoint& point : io::pollux_profile(measured, application, global).points) {
    fuzz::hold(point.gpus > 0 && point.rate > 0, "a point of no GPUs or no rate");
  }
  return 0;
}
