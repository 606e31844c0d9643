#include "cuda/contend.cuh"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "berth/kernel/contend/loads.hpp"
#include "berth/kernel/contend/pairs.hpp"
#include "cuda/for_each.cuh"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

/// Jobs whose sums a warp holds: 8 KB of shared memory.
constexpr std::int32_t kTileJobs = 2048;

/// With cuBLAS this number of links of a pair costs as much as one addition of the sparse method. A prediction (docs/gpu-costs.md).
constexpr double kLinksOfAnAdd = 2000;
/// Bytes of the products that are stored at once.
constexpr std::size_t kMostProducts = std::size_t{1} << 29;

/// What the kernels read and write; all addresses are on the device.
struct ContendArguments {
  kernel::ContendView problem;
  kernel::ContendIndex index;
  kernel::ContendRequest request;
  kernel::ContendResult result;
  kernel::ContendDense dense;
  const std::int64_t* load;  // [n_links]
};

/// One warp per candidate.
__global__ void __launch_bounds__(WarpGroup::kThreads) contend_loads_kernel(const __grid_constant__ ContendArguments a) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  kernel::contend_loads(group, a.problem, a.load, a.request, static_cast<std::int32_t>(blockIdx.x), a.result);
}

/// One warp per candidate.
__global__ void __launch_bounds__(WarpGroup::kThreads) contend_sparse_kernel(const __grid_constant__ ContendArguments a) {
  BERTH_DYNAMIC_SHARED(std::int32_t, memory);
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const auto candidate = static_cast<std::int32_t>(blockIdx.x);
  if (a.result.pair_sum != nullptr) kernel::contend_pair_sum(group, a.problem, a.index, a.request, candidate, a.result.pair_sum);
  if (a.result.pair_value == nullptr && a.result.top_value == nullptr && a.result.top_job == nullptr) return;
  kernel::ContendWorkspace ws{};
  kernel::carve_contend_workspace(memory, a.index.tile_jobs, a.request.k, ws);
  kernel::contend_sparse(group, a.problem, a.index, a.request, candidate, ws, a.result);
}

/// One warp per candidate.
__global__ void __launch_bounds__(WarpGroup::kThreads) contend_dense_kernel(const __grid_constant__ ContendArguments a) {
  BERTH_DYNAMIC_SHARED(std::int32_t, memory);
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const auto candidate = static_cast<std::int32_t>(blockIdx.x);
  if (a.result.pair_sum != nullptr) kernel::contend_pair_sum(group, a.problem, a.index, a.request, candidate, a.result.pair_sum);
  kernel::ContendWorkspace ws{};
  kernel::carve_contend_workspace(memory, a.index.tile_jobs, a.request.k, ws);
  kernel::contend_dense(group, a.problem, a.dense, a.index.tile_jobs, a.request, candidate, ws, a.result);
}

bool wants_loads(const kernel::ContendResult& r) {
  return r.load_sum != nullptr || r.load_max != nullptr || r.overload != nullptr || r.failed != nullptr;
}

bool wants_products(const kernel::ContendResult& r) { return r.top_value != nullptr || r.top_job != nullptr || r.pair_value != nullptr; }

bool wants_pairs(const kernel::ContendResult& r) { return r.pair_sum != nullptr || wants_products(r); }

}  // namespace

void DeviceContention::upload(const kernel::ContendView& problem, const kernel::ContendRequest& request, cudaStream_t stream) {
  problem_ = problem;
  request_ = request;
  std::size_t next = 0;
  const auto follow = [&](std::int64_t n, auto*& column) {
    FollowedColumn& mine = columns_.at(next++);
    if (column == nullptr) return;
    mine.follow(column, static_cast<std::size_t>(n) * sizeof(*column), stream);
    column = static_cast<kernel::ElementOf<decltype(column)>*>(mine.device());
  };
  kernel::for_each_column(problem, follow, problem_);
  kernel::for_each_column(request, follow, request_);
}

