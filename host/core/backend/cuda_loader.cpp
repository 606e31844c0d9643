#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <mutex>

#include "berth/build_id.hpp"
#include "berth/version.hpp"
#include "host/core/backend/devices.hpp"
#include "host/core/base/escape_control.hpp"

/// Finds libberth_cuda at run time, so that one build of libberth starts on machines without a GPU or a driver.
namespace berth::core {
namespace {

constexpr const char* kLibrary = "libberth_cuda.so";
constexpr std::size_t kMostEchoed = 80;

/// The folder of the library or program that holds this code, with a slash at the end; empty when not known.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

struct Loaded {
  const cuda_abi::Table* table = nullptr;
  std::string why;
};

/// Never unloaded: the driver may run its own threads in it.
Loaded load() {
  // Search order: the folder of libberth; the folder of a program that contains libberth's code (a test); then the
  // loader's path.
  const std::string folder = own_folder();
  const std::string soname = std::string(kLibrary) + "." + std::to_string(BERTH_VERSION_MAJOR);
  std::vector<std::string> places;
  if (!folder.empty()) {
    places.push_back(folder + kLibrary);
    places.push_back(folder + soname);
    places.push_back(folder + "../lib/" + kLibrary);
  }
  places.push_back(soname);
  Loaded loaded;
  std::string broken;
  for (const std::string& place : places) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      // A file that is there and cannot be loaded; its cause counts more than that others are not there.
      const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
      if (broken.empty() && access(place.c_str(), F_OK) == 0 && error != nullptr) broken = error;
      continue;
    }
    const auto entry = reinterpret_cast<cuda_abi::EntryFunction>(dlsym(library, cuda_abi::kEntryName));
    const cuda_abi::Table* table = entry == nullptr ? nullptr : entry();
    if (table != nullptr && std::strcmp(table->build_id, BERTH_BUILD_ID) == 0) {
      loaded.table = table;
      loaded.why.clear();
      return loaded;
    }
    loaded.why = place + " is of build " + (table == nullptr ? "unknown" : table->build_id) + ", this is " + BERTH_BUILD_ID;
    dlclose(library);
  }
  if (loaded.why.empty() && !broken.empty()) loaded.why = std::string(kLibrary) + " cannot be loaded: " + broken;
  if (loaded.why.empty()) loaded.why = std::string(kLibrary) + " is not installed next to libberth, or cannot be loaded here";
  return loaded;
}

std::string version_text(std::int32_t cuda) { return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10); }

}  // namespace

bool forked_from_cuda() {
  static const pid_t first = getpid();
  return getpid() != first;
}

const cuda_abi::Table* cuda_table(std::string& why) {
  static const Loaded loaded = load();
  why = loaded.why;
  return loaded.table;
}

std::vector<DeviceInfo> list_devices(std::string& why, bool* short_memory) {
  std::vector<DeviceInfo> devices;
  const cuda_abi::Table* table = cuda_table(why);
  if (table == nullptr) return devices;
  if (forked_from_cuda()) {
    why = kForked;
    return devices;
  }
  std::array<cuda_abi::DeviceRow, 64> rows;
  std::int32_t n = 0;
  cuda_abi::Message message{};
  const cuda_abi::Status status = table->list(rows.data(), static_cast<std::int32_t>(rows.size()), &n, &message);
  if (status != cuda_abi::Status::kOk) {
    why = message.text;
    if (short_memory != nullptr) *short_memory = status == cuda_abi::Status::kOutOfMemory;
    return devices;
  }
  for (std::int32_t i = 0; i < n; ++i) {
    const cuda_abi::DeviceRow& row = rows[static_cast<std::size_t>(i)];
    DeviceInfo& device = devices.emplace_back();
    device.index = i;
    device.name = row.name;
    device.uuid = row.uuid;
    device.major = row.major;
    device.minor = row.minor;
    device.multiprocessors = row.multiprocessors;
    device.memory_bytes = row.memory;
    device.memory_bytes_per_s = row.memory_rate;
    device.clock_hz = row.clock;
    device.driver_cuda = version_text(row.driver);
    device.runtime_cuda = version_text(row.runtime);
    device.why_not = row.why_not;
  }
  return devices;
}

std::string device_label(const DeviceInfo& device) { return std::to_string(device.index) + " (" + device.name + ", " + device.uuid + ")"; }

std::vector<DeviceInfo> chosen_devices(const std::vector<DeviceInfo>& devices, const std::string& wanted) {
  if (wanted.empty() || devices.empty()) return devices;
  std::string known;
  for (const DeviceInfo& device : devices) {
    if (wanted == std::to_string(device.index) || wanted == device.uuid) return {device};
    known += (known.empty() ? "" : "; ") + device_label(device);
  }
  throw InvalidArgument("device '" + escape_control(wanted.substr(0, kMostEchoed)) + "': there is none of that index or UUID, but " +
                        known);
}

}  // namespace berth::core
