#include "host/core/backend/backends.hpp"

#include "berth/error.hpp"

namespace berth::core {
namespace {

constexpr int kMaxFailures = 3;  // a broken driver can take seconds to say so

}  // namespace

void check_threads(int threads) {
  if (threads < 1 || threads > 4096) throw InvalidArgument("threads is " + std::to_string(threads) + ", not in 1..4096");
}

void Backends::begin() {
  answered_ = failed_ = false;
  why_cpu_.clear();
  device_.clear();
}

void Backends::use_device(const std::string& device) {
  if (device == wanted_device_) return;
  cuda_.reset();
  failures_ = 0;
  wanted_device_ = device;
}

PlacementBackend& Backends::get(Backend wanted, int threads) {
  if (wanted == Backend::kReference) {
    if (!reference_) reference_ = make_reference_backend();
    return *reference_;
  }
  if (wanted == Backend::kCuda && !failed_) {
    if (!cuda_ && failures_ < kMaxFailures) {
      bool short_memory = false;
      cuda_ = make_cuda_backend(cuda_failure_, &short_memory, wanted_device_);
      if (!cuda_ && !short_memory) ++failures_;
    }
    if (cuda_) return *cuda_;
    failed_ = true;
    why_cpu_ = cuda_failure_;
  }
  // One scheduling pass is faster on a CPU thread than on any GPU. From how many passes or pairs a GPU is faster has
  // not been measured, so `auto` chooses the CPU.
  if (!cpu_ || cpu_threads_ != threads) {
    cpu_ = make_cpu_backend(threads);
    cpu_threads_ = threads;
  }
  return *cpu_;
}

const char* Backends::name(Backend wanted, const PlacementBackend& backend, std::string& note) {
  note.clear();
  device_.clear();
  if (wanted != Backend::kCuda) return backend.name();
  if (!failed_ && (answered_ || why_cpu_.empty())) {
    device_ = backend.device();
    return "cuda";
  }
  note = why_cpu_;
  return "cpu";
}

// Its memory too: where memory is short, that may be what the next operation needs.
void Backends::give_up_gpu(const DeviceError& error) {
  cuda_.reset();
  failed_ = true;
  why_cpu_ = cuda_failure_ = error.what();
  if (!error.short_memory()) ++failures_;
}

}  // namespace berth::core