void DeviceContention::index(std::int32_t entries, cudaStream_t stream) {
  const std::int32_t tile = std::clamp((problem_.n_jobs + 31) / 32 * 32, 32, kTileJobs);
  index_memory_.reserve(kernel::carve_contend_index(nullptr, problem_, entries, tile, index_), "reserve jobs by link");
  kernel::carve_contend_index(index_memory_.data(), problem_, entries, tile, index_);
  if (entries > 0) {
    for_each_n(stream, problem_.n_jobs, kernel::ContendKeyBody{problem_, index_}, "launch ContendKeyBody");
    std::size_t room = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, room, index_.key, index_.sorted_key, index_.entry, index_.sorted_entry, entries),
          "size a sort of links");
    sort_.reserve(room, "reserve room to sort");
    check(cub::DeviceRadixSort::SortPairs(sort_.data(), room, index_.key, index_.sorted_key, index_.entry, index_.sorted_entry, entries, 0,
                                          64, stream),
          "sort links");
    for_each_n(stream, entries, kernel::ContendItemBody{problem_, index_}, "launch ContendItemBody");
  }
  for_each_n(stream, std::int64_t{index_.n_tiles} * problem_.n_links + 1, kernel::ContendBeginBody{index_}, "launch ContendBeginBody");
  for_each_n(stream, problem_.n_links, kernel::ContendLinkBody{problem_, index_}, "launch ContendLinkBody");
}

// By density, as if uses were spread evenly: to count the additions would take as long as to make them.
bool DeviceContention::dense(const kernel::ContendView& problem, const kernel::ContendRequest& request) {
  if (problem.n_links > kernel::kMostDenseLinks || request.method == kernel::ContendMethod::kSparse) return false;
  stores_products_ = product_.usable();
  if (request.method == kernel::ContendMethod::kDense) return true;
  const auto per_link = [&](std::int32_t entries, std::int32_t rows) {
    return static_cast<double>(entries) / (static_cast<double>(std::max(1, rows)) * std::max(1, problem.n_links));
  };
  return stores_products_ &&
         per_link(request.begin[request.n], request.n) * per_link(problem.job_begin[problem.n_jobs], problem.n_jobs) * kLinksOfAnAdd > 1;
}

void DeviceContention::multiply(const kernel::ContendRequest& request, std::int32_t most_rows, cudaStream_t stream) {
  const auto carve = [&](std::byte* block) {
    return kernel::carve_contend_dense(block, problem_, most_rows, request.limbs, stores_products_, dense_);
  };
  dense_memory_.reserve(carve(nullptr), "reserve products");
  carve(dense_memory_.data());
  const auto clear = [&](std::int8_t* matrix, std::int64_t n) {
    if (n > 0) check(cudaMemsetAsync(matrix, 0, static_cast<std::size_t>(n), stream), "clear a matrix");
  };
  clear(dense_.right, std::int64_t{dense_.jobs} * dense_.links);
  clear(dense_.left, std::int64_t{dense_.limbs} * dense_.rows * dense_.links);
  for_each_n(stream, problem_.n_jobs, kernel::ContendRightBody{problem_, dense_}, "launch ContendRightBody");
  for_each_n(stream, request.n, kernel::ContendLeftBody{problem_, request, dense_}, "launch ContendLeftBody");
  const bool any = dense_.links > 0 && dense_.jobs > 0;
  if (dense_.product == nullptr || !any) {
    dense_.product = nullptr;  // without links every product is 0
    return;
  }
  if (product_.run(stream, dense_.left, dense_.right, dense_.product, dense_.limbs * dense_.rows, dense_.jobs, dense_.links)) return;
  dense_.product = nullptr;  // the kernel finds it itself
  stores_products_ = false;
}

