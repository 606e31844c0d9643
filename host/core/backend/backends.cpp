#include "host/core/backend/backends.hpp"

#include "berth/error.hpp"

namespace berth::core {

void check_threads(int threads) {
  if (threads < 1 || threads > 4096) throw InvalidArgument("threads is " + std::to_string(threads) + ", not in 1..4096");
}

PlacementBackend& Backends::get(Backend wanted, int threads, std::string& note) {
  if (wanted == Backend::kReference) {
    if (!reference_) reference_ = make_reference_backend();
    return *reference_;
  }
  if (wanted == Backend::kCuda && cuda_failure_.empty()) {
    if (!cuda_) cuda_ = make_cuda_backend(cuda_failure_);
    if (cuda_) return *cuda_;
  }
  if (wanted == Backend::kCuda) note = cuda_failure_;
  // One scheduling pass is faster on a CPU thread than on any GPU. From how many passes or pairs a GPU is faster has
  // not been measured, so `auto` chooses the CPU.
  if (!cpu_ || cpu_threads_ != threads) {
    cpu_ = make_cpu_backend(threads);
    cpu_threads_ = threads;
  }
  return *cpu_;
}

}  // namespace berth::core
