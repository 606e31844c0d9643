#include <algorithm>
#include <cstdio>

#include "tests/cuda_on_threads/runtime.hpp"

/// Drivers, devices and their properties.
namespace berth::cuda_on_threads {
namespace {

constexpr int kClockKhz = 1'000'000, kMemoryClockKhz = 2'500'000, kBusBits = 64;  // 40 GB/s

bool exists(const Runtime& runtime, int device) { return device >= 0 && device < runtime.settings.devices; }

}  // namespace
}  // namespace berth::cuda_on_threads

using namespace berth::cuda_on_threads;

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", Needs::kNothing, [&](Runtime& runtime, Device&) {
    *version = runtime.settings.driver;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceCount(int* n) {
  return call("cudaGetDeviceCount", Needs::kNothing, [&](Runtime& runtime, Device&) {
    *n = runtime.settings.devices;
    if (runtime.settings.driver < CUDART_VERSION / 1000 * 1000) return cudaErrorInsufficientDriver;
    return *n == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", Needs::kNothing, [&](Runtime& runtime, Device&) {
    if (!exists(runtime, device)) return cudaErrorInvalidDevice;
    *properties = {};
    std::snprintf(properties->name, sizeof(properties->name), "threads of the host, %d", device);
    properties->uuid.bytes[0] = '\xab';
    properties->uuid.bytes[15] = static_cast<char>(device);
    properties->totalGlobalMem = static_cast<std::size_t>(runtime.settings.memory);
    const bool first = device == 0 && runtime.settings.first_capability != 0;
    const int capability = first ? runtime.settings.first_capability : runtime.settings.capability;
    properties->major = capability / 10;
    properties->minor = capability % 10;
    properties->multiProcessorCount = runtime.settings.multiprocessors;
    properties->memoryBusWidth = kBusBits;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", Needs::kNothing, [&](Runtime& runtime, Device&) {
    if (!exists(runtime, device)) return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevAttrMultiProcessorCount:
        *value = runtime.settings.multiprocessors;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = runtime.settings.shared_optin;
        break;
      case cudaDevAttrClockRate:
        *value = kClockKhz;
        break;
      case cudaDevAttrMemoryClockRate:
        *value = kMemoryClockKhz;
        break;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", Needs::kNothing, [&](Runtime&, Device&) {
    *device = HostThread::get().device;
    return cudaSuccess;
  });
}

// Since CUDA 12 it creates a context.
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", Needs::kNothing, [&](Runtime& runtime, Device&) {
    if (runtime.sticky != cudaSuccess) return runtime.sticky;
    if (!exists(runtime, device)) return cudaErrorInvalidDevice;
    HostThread::get().device = device;
    runtime.counts.contexts[device] = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", Needs::kContext, [&](Runtime&, Device& device) {
    *total = device.arena->total();
    *free = device.arena->total() - device.arena->used();
    return cudaSuccess;
  });
}
