#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <source_location>
#include <stdexcept>
#include <string>

#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// A CUDA call failed. Used only inside the library; entry.cu turns it into a status.
class CudaError : public std::runtime_error {
 public:
  CudaError(cuda_abi::Status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  cuda_abi::Status status() const { return status_; }

 private:
  cuda_abi::Status status_;
};

/// Throws when `error` is not success. @param what  The failed action, for the message: "upload node_free".
inline void check(cudaError_t error, const char* what, std::source_location at = std::source_location::current()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears an error that is not sticky
  const std::string file = at.file_name();
  throw CudaError(error == cudaErrorMemoryAllocation ? cuda_abi::Status::kOutOfMemory : cuda_abi::Status::kFailed,
                  std::string(what) + ": " + cudaGetErrorString(error) + " (" + file.substr(file.rfind('/') + 1) + ":" +
                      std::to_string(at.line()) + ")");
}

/// For destructors: a call that can throw has reported or will report the error.
inline void check_noexcept(cudaError_t error) noexcept {
  if (error != cudaSuccess) cudaGetLastError();
}

/// Makes a device current and restores the caller's device.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    check(cudaGetDevice(&before_), "query the current device");
    if (before_ != device) check(cudaSetDevice(device), "choose the device");
    changed_ = before_ != device;
  }
  ~DeviceScope() {
    if (changed_) check_noexcept(cudaSetDevice(before_));
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// An owned stream that does not wait for the legacy default stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream"); }
  ~Stream() { check_noexcept(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait(const char* what, std::source_location at = std::source_location::current()) const {
    check(cudaStreamSynchronize(stream_), what, at);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace berth::cuda
