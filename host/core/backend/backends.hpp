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
class Backends {
 public:
  /// Runs `work(backend)` on the requested backend. Where a GPU fails, the CPU gives the same result, bit by bit.
  /// The next call opens the GPU again, but not after three failures in a row. Short memory is not such a failure.
  /// @param note  out: why another backend than the requested one ran; empty otherwise.
  /// @returns the name of the backend that ran.
  template <class Work>
  const char* run(Backend wanted, int threads, std::string& note, const Work& work) {
    note.clear();
    PlacementBackend* backend = &get(wanted, threads, note);
    const std::int64_t before = backend->gpu_operations();
    try {
      work(*backend);
      if (backend->gpu_operations() > before) failures_ = 0;
    } catch (const DeviceError& error) {
      give_up_gpu(error);
      backend = &get(Backend::kCpu, threads, note);
      note = error.what();
      work(*backend);
    }
    return backend->name();
  }

 private:
  PlacementBackend& get(Backend wanted, int threads, std::string& note);
  void give_up_gpu(const DeviceError& error);

  std::unique_ptr<PlacementBackend> reference_, cpu_, cuda_;
  int cpu_threads_ = 0;
  int failures_ = 0;          // of the GPU in a row
  std::string cuda_failure_;  // the last one
};

}  // namespace berth::core
