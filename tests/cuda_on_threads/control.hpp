#pragma once

#include <cstdint>

/// What a test sets and reads of the CUDA runtime on threads, in the plugin that it has loaded. Plain data, as across
/// the interface of libberth_cuda.
namespace berth::cuda_on_threads {

/// When the work of a stream is done: as late as CUDA allows (when something waits for it), at once, or at random.
enum class Lateness : std::int32_t { kLate, kEager, kRandom };

/// The order of the threads of a block and of the blocks of a grid.
enum class Order : std::int32_t { kAscending, kDescending, kRandom };

/// How a chosen runtime call fails. A sticky error stays for the process, as after a kernel's illegal access.
/// Where the device disappears, it is also no longer listed. kThrows: it throws what is no std::exception.
enum class Failure : std::int32_t { kNone, kOnce, kSticky, kDisappears, kThrows };

constexpr std::int32_t kMaxDevices = 4;

struct Settings {
  std::int32_t devices = 1;
  std::int32_t driver = 13000;        // CUDA version that it knows; 0: there is none
  std::int32_t capability = 90;       // 10 * major + minor, of every device
  std::int32_t first_capability = 0;  // that of device 0, where it differs
  std::int32_t has_code_from = 80;    // devices below have no code in this build
  std::int32_t multiprocessors = 2;
  std::int32_t shared_optin = 227 << 10;               // bytes that a block may use at most
  std::int64_t memory = std::int64_t{1} << 30;         // bytes of each device
  std::int64_t taken = 0;                              // by other processes, after the free memory was queried
  std::int64_t pinned_memory = std::int64_t{1} << 40;  // bytes of the host that can be pinned
  Lateness lateness = Lateness::kLate;
  Order order = Order::kAscending;
  std::uint64_t seed = 1;
  std::int32_t late_pageable = 0;  // 1: copies to pageable memory are late too, which CUDA does not do today
  Failure failure = Failure::kNone;
  std::int64_t failing_call = -1;  // its number since the settings
  std::int32_t error = 999;        // that it returns: cudaErrorUnknown
};

/// Since the settings, but for what is in use now.
struct Counts {
  std::int64_t calls;     // that can fail
  std::int64_t launches;  // of kernels, those of graphs included
  std::int64_t kernels;   // different ones
  std::int64_t blocks;
  std::int64_t sorts;
  std::int64_t graph_launches;
  std::int64_t failures;                                     // calls that failed as the settings ask
  std::int64_t contexts[kMaxDevices];                        // 1: a context was created on that device
  std::int64_t device_bytes, pinned_bytes, streams, graphs;  // in use
};

struct Control {
  /// Forgets errors, counts and contexts. No memory, stream or graph may be in use, unless the last error was sticky.
  void (*set)(const Settings* settings);
  void (*read)(Counts* counts);
  /// The runtime function of that call; null when there was none.
  const char* (*call)(std::int64_t number);
  /// Kernels launched since the library was loaded, one a line.
  const char* (*kernels)();
  /// What the calls did that CUDA forbids and does not report, one a line.
  const char* (*misuse)();
};

inline constexpr const char* kControlName = "berth_cuda_on_threads";
using ControlFunction = const Control* (*)();

}  // namespace berth::cuda_on_threads
