#include "cuda/product.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace berth::cuda {
namespace {

// cuBLAS's values and types, without its headers: it is not needed where this is compiled. They are the same in 12 and 13.
constexpr int kOk = 0, kAsStored = 0, kTransposed = 1, kInt8 = 3, kInt32 = 10, kSumInt32 = 72, kAnyAlgorithm = -1;
using Handle = void*;

struct Cublas {
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*set_stream)(Handle, cudaStream_t) = nullptr;
  int (*gemm)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*, void*, int, int, int,
              int) = nullptr;

  bool complete() const { return create != nullptr && destroy != nullptr && set_stream != nullptr && gemm != nullptr; }
};

// Never closed: it keeps state of the device.
const Cublas& cublas() {
  static const Cublas loaded = [] {
    Cublas c;
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) return c;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find("cublasCreate_v2", c.create);
    find("cublasDestroy_v2", c.destroy);
    find("cublasSetStream_v2", c.set_stream);
    find("cublasGemmEx", c.gemm);
    return c;
  }();
  return loaded;
}

}  // namespace

ByteProduct::~ByteProduct() {
  if (handle_ != nullptr) cublas().destroy(handle_);
}

bool ByteProduct::usable() {
  if (!tried_) {
    tried_ = true;
    if (!cublas().complete() || cublas().create(&handle_) != kOk) handle_ = nullptr;
    cudaGetLastError();  // what it could not do is not an error of ours
  }
  return handle_ != nullptr;
}

// cuBLAS stores by columns: its matrices are the transposed ones, and so is its product.
bool ByteProduct::run(cudaStream_t stream, const std::int8_t* left, const std::int8_t* right, std::int32_t* out, std::int32_t m,
                      std::int32_t n, std::int32_t k) {
  const std::int32_t one = 1, zero = 0;
  const bool ok =
      cublas().set_stream(handle_, stream) == kOk && cublas().gemm(handle_, kTransposed, kAsStored, n, m, k, &one, right, kInt8, k, left,
                                                                   kInt8, k, &zero, out, kInt32, n, kSumInt32, kAnyAlgorithm) == kOk;
  if (ok) return true;
  cublas().destroy(handle_);
  handle_ = nullptr;
  cudaGetLastError();
  return false;
}

}  // namespace berth::cuda
