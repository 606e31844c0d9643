#include "host/core/backend/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

struct DevicesArguments {
  bool json = false;
};

// What the backend cuda takes where no device is named; null: none.
const core::DeviceInfo* first_usable(const std::vector<core::DeviceInfo>& devices) {
  const auto usable = [](const core::DeviceInfo& device) { return device.why_not.empty(); };
  const auto found = std::find_if(devices.begin(), devices.end(), usable);
  return found == devices.end() ? nullptr : &*found;
}

std::string json_of(unsigned threads, const std::vector<core::DeviceInfo>& devices, const std::string& why) {
  io::JsonWriter out;
  out.object([&] {
    out.number("cpu_threads", threads);
    out.lines(
        "gpus", devices,
        [&](const core::DeviceInfo& device) {
          out.object([&] {
            out.number("index", device.index);
            out.text("name", device.name);
            out.text("uuid", device.uuid);
            out.text("compute_capability", fmt::format("{}.{}", device.major, device.minor));
            out.number("multiprocessors", device.multiprocessors);
            out.number("memory_bytes", device.memory_bytes);
            if (device.memory_bytes_per_s > 0) out.number("memory_bytes_per_s", device.memory_bytes_per_s);
            if (device.clock_hz > 0) out.number("clock_hz", device.clock_hz);
            out.text("driver_cuda", device.driver_cuda);
            out.text("runtime_cuda", device.runtime_cuda);
            out.key("usable");
            out.raw(device.why_not.empty() ? "true" : "false");
            out.key("default");
            out.raw(&device == first_usable(devices) ? "true" : "false");
            out.text_unless("why_not", device.why_not, "");
          });
        },
        true);
    if (devices.empty()) out.text_unless("why_no_gpu", why, "");
  });
  return out.finish();
}

std::string text_of(unsigned threads, const std::vector<core::DeviceInfo>& devices, const std::string& why) {
  std::string text = fmt::format("cpu   {} thread{}\n", threads, threads == 1 ? "" : "s");
  for (const core::DeviceInfo& device : devices) {
    const std::string use = !device.why_not.empty()            ? "not used: " + device.why_not
                            : &device == first_usable(devices) ? "usable, taken where none is named"
                                                               : "usable";
    text += fmt::format("gpu {} {}, compute capability {}.{}, {} multiprocessors, {:.1f} GiB, driver for CUDA {}, built with {}, {}: {}\n",
                        device.index, device.name, device.major, device.minor, device.multiprocessors,
                        static_cast<double>(device.memory_bytes) / (1 << 30), device.driver_cuda, device.runtime_cuda, device.uuid, use);
  }
  if (devices.empty()) text += fmt::format("gpu   none: {}\n", why);
  return text;
}

int run(const DevicesArguments& options) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::string why;
  const std::vector<core::DeviceInfo> devices = core::list_devices(why);
  print(options.json ? json_of(threads, devices, why) : text_of(threads, devices, why));
  return kDone;
}

}  // namespace

void add_devices(Commands& commands) {
  auto options = std::make_shared<DevicesArguments>();
  CLI::App& app = commands.add("devices", "List the processors that Berth can use, and why not the others", "berth devices", options, &run);
  add_json_flag(app, options->json, "Print one JSON object: cpu_threads, gpus");
}

}  // namespace berth::cli
