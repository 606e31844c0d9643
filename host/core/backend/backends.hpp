#pragma once

#include <memory>
#include <string>

#include "berth/engine.hpp"
#include "host/backend/backend.hpp"
#include "host/core/backend/devices.hpp"

namespace berth::core {

/// @throws InvalidArgument naming the number.
void check_threads(int threads);

/// The backends of one caller, created at first use and kept with their memory.
///
/// A decision may have several operations. Where the GPU fails in one, the CPU gives the same result, bit by bit, and
/// has the rest of the decision. The next decision opens the GPU again, but not after three failures in a row. Short
/// memory is not such a failure.
class Backends {
 public:
  /// A decision begins.
  void begin();
  /// From here on the GPU of this index or UUID; empty: the first that can be used.
  void use_device(const std::string& device);
  /// Gives the memory of the CPU's backend back.
  void release_cpu() { cpu_.reset(); }
  /// The GPU that has answered the decision until now, as text for users; empty where the CPU has.
  const std::string& device() const { return device_; }

  /// Runs `work(backend)` on the requested backend, as one more operation of the decision.
  /// @param note  out: why the GPU has not answered where it was requested; empty otherwise
  /// @throws InvalidArgument for a device that is none of those that there are
  /// @returns the name of the backend of the decision until now: `cuda` where a GPU has completed an operation and has
  /// not failed, or where there was nothing to do.
  template <class Work>
  const char* also(Backend wanted, int threads, std::string& note, const Work& work) {
    PlacementBackend* backend = &get(wanted, threads);
    const std::int64_t on_gpu = backend->gpu_operations(), on_cpu = backend->cpu_operations();
    try {
      work(*backend);
      if (backend->gpu_operations() > on_gpu) {
        failures_ = 0;
        answered_ = true;
      }
      if (backend->cpu_operations() > on_cpu && !failed_) why_cpu_ = backend->why_cpu();
    } catch (const DeviceError& error) {
      give_up_gpu(error);
      backend = &get(Backend::kCpu, threads);
      work(*backend);
    }
    return name(wanted, *backend, note);
  }

  /// A decision with one operation.
  template <class Work>
  const char* run(Backend wanted, int threads, std::string& note, const Work& work) {
    begin();
    return also(wanted, threads, note, work);
  }

 private:
  PlacementBackend& get(Backend wanted, int threads);
  const char* name(Backend wanted, const PlacementBackend& backend, std::string& note);
  void give_up_gpu(const DeviceError& error);

  std::unique_ptr<PlacementBackend> reference_, cpu_, cuda_;
  std::string wanted_device_;
  int cpu_threads_ = 0;
  int failures_ = 0;          // of the GPU in a row
  std::string cuda_failure_;  // the last one
  // Of the decision:
  bool answered_ = false;  // by the GPU, at least once
  bool failed_ = false;    // the GPU, or it could not be opened
  std::string why_cpu_, device_;
};

}  // namespace berth::core
