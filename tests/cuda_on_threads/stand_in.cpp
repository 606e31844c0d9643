#include "tests/cuda_on_threads/stand_in.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace berth::cuda_on_threads {
namespace {

const Control& load() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  void* library = dlopen((folder / "libberth_cuda.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<ControlFunction>(dlsym(library, kControlName));
  if (entry == nullptr) throw std::runtime_error(dlerror());
  return *entry();
}

}  // namespace

const Control& stand_in() {
  static const Control& control = load();
  return control;
}

void set(const Settings& settings) { stand_in().set(&settings); }

Counts counts() {
  Counts now{};
  stand_in().read(&now);
  return now;
}

std::string in_use() {
  const Counts now = counts();
  std::string text;
  const auto add = [&](std::int64_t n, const char* what) {
    if (n != 0) text += std::to_string(n) + what;
  };
  add(now.device_bytes, " bytes of a device, ");
  add(now.pinned_bytes, " bytes of pinned memory, ");
  add(now.streams, " streams, ");
  add(now.graphs, " graphs, ");
  return text;
}

}  // namespace berth::cuda_on_threads
