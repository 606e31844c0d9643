#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "tests/cuda_on_threads/include/warp.hpp"
#include "tests/cuda_on_threads/runtime.hpp"
#include "tests/support/fibers/fiber_block.hpp"
#include "tests/support/fibers/sanitizers.hpp"

/// Kernels: their launches, attributes, and what one of their threads can ask.
///
/// Promise: the blocks of a grid run one after another and the threads of a block from barrier to barrier, both in the order
/// of the settings. Dynamic shared memory holds rubbish. A block that cannot go on is a launch failure that names the
/// kernel and the barriers. Limits of shared memory are those of the device, with what a kernel has of its own.
namespace berth::cuda_on_threads {
namespace {

constexpr int kStaticShared = 2048;  // of every kernel; the largest has 2,032 (cuda/kernel_resources.tsv)
constexpr int kDefaultShared = 48 << 10;
constexpr std::size_t kMostShared = 256 << 10;
constexpr int kRegisters = 168;  // a thread, as improve_kernel has on sm_90

// Of the block that runs. There is one at a time, as a call holds the lock of the runtime while it does the work of streams.
struct Grid {
  dim3 grid, block;
  unsigned index = 0;
};
Grid running;
test::FiberBlock* running_block = nullptr;
alignas(256) std::byte shared_memory[kMostShared];

test::FiberBlock& block_of_fibers() {
  static auto* const block = new test::FiberBlock;  // never destroyed, as the runtime
  return *block;
}

test::ThreadOrder thread_order(Order order) {
  if (order == Order::kAscending) return test::ThreadOrder::kAscending;
  return order == Order::kDescending ? test::ThreadOrder::kDescending : test::ThreadOrder::kRandom;
}

std::vector<unsigned> block_order(const Runtime& runtime, unsigned n, std::uint64_t seed) {
  std::vector<unsigned> order(n);
  std::iota(order.begin(), order.end(), 0U);
  if (runtime.settings.order == Order::kDescending) std::reverse(order.begin(), order.end());
  if (runtime.settings.order == Order::kRandom) std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

cudaError_t run_grid(const void* kernel, dim3 grid, dim3 block, std::size_t shared, const KernelBody& body) {
  Runtime& runtime = Runtime::get();
  running_block = &block_of_fibers();
  ++runtime.counts.launches;
  ++runtime.kernels[kernel];
  const std::uint64_t seed = runtime.settings.seed * 1000003 + static_cast<std::uint64_t>(runtime.counts.launches);
  for (const unsigned index : block_order(runtime, grid.x, seed)) {
    running = {grid, block, index};
    test::unpoison(shared_memory, kMostShared);
    std::memset(shared_memory, 0xa5, shared);
    test::poison(shared_memory + shared, kMostShared - shared);
    ++runtime.counts.blocks;
    const std::string why = running_block->run(static_cast<std::int32_t>(block.x), thread_order(runtime.settings.order), seed + index,
                                               [&](std::int32_t) { body(); });
    if (why.empty()) continue;
    runtime.sticky_text = "unspecified launch failure: " + name_of(kernel) + ", block " + std::to_string(index) + ": " + why;
    return cudaErrorLaunchFailure;
  }
  return cudaSuccess;
}

int most_dynamic_shared(const Device& device, const void* kernel) {
  const auto found = device.dynamic_shared.find(kernel);
  return found == device.dynamic_shared.end() ? kDefaultShared - kStaticShared : found->second;
}

bool has_code(const Runtime& runtime) { return runtime.settings.capability >= runtime.settings.has_code_from; }

}  // namespace

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, KernelBody body) {
  return call("cudaLaunchKernel", Needs::kContext, [&](Runtime& runtime, Device& device) {
    if (!has_code(runtime)) return cudaErrorNoKernelImageForDevice;
    if (grid.x == 0 || grid.y != 1 || grid.z != 1 || block.x == 0 || block.x > 1024 || block.y != 1 || block.z != 1)
      return cudaErrorInvalidValue;
    if (shared > static_cast<std::size_t>(most_dynamic_shared(device, kernel))) return cudaErrorInvalidValue;
    return enqueue(runtime, stream,
                   {[kernel, grid, block, shared, one = std::move(body)] { return run_grid(kernel, grid, block, shared, one); }});
  });
}

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call("cudaFuncGetAttributes", Needs::kContext, [&](Runtime& runtime, Device& device) {
    if (!has_code(runtime)) return cudaErrorNoKernelImageForDevice;
    *attributes = {kStaticShared, most_dynamic_shared(device, kernel)};
    return cudaSuccess;
  });
}

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", Needs::kContext, [&](Runtime& runtime, Device& device) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0) return cudaErrorInvalidValue;
    if (value + kStaticShared > runtime.settings.shared_optin) return cudaErrorInvalidValue;
    device.dynamic_shared[kernel] = value;
    return cudaSuccess;
  });
}

cudaError_t occupancy(int* blocks, const void* kernel, int threads, std::size_t shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Needs::kContext, [&](Runtime& runtime, Device& device) {
    const int bytes = static_cast<int>(shared);
    const int by_shared = (runtime.settings.shared_optin + 1024) / (bytes + kStaticShared + 1024);
    const bool fits = bytes <= most_dynamic_shared(device, kernel);
    *blocks = fits ? std::min({32, 2048 / threads, 65536 / (kRegisters * threads), by_shared}) : 0;
    return cudaSuccess;
  });
}

uint3 thread_index() { return {static_cast<unsigned>(running_block->rank()), 0, 0}; }
uint3 block_index() { return {running.index, 0, 0}; }
dim3 block_size() { return running.block; }
dim3 grid_size() { return running.grid; }
void* dynamic_shared() { return shared_memory; }
void sync_threads(const char* file, int line) { running_block->barrier(file, line); }
int sync_threads_or(int v) { return running_block->barrier_or(v != 0, "__syncthreads_or") ? 1 : 0; }

const std::byte* exchange_in_warp(const void* mine, std::size_t bytes) {
  static_assert(kLaneBytes == test::FiberBlock::kSlot && kWarpLanes == test::FiberBlock::kWarp);
  return running_block->exchange(mine, bytes, "a warp's exchange");
}
void sync_warp() {
  const std::byte nothing{};
  exchange_in_warp(&nothing, sizeof(nothing));
}
int lane_of_thread() { return running_block->rank() % kWarpLanes; }

const char* kernel_names(Runtime& runtime) {
  static std::string text;
  std::vector<std::string> names;
  for (const auto& [kernel, launches] : runtime.kernels) names.push_back(name_of(kernel) + " " + std::to_string(launches));
  std::sort(names.begin(), names.end());
  text.clear();
  for (const std::string& name : names) text += name + "\n";
  return text.c_str();
}

}  // namespace berth::cuda_on_threads