void DeviceContention::chunk(std::int32_t first, std::int32_t rows, std::int32_t most_rows, const kernel::ContendResult& result,
                             const Stream& stream) {
  ContendArguments a{problem_, index_, request_, result, {}, problem_.load == nullptr ? index_.load : problem_.load};
  a.request.n = rows;
  a.request.begin += first;
  if (a.request.excluded != nullptr) a.request.excluded += first;
  a.result.load = nullptr;
  const auto carve = [&](std::byte* block) {
    kernel::BumpAllocator allocator{block};
    const auto take = [&](std::int64_t n, const auto* wanted, auto*& column) {
      column = wanted == nullptr ? nullptr : allocator.take<kernel::ElementOf<decltype(column)>>(n);
    };
    kernel::ContendResult wanted = result;
    wanted.load = nullptr;
    kernel::for_each_column(problem_, a.request, take, wanted, a.result);
    return allocator.used;
  };
  const std::size_t bytes = carve(nullptr);
  if (bytes == 0) return;
  results_.reserve(bytes, "reserve the results of candidates");
  carve(results_.data());
  const auto grid = static_cast<unsigned>(rows);
  if (wants_loads(a.result)) {
    launch(contend_loads_kernel, grid, WarpGroup::kThreads, 0, stream.get())(a);
    check_launch(stream.get(), "launch contend_loads_kernel");
  }
  if (wants_pairs(a.result)) {
    kernel::ContendWorkspace unused{};
    const auto words = static_cast<std::size_t>(kernel::carve_contend_workspace(nullptr, index_.tile_jobs, a.request.k, unused));
    if (by_pairs_) {
      multiply(a.request, most_rows, stream.get());
      a.dense = dense_;
      launch(contend_dense_kernel, grid, WarpGroup::kThreads, words * sizeof(std::int32_t), stream.get())(a);
      check_launch(stream.get(), "launch contend_dense_kernel");
    } else {
      launch(contend_sparse_kernel, grid, WarpGroup::kThreads, words * sizeof(std::int32_t), stream.get())(a);
      check_launch(stream.get(), "launch contend_sparse_kernel");
    }
  }
  const auto fetch = [&](std::int64_t n, const auto* from, auto* to) {
    if (from == nullptr || n == 0) return;
    check(cudaMemcpyAsync(to + n / rows * first, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()),
          "download the results of candidates");
  };
  kernel::for_each_column(problem_, a.request, fetch, a.result, result);
  stream.wait("contend");
}

void DeviceContention::run(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result,
                           const Tuning& tuning, const Stream& stream) {
  upload(problem, request, stream.get());
  const bool with_index = wants_pairs(result) || result.load != nullptr || (wants_loads(result) && problem.load == nullptr);
  if (with_index) index(problem.job_begin[problem.n_jobs], stream.get());
  if (result.load != nullptr && problem.n_links > 0) {
    check(cudaMemcpyAsync(result.load, index_.load, static_cast<std::size_t>(problem.n_links) * sizeof(std::int64_t),
                          cudaMemcpyDeviceToHost, stream.get()),
          "download loads");
    stream.wait("sum loads");
  }
  by_pairs_ = wants_products(result) && dense(problem, request);
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "query free device memory");
  const std::size_t room = (free + results_.capacity()) / 100 * static_cast<std::size_t>(tuning.memory_percent);
  // Results of one candidate, at most.
  const std::size_t product =
      by_pairs_
          ? static_cast<std::size_t>(request.limbs) *
                (kernel::kMostDenseLinks + (stores_products_ ? sizeof(std::int32_t) * (static_cast<std::size_t>(problem.n_jobs) + 4) : 0))
          : 0;
  const std::size_t each = 64 + product + 8 * static_cast<std::size_t>(request.k) +
                           (result.pair_value == nullptr ? 0 : sizeof(std::int32_t) * static_cast<std::size_t>(problem.n_jobs));
  auto rows = static_cast<std::int32_t>(std::clamp<std::size_t>(room / each, 1, static_cast<std::size_t>(request.n)));
  if (product > 0) rows = std::min(rows, static_cast<std::int32_t>(std::max<std::size_t>(1, kMostProducts / product)));
  for (std::int32_t first = 0; first < request.n;) {
    try {
      const std::int32_t now = std::min(rows, request.n - first);
      chunk(first, now, rows, result, stream);
      first += now;
    } catch (const CudaError& error) {
      // Other processes may use the device too, so less memory may be available than was free.
      if (error.status() != cuda_abi::Status::kOutOfMemory || rows == 1) throw;
      rows /= 2;
    }
  }
}

}  // namespace berth::cuda
