#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace berth::cuda {

/// Products of matrices of bytes by cuBLAS, which is loaded when it is first needed: it is larger than all the rest.
class ByteProduct {
 public:
  ByteProduct() = default;
  ~ByteProduct();
  ByteProduct(const ByteProduct&) = delete;
  ByteProduct& operator=(const ByteProduct&) = delete;

  /// False where there is no cuBLAS that can be used, or one failed.
  bool usable();
  /// out [m][n] = left [m][k] x right [n][k] transposed, ordered on `stream`. n is a multiple of 4, k of 16.
  /// False where it failed. The caller then finds the product in another way.
  bool run(cudaStream_t stream, const std::int8_t* left, const std::int8_t* right, std::int32_t* out, std::int32_t m, std::int32_t n,
           std::int32_t k);

 private:
  void* handle_ = nullptr;
  bool tried_ = false;
};

}  // namespace berth::cuda
