#include "cuda/product.hpp"

#include <cstddef>

#include "tests/cuda_on_threads/runtime.hpp"

/// The stand-in for cuBLAS, in place of cuda/product.cu. It can be used every second time, so that both ways are tried.
namespace berth::cuda {

using cuda_on_threads::Device;
using cuda_on_threads::Runtime;

ByteProduct::~ByteProduct() = default;

bool ByteProduct::usable() {
  static char handle;
  tried_ = !tried_;
  handle_ = tried_ ? &handle : nullptr;
  return tried_;
}

bool ByteProduct::run(cudaStream_t stream, const std::int8_t* left, const std::int8_t* right, std::int32_t* out, std::int32_t m,
                      std::int32_t n, std::int32_t k) {
  const auto body = [&](Runtime& runtime, Device& device) {
    const auto bytes = [](std::int32_t a, std::int32_t b, std::size_t each) {
      return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * each;
    };
    const bool valid = n % 4 == 0 && k % 16 == 0 && device.arena->holds(left, bytes(m, k, 1)) &&
                       device.arena->holds(right, bytes(n, k, 1)) && device.arena->holds(out, bytes(m, n, sizeof(*out)));
    if (!valid) return cudaErrorInvalidValue;
    return enqueue(runtime, stream, {[=] {
                     for (std::int64_t row = 0; row < m; ++row) {
                       for (std::int64_t column = 0; column < n; ++column) {
                         std::int32_t sum = 0;
                         for (std::int64_t i = 0; i < k; ++i) sum += left[row * k + i] * right[column * k + i];
                         out[row * n + column] = sum;
                       }
                     }
                     return cudaSuccess;
                   }});
  };
  const bool ok = cuda_on_threads::call("cublasGemmEx", cuda_on_threads::Needs::kContext, body) == cudaSuccess;
  if (!ok) cudaGetLastError();
  return ok;
}

}  // namespace berth::cuda
