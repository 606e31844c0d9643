#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/cuda_on_threads/arena.hpp"
#include "tests/cuda_on_threads/control.hpp"

/// The state of the CUDA runtime on threads, and how a call enters it.
///
/// Promise: one call at a time, whichever thread it is of. A failing call does nothing but fail. After a sticky error every
/// call fails with it that CUDA lets fail.
namespace berth::cuda_on_threads {

/// Something that a stream does later. Repeatable, because a graph repeats it.
struct Work {
  std::function<cudaError_t()> run;
  const void* pinned = nullptr;  // host memory that it copies from or to
};

struct Device {
  std::unique_ptr<Arena> arena;
  std::map<const void*, int> dynamic_shared;  // of a kernel, as it was set
};

struct Runtime {
  std::recursive_mutex mutex;
  Settings settings;
  Counts counts{};
  std::uint64_t epoch = 1;  // of the settings
  int process = 0;          // that uses it
  cudaError_t sticky = cudaSuccess;
  std::string sticky_text;
  std::uint64_t random = 1;
  std::vector<const char*> calls;
  std::array<Device, kMaxDevices> devices;
  std::map<const void*, std::size_t> pinned;
  std::set<cudaStream_t> streams;
  std::map<const void*, std::int64_t> kernels;  // launches of each
  std::string misuse;

  static Runtime& get();
  void apply(const Settings& chosen);
  bool coin();  // by the seed
};

/// What belongs to the calling host thread.
struct HostThread {
  std::uint64_t epoch = 0;
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStream_t capturing = nullptr;

  static HostThread& get();
};

enum class Needs : std::uint8_t {
  kNothing,          // works without a device, and after a sticky error
  kContext,          // creates a context on the current device
  kContextNoRecord,  // the same, and breaks a capture of this thread
};

using Body = std::function<cudaError_t(Runtime&, Device&)>;

/// Runs `body` unless the call is to fail. Every function of the runtime goes through here.
/// @param instead  What happens even where the call fails as the settings ask.
cudaError_t call(const char* name, Needs needs, const Body& body, const std::function<void()>& instead = {});

/// Does what the stream has to do, all of it. The error becomes sticky.
cudaError_t run_all(Runtime& runtime, cudaStream_t stream);
/// The same for all streams of a device, as calls do that free memory.
cudaError_t run_all_of_device(Runtime& runtime, int device);
/// Gives work to a stream, or to its recording.
cudaError_t enqueue(Runtime& runtime, cudaStream_t stream, Work work);
/// Lines of kernels and how often they were launched.
const char* kernel_names(Runtime& runtime);
/// The name of the function at an address of this library; empty when it has no symbols.
std::string name_of(const void* function);

}  // namespace berth::cuda_on_threads

struct CUgraph_st {
  std::vector<berth::cuda_on_threads::Work> work;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<berth::cuda_on_threads::Work>> work;
};
struct CUstream_st {
  int device = 0;
  std::deque<berth::cuda_on_threads::Work> queue;
  std::unique_ptr<CUgraph_st> recording;  // while it is captured
  bool broken = false;                    // the capture
};
