#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cuda_on_threads/runtime.hpp"

/// The stand-in keeps what it promises: what it would not report, no test of the CUDA code could see.
namespace berth::cuda_on_threads::runtime_test {
namespace {

__global__ void add_kernel(int* values, int more) { values[threadIdx.x] += more; }

__global__ void some_wait_kernel(int waiting) {
  if (static_cast<int>(threadIdx.x) < waiting) __syncthreads();
}

__global__ void two_barriers_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads_or(1);
  }
}

template <class... Parameters, class... Arguments>
cudaError_t run(void (*kernel)(Parameters...), unsigned threads, std::size_t shared, cudaStream_t stream, Arguments... arguments) {
  void* addresses[] = {&arguments..., nullptr};
  return cudaLaunchKernel(kernel, dim3(1), dim3(threads), addresses, shared, stream);
}

class CudaRuntimeOnThreads : public testing::Test {
 protected:
  void SetUp() override {
    Runtime::get().apply({});
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), 32 * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 32 * sizeof(int)), cudaSuccess);
    for (int i = 0; i < 32; ++i) pinned_[i] = i;
  }
  void TearDown() override {
    cudaStreamDestroy(stream_);
    cudaFree(device_);
    cudaFreeHost(pinned_);
  }
  cudaError_t upload(const int* from) { return cudaMemcpyAsync(device_, from, 32 * sizeof(int), cudaMemcpyHostToDevice, stream_); }
  cudaError_t download(int* to) { return cudaMemcpyAsync(to, device_, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream_); }

  cudaStream_t stream_ = nullptr;
  int* device_ = nullptr;
  int* pinned_ = nullptr;
};
using CudaRuntimeOnThreadsDeathTest = CudaRuntimeOnThreads;

TEST_F(CudaRuntimeOnThreadsDeathTest, HostCodeThatTouchesDeviceMemoryCrashes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(device_[0] = 1, "");
  EXPECT_DEATH(pinned_[0] = *const_cast<volatile int*>(device_), "");
}

TEST_F(CudaRuntimeOnThreads, PinnedMemoryIsReadWhenTheStreamComesToIt) {
  int got[32] = {};
  ASSERT_EQ(upload(pinned_), cudaSuccess);
  pinned_[3] = 77;  // too early

  ASSERT_EQ(download(got), cudaSuccess);

  EXPECT_EQ(got[3], 77);
}

TEST_F(CudaRuntimeOnThreads, PageableMemoryIsReadAtOnce) {
  int from[32] = {}, got[32] = {};
  from[3] = 5;
  ASSERT_EQ(upload(from), cudaSuccess);
  from[3] = 77;

  ASSERT_EQ(download(got), cudaSuccess);

  EXPECT_EQ(got[3], 5);
}

TEST_F(CudaRuntimeOnThreads, KernelsRunInTheOrderOfTheirStream) {
  int got[32] = {};
  ASSERT_EQ(upload(pinned_), cudaSuccess);
  ASSERT_EQ(run(add_kernel, 32, 0, stream_, device_, 100), cudaSuccess);
  EXPECT_EQ(Runtime::get().counts.launches, 0);

  ASSERT_EQ(download(got), cudaSuccess);

  EXPECT_EQ(Runtime::get().counts.launches, 1);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(got[i], 100 + i);
}

TEST_F(CudaRuntimeOnThreads, ABarrierThatSomeThreadsDoNotReachIsReportedAndSticks) {
  ASSERT_EQ(run(some_wait_kernel, 32, 0, stream_, 3), cudaSuccess);

  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorLaunchFailure);

  const std::string text = cudaGetErrorString(cudaErrorLaunchFailure);
  EXPECT_NE(text.find("some_wait_kernel, block 0: deadlock: 29 of 32 threads ended"), std::string::npos) << text;
  EXPECT_NE(text.find("runtime_test.cpp:"), std::string::npos) << text;
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorLaunchFailure);
}

TEST_F(CudaRuntimeOnThreads, ThreadsThatMeetAtDifferentBarriersAreReported) {
  ASSERT_EQ(run(two_barriers_kernel, 32, 0, stream_), cudaSuccess);

  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorLaunchFailure);

  EXPECT_NE(std::string(cudaGetErrorString(cudaErrorLaunchFailure)).find("meet at different barriers"), std::string::npos);
}

TEST_F(CudaRuntimeOnThreads, ACaptureRecordsAndIsBrokenByAnAllocation) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(run(add_kernel, 32, 0, stream_, device_, 1), cudaSuccess);
  void* more = nullptr;

  EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorStreamCaptureUnsupported);

  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(Runtime::get().counts.launches, 0);
}

TEST_F(CudaRuntimeOnThreads, WhatLeavesAnAllocationOrALimitIsAnError) {
  int host[64] = {};
  EXPECT_EQ(cudaMemcpyAsync(device_, host, 33 * sizeof(int), cudaMemcpyHostToDevice, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, device_ + 1, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(host, 0, sizeof(host), stream_), cudaErrorInvalidValue);
  EXPECT_EQ(run(add_kernel, 2048, 0, stream_, device_, 1), cudaErrorInvalidValue);
  EXPECT_EQ(run(add_kernel, 32, 47 << 10, stream_, device_, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device_ + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaRuntimeOnThreads, PinnedMemoryThatIsFreedTooEarlyIsReported) {
  int* early = nullptr;
  ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&early), 32 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(upload(early), cudaSuccess);

  EXPECT_EQ(cudaFreeHost(early), cudaSuccess);

  EXPECT_EQ(Runtime::get().misuse, "cudaFreeHost of memory that a stream has not copied yet\n");
}

}  // namespace
}  // namespace berth::cuda_on_threads::runtime_test
