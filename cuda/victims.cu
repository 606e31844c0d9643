#include "cuda/victims.cuh"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/victims/victims.hpp"
#include "cuda/for_each.cuh"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;

/// What the kernel reads and writes; all addresses are on the device.
struct VictimsArguments {
  kernel::ProblemView problem;
  kernel::VictimsPositions positions;
  kernel::VictimsRequest request;
  kernel::VictimsResult result;
  const kernel::VictimsSizes* sizes;  // [n]
  const std::size_t* begins;          // [n + 1]
  std::byte* workspace;               // of question `first` and those after it
  std::int32_t first;
};

/// One warp per question.
__global__ void __launch_bounds__(WarpGroup::kThreads) victims_kernel(const __grid_constant__ VictimsArguments a) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const std::int32_t q = a.first + static_cast<std::int32_t>(blockIdx.x);
  kernel::VictimsWorkspace ws{};
  kernel::carve_victims_workspace(a.workspace + (a.begins[q] - a.begins[a.first]), a.sizes[q], WarpGroup::kThreads, ws);
  kernel::victims(group, a.problem, a.positions, a.request, q, ws, a.result);
}

}  // namespace

void VictimsFinder::upload(const kernel::VictimsRequest& request, cudaStream_t stream) {
  request_ = request;
  std::size_t next = 0;
  const auto follow = [&](std::int64_t n, auto*& column) {
    FollowedColumn& mine = columns_.at(next++);
    if (column == nullptr) return;
    mine.follow(column, static_cast<std::size_t>(n) * sizeof(*column), stream);
    column = static_cast<kernel::ElementOf<decltype(column)>*>(mine.device());
  };
  kernel::for_each_column(request, follow, request_);
  const auto carve = [&](std::byte* block) {
    kernel::BumpAllocator allocator{block};
    kernel::for_each_column(request, kernel::TakeColumns{allocator}, result_);
    return allocator.used;
  };
  results_.reserve(carve(nullptr), "reserve the results of questions");
  carve(results_.data());
  if (request.n_chosen > 0) {
    check(cudaMemsetAsync(result_.chosen, 0, to_index(request.n_chosen), stream), "clear the chosen jobs");
  }
}

void VictimsFinder::index(const kernel::ProblemView& host, const kernel::ProblemView& device, const kernel::VictimsRequest& request,
                          cudaStream_t stream) {
  positions_ = {};
  for (std::int32_t q = 0; q < request.n; ++q) {
    if (!kernel::needs_positions(host, request, q)) continue;
    const std::size_t topology = to_index(request.topology[q]);
    if (positions_.position[topology] != nullptr) continue;
    position_[topology].reserve(to_index(host.n_nodes), "reserve the positions of nodes");
    positions_.position[topology] = position_[topology].data();
    for_each_n(stream, host.n_nodes, kernel::VictimsPositionBody{device.topology[topology].order, position_[topology].data()},
               "launch VictimsPositionBody");
  }
}

void VictimsFinder::count(const kernel::ProblemView& host, const kernel::VictimsRequest& request) {
  rows_before_.assign(1, 0);
  for (std::int32_t c = 0; c < request.n_candidates; ++c) {
    const std::int32_t job = request.candidate_job[c];
    rows_before_.push_back(rows_before_.back() + host.held_end[job] - host.held_begin[job]);
  }
  sizes_.clear();
  begins_.assign(1, 0);
  for (std::int32_t q = 0; q < request.n; ++q) {
    sizes_.push_back(kernel::victims_sizes(host, request, rows_before_.data(), q, WarpGroup::kThreads));
    kernel::VictimsWorkspace unused{};
    const std::size_t bytes = kernel::carve_victims_workspace(nullptr, sizes_.back(), WarpGroup::kThreads, unused);
    begins_.push_back(begins_.back() + (bytes + kAlign - 1) / kAlign * kAlign);
  }
}

void VictimsFinder::chunk(const kernel::ProblemView& device, std::int32_t first, std::int32_t last, cudaStream_t stream) {
  workspace_.reserve(begins_[to_index(last)] - begins_[to_index(first)], "reserve the workspace of questions");
  const VictimsArguments a{device,
                           positions_,
                           request_,
                           result_,
                           static_cast<const kernel::VictimsSizes*>(device_sizes_.device()),
                           static_cast<const std::size_t*>(device_begins_.device()),
                           workspace_.data(),
                           first};
  launch(victims_kernel, static_cast<unsigned>(last - first), WarpGroup::kThreads, 0, stream)(a);
  check_launch(stream, "launch victims_kernel");
}

void VictimsFinder::fetch(const kernel::VictimsRequest& request, const kernel::VictimsResult& result, const Stream& stream) {
  const auto fetch_column = [&](std::int64_t n, const auto* from, auto* to) {
    if (n == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(*to), cudaMemcpyDeviceToHost, stream.get()),
          "download the answers of questions");
  };
  kernel::for_each_column(request, fetch_column, result_, result);
  stream.wait("find victims");
}

void VictimsFinder::run(const kernel::ProblemView& host, const DeviceProblem& device, const kernel::VictimsRequest& request,
                        const kernel::VictimsResult& result, const Tuning& tuning, const Stream& stream) {
  upload(request, stream.get());
  index(host, device.view, request, stream.get());
  count(host, request);
  device_sizes_.follow(sizes_.data(), sizes_.size() * sizeof(sizes_[0]), stream.get());
  device_begins_.follow(begins_.data(), begins_.size() * sizeof(begins_[0]), stream.get());
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "query free device memory");
  std::size_t room = (free + workspace_.capacity()) / 100 * static_cast<std::size_t>(tuning.memory_percent);
  for (std::int32_t first = 0; first < request.n;) {
    std::int32_t last = first + 1;
    while (last < request.n && begins_[to_index(last + 1)] - begins_[to_index(first)] <= room) ++last;
    try {
      chunk(device.view, first, last, stream.get());
      first = last;
    } catch (const CudaError& error) {
      // Other processes may use the device too, so less memory may be available than was free.
      if (error.status() != cuda_abi::Status::kOutOfMemory || last - first == 1) throw;
      room = (begins_[to_index(last)] - begins_[to_index(first)]) / 2;
    }
    if (first < request.n) stream.wait("find some victims");  // the next chunk may need other memory
  }
  fetch(request, result, stream);
}

}  // namespace berth::cuda
