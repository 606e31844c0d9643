#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <source_location>
#include <type_traits>

#include "cuda/check.hpp"

/// Declares the dynamic shared memory of a block, in a kernel. Only this and `launch` differ from one kind of device to another.
#ifndef BERTH_DYNAMIC_SHARED
#define BERTH_DYNAMIC_SHARED(Type, name) extern __shared__ Type name[]
#endif

namespace berth::cuda {

/// Launches a kernel: `launch(kernel, grid, block, shared, stream)(arguments...)`. Every launch goes through here.
/// An error stays for `check_launch` or `cudaGetLastError`.
/// @param shared  Bytes of dynamic shared memory.
template <class... Parameters>
auto launch(void (*kernel)(Parameters...), unsigned grid, unsigned block, std::size_t shared, cudaStream_t stream) {
  return [=](const std::type_identity_t<Parameters>&... arguments) {
    void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
    static_cast<void>(cudaLaunchKernel(kernel, dim3(grid), dim3(block), addresses, shared, stream));
  };
}

/// Checks a launch. Debug builds also wait for it, so that a fault is reported where it happened.
inline void check_launch(cudaStream_t stream, const char* what, std::source_location at = std::source_location::current()) {
  check(cudaGetLastError(), what, at);
#ifndef NDEBUG
  check(cudaStreamSynchronize(stream), what, at);
#else
  (void)stream;
#endif
}

}  // namespace berth::cuda
