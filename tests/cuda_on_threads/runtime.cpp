#include "tests/cuda_on_threads/runtime.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace berth::cuda_on_threads {

namespace {

/// For programs that set nothing themselves: everything in a random order, by BERTH_CUDA_ON_THREADS_SEED.
Settings first_settings() {
  Settings settings;
  const char* seed = std::getenv("BERTH_CUDA_ON_THREADS_SEED");
  if (seed != nullptr) settings.seed = std::strtoull(seed, nullptr, 10);
  settings.order = Order::kRandom;
  settings.lateness = Lateness::kRandom;
  settings.late_pageable = 1;
  return settings;
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime* const runtime = [] {
    auto* made = new Runtime;  // never destroyed: other threads may end later
    made->apply(first_settings());
    made->process = getpid();
    return made;
  }();
  return *runtime;
}

HostThread& HostThread::get() {
  thread_local HostThread thread;
  const std::uint64_t now = Runtime::get().epoch;
  if (thread.epoch != now) thread = HostThread{now};
  return thread;
}

void Runtime::apply(const Settings& chosen) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  const Counts before = counts;
  settings = chosen;
  random = chosen.seed;
  ++epoch;
  counts = {};
  calls.clear();
  misuse.clear();
  if (sticky == cudaSuccess) {
    counts.device_bytes = before.device_bytes;
    counts.pinned_bytes = before.pinned_bytes;
    counts.streams = before.streams;
    counts.graphs = before.graphs;
  } else {
    // Nothing could be freed after the error. This is the next process.
    for (const cudaStream_t stream : streams) delete stream;
    streams.clear();
    for (const auto& [data, bytes] : pinned) ::operator delete (const_cast<void*>(data), std::align_val_t{256});
    pinned.clear();
    for (Device& device : devices) device.arena.reset();
  }
  sticky = cudaSuccess;
  sticky_text.clear();
  for (Device& device : devices) {
    device.dynamic_shared.clear();
    if (device.arena == nullptr || (device.arena->used() == 0 && device.arena->total() != static_cast<std::size_t>(chosen.memory)))
      device.arena = std::make_unique<Arena>(static_cast<std::size_t>(chosen.memory));
  }
}

bool Runtime::coin() {
  random = random * 6364136223846793005U + 1442695040888963407U;
  return (random >> 40) % 2 == 0;
}

namespace {

/// What the settings make of this call; cudaSuccess: it may go on.
cudaError_t chosen_failure(Runtime& runtime, std::int64_t number) {
  const Settings& settings = runtime.settings;
  if (settings.failure == Failure::kNone || number != settings.failing_call) return cudaSuccess;
  ++runtime.counts.failures;
  if (settings.failure == Failure::kThrows) throw settings.failing_call;
  const auto error = static_cast<cudaError_t>(settings.error);
  if (settings.failure != Failure::kOnce) runtime.sticky = error;
  if (settings.failure == Failure::kDisappears) runtime.settings.devices = 0;
  return error;
}

cudaError_t enter(Runtime& runtime, Needs needs) {
  if (needs == Needs::kNothing) return cudaSuccess;
  if (runtime.sticky != cudaSuccess) return runtime.sticky;
  if (runtime.settings.devices == 0) return cudaErrorNoDevice;
  HostThread& thread = HostThread::get();
  if (needs == Needs::kContextNoRecord && thread.capturing != nullptr) {
    thread.capturing->broken = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  runtime.counts.contexts[thread.device] = 1;
  return cudaSuccess;
}

}  // namespace

cudaError_t call(const char* name, Needs needs, const Body& body, const std::function<void()>& instead) {
  Runtime& runtime = Runtime::get();
  if (getpid() != runtime.process) {  // CUDA documents no behaviour, and some calls hang
    std::fputs("a call of CUDA in a child of a fork\n", stderr);
    std::_Exit(99);
  }
  const std::lock_guard<std::recursive_mutex> lock(runtime.mutex);
  HostThread& thread = HostThread::get();
  runtime.calls.push_back(name);
  cudaError_t error = chosen_failure(runtime, runtime.counts.calls++);
  if (error != cudaSuccess && instead) instead();
  if (error == cudaSuccess) error = enter(runtime, needs);
  if (error == cudaSuccess) error = body(runtime, runtime.devices[static_cast<std::size_t>(thread.device)]);
  if (error != cudaSuccess) thread.last_error = error;
  return error;
}

}  // namespace berth::cuda_on_threads

using berth::cuda_on_threads::call;
using berth::cuda_on_threads::Device;
using berth::cuda_on_threads::HostThread;
using berth::cuda_on_threads::Needs;
using berth::cuda_on_threads::Runtime;

cudaError_t cudaGetLastError() {
  HostThread& thread = HostThread::get();
  const cudaError_t before = thread.last_error;
  const cudaError_t failure = call("cudaGetLastError", Needs::kNothing, [](Runtime&, Device&) { return cudaSuccess; });
  thread.last_error = cudaSuccess;
  if (failure != cudaSuccess) return failure;
  const cudaError_t sticky = Runtime::get().sticky;
  return sticky != cudaSuccess ? sticky : before;
}

const char* cudaGetErrorString(cudaError_t error) {
  const Runtime& runtime = Runtime::get();
  if (error == runtime.sticky && !runtime.sticky_text.empty()) return runtime.sticky_text.c_str();
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorDevicesUnavailable:
      return "CUDA-capable device(s) is/are busy or unavailable";
    case cudaErrorInvalidDeviceFunction:
      return "invalid device function";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for execution on the device";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorUnknown:
      return "unknown error";
  }
  return "unrecognized error code";
}

namespace {

using namespace berth::cuda_on_threads;

void set(const Settings* settings) { Runtime::get().apply(*settings); }

void read(Counts* counts) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(runtime.mutex);
  *counts = runtime.counts;
  counts->kernels = static_cast<std::int64_t>(runtime.kernels.size());
}

const char* call_name(std::int64_t number) {
  const Runtime& runtime = Runtime::get();
  return number < 0 || number >= static_cast<std::int64_t>(runtime.calls.size()) ? nullptr
                                                                                 : runtime.calls[static_cast<std::size_t>(number)];
}

const char* kernels() { return kernel_names(Runtime::get()); }
const char* misuse() { return Runtime::get().misuse.c_str(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const Control* berth_cuda_on_threads() {
  static constexpr Control kControl{set, read, call_name, kernels, misuse};
  return &kControl;
}
