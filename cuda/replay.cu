#include "cuda/replay.cuh"

#include <algorithm>
#include <cstring>

#include "berth/kernel/replay/replay.hpp"
#include "cuda/chunks.hpp"
#include "cuda/launch.cuh"
#include "cuda/warp_group.cuh"

namespace berth::cuda {
namespace {

constexpr std::size_t kAlign = 256;

std::size_t round_up(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// One warp per replay.
__global__ void __launch_bounds__(WarpGroup::kThreads)
    replay_kernel(const __grid_constant__ kernel::ReplayView problem, const ReplayArguments* arguments) {
  __shared__ WarpGroup::Shared shared;
  WarpGroup group(shared);
  const ReplayArguments& one = arguments[blockIdx.x];
  kernel::replay(group, problem, one.request, one.workspace, one.result);
}

bool displaces(const kernel::ReplayRequest& request) { return request.kind != kernel::ReplayKey::kFixed; }

/// Allocates the result columns that a task asks for; returns the bytes in use after it.
std::size_t carve_result(kernel::BumpAllocator& c, const kernel::ReplayView& problem, const kernel::ReplayResult& wanted,
                         kernel::ReplayResult& result) {
  const auto take = [&](std::int64_t n, const auto* want, auto*& column) {
    column = want == nullptr ? nullptr : c.take<kernel::ElementOf<decltype(column)>>(n);
  };
  kernel::for_each_column(problem, take, wanted, result);
  return c.used = round_up(c.used);
}

}  // namespace

Replayer::Sizes& Replayer::Sizes::operator+=(const Sizes& more) {
  tasks += more.tasks;
  results += more.results;
  workspace += more.workspace;
  inputs += more.inputs;
  return *this;
}

std::size_t Replayer::Sizes::bytes() const { return workspace + inputs + results + tasks * sizeof(ReplayArguments); }

std::size_t Replayer::Sizes::pinned() const { return inputs + results + tasks * sizeof(ReplayArguments); }

// Columns that differ between tasks, such as drawn run times, count for each; those of the policy count in full, too, so the estimate is
// too large where tasks share them.
Replayer::Sizes Replayer::size_of(const cuda_abi::AbiReplayTask& task) const {
  kernel::ReplayWorkspace workspace{};
  kernel::ReplayResult result{};
  kernel::BumpAllocator counter{nullptr};
  Sizes sizes{1, carve_result(counter, *host_, task.result, result),
              round_up(kernel::carve_replay_workspace(nullptr, *host_, kernel::gpus_of(*host_, *task.request), displaces(*task.request),
                                                      workspace)),
              0};
  const auto count = [&](std::int64_t n, const auto* column) {
    if (column != nullptr) sizes.inputs += round_up(static_cast<std::size_t>(n) * sizeof(*column));
  };
  kernel::for_each_column(*host_, *task.request, count, *task.request);
  return sizes;
}

void Replayer::run(const kernel::ReplayView& problem, std::span<const cuda_abi::AbiReplayTask> tasks, const Tuning& tuning,
                   const Stream& stream) {
  host_ = &problem;
  const std::size_t own = workspace_.capacity() + results_.capacity() + arguments_.capacity() * sizeof(ReplayArguments) + inputs_.bytes();
  in_chunks(
      tasks, own, kMostPinned, tuning, [&](const cuda_abi::AbiReplayTask& task) { return size_of(task); },
      [&](std::span<const cuda_abi::AbiReplayTask> some, const Sizes& sizes) { run_chunk(some, sizes, stream); });
}

void Replayer::run_chunk(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream) {
  const kernel::ReplayView problem = upload(tasks, sizes, stream);
  launch(replay_kernel, static_cast<unsigned>(tasks.size()), WarpGroup::kThreads, 0, stream.get())(problem, arguments_.data());
  check_launch(stream.get(), "launch replay_kernel");
  download(tasks, sizes, stream);
}

kernel::ReplayView Replayer::upload(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream) {
  workspace_.reserve(sizes.workspace, "reserve the workspace of replays");
  results_.reserve(sizes.results, "reserve the results of replays");
  arguments_.reserve(sizes.tasks, "reserve replays");
  host_arguments_.reserve(sizes.tasks, "reserve replays");
  inputs_.clear();
  places_.clear();
  const auto add = inputs_.adding(places_);
  kernel::for_each_column(*host_, add, *host_);
  for (const cuda_abi::AbiReplayTask& task : tasks) kernel::for_each_column(*host_, *task.request, add, *task.request);
  inputs_.upload(stream.get());

  kernel::BumpAllocator results{results_.data()};
  std::byte* workspace = workspace_.data();
  const std::size_t* place = places_.data();
  const auto put = inputs_.placing(place);
  kernel::ReplayView problem = *host_;
  kernel::for_each_column(*host_, put, problem);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const kernel::ReplayRequest& request = *tasks[i].request;
    ReplayArguments& one = host_arguments_.data()[i];
    one.request = request;
    kernel::for_each_column(*host_, request, put, one.request);
    carve_result(results, *host_, tasks[i].result, one.result);
    workspace +=
        round_up(kernel::carve_replay_workspace(workspace, *host_, kernel::gpus_of(*host_, request), displaces(request), one.workspace));
  }
  check(cudaMemcpyAsync(arguments_.data(), host_arguments_.data(), tasks.size() * sizeof(ReplayArguments), cudaMemcpyHostToDevice,
                        stream.get()),
        "upload replays");
  return problem;
}

void Replayer::download(std::span<const cuda_abi::AbiReplayTask> tasks, const Sizes& sizes, const Stream& stream) {
  host_results_.reserve(sizes.results, "reserve host memory for results");
  check(cudaMemcpyAsync(host_results_.data(), results_.data(), sizes.results, cudaMemcpyDeviceToHost, stream.get()), "download results");
  stream.wait("replay a trace");
  kernel::BumpAllocator results{host_results_.data()};
  const auto copy = [](std::int64_t n, const auto* from, auto* to) {
    if (n > 0 && to != nullptr) std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(*to));
  };
  for (const cuda_abi::AbiReplayTask& task : tasks) {
    kernel::ReplayResult here{};
    carve_result(results, *host_, task.result, here);
    kernel::for_each_column(*host_, copy, here, task.result);
  }
}

}  // namespace berth::cuda
