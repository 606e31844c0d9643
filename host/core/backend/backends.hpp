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
  /// Runs `work(backend)` on the requested backend. A GPU that fails is not used again; the CPU then gives the same
  /// result, bit by bit.
  /// @param note  out: why another backend than the requested one ran; empty otherwise.
  /// @returns the name of the backend that ran.
  template <class Work>
  const char* run(Backend wanted, int threads, std::string& note, const Work& work) {
    note.clear();
    PlacementBackend* backend = &get(wanted, threads, note);
    try {
      work(*backend);
    } catch (const DeviceError& error) {
      cuda_.reset();
      cuda_failure_ = error.what();
      backend = &get(wanted, threads, note);
      work(*backend);
    }
    return backend->name();
  }

 private:
  PlacementBackend& get(Backend wanted, int threads, std::string& note);

  std::unique_ptr<PlacementBackend> reference_, cpu_, cuda_;
  int cpu_threads_ = 0;
  std::string cuda_failure_;  // why the GPU is not used any more
};

}  // namespace berth::core
